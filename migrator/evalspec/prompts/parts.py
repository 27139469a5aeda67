"""The parts of one question-and-answer turn, by the same rules that build its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.prompts.message import answer_text, is_answered, question_delim
from evalspec.prompts.prompt import Origin, Part

if TYPE_CHECKING:
    from collections.abc import Sequence


class TurnOrigins(NamedTuple):
    """Where each piece of a turn comes from."""

    question: Origin
    answer: Origin
    join: Origin
    separator: Origin
    gen_prefix: Origin


_PREFIX_JOIN = Origin(rule="a space joins a generation prefix and an answer")


def turn_parts(
    origins: TurnOrigins,
    q: str,
    c: Sequence[Any] | None = None,
    a: Any = None,
    gen_prefix: str | None = None,
    tgt_delim: str = " ",
    few_delim: str = "\n\n",
    *,
    empty_answers: bool = False,
    delimited: bool = True,
) -> list[Part]:
    """The parts whose texts joined are the turn's plain text; empty ones are left out.

    The arguments are those of `build_qa_turn`, which has accepted them before. Without `delimited` what follows a
    message is left out, as it is where each message is a turn of a chat.
    """
    answered = is_answered(a) or (empty_answers and a == "")
    parts = [
        Part("question", q, origins.question),
        Part("join", question_delim(q, gen_prefix, tgt_delim, answered=answered), origins.join),
    ]
    if gen_prefix:
        parts.append(Part("gen_prefix", gen_prefix, origins.gen_prefix))
    if answered:
        answer = answer_text(c, a)
        if gen_prefix and answer and not (gen_prefix[-1].isspace() or answer[0].isspace()):
            parts.append(Part("join", " ", _PREFIX_JOIN._replace(shot=origins.answer.shot)))
        parts += [Part("answer", answer, origins.answer), Part("separator", few_delim, origins.separator)]
    bare = set() if delimited else {origins.join, origins.separator}
    return [
        part
        for part in parts
        if part.text and not (part.kind in ("join", "separator") and part.origin in bare)
    ]


def system_parts(
    instruction: str | None, description: str, delimiter: str, described: Origin, delimited: Origin
) -> list[Part]:
    """The parts of the system text: the view's instruction, a delimiter where one is needed, the description."""
    parts = []
    if instruction:
        parts.append(Part("system", instruction, Origin(rule="the view's system instruction")))
        if description and not (instruction[-1].isspace() or description[0].isspace()):
            parts.append(Part("join", delimiter, delimited))
    if description:
        parts.append(Part("system", description, described))
    return [part for part in parts if part.text]
