"""A prompt's context and what is scored after it, side by side (`evalspec render --write-out`)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from evalspec.errors import visible
from evalspec.report.token_marks import CUT, LEGEND, OVER, marked_texts, told_requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalspec.prompts.prompt import Prompt
    from evalspec.prompts.write_out import Scored

_LEFT = 60
_MARK = "≠"
_TAIL = re.compile(rf"[\s{CUT}{OVER}]*\Z")


def scored_json(scored: Iterable[Scored]) -> list[dict[str, Any]]:
    """The scored pairs as JSON."""
    return [pair._asdict() for pair in scored]


def side_by_side(prompt: Prompt, scored: Sequence[Scored], data: Mapping[str, Any] | None = None) -> str:
    """Two columns: the context as it is, white space at the seams visible, and beside it all that follows it.

    A continuation that is joined otherwise than the examples show is marked `≠`, and a line below says how. Where the
    line that the prompt is of (`data`) has `tokens`, both columns show where its tokenizer cuts.
    """
    tokens = data if data is not None and data.get("tokens") else None
    rows = _by_context(prompt, scored, told_requests(tokens) if tokens else {})
    if tokens:
        texts = (prompt.text,) if isinstance(prompt.text, str) else prompt.text
        shown_texts = dict(zip(texts, marked_texts(tokens), strict=True))
        rows = [(shown_texts.get(context, context), followers) for context, followers in rows]
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
    if tokens:
        out.append(f"{LEGEND}\n")
    return "".join(out)


def _by_context(
    prompt: Prompt, scored: Sequence[Scored], told: Mapping[tuple[str, str], str]
) -> list[tuple[str, list[str]]]:
    """Each context with its continuations, those that `told` knows as it has them; of a generation, its settings."""
    groups: dict[str, list[str]] = {}
    for pair in scored:
        mark = _MARK if pair.differs else " "
        said = json.dumps(told.get((pair.context, pair.continuation), pair.continuation), ensure_ascii=False)
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
    body = _TAIL.sub("", text)
    tail = json.dumps(text[len(body) :])[1:-1].replace(" ", "·")
    lines: list[str] = []
    for line in visible(body, keep="\n").split("\n"):
        lines += [line[at : at + _LEFT] for at in range(0, len(line), _LEFT)] or [""]
    lines[-1] += tail
    return lines


def _row(left: str, right: str) -> str:
    return f"{left:<{_LEFT}} │ {right}".rstrip() + "\n"
