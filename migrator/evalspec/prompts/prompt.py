"""What a record and a row become under a view: parts with their origins, messages, requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalspec.errors import Place
    from evalspec.prompts.message import Message

#: The kinds of part, in the order in which they can first appear. `template` is text of a chat template.
PART_KINDS = ("system", "question", "join", "answer", "separator", "gen_prefix", "template")


class Origin(NamedTuple):
    """Where a part's text comes from. What does not apply is None.

    Attributes:
        key: the field of the record, dotted (`fewshot.samples[0].prompt`, `doc_to_text`).
        column: the row's column, where the text is one as it stands.
        rule: the rule of the assembly that supplied the text (a default, a fixed delimiter).
        shot: the example it belongs to, from 0; None for the task's own question.
        row: the row it was read from (the position in the pool for a shot).
        place: the file, line and column of `key`.
    """

    key: str | None = None
    column: str | None = None
    rule: str | None = None
    shot: int | None = None
    row: int | None = None
    place: Place | None = None

    def to_dict(self) -> dict[str, Any]:
        """The origin as JSON, without what does not apply."""
        out: dict[str, Any] = {}
        if self.place is not None:
            out.update(path=self.place.path, line=self.place.line, column=self.place.column)
        named = {
            "key": self.key,
            "row_column": self.column,
            "rule": self.rule,
            "shot": self.shot,
            "row": self.row,
        }
        out.update({name: value for name, value in named.items() if value is not None})
        return out


class Part(NamedTuple):
    """A piece of a prompt's text, of one kind and one origin."""

    kind: str
    text: str
    origin: Origin = Origin()

    def to_dict(self) -> dict[str, Any]:
        """The part as JSON."""
        return {"kind": self.kind, "text": self.text, "origin": self.origin.to_dict()}


class Request(NamedTuple):
    """What a harness would send: a context with a continuation to score, or with generation settings.

    A rolling request has no context: its continuation is the text to score.
    """

    type: str
    context: str | None
    continuation: Any = None
    generation: Mapping[str, Any] | None = None
    media: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The request as JSON."""
        out: dict[str, Any] = {"type": self.type, "context": self.context}
        if self.generation is not None:
            out["generation"] = dict(self.generation)
        else:
            out["continuation"] = self.continuation
        if self.media is not None:
            out["media"] = dict(self.media)
        return out

    def arguments(self) -> tuple[Any, ...]:
        """The request's arguments as lm-evaluation-harness passes them to a model."""
        args: tuple[Any, ...]
        if self.type == "loglikelihood_rolling":
            args = (self.continuation,)
        elif self.generation is not None:
            args = (self.context, dict(self.generation))
        else:
            args = (self.context, self.continuation)
        return args if self.media is None else (*args, dict(self.media))


class Prompt(NamedTuple):
    """One prompt.

    Attributes:
        text: what the model sees; for a multiple-input task one text a choice.
        messages: the same as a chat, before any template.
        parts: the pieces of `text`, in order; joined they are `text` (its first, where there are several).
        requests: what a harness would send.
        target: the expected answer, as the record or row has it.
        choices: the texts to choose from.
        output_type: what is asked of the model.
        stop: the stop strings of a generation.
        generation: the generation settings, stop strings included.
        shots: the rows of the pool that serve as examples, in order.
        notes: what the person who reads the prompt should know (a retry without the system message).
    """

    text: str | tuple[str, ...]
    messages: tuple[Message, ...]
    parts: tuple[Part, ...] = ()
    requests: tuple[Request, ...] = ()
    target: Any = None
    choices: tuple[Any, ...] | None = None
    output_type: str = "generate_until"
    stop: tuple[str, ...] = ()
    generation: Mapping[str, Any] | None = None
    shots: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """The system message's text, empty where there is none."""
        return self.messages[0].content if self.messages and self.messages[0].role == "system" else ""

    def renamed(self, name: Callable[[str], str]) -> Prompt:
        """The same prompt, the key of each part's origin called as `name` says."""
        parts = [
            part._replace(origin=part.origin._replace(key=name(part.origin.key))) if part.origin.key else part
            for part in self.parts
        ]
        return self._replace(parts=tuple(parts))

    def located(self, place_of: Callable[[str], Place | None]) -> Prompt:
        """The same prompt, each part's origin with the place that `place_of` knows for its key."""
        parts = [
            part._replace(origin=part.origin._replace(place=place_of(part.origin.key)))
            if part.origin.key is not None and part.origin.place is None
            else part
            for part in self.parts
        ]
        return self._replace(parts=tuple(parts))


def parts_in_template(text: str, parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts of a chat's text: each part found in turn, and what lies between as parts of kind `template`.

    A template may strip or drop what it is given; a part is then what is left of it, and may be missing.
    """
    out: list[Part] = []
    rule = Origin(rule="chat template")
    done = 0
    for part in parts:
        for wanted in (part.text, part.text.strip()):
            at = text.find(wanted, done) if wanted else -1
            if at >= 0:
                if at > done:
                    out.append(Part("template", text[done:at], rule))
                out.append(part._replace(text=wanted))
                done = at + len(wanted)
                break
    if done < len(text):
        out.append(Part("template", text[done:], rule))
    return tuple(out)


def texts_equal(parts: Sequence[Part], text: str) -> bool:
    """Whether the parts, joined, are the text."""
    return "".join([part.text for part in parts]) == text
