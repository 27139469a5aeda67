"""A prompt's context and what is scored after it, side by side (`evalspec render --write-out`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalspec.errors import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.prompts.prompt import Prompt
    from evalspec.prompts.write_out import Scored

_LEFT = 60
_MARK = "≠"


def scored_json(scored: Iterable[Scored]) -> list[dict[str, Any]]:
    """The scored pairs as JSON."""
    return [pair._asdict() for pair in scored]


def side_by_side(prompt: Prompt, scored: Sequence[Scored]) -> str:
    """Two columns: the context as it is, white space at the seams visible, and beside it all that follows it.

    A continuation that is joined otherwise than the examples show is marked `≠`, and a line below says how.
    """
    rows: list[tuple[str, list[str]]] = []
    for context, followers in _by_context(prompt, scored):
        rows.append((context, followers))
    out = [_row("context", "what follows"), f"{'─' * _LEFT}─┼─{'─' * 30}\n"]
    for number, (context, followers) in enumerate(rows):
        if number:
            out.append(f"{'─' * _LEFT}─┼─{'─' * 30}\n")
        left = _wrapped(context)
        # What follows stands beside the context's end, where it will be put.
        start = max(0, len(left) - len(followers))
        right = [""] * start + followers
        out += [
            _row(left[at] if at < len(left) else "", right[at] if at < len(right) else "")
            for at in range(max(len(left), len(right)))
        ]
    odd = next((pair for pair in scored if pair.differs), None)
    if odd is not None:
        shown, counted = json.dumps(odd.shown_join), json.dumps(odd.scored_join)
        out.append(f"{_MARK} the examples show {shown} before an answer, and {counted} is scored\n")
    return "".join(out)


def _by_context(prompt: Prompt, scored: Sequence[Scored]) -> list[tuple[str, list[str]]]:
    """Each context with its continuations; of a generation, its settings."""
    groups: dict[str, list[str]] = {}
    for pair in scored:
        mark = _MARK if pair.differs else " "
        said = json.dumps(pair.continuation, ensure_ascii=False)
        groups.setdefault(pair.context, []).append(f"{mark} {visible(said)}")
    if not groups:
        for request in prompt.requests:
            settings = json.dumps(
                dict(request.generation) if request.generation is not None else request.continuation,
                ensure_ascii=False,
                default=str,
            )
            groups.setdefault(request.context or "", []).append(f"  {request.type} {visible(settings)}")
    return list(groups.items())


def _wrapped(text: str) -> list[str]:
    """A text's lines, cut to the column; the white space that ends the text is visible."""
    body = text.rstrip()
    tail = json.dumps(text[len(body) :])[1:-1].replace(" ", "·")
    lines: list[str] = []
    for line in visible(body, keep="\n").split("\n"):
        lines += [line[at : at + _LEFT] for at in range(0, len(line), _LEFT)] or [""]
    lines[-1] += tail
    return lines


def _row(left: str, right: str) -> str:
    return f"{left:<{_LEFT}} │ {right}".rstrip() + "\n"
