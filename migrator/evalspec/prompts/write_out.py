"""What a person is shown and what is scored, side by side (`evalspec render --write-out`).

Under a chat template the examples of a single-turn prompt keep the target delimiter that the scored continuation
drops, and a choice that is shown with a space may be scored without: such seams are marked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evalspec.prompts.prompt import Prompt
    from evalspec.prompts.render import RenderedRow


class Scored(NamedTuple):
    """One scored pair.

    Attributes:
        context: the text before.
        continuation: the text that is scored.
        shown_join: what stands between a question and its answer where the prompt shows one; None where it
            shows none.
        scored_join: the white space between the context and the continuation's first other character.
        differs: an example is joined differently from what is scored.
    """

    context: str
    continuation: str
    shown_join: str | None
    scored_join: str
    differs: bool


def write_out(row: RenderedRow) -> list[Scored]:
    """The scored pairs of a row; none where nothing is scored."""
    prompt = row.prompt
    if prompt is None:
        return []
    shown = _shown_join(prompt)
    out = []
    for request in prompt.requests:
        if request.type != "loglikelihood" or not isinstance(request.continuation, str):
            continue
        context = request.context or ""
        text = request.continuation
        joined = context[len(context.rstrip()) :] + text[: len(text) - len(text.lstrip())]
        out.append(
            Scored(context, text, shown, joined, shown is not None and context != "" and joined != shown)
        )
    return out


def _shown_join(prompt: Prompt) -> str | None:
    """The white space between the last question that is shown with an answer, and that answer."""
    between: str | None = None
    asked: str | None = None
    for part in prompt.parts:
        if part.kind == "question":
            asked, between = part.text, ""
        elif part.kind in ("join", "template", "gen_prefix") and asked is not None:
            between = (between or "") + part.text
        elif part.kind == "answer" and asked is not None:
            seam = asked[len(asked.rstrip()) :] + (between or "")
            seam += part.text[: len(part.text) - len(part.text.lstrip())]
            return seam[len(seam.rstrip()) :] if seam.strip() else seam
    return None
