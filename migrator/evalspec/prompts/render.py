"""Rendering tasks: from a task with its rows to lines that say exactly what the model sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.prompts.context_parts import context_parts
from evalspec.prompts.fields import unknowable
from evalspec.prompts.problems import Failure, Unknown, failure_of
from evalspec.prompts.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalspec.errors import Place
    from evalspec.prompts.message import Message
    from evalspec.prompts.template import TemplateTask
    from evalspec.prompts.view import View


@dataclass(frozen=True, slots=True)
class TaskLabel:
    """What every line about a task says of it.

    `notes` are sentences that its reader should be told once.
    """

    task: str
    schema: str
    version: Any
    split: str | None = None
    placeholder: bool = False
    notes: tuple[str, ...] = ()


class RenderedRow(NamedTuple):
    """One row of one task under one view: its prompt, or why there is none.

    Attributes:
        label: the task, its schema version and version, the split.
        row: the row's number after `process_docs`, from 0; None where the task as a whole is meant.
        view: the view's name.
        prompt: the prompt, where it is known.
        chats: the messages, one list a text; none where only the text was asked for.
        unknown: what cannot be known here, and why.
        error: what the harness itself would raise; it ends the task.
        field: the field that `unknown` or `error` is about.
    """

    label: TaskLabel
    row: int | None
    view: str
    prompt: Prompt | None = None
    chats: tuple[tuple[Message, ...], ...] = ()
    unknown: str | None = None
    error: Failure | None = None
    field: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The line that `evalspec render --format json` prints."""
        label, prompt = self.label, self.prompt
        chats = [[message.to_dict() for message in chat] for chat in self.chats]
        text: Any = None
        if prompt is not None:
            text = prompt.text if isinstance(prompt.text, str) else list(prompt.text)
        line: dict[str, Any] = {
            "task": label.task,
            "schema": label.schema,
            "version": label.version,
            "split": label.split,
            "row": self.row,
            "view": self.view,
            "text": text,
            "messages": (chats[0] if isinstance(text, str) else chats) if chats else None,
            "system": prompt.system or None if prompt else None,
            "shots": list(prompt.shots) if prompt else None,
            "target": prompt.target if prompt else None,
            "choices": list(prompt.choices) if prompt and prompt.choices is not None else None,
            "output_type": prompt.output_type if prompt else None,
            "requests": [request.to_dict() for request in prompt.requests] if prompt else None,
            "parts": [part.to_dict() for part in prompt.parts] if prompt else None,
            "unknown": self.unknown,
        }
        if label.placeholder:
            line["placeholder"] = True
        if prompt and prompt.notes:
            line["notes"] = list(prompt.notes)
        if self.error is not None:
            line["error"] = self.error.to_dict()
        return line


def render_template(
    task: TemplateTask,
    label: TaskLabel,
    view: View,
    *,
    parts: bool = True,
    place_of: Callable[[str], Place | None] | None = None,
) -> Iterator[RenderedRow]:
    """Every row of a task that this view shows. An error that the harness would raise is the last line.

    Args:
        task: the task with its rows.
        label: what the lines say of it.
        view: how, and which rows.
        parts: also take the text apart, with origins; else a plain prompt has no messages either.
        place_of: finds the place of a field in its file.
    """
    asked = False
    # The harness takes a limit of 0 for none, and drops all that it built afterwards: errors are what is left.
    nothing = view.limit == 0 and not task.global_draws
    for number, doc, shots in task.draws(view):
        try:
            line = _render_row(task, label, view, number, doc, shots, parts=parts, place_of=place_of)
            if nothing:
                continue
            asked = asked or line.unknown is not None or bool(line.prompt and line.prompt.requests)
            yield line
        except Unknown as unknown:
            if not nothing:
                asked = True
                yield RenderedRow(label, number, view.name, unknown=str(unknown), field=unknown.field)
        except Exception as problem:  # noqa: BLE001 - whatever the harness would raise is an answer
            reason = unknowable(problem)
            if reason is not None:
                if nothing:
                    continue
                asked = True
                yield RenderedRow(label, number, view.name, unknown=reason)
                continue
            failure = failure_of(problem)
            yield RenderedRow(label, number, view.name, error=failure, field=failure.field)
            return
    if not asked and not task.global_draws:
        empty = Failure("ValueError", "no row gives a request")
        yield RenderedRow(label, None, view.name, error=empty)


def _render_row(
    task: TemplateTask,
    label: TaskLabel,
    view: View,
    number: int,
    doc: dict[str, Any],
    shots: tuple[int, ...] | Exception,
    *,
    parts: bool,
    place_of: Callable[[str], Place | None] | None,
) -> RenderedRow:
    row = task.read(doc, shots)
    context = task.fewshot_context(row, view) if parts else task.text_context(row, view)
    config = task.config
    lacking: Unknown | None = None
    try:
        requests = task.construct_requests(row, context.text, view)
    except Unknown as unknown:
        requests, lacking = (), unknown
    target, choices = row.a, row.c
    if isinstance(target, Unknown):
        target, lacking = None, lacking or target
    if isinstance(choices, Unknown):
        choices, lacking = None, lacking or choices
    generation = config.generation_kwargs if config.output_type == "generate_until" else None
    until = generation.get("until") if isinstance(generation, dict) else None
    prompt = Prompt(
        context.text if isinstance(context.text, str) else tuple(context.text),
        context.messages[0] if context.messages else (),
        context_parts(task, row, context, view, number) if parts else (),
        requests,
        target,
        None if choices is None else tuple(choices),
        config.output_type,
        (until,) if isinstance(until, str) else tuple(until or ()),
        generation,
        row.shots,
        context.notes,
    )
    if place_of is not None and parts:
        prompt = prompt.located(place_of)
    if lacking is None:
        return RenderedRow(label, number, view.name, prompt, context.messages)
    reason, field = str(lacking), lacking.field
    return RenderedRow(label, number, view.name, prompt, context.messages, unknown=reason, field=field)
