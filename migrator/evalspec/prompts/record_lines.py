"""The lines of the records of task files, inline tasks and template tasks alike, for `evalspec render`.

A template task without rows is shown with a placeholder row, made up from the variables of its templates (design.md,
"Words").
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import UsageError, did_you_mean, visible
from evalspec.prompts.config import own_field
from evalspec.prompts.docs import docs_of
from evalspec.prompts.fields import unknowable
from evalspec.prompts.findings import findings_of
from evalspec.prompts.inline import dotted, render_inline, text_function
from evalspec.prompts.lines import line_of
from evalspec.prompts.message import multiturn_to_singleturn
from evalspec.prompts.problems import failure_of
from evalspec.prompts.prompt import Prompt
from evalspec.prompts.records import is_template
from evalspec.prompts.render import RenderedRow, TaskLabel
from evalspec.prompts.rows import FirstOf, RowsFile
from evalspec.prompts.sharing import shared_out
from evalspec.prompts.tasks import record_spec, render_task
from evalspec.tasks.places import FieldPlaces

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Self

    from evalspec.errors import Place
    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.lines import Line, Wanted
    from evalspec.prompts.sandbox import Sandbox
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View
    from evalspec.schema.schema import Schema
    from evalspec.tasks.records import TaskFile, TaskRecord

#: So many records are a piece of work, and with fewer than this one process is sooner done.
_AT_ONCE, _WORTH_SHARING = 50, 1000
_ROWS = "the record may be fine: a made-up row cannot show it, a row of its data set can (--rows, --rows-dir)"


def render_records(
    files: Sequence[TaskFile], wanted: Wanted, short: Callable[[str], str] = str, *, jobs: int = 1
) -> Iterator[Line]:
    """A line for every valid record, row and view, in order; of the named tasks only, where any are named.

    Args:
        files: judged task files.
        wanted: which tasks, and how they are shown.
        short: how a schema version's id is written.
        jobs: the number of processes, for many records.

    Raises:
        UsageError: no task has a name or matches a pattern, or one file of rows is meant for several tasks.
    """
    _check_rows(files, wanted)
    if not _is_worth_sharing(files, wanted):
        jobs = 1

    def pieces(number: int, of: int) -> Iterator[Iterator[Line]]:
        asked = Asked(wanted.tasks)
        with _Renderer(wanted, short) as renderer:
            for at, piece in enumerate(_pieces(files, asked)):
                if at % of == number:
                    yield wanted.finished(chain.from_iterable(map(renderer.lines, piece)))
        asked.check()

    yield from shared_out(pieces, jobs)


def _is_worth_sharing(files: Sequence[TaskFile], wanted: Wanted) -> bool:
    """Whether several processes are sooner done. What was kept of standard input can be read by one only.

    The mere texts of inline tasks are made sooner than they are sent; JSONL files hold no other tasks.
    """
    if any(file.path == "-" for file in files) or sum(file.report.valid for file in files) < _WORTH_SHARING:
        return False
    views_cost = any(view.chat or view.system is not None or view.shots is not None for view in wanted.views)
    return wanted.parts or views_cost or any(file.report.format == "yaml" for file in files)


def _pieces(files: Sequence[TaskFile], asked: Asked) -> Iterator[list[_Valid]]:
    """The records that are asked for, some at a time."""
    piece: list[_Valid] = []
    for file in files:
        for record, schema, value in file.valid():
            if asked.takes(value["task_id"]):
                piece.append(_Valid(file, record, schema, value))
                if len(piece) == _AT_ONCE:
                    yield piece
                    piece = []
    if piece:
        yield piece


class _Valid(NamedTuple):
    """A valid record of a file."""

    file: TaskFile
    record: TaskRecord
    schema: Schema
    value: dict[str, Any]


class _Renderer:
    """Makes the lines of records, in the order of their files."""

    def __init__(self, wanted: Wanted, short: Callable[[str], str]) -> None:
        self._wanted = wanted
        self._short = short
        self._stack = ExitStack()
        self._of_file = self._stack.enter_context(ExitStack())
        self._sandbox: Sandbox | None = None
        self._file: TaskFile | None = None
        self._places: FieldPlaces

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def lines(self, valid: _Valid) -> Iterator[Line]:
        """The lines of one record."""
        file, record, schema, value = valid
        if file is not self._file:
            self._of_file.close()
            self._file, self._places = file, self._of_file.enter_context(FieldPlaces(file))
        place_of = self._places.of(record)
        path, line, short = file.path, record.line, self._short(schema.id)
        if is_template(value, schema):
            yield from self._template(valid, short, place_of)
            return
        label = TaskLabel(value["task_id"], schema.id, value.get("version"))
        for view in self._wanted.views:
            row = _inline_row(label, value, schema, view, place_of, parts=self._wanted.parts)
            yield line_of(row, path, line, short, tuple(findings_of(row, path, place_of=place_of)))

    def _template(self, valid: _Valid, short: str, place_of: Callable[[str], Place]) -> Iterator[Line]:
        wanted, (file, record, schema, value) = self._wanted, valid
        if self._sandbox is None:
            from evalspec.prompts.sandbox import Sandbox

            self._sandbox = Sandbox()
            self._stack.enter_context(self._sandbox.watch)
        spec = record_spec(value, schema.id)
        for view in wanted.views:
            for told in render_task(spec, view, wanted.rows, self._sandbox, parts=wanted.parts):
                row = _in_own_words(told, place_of)
                columns = columns_of(spec.name, spec.read, wanted.rows) if row.error is not None else ()
                found = findings_of(
                    row,
                    file.path,
                    place_of=place_of,
                    columns=columns,
                    source_of=lambda field: dotted(value, field),
                )
                shown = [each._replace(fix=_ROWS) if each.severity == "info" else each for each in found]
                yield line_of(row, file.path, record.line, short, tuple(shown))


class Asked:
    """Which tasks names and patterns ask for; all, where there are none."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = {name for name in names if not is_pattern(name)}
        self._patterns = [name for name in names if is_pattern(name)]
        self._missing = set(names)
        self._met: list[str] = []

    def takes(self, task: str) -> bool:
        """Whether a task is asked for."""
        if not self._names and not self._patterns:
            return True
        self._met.append(task)
        self._missing.discard(task)
        if task in self._names:
            return True
        from fnmatch import fnmatchcase

        matched = [pattern for pattern in self._patterns if fnmatchcase(task, pattern)]
        self._missing.difference_update(matched)
        return bool(matched)

    def check(self) -> None:
        """Refuse a name or pattern that nothing was found for.

        Raises:
            UsageError: there is one.
        """
        if self._missing:
            name = min(self._missing)
            near = did_you_mean(name, self._met) or "name a task that is there and valid"
            raise UsageError(f"no task {visible(name)!r} in what was read", fix=near)


