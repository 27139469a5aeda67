"""A task that is a template over rows: what each row's prompt is (prompting.md).

Everything that does not depend on the row is decided once: how each field is read, whether the task has several
inputs or targets (the first row decides that for all), the text of each example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.prompts.draws import RowOrder
from evalspec.prompts.fields import Fields
from evalspec.prompts.message import (
    Message,
    build_qa_turn,
    maybe_delimit,
    messages_to_text,
    multiturn_to_singleturn,
)
from evalspec.prompts.problems import Unknown
from evalspec.prompts.requests import OUTPUT_TYPES, construct_requests, continuation_delimiter
from evalspec.prompts.samplers import get_sampler, sampler_class

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.prompt import Request
    from evalspec.prompts.sandbox import Sandbox
    from evalspec.prompts.view import View

Doc = dict[str, Any]


class Shot(NamedTuple):
    """One example: what was read from its row, and its messages."""

    q: str
    c: Any
    a: Any
    gen_prefix: Any
    messages: tuple[Message, ...]


class Row(NamedTuple):
    """What was read from the row that is asked about. Choices and target may be an `Unknown`."""

    doc: Doc
    shots: tuple[int, ...]
    gen_prefix: Any
    description: Any
    q: Any
    c: Any
    a: Any


class Context(NamedTuple):
    """One row's prompt before it is put into parts.

    `text` is what the model sees (one a choice, where the task has several inputs), `messages` the same as a chat,
    `turns` the row's own questions (one, or one a choice).
    """

    text: Any
    messages: tuple[tuple[Message, ...], ...]
    turns: tuple[str, ...]
    system: str
    notes: tuple[str, ...] = ()


class TemplateTask(RowOrder):
    """A task, its rows and its pool of examples, ready to be rendered.

    Args:
        config: the task's settings.
        docs: the evaluated rows, after `process_docs`.
        features: the names of their columns.
        pool: the rows that can serve as examples, or why they cannot be known.
        sandbox: renders the templates.
        prompt: what `use_prompt` stands for.
        global_draws: examples are drawn over all rows in order, whatever the rank (our own family); else over the
            rows of the rank, as the harness does.
        in_order: the pool is made up, so its first rows serve, whatever the sampler.

    Raises:
        Exception: what the harness raises when it builds the task; `FieldError` where a field is at fault.
    """

    def __init__(
        self,
        config: TaskConfig,
        docs: Sequence[Doc],
        features: Sequence[str],
        pool: Sequence[Doc] | Unknown,
        sandbox: Sandbox,
        *,
        prompt: Any = None,
        global_draws: bool = False,
        in_order: bool = False,
    ) -> None:
        if config.output_type is not None and config.output_type not in OUTPUT_TYPES:
            raise ValueError(
                f"output_type must be one of {', '.join(OUTPUT_TYPES)}, not {config.output_type!r}"
            )
        self.config = config
        self.docs = docs
        self.pool = pool
        self.global_draws = global_draws
        self.made_up = in_order
        self.few = few = config.fewshot
        self.sampler_of = get_sampler("first_n") if in_order else sampler_class(few.sampler)
        self.fields = fields = Fields(
            sandbox,
            features,
            has_choices=config.doc_to_choice is not None,
            prompt=prompt,
            fewshot_delimiter=config.fewshot_delimiter,
        )
        self.text = fields.text(config.doc_to_text)
        self.target = fields.target(config.doc_to_target)
        self.choice = fields.choice(config.doc_to_choice)
        self.prefix = fields.prefix(config.gen_prefix)
        self.description = fields.resolve_field(config.description, "description")
        self.shot_text = fields.text(
            _either(few.doc_to_text, config.doc_to_text), "fewshot_config.doc_to_text"
        )
        self.shot_target = fields.target(
            _either(few.doc_to_target, config.doc_to_target), "fewshot_config.doc_to_target"
        )
        self.shot_choice = fields.choice(few.doc_to_choice, "fewshot_config.doc_to_choice")
        self.shot_prefix = fields.resolve_field(few.gen_prefix, "fewshot_config.gen_prefix")
        self.media: dict[str, Callable[[Doc], Any]] = {}
        if config.doc_to_image:
            self.media["visual"] = fields.media(config.doc_to_image, "doc_to_image")
        if config.doc_to_audio:
            self.media["audio"] = fields.media(config.doc_to_audio, "doc_to_audio")
        self.multiple_input = 0
        self.multiple_target = 0
        self.mutual_info = any(
            isinstance(metric, dict) and metric.get("metric") == "acc_mutual_info"
            for metric in config.metric_list or ()
        )
        self._shots: dict[int, Shot] = {}
        self._read: tuple[int, ...] = ()
        self._told: tuple[tuple[int, ...], str] = ((), "")
        self._probe()

    def _probe(self) -> None:
        """Read the first row, as the harness does when it builds the task."""
        config = self.config
        doc = self.docs[0]
        try:
            text = self.text(doc)
        except Unknown:
            return
        target = _known(self.target, doc)
        if config.doc_to_choice is None:
            if isinstance(target, list):
                self.multiple_target = len(target)
            return
        choices = _known(self.choice, doc)
        if isinstance(choices, Unknown):
            if isinstance(text, int):
                self.multiple_input = -1
            return
        if isinstance(text, int):
            if not isinstance(choices, list):
                raise UnboundLocalError("several inputs need doc_to_choice to be a list")
            self.multiple_input = len(choices)
        if isinstance(target, list):
            self.multiple_target = len(target)
        elif isinstance(target, int):
            choices[target]  # the harness looks it up, and an index that is not there ends the task
        for choice in choices:
            choice[0].isspace()
            config.target_delimiter.rstrip()

    def shot(self, at: int) -> Shot:
        """One example of the pool, told once however often it is drawn."""
        found = self._shots.get(at)
        if found is None:
            found = self._shots[at] = self._make_shot(self.pool[at])  # type: ignore[index]
        return found

    def _make_shot(self, doc: Doc) -> Shot:
        q = self.shot_text(doc)
        c = self.shot_choice(doc) if self.few.doc_to_choice else None
        a = self.shot_target(doc)
        prefix = self.shot_prefix(doc)
        if self.multiple_input:
            q, c = c[q], None  # type: ignore[index]
        messages = build_qa_turn(
            q,
            c,
            a,
            gen_prefix=prefix,
            tgt_delim=self.few.target_delimiter,
            few_delim=self.few.fewshot_delimiter,
        )
        return Shot(q, c, a, prefix, tuple(messages))

    def read(self, doc: Doc, shots: tuple[int, ...] | Exception) -> Row:
        """Read everything a prompt needs, in the harness's order, so that the first error is the harness's.

        `shots` is what `draws` gave with the row; an error in its place is raised when its turn comes.

        Raises:
            Unknown: the prompt cannot be known here.
            Exception: what the harness raises for this row.
        """
        prefix = self.prefix(doc)
        description = self.description(doc) or ""
        if isinstance(shots, Exception):
            raise shots
        if shots != self._read:
            for at in shots:
                self.shot(at)
            self._read = shots
        q = self.text(doc)
        c = _known(self.choice, doc) if self.config.doc_to_choice else None
        row = Row(doc, shots, prefix, description, q, c, _known(self.target, doc))
        if self.multiple_input:
            if isinstance(c, Unknown):
                raise c
            if not isinstance(c, list):
                raise AssertionError("a task with several inputs needs its choices as a list")
        return row

    def system(self, row: Row, view: View) -> str:
        """The system text: the view's instruction and the task's description."""
        return maybe_delimit(view.system, row.description, self.config.fewshot_delimiter)

    def fewshot_context(self, row: Row, view: View) -> Context:
        """The prompt of one row.

        Raises:
            Exception: what the harness raises for this row.
        """
        prefix = row.gen_prefix
        system = self.system(row, view)
        before = [Message("system", system)] if system else []
        for at in row.shots:
            before += self.shot(at).messages
        asked, delimiter = (row.c, "") if self.multiple_input else ([row.q], self.config.target_delimiter)
        chats: list[tuple[Message, ...]] = []
        texts: list[str] = []
        notes: tuple[str, ...] = ()
        for each in asked:
            messages = [*before, *build_qa_turn(each, gen_prefix=prefix, tgt_delim=delimiter, few_delim="")]
            if view.chat is None:
                texts.append(messages_to_text(messages))
            else:
                if not view.multiturn:
                    messages = multiturn_to_singleturn(messages)
                said = view.chat.apply([one.to_dict() for one in messages], add_generation_prompt=not prefix)
                texts.append(said.text)
                notes = said.notes or notes
            chats.append(tuple(messages))
        text = texts if self.multiple_input else texts[0]
        return Context(text, tuple(chats), tuple(asked), system, notes)

    def text_context(self, row: Row, view: View) -> Context:
        """The text that `fewshot_context` gives, in most cases without its messages: for rendering very many."""
        if self.multiple_input or view.chat is not None:
            return self.fewshot_context(row, view)
        shots, q, prefix = row.shots, row.q, row.gen_prefix
        system = self.system(row, view)
        if shots != self._told[0]:
            self._told = (shots, "".join([messages_to_text(self.shot(at).messages) for at in shots]))
        if prefix or not isinstance(q, str):
            turn = build_qa_turn(q, gen_prefix=prefix, tgt_delim=self.config.target_delimiter, few_delim="")
            q = messages_to_text(turn)
        text = f"{system}{self._told[1]}{q}" if type(system) is str else system + self._told[1] + q
        return Context(text, (), (), system)

    def construct_requests(self, row: Row, context: Any, view: View) -> tuple[Request, ...]:
        """What would be sent for one row.

        Raises:
            Unknown: it cannot be known here.
            Exception: what the harness raises for this row.
        """
        config, output_type = self.config, self.config.output_type
        scored = output_type == "multiple_choice"
        choices = target = None
        if scored:
            choices = _settled(row.c if config.doc_to_choice else self.choice(row.doc))
        if (scored and self.multiple_input) or output_type.startswith("loglikelihood"):
            target = _settled(row.a)
        delimiter = (
            continuation_delimiter(config.target_delimiter, config.gen_prefix, chat=view.as_chat)
            if scored
            else ""
        )
        return construct_requests(
            output_type,
            context,
            choices=choices,
            target=target,
            generation=config.generation_kwargs if output_type == "generate_until" else None,
            delimiter=delimiter,
            multiple_input=bool(self.multiple_input),
            mutual_info=scored and self.mutual_info,
            media={name: read(row.doc) for name, read in self.media.items()} if self.media else None,
        )


def _settled(value: Any) -> Any:
    """The value, if it is known."""
    if isinstance(value, Unknown):
        raise value
    return value


def _either(override: Any, own: Any) -> Any:
    return own if override is None else override


def _known(read: Callable[[Doc], Any], doc: Doc) -> Any:
    """The field's value; an `Unknown` where it cannot be known, which is no error of the row."""
    try:
        return read(doc)
    except Unknown as unknown:
        return unknown
