"""Validate task files: how many records are valid, what is wrong with the others (records.md, "v1 · inline tasks")."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from evalspec.errors import FormatError, WriteError
from evalspec.tasks import findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.errors import Finding
    from evalspec.formats.lines import Chunk, LongLine
    from evalspec.formats.yaml import YamlFile, YamlLimits, YamlRecord
    from evalspec.schema.family import Families
    from evalspec.schema.schema import Schema
    from evalspec.tasks.judge import Judge

YAML_SUFFIXES = (".yaml", ".yml")
JSONL_SUFFIXES = (".jsonl", ".ndjson")

#: A file is shared out in ranges of so many bytes at least: to read that much takes as long as starting two workers.
LEAST_SHARE = 4 * 1024 * 1024
#: So many small files are worth workers, too.
MANY_FILES = 64


class Reading(NamedTuple):
    """How records are read. It can be pickled; the versions then are loaded anew.

    Attributes:
        families: the versions there are.
        unmarked: the version of a record without `spec_version`.
        all_errors: report every violation of a record, not only the first.
        yaml_limits: what a YAML file may cost; None for the defaults.
        max_line: the longest line of a JSONL file, in bytes; None for the default.
    """

    families: Families
    unmarked: Schema
    all_errors: bool = False
    yaml_limits: YamlLimits | None = None
    max_line: int | None = None

    def __reduce__(self) -> tuple[Callable[..., Reading], tuple[object, ...]]:
        return _reading, (self.families, self.unmarked.id, *self[2:])


def _reading(families: Families, unmarked: str, *others: Any) -> Reading:
    return Reading(families, families.schema(unmarked), *others)


@dataclass
class FileReport:
    """What one task file holds.

    Attributes:
        path: the file, as it was named.
        format: `jsonl` or `yaml`.
        schemas: how many records there are of each version, by id.
        valid: how many of them are valid.
        errors: what is wrong with the others, in the order of the file.
        warnings: what is worth a look, and no error.
    """

    path: str
    format: str
    schemas: Counter[str] = field(default_factory=Counter)
    valid: int = 0
    errors: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)

    def add(self, other: FileReport, lines_before: int) -> None:
        """Take in what another reader found in the next range of the same file, behind so many lines."""
        self.schemas += other.schemas
        self.valid += other.valid
        self.errors += findings.moved(other.errors, lines_before)
        self.warnings += findings.moved(other.warnings, lines_before)


def format_of(path: str) -> str:
    """`jsonl` or `yaml`, by the file's name; by its first bytes where the name does not say."""
    name = path.removesuffix(".gz").lower()
    if name.endswith(YAML_SUFFIXES):
        return "yaml"
    if name.endswith(JSONL_SUFFIXES) or path == "-":
        return "jsonl"
    with open_regular(path) as stream:
        head = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    return "jsonl" if head.startswith((b"{", b"[")) or not head else "yaml"


def open_regular(path: str) -> _Source:
    """Open a file to read; a folder, a FIFO or a device is refused, not waited for.

    Raises:
        WriteError: it cannot be read, or is no regular file.
    """
    import stat

    if path != "-" and not path.startswith("/dev/"):
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            raise WriteError(path, error.strerror or str(error), fix="check the path") from None
        if stat.S_ISDIR(mode):
            raise WriteError(
                path, "is a folder, not a file", fix="name the files in it, or give it to the command"
            )
        if not stat.S_ISREG(mode):
            raise WriteError(path, "is no regular file", fix="write it to a file first, or pipe it to `-`")
    return _Source(path)


class _Source:
    """A context manager over `open_source` that tells a failing read as a `WriteError`."""

    def __init__(self, path: str) -> None:
        from evalspec.formats.lines import open_source

        self._path = path
        self._context = open_source(path)

    def __enter__(self) -> BinaryIO:
        return self._context.__enter__()

    def __exit__(self, *details: object) -> None:
        error = details[1]
        self._context.__exit__(None, None, None)
        if isinstance(error, OSError):
            raise WriteError(self._path, error.strerror or str(error)) from error


def validate_paths(
    paths: Sequence[str],
    reading: Reading,
    *,
    jobs: int | None = None,
    advance: Callable[[int], object] | None = None,
) -> list[FileReport]:
    """Validate task files, large ones with several processes.

    Args:
        paths: the files, in the order of the reports.
        reading: how records are read.
        jobs: how many processes may share the work; None for as many as there are cores.
        advance: told the number of bytes that were read since it was last told.

    Raises:
        WriteError: a file cannot be read.
        WorkerLost: a worker process was killed.
    """
    if jobs != 1 and is_much_work(paths):
        from evalspec.tasks.sharing import validate_shared
        from evalspec.tasks.workers import cores

        return validate_shared(paths, reading, jobs or cores(), advance)
    return [validate_path(path, reading, advance=advance) for path in paths]


def is_much_work(paths: Sequence[str]) -> bool:
    """True where files are so large, or so many, that workers may be worth what it takes to start them."""
    if len(paths) >= MANY_FILES:
        return True
    for path in paths:
        try:
            if path != "-" and os.stat(path).st_size >= 2 * LEAST_SHARE:
                return True
        except OSError:
            continue
    return False


