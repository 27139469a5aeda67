"""The lines of the records of task files, inline tasks and template tasks alike, for `evalspec render`.

A template task without rows is shown with a placeholder row, made up from the variables of its templates (design.md,
"Words").
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from evalspec.errors import UsageError, did_you_mean, visible
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
from evalspec.prompts.tasks import record_spec, render_task

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from evalspec.errors import Place
    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.lines import Line, Wanted
    from evalspec.prompts.sandbox import Sandbox
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View
    from evalspec.schema.schema import Schema
    from evalspec.tasks.records import TaskFile

_ROWS = "the record may be fine: a made-up row cannot show it, a row of its data set can (--rows, --rows-dir)"


def render_records(
    files: Sequence[TaskFile], wanted: Wanted, short: Callable[[str], str] = str
) -> Iterator[Line]:
    """A line for every valid record, row and view, in order; of the named tasks only, where any are named.

    Args:
        files: judged task files.
        wanted: which tasks, and how they are shown.
        short: how a schema version's id is written.

    Raises:
        UsageError: no task has a name or matches a pattern, or one file of rows is meant for several tasks.
    """
    from evalspec.prompts.sandbox import Sandbox

    asked = Asked(wanted.tasks)
    _check_rows(files, wanted)
    sandbox: Sandbox | None = None
    with ExitStack() as stack:
        for file in files:
            for record, schema, value in file.valid():
                if not asked.takes(value["task_id"]):
                    continue
                label = TaskLabel(value["task_id"], schema.id, value.get("version"))
                if not is_template(value, schema):
                    for view in wanted.views:
                        place_of = _at(file.path, record.line)
                        row = _inline_row(label, value, schema, view, place_of, parts=wanted.parts)
                        found = tuple(findings_of(row, file.path, place_of=place_of))
                        yield line_of(row, file.path, record.line, short(schema.id), found)
                    continue
                if sandbox is None:
                    sandbox = Sandbox()
                    stack.enter_context(sandbox.watch)
                yield from _template_lines(
                    file.path, record.line, value, short(schema.id), schema, wanted, sandbox
                )
    asked.check()


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


def _at(path: str, line: int) -> Callable[[str], Place | None]:
    from evalspec.errors import Place

    place = Place(path, line)
    return lambda _: place


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
        prompt = render_inline(record, assembly, view).located(place_of)
        chat = prompt.messages
        if view.chat is not None and not view.multiturn:
            chat = tuple(multiturn_to_singleturn(chat))
    except Exception as problem:  # noqa: BLE001 - a chat template raises what its author pleases
        reason = unknowable(problem)
        failure = failure_of(problem) if reason is None else None
        return RenderedRow(label, None, view.name, unknown=reason, error=failure)
    return RenderedRow(label, None, view.name, prompt, (chat,))


def _template_lines(
    path: str,
    line: int,
    record: dict[str, Any],
    short: str,
    schema: Schema,
    wanted: Wanted,
    sandbox: Sandbox,
) -> Iterator[Line]:
    place_of = _at(path, line)
    spec = record_spec(record, schema.id, place_of)
    for view in wanted.views:
        for row in render_task(spec, view, wanted.rows, sandbox, parts=wanted.parts):
            columns = columns_of(spec.name, spec.read, wanted.rows) if row.error is not None else ()
            found = findings_of(
                row,
                path,
                place_of=place_of,
                columns=columns,
                source_of=lambda field: dotted(record, field),
            )
            shown = [
                finding._replace(fix=_ROWS) if finding.severity == "info" else finding for finding in found
            ]
            yield line_of(row, path, line, short, tuple(shown))


def columns_of(task: str, read: Callable[[], TaskConfig], rows: RowOptions) -> tuple[str, ...]:
    """The columns of a task's own rows, for a suggestion where a template names one that is not there."""
    try:
        config = read()
        found = rows.source.split(task, config, config.eval_split or "") if rows.source is not None else None
    except Exception:  # noqa: BLE001 - there is an error to tell of already
        return ()
    return tuple(found[0]) if found else ()
