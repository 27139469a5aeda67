"""What one record shows and asks for, in a form that compares between versions.

A template task is shown with a placeholder row, made up from the variables of its templates (design.md, "Words").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.prompts.inline import dotted, render_inline, text_function
from evalspec.schema.assembly import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalspec.prompts.prompt import Request
    from evalspec.prompts.render import RenderedRow
    from evalspec.schema.schema import Schema

#: What a generation without settings of its own is asked for.
_PLAIN_GENERATION = '["generate_until", {"until": []}]'


def is_template(record: Mapping[str, Any], schema: Schema) -> bool:
    """Whether a valid record is a template over a data set."""
    field = schema.declaration.assembly.template
    return field is not None and field in record


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