def is_pattern(name: str) -> bool:
    """Whether a task's name is a pattern of names."""
    return any(mark in name for mark in "*?[")


def _check_rows(files: Sequence[TaskFile], wanted: Wanted) -> None:
    """One file of rows is for one task: find out before anything is printed."""
    source = wanted.rows.source
    first = source.sources[0] if isinstance(source, FirstOf) and source.sources else source
    if not isinstance(first, RowsFile):
        return
    asked = Asked(wanted.tasks)
    named = [
        value["task_id"]
        for file in files
        for _, schema, value in file.valid()
        if is_template(value, schema) and asked.takes(value["task_id"])
    ]
    refuse_several(named)


def refuse_several(tasks: Sequence[str]) -> None:
    """Refuse to give one file's rows to several tasks.

    Raises:
        UsageError: there is not exactly one task.
    """
    if len(tasks) != 1:
        shown = ", ".join(map(visible, tasks[:3])) + (", …" if len(tasks) > 3 else "")
        raise UsageError(
            f"--rows gives the rows of one template task, and {len(tasks) or 'none'} would be rendered"
            + (f" ({shown})" if tasks else ""),
            fix="name one with --task, or give a folder with --rows-dir",
        )


def _inline_row(
    label: TaskLabel,
    record: Mapping[str, Any],
    schema: Schema,
    view: View,
    place_of: Callable[[str], Place | None],
    *,
    parts: bool,
) -> RenderedRow:
    """An inline task under a view. Where the text is all that is wanted, nothing else is made."""
    assembly = schema.declaration.assembly
    if not parts and view.chat is None and view.system is None and view.shots is None:
        text = text_function(assembly)(record)
        return RenderedRow(label, None, view.name, Prompt(text, ()), ((),))
    try:
        prompt = render_inline(record, assembly, view)
        prompt = prompt.located(place_of) if parts else prompt
        chat = prompt.messages
        if view.chat is not None and not view.multiturn:
            chat = tuple(multiturn_to_singleturn(chat))
    except Exception as problem:  # noqa: BLE001 - a chat template raises what its author pleases
        reason = unknowable(problem)
        failure = failure_of(problem) if reason is None else None
        return RenderedRow(label, None, view.name, unknown=reason, error=failure)
    return RenderedRow(label, None, view.name, prompt, (chat,))


def _in_own_words(row: RenderedRow, place_of: Callable[[str], Place]) -> RenderedRow:
    """A template task's row, with its fields named as in a record and placed in its file."""
    prompt, field = row.prompt, row.field and own_field(row.field)
    if prompt is not None and prompt.parts:
        prompt = prompt.renamed(own_field).located(place_of)
    unknown = row.unknown
    if unknown is not None and row.field and field:
        unknown = field + unknown.removeprefix(row.field) if unknown.startswith(row.field) else unknown
    return row._replace(prompt=prompt, field=field, unknown=unknown)


def columns_of(task: str, read: Callable[[], TaskConfig], rows: RowOptions) -> tuple[str, ...]:
    """The columns of a task's docs, for a suggestion where a template names one that is not there."""
    try:
        return docs_of(task, read(), rows.source, are_docs=rows.are_docs, as_dataset=rows.as_dataset).features
    except Exception:  # noqa: BLE001 - there is an error to tell of already
        return ()
