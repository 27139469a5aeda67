"""Texts with a tokenizer's cuts in them: `│` where it cuts, `‿` at a join of two parts that a token reaches over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CUT, OVER = "│", "‿"
LEGEND = f"{CUT} a token ends here; {OVER} a join inside a token"


def marked(text: str, boundaries: Iterable[int], moved: Iterable[int] = ()) -> str:
    """A text with a mark at every cut, and at every join that lies inside a token."""
    marks = dict.fromkeys(boundaries, CUT) | dict.fromkeys(moved, OVER)
    pieces, done = [], 0
    for at in sorted(marks):
        pieces += [text[done:at], marks[at]]
        done = at
    return "".join([*pieces, text[done:]])


def marked_texts(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The prompt of a line that has `tokens`, marked: its first context with the joins of its parts."""
    text, tokens = data["text"], data["tokens"]
    moved = moved_joins(data)
    if isinstance(text, str):
        return (marked(text, tokens["boundaries"], moved),)
    pairs = zip(text, tokens["boundaries"], strict=True)
    return tuple([marked(each, cut, () if number else moved) for number, (each, cut) in enumerate(pairs)])


def moved_joins(data: Mapping[str, Any]) -> list[int]:
    """The joins of a line's parts that lie inside a token."""
    return [join["at"] for join in data["tokens"]["joins"] if join["moved"]]


def told_requests(data: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """For every scored pair of a line, the mark of its seam and its continuation with marks."""
    out = {}
    for request, seam in zip(data["requests"], data["tokens"]["requests"], strict=True):
        if seam is not None:
            over = OVER if seam["moved"] else CUT if request["context"] else ""
            shown = marked(request["continuation"], seam["boundaries"])
            out[request["context"] or "", request["continuation"]] = f"{over}{shown}"
    return out


def pieces(data: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """The parts of a line, each marked, and whether a token reaches over its end."""
    places = data["tokens"]["boundaries"]
    cut = places[0] if places and isinstance(places[0], list) else places
    moved = set(moved_joins(data))
    out, start = [], 0
    for part in data["parts"]:
        end = start + len(part["text"])
        inner = [at - start for at in cut if start < at < end]
        out.append((marked(part["text"], inner), end in moved))
        start = end
    return out
