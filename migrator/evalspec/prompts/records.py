"""The prompts of records: of the records of files, for `evalspec render`, and of one record, for comparing versions.

A template task is shown with a placeholder row, made up from the variables of its templates (design.md, "Words").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import UsageError, did_you_mean, visible
from evalspec.prompts.inline import dotted, render_inline, text_function
from evalspec.schema.assembly import Constant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from evalspec.errors import Finding
    from evalspec.prompts.prompt import Request
    from evalspec.prompts.render import RenderedRow
    from evalspec.schema.schema import Schema
    from evalspec.tasks.records import TaskFile

#: What a generation without settings of its own is asked for.
_PLAIN_GENERATION = '["generate_until", {"until": []}]'

_ROWS = "the record may be fine: a made-up row cannot show it, a row of its data set can (`render_tasks`)"


class RecordPrompt(NamedTuple):
    """The prompt of one task.

    Attributes:
        path: the task's file.
        line: the line its record begins on.
        task: its id.
        schema: its schema version.
        version: its own version, where it has one.
        texts: the prompt; several where each choice is a context of its own, none where it is not known.
        placeholder: whether it was made from a row that was made up.
        unknown: why it is not known; empty where it is.
        findings: the same, and whatever else there is to say about it.
    """

    path: str
    line: int
    task: str
    schema: Schema
    version: Any
    texts: tuple[str, ...]
    placeholder: bool = False
    unknown: str = ""
    findings: tuple[Finding, ...] = ()


def render_files(files: Iterable[TaskFile], tasks: Collection[str] = ()) -> Iterator[RecordPrompt]:
    """The prompt of every valid record, in order; of the named tasks only, where any are named.

    Raises:
        UsageError: there is no task of a name.
    """
    missing, met = set(tasks), []
    for file in files:
        for record, schema, value in file.valid():
            task = value["task_id"]
            if tasks:
                met.append(task)
                missing.discard(task)
                if task not in tasks:
                    continue
            if is_template(value, schema):
                yield from _template_prompts(file.path, record.line, value, schema)
            else:
                text = text_function(schema.declaration.assembly)(value)
                yield RecordPrompt(file.path, record.line, task, schema, value.get("version"), (text,))
    if missing:
        name = min(missing)
        near = did_you_mean(name, met) or "name a task that is there and valid"
        raise UsageError(f"no task {visible(name)!r} in what was read", fix=near)


def is_template(record: Mapping[str, Any], schema: Schema) -> bool:
    """Whether a valid record is a template over a data set."""
    field = schema.declaration.assembly.template
    return field is not None and field in record


def _template_prompts(path: str, line: int, record: dict[str, Any], schema: Schema) -> Iterator[RecordPrompt]:
    from evalspec.errors import Place
    from evalspec.prompts.findings import findings_of

    place = Place(path, line)
    for row in _rows(record, schema):
        found = findings_of(
            row, path, place_of=lambda _: place, source_of=lambda field: dotted(record, field)
        )
        text = row.prompt.text if row.prompt is not None else ()
        yield RecordPrompt(
            path,
            line,
            record["task_id"],
            schema,
            record.get("version"),
            (text,) if isinstance(text, str) else tuple(text),
            row.label.placeholder,
            _why_not(row),
            tuple(
                finding._replace(fix=_ROWS) if finding.severity == "info" else finding for finding in found
            ),
        )


def _rows(record: Mapping[str, Any], schema: Schema) -> Iterator[RenderedRow]:
    """A template task with a row that was made up."""
    from evalspec.prompts.tasks import record_spec, render_tasks
    from evalspec.prompts.view import PLAIN

    return render_tasks([record_spec(record, schema.id)], [PLAIN], parts=False)


def show_record(record: Mapping[str, Any], schema: Schema) -> tuple[str, str, str]:
    """What a model would be shown and asked for by a valid record, in a form that compares between versions.

    Returns:
        The prompt's plain text (of a template, its contexts and rows one after another); what is asked for, as a text
        of the output type with the settings of the generation or the continuations to score; and the reason why the
        prompt is not known, empty where it is.
    """
    if is_template(record, schema):
        return _show_template(record, schema)
    assembly = schema.declaration.assembly
    text = text_function(assembly)(record)
    source = assembly.output_type
    output_type = source.text if isinstance(source, Constant) else record.get(source.name, source.default)
    if output_type == "generate_until":
        generation = dotted(record, assembly.generation) if assembly.generation else None
        if not generation or generation == {"until": []}:
            return text, _PLAIN_GENERATION, ""
    return text, _asked(output_type, render_inline(record, assembly).requests), ""


def _show_template(record: Mapping[str, Any], schema: Schema) -> tuple[str, str, str]:
    texts: list[str] = []
    asked: list[str] = []
    for row in _rows(record, schema):
        if unknown := _why_not(row):
            return "", "", unknown
        if row.prompt is not None:
            text = row.prompt.text
            texts += [text] if isinstance(text, str) else text
            asked.append(_asked(row.prompt.output_type, row.prompt.requests))
    return "".join(texts), "\n".join(asked), ""


def _why_not(row: RenderedRow) -> str:
    """Why a row's prompt is not known; empty where it is."""
    return row.unknown or (f"{row.error.type}: {row.error.message}" if row.error is not None else "")


def _asked(output_type: str, requests: Iterable[Request]) -> str:
    import json

    said = [
        dict(request.generation) if request.generation is not None else request.continuation
        for request in requests
    ]
    return json.dumps([output_type, *said], sort_keys=True, default=repr)
