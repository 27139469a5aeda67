"""Lint over task files of our own contract: their texts, and how their prompts are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.check.choose import IGNORES, has_ignores
from evalspec.check.lint.characters import BYTE_ORDER_MARK, byte_order_marks, strange_characters
from evalspec.check.lint.joins import Way, joins
from evalspec.check.lint.pieces import LintFile
from evalspec.check.lint.rows import once, stopped
from evalspec.check.lint.scalars import escapes, kinds
from evalspec.check.lint.tasks import TaskLint
from evalspec.check.lint.templates import leftovers
from evalspec.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalspec.check.lint.remark import Remark
    from evalspec.errors import Finding
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View
    from evalspec.schema.assembly import Assembly
    from evalspec.tasks import TaskFile


def lint_records(
    files: Iterable[TaskFile], views: Sequence[View], rows: RowOptions | None = None
) -> Iterator[Finding]:
    """The findings of judged task files, in order. What is invalid is told by whoever judged them, and not here.

    Args:
        files: the files.
        views: how prompts are shown; joins are looked at under each.
        rows: where the rows of templates come from; None for made-up ones.
    """
    from evalspec.check.lint.run import in_order
    from evalspec.prompts.sandbox import Sandbox

    sandbox = Sandbox()
    lint = TaskLint(views, rows, sandbox)
    with sandbox.watch:
        for file in files:
            yield from in_order((*_of_texts(file), *_of_prompts(file, views, lint)))


def _of_texts(file: TaskFile) -> Iterator[Finding]:
    """What a file's texts show by themselves."""
    if file.report.format == "yaml":
        if file.path == "-":
            return
        from evalspec.tasks.validate import read_yaml

        try:
            _, read = read_yaml(file.path, file.reading)
        except FormatError:
            return
        yield from byte_order_marks(file.path, read)
        if IGNORES in read.source.text:
            yield has_ignores(file.path)
        for each in LintFile.of_yaml(file.path, read, own=True):
            yield from kinds(each)
            yield from _in_texts(each)
        return
    from evalspec.prompts.records import is_template
    from evalspec.tasks import FieldPlaces

    yield from (each for each in file.report.errors if each.rule == BYTE_ORDER_MARK.id)
    with FieldPlaces(file) as places:
        for record, schema, value in file.valid():
            each = LintFile.of_record(
                file.path, value, places.of(record), inline=not is_template(value, schema)
            )
            yield from _in_texts(each)


def _in_texts(each: LintFile) -> Iterator[Finding]:
    for finding in (*escapes(each), *strange_characters(each), *leftovers(each)):
        yield finding._replace(task=each.task)


def _of_prompts(file: TaskFile, views: Sequence[View], lint: TaskLint) -> Iterator[Finding]:
    """What shows when a file's valid records are rendered."""
    from evalspec.prompts.config import own_field, record_config
    from evalspec.prompts.records import is_template
    from evalspec.tasks import FieldPlaces

    with FieldPlaces(file) as places:
        for record, schema, value in file.valid():
            if is_template(value, schema):
                config = record_config(value)
                found = [
                    remark._replace(
                        field=own_field(remark.field), anchors=tuple(map(own_field, remark.anchors))
                    )
                    for remark in lint.remarks(str(value["task_id"]), value, config)
                ]
            else:
                found = once(_of_inline(value, schema.declaration.assembly, views))
            if not found:
                continue
            place_of, whole = places.of(record), (record.line, record.column)
            for remark in found:
                at = [place_of(field) for field in (remark.field, *remark.anchors)]
                place = next((each for each in at if (each.line, each.column) != whole), at[0])
                yield remark.at(place, str(value["task_id"]))


def _of_inline(record: dict[str, Any], assembly: Assembly, views: Sequence[View]) -> Iterator[Remark]:
    """What there is to say of the prompt of an inline task."""
    from evalspec.prompts.inline import render_inline

    for view in views:
        try:
            prompt = render_inline(record, assembly, view)
        except Exception:  # noqa: BLE001, S112 - a chat template that refuses the task is told of when it is rendered
            continue
        scored = ""
        if prompt.choices and prompt.requests:
            scored = str(prompt.requests[0].continuation).removesuffix(str(prompt.choices[0]))
        shown = next((part.text for part in prompt.parts if part.kind == "join"), "")
        yield from joins(prompt, view, Way(shown or scored, scored, assembly.examples, may_be_empty=False))
        answers = [part.text for part in prompt.parts if part.kind == "answer"]
        yield from stopped(list(prompt.stop), [*answers, *(prompt.target or ())], assembly.generation or "")
