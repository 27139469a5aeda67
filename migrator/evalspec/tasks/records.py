"""The records of a task file, one after another, once the whole file has been judged.

Whoever goes on to use records must know first whether all of them are valid (records.md, "v1 · inline tasks"). So a
file is judged when it is opened, and its records are read behind that, as often as they are wanted, in constant memory.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from evalspec.errors import BadTasks, FormatError, WriteError, counted
from evalspec.tasks import findings
from evalspec.tasks.judge import Batch, Judge
from evalspec.tasks.validate import (
    FileReport,
    Reading,
    chunks_of,
    find_twins,
    format_of,
    judge_yaml,
    open_regular,
    read_range,
    read_yaml,
)

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.errors import Finding
    from evalspec.schema.schema import Schema
    from evalspec.tasks.ids import Twins

_SPACE = b" \t\r"


class TaskRecord(NamedTuple):
    """One record of a file.

    Attributes:
        line: the line it begins on, from 1.
        column: the column it begins at, from 1, in code points.
        schema: its version; None where that is unknown.
        task: its id, where it is known.
        value: the record as plain data; None where it is invalid.
    """

    line: int
    column: int
    schema: Schema | None
    task: str | None
    value: dict[str, Any] | None


class TaskFile:
    """A task file, judged.

    Attributes:
        path: the file, as it was named; `-` is standard input.
        reading: how its records are read.
        report: what is valid and what is wrong.
    """

    def __init__(
        self, path: str, reading: Reading, *, advance: Callable[[int], object] | None = None
    ) -> None:
        """Judge the whole file.

        Raises:
            WriteError: it cannot be read.
        """
        self.path = path
        self.reading = reading
        self._stack = ExitStack()
        self._kept: BinaryIO | list[TaskRecord] | None = None
        self._twins: frozenset[int] = frozenset()
        self.report = FileReport(path, format_of(path))
        if self.report.format == "yaml":
            records = list(self._yaml(self.report))
            self._kept = records if path == "-" else None
        else:
            self._judge(advance)

    def close(self) -> None:
        """Let go of what was kept of standard input."""
        self._stack.close()
        self._kept = None

    def records(self) -> Iterator[TaskRecord]:
        """Every record in the order of the file, the invalid ones without a value.

        Raises:
            WriteError: the file cannot be read any more, or was changed since it was judged.
        """
        if isinstance(self._kept, list):
            yield from self._kept
        elif self._kept is not None:
            yield from self._jsonl(self._kept)
        elif self.report.format == "yaml":
            again = FileReport(self.path, "yaml")
            yield from self._yaml(again)
            self._same(again.valid, again.schemas)
        else:
            with open_regular(self.path) as stream:
                yield from self._jsonl(stream)

    def valid(self) -> Iterator[tuple[TaskRecord, Schema, dict[str, Any]]]:
        """Every valid record with its version and its value."""
        for record in self.records():
            if record.value is not None and record.schema is not None:
                yield record, record.schema, record.value

    def _judge(self, advance: Callable[[int], object] | None) -> None:
        with ExitStack() as stack:
            stream = stack.enter_context(open_regular(self.path))
            judge = read_range(stream, self.report, self.reading, advance=advance)
            self._twins = judge.ids.suspects()
            if self._twins:
                stream.seek(0)
                find_twins(stream, self.report, self.reading, self._twins)
            if self.path == "-":
                self._kept = stream
                self._stack = stack.pop_all()

    def _jsonl(self, stream: BinaryIO) -> Iterator[TaskRecord]:
        stream.seek(0)
        reading, twins = self.reading, self._second_reading()
        judge = Judge(reading.families, self.path, unmarked=reading.unmarked, twins=twins)
        for chunk in chunks_of(stream, reading):
            verdict = judge.judge(chunk)
            if isinstance(verdict, Batch):
                yield from _of_batch(verdict)
                continue
            for line in verdict:
                if line.record is None and not line.findings:
                    continue
                task = line.record["task_id"] if line.record else line.findings[0].task
                column = len(line.data) - len(line.data.lstrip(_SPACE)) + 1
                yield TaskRecord(line.number, column, line.schema, task, line.record)
        self._same(judge.valid, judge.schemas)

    def _same(self, valid: int, schemas: Counter[str]) -> None:
        if (valid, schemas) != (self.report.valid, self.report.schemas):
            raise WriteError(self.path, "was changed while it was read", fix="run again")

    def _second_reading(self) -> Twins | None:
        if not self._twins:
            return None
        from evalspec.tasks.ids import Twins

        return Twins(self._twins)

    def _yaml(self, report: FileReport) -> Iterator[TaskRecord]:
        try:
            _, file = read_yaml(self.path, self.reading)
        except FormatError as error:
            report.errors.append(findings.of_format_error(self.path, error))
            return
        for record, schema, valid in judge_yaml(file, report, self.reading):
            task = findings.task_of(record.value) if record.value is not None else None
            yield TaskRecord(record.line, record.column, schema, task, record.value if valid else None)


def _of_batch(batch: Batch) -> Iterator[TaskRecord]:
    import msgspec

    for number, line in enumerate(batch.chunk.data.split(b"\n"), batch.first_line):
        if line:
            value = msgspec.json.decode(line)
            column = len(line) - len(line.lstrip(_SPACE)) + 1
            yield TaskRecord(number, column, batch.schema, value["task_id"], value)


@contextmanager
def open_tasks(
    paths: Sequence[str],
    reading: Reading,
    *,
    allow_bad: bool = True,
    advance: Callable[[int], object] | None = None,
) -> Iterator[list[TaskFile]]:
    """Judge task files and give them open for reading.

    Args:
        paths: the files; `-` is standard input.
        reading: how records are read.
        allow_bad: go on where records are invalid.
        advance: told the number of bytes that were read since it was last told.

    Raises:
        BadTasks: records are invalid, and that is not allowed.
        WriteError: a file cannot be read.
    """
    with ExitStack() as stack:
        files = []
        for path in paths:
            files.append(TaskFile(path, reading, advance=advance))
            stack.callback(files[-1].close)
        if not allow_bad:
            refuse_bad([finding for file in files for finding in file.report.errors])
        yield files


def refuse_bad(found: Sequence[Finding]) -> None:
    """Stop where there are findings.

    Raises:
        BadTasks: there are.
    """
    if found:
        number = counted(len(found), "error")
        fix = "mend the records, or go on without them: --allow-bad-tasks (`allow_bad_tasks=True`)"
        raise BadTasks(f"{number} in the task files", found, fix=fix)