def validate_path(
    path: str, reading: Reading, *, advance: Callable[[int], object] | None = None
) -> FileReport:
    """Validate one task file.

    Args:
        path: a file; `-` is standard input.
        reading: how records are read.
        advance: told the number of bytes that were read since it was last told.

    Raises:
        WriteError: the file cannot be read.
    """
    if format_of(path) == "yaml":
        return _validate_yaml(path, reading)
    report = FileReport(path, "jsonl")
    with open_regular(path) as stream:
        judge = read_range(stream, report, reading, advance=advance)
        suspects = judge.ids.suspects()
        if suspects:
            stream.seek(0)
            find_twins(stream, report, reading, suspects)
    return report


def read_range(
    stream: BinaryIO,
    report: FileReport,
    reading: Reading,
    *,
    start: int = 0,
    end: int | None = None,
    advance: Callable[[int], object] | None = None,
) -> Judge:
    """Read the lines that begin in a range of a JSONL file into `report`; twins are left to `find_twins`."""
    from evalspec.tasks.judge import Batch, Judge

    judge = Judge(reading.families, report.path, unmarked=reading.unmarked, all_errors=reading.all_errors)
    for chunk in chunks_of(stream, reading, start=start, end=end):
        verdict = judge.judge(chunk)
        if not isinstance(verdict, Batch):
            report.errors += [finding for line in verdict for finding in line.findings]
        if advance is not None:
            advance(chunk_size(chunk))
    report.schemas += judge.schemas
    report.valid += judge.valid
    return judge


def chunks_of(
    stream: BinaryIO, reading: Reading, *, start: int = 0, end: int | None = None
) -> Iterator[Chunk | LongLine]:
    """The chunks of a JSONL file; a failing read is a `WriteError` of whoever opened it."""
    from evalspec.formats.lines import MAX_LINE, read_lines

    return read_lines(stream, start=start, end=end, max_line=reading.max_line or MAX_LINE)


def chunk_size(chunk: Chunk | LongLine) -> int:
    """How many bytes of the file a chunk stands for."""
    data = chunk[1]
    return len(data) if isinstance(data, bytes) else data


def find_twins(stream: BinaryIO, report: FileReport, reading: Reading, suspects: frozenset[int]) -> None:
    """Second reading of a JSONL file, with the ids behind suspected hashes compared exactly; `report` is made anew."""
    from evalspec.tasks.ids import Twins
    from evalspec.tasks.judge import Batch, Judge

    judge = Judge(
        reading.families,
        report.path,
        unmarked=reading.unmarked,
        all_errors=reading.all_errors,
        twins=Twins(suspects),
    )
    report.errors.clear()
    for chunk in chunks_of(stream, reading):
        verdict = judge.judge(chunk)
        if not isinstance(verdict, Batch):
            report.errors += [finding for line in verdict for finding in line.findings]
    report.schemas, report.valid = judge.schemas, judge.valid


# ── YAML ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _validate_yaml(path: str, reading: Reading) -> FileReport:
    report = FileReport(path, "yaml")
    try:
        _, file = read_yaml(path, reading)
    except FormatError as error:
        report.errors.append(findings.of_format_error(path, error))
        return report
    for _ in judge_yaml(file, report, reading):
        pass
    return report


def read_yaml(path: str, reading: Reading) -> tuple[bytes, YamlFile]:
    """The bytes of a YAML file, and what they parse to.

    Raises:
        FormatError: it is none.
        WriteError: it cannot be read.
    """
    from evalspec.formats.yaml import YamlLimits, read

    limits = reading.yaml_limits or YamlLimits()
    with open_regular(path) as stream:
        data = stream.read(limits.size + 1)
        while len(data) <= limits.size and (more := stream.read(limits.size + 1 - len(data))):
            data += more
    return data, read(data, limits=limits)


def judge_yaml(
    file: YamlFile, report: FileReport, reading: Reading
) -> Iterator[tuple[YamlRecord, Schema | None, bool]]:
    """Each record of a YAML file with its version (None where unknown) and whether it is valid; fills `report`."""
    from evalspec.formats.yaml import place, records

    path = report.path
    report.warnings += [findings.of_format_error(path, error, severity="warning") for error in file.warnings]
    seen: dict[str, YamlRecord] = {}
    for record in records(file):
        report.warnings += [
            findings.of_format_error(path, error, severity="warning") for error in record.warnings
        ]
        if record.error is not None or record.value is None:
            assert record.error is not None
            report.errors.append(findings.of_format_error(path, record.error))
            yield record, None, False
            continue
        value = record.value
        schema = reading.unmarked
        if "spec_version" in value:
            known = reading.families.of_marker(value["spec_version"])
            if known is None:
                line, column = place(record, ("spec_version",))
                report.errors.append(findings.unknown_version(path, line, column, value, reading.families))
                yield record, None, False
                continue
            schema = known
        report.schemas[schema.id] += 1
        violations = schema.check(value, format="yaml")
        for violation in violations if reading.all_errors else violations[:1]:
            line, column = place(record, violation.path)
            told = findings.quoted_in_yaml(value, violation)
            report.errors.append(findings.of_violation(path, line, column, value, told))
        valid = not violations
        if valid and (first := seen.setdefault(value["task_id"], record)) is not record:
            line, column = place(record, ("task_id",))
            report.errors.append(findings.duplicate(path, line, column, value["task_id"], first.line))
            valid = False
        report.valid += valid
        yield record, schema, valid
