"""Messages, and the rules by which text is joined (prompting.md, "Prompt assembly").

A prompt is a list of messages. As plain text each message is its content and then its delimiter; as a chat only
role and content count, and every delimiter vanishes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Message(NamedTuple):
    """One message: who speaks, what is said, and what follows it in plain text."""

    role: str
    content: str
    delim: str = ""

    def to_dict(self) -> dict[str, str]:
        """The message as a chat template gets it."""
        return {"role": self.role, "content": self.content}

    def to_text(self) -> str:
        """The message as plain text."""
        return self.content + self.delim


def maybe_delimit(a: str | None, b: str | None, delimiter: str = " ") -> str:
    """Join two texts: `delimiter` stands between them only where neither is empty nor has white space at the seam.

    White space is what `str.isspace` says, so a no-break space counts.

    >>> maybe_delimit("Answer:", "B"), maybe_delimit("Answer: ", "B"), maybe_delimit(None, "B")
    ('Answer: B', 'Answer: B', 'B')
    """
    if not a:
        return b or ""
    if not b:
        return a
    if a[-1].isspace() or b[0].isspace():
        return a + b
    return a + delimiter + b


def requires_delimiter(a: str, b: str) -> bool:
    """Whether two texts need something between them: there is a first, and no white space at the seam."""
    return a != "" and not (a[-1].isspace() or b[0].isspace())


def ends_with_whitespace(text: str) -> bool:
    """Whether the last character is white space; the empty text has none."""
    return text[-1:].isspace()


def is_answered(a: Any) -> bool:
    """Whether `a` counts as an answer: 0 and False do, nothing and the empty text do not."""
    return a is not None and a != ""


def answer_text(c: Sequence[Any] | None, a: Any) -> str:
    """The text of an answer: the choice it points at, the first of a list, or itself.

    Raises:
        AssertionError: what comes out is no text (an index without choices, a list of numbers).
        IndexError: an index outside the choices, or an empty list.
    """
    text = c[a] if c and isinstance(a, int) else a[0] if isinstance(a, list) else a
    if not isinstance(text, str):
        raise AssertionError(f"the answer is not a text: {a!r}")  # noqa: TRY004 - as the harness does
    return text


def question_delim(q: str, prefix: str | None, tgt_delim: str, *, answered: bool) -> str:
    """What follows a question: the target delimiter, unless it would follow nothing or meet white space."""
    if prefix:
        return tgt_delim if requires_delimiter(q, prefix) else ""
    return tgt_delim if answered else ""


def build_qa_turn(
    q: Any,
    c: Sequence[Any] | None = None,
    a: Any = None,
    gen_prefix: str | None = None,
    tgt_delim: str = " ",
    few_delim: str = "\n\n",
    *,
    empty_answers: bool = False,
) -> list[Message]:
    """One question, with its answer where it has one.

    Args:
        q: the question.
        c: the choices, where `a` may point into them.
        a: the answer: a text, an index into `c`, or a list whose first item counts.
        gen_prefix: the text the answer begins with; always joined to it by a space, where one is needed.
        tgt_delim: between question and answer.
        few_delim: after the answer.
        empty_answers: an empty text is an answer too (inline tasks; template tasks then have no answer at all,
            and nothing after the question).

    Raises:
        AssertionError: the question or the answer is not a text.
    """
    if not isinstance(q, str):
        raise AssertionError(f"the question is not a text: {q!r}")  # noqa: TRY004 - as the harness does
    answered = is_answered(a) or (empty_answers and a == "")
    turn = [Message("user", q, question_delim(q, gen_prefix, tgt_delim, answered=answered))]
    if answered:
        turn.append(Message("assistant", maybe_delimit(gen_prefix, answer_text(c, a), " "), few_delim))
    elif gen_prefix:
        turn.append(Message("assistant", gen_prefix))
    return turn


def messages_to_text(messages: Iterable[Message]) -> str:
    """The messages as plain text: contents and delimiters, one after another."""
    return "".join([content + delim for _, content, delim in messages])


def multiturn_to_singleturn(messages: Sequence[Message]) -> list[Message]:
    """The same prompt said in one user message, with the system message and a begun answer kept apart.

    The delimiter of the last message that is folded in goes; the others stay between what they part.
    """
    head = list(messages[:1]) if messages[0].role == "system" else []
    rest = list(messages[len(head) :])
    tail = [rest.pop()] if rest[-1].role == "assistant" else []
    if not rest:
        raise IndexError("a begun answer with no question before it cannot be told in one turn")
    last = rest.pop()
    folded = Message("user", messages_to_text(rest) + last.content)
    return [*head, folded, *[Message("assistant", message.content) for message in tail]]
