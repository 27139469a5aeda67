"""How task files are shared out over worker processes: large JSONL files in ranges of bytes, small files in batches."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import WriteError
from evalspec.tasks import validate
from evalspec.tasks.ids import IdHashes
from evalspec.tasks.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.tasks.validate import FileReport, Reading
    from evalspec.tasks.workers import Tell

#: A batch ends with the file that makes it so large, in files or in bytes.
_BATCH_FILES = 32
_BATCH_BYTES = 1024 * 1024

#: The bytes of a file in which a line may begin that belongs to a range: the first, and the one behind the last.
Range = tuple[int, int | None]


class Share(NamedTuple):
    """Files that go to workers together, or one file that several share.

    Attributes:
        paths: the files.
        ranges: what workers take of the one file; empty where the files go to one worker as they are.
        alone: no worker can take it (standard input, which no worker has; a gzip file, which has no ranges).
    """

    paths: tuple[str, ...]
    ranges: tuple[Range, ...] = ()
    alone: bool = False


def shares(paths: Sequence[str], workers: int) -> list[Share]:
    """All files in their order, each in one share."""
    found: list[Share] = []
    batch: list[str] = []
    held = 0
    for path in paths:
        size = _size(path)
        ranges = ranges_of(path, workers)
        alone = path == "-" or path.endswith(".gz")
        if (ranges or alone) and batch:
            found.append(Share(tuple(batch)))
            batch, held = [], 0
        if ranges or alone:
            found.append(Share((path,), ranges, alone))
            continue
        batch.append(path)
        held += size
        if len(batch) >= _BATCH_FILES or held >= _BATCH_BYTES:
            found.append(Share(tuple(batch)))
            batch, held = [], 0
    return [*found, Share(tuple(batch))] if batch else found


def ranges_of(path: str, workers: int, *, join: float = 0.0) -> tuple[Range, ...]:
    """The ranges in which a file is shared out; none for one that is small, or not JSONL.

    Args:
        path: the file.
        workers: how many ranges at the most.
        join: what it takes to put the result of a byte behind that of the first range, as a share of what it takes to
            work the byte out. The first range is smaller then, so that the others are joined while they are worked on.
    """
    size = _size(path)
    try:
        if size < _BATCH_BYTES or path.endswith(".gz") or validate.format_of(path) != "jsonl":
            return ()
    except WriteError:  # told by whoever reads it
        return ()
    count = max(1, min(workers, size // validate.LEAST_SHARE))
    first = size / count
    if join and count > 1:
        rest = 1 / (count - 1)  # of a worker that has none to wait for
        first = size * max((rest - join) / (1 + rest - join), 1 / (4 * count))
    cuts = [0, *(int(first + (size - first) * number / (count - 1)) for number in range(count - 1))]
    return tuple(zip(cuts, [*cuts[1:], None], strict=True))


def _size(path: str) -> int:
    try:
        return 0 if path == "-" else os.stat(path).st_size
    except OSError:
        return 0


class Piece(NamedTuple):
    """What one worker takes: whole files, or a range of one."""

    paths: tuple[str, ...]
    start: int = 0
    end: int | None = None


class Part(NamedTuple):
    """What a worker found in a file or a range of one, its lines numbered from 1.

    Attributes:
        report: the findings and counts.
        lines: how many lines there are, in a range.
        hashes: those of the ids, in a range.
    """

    report: FileReport
    lines: int = 0
    hashes: bytes = b""


def validate_shared(
    paths: Sequence[str], reading: Reading, jobs: int, advance: Tell | None = None
) -> list[FileReport]:
    """Validate task files with several processes; the reports are those of `validate_path`.

    Raises:
        WriteError: a file cannot be read.
        WorkerLost: a worker was killed.
    """
    reports: list[FileReport] = []
    plan = shares(paths, jobs)
    pieces = (piece for share in plan for piece in pieces_of(share))
    with Workers(partial(_work, reading), pieces, jobs, advance=advance) as workers:
        for share in plan:
            if share.alone:
                reports.append(validate.validate_path(share.paths[0], reading, advance=advance))
            elif share.ranges:
                parts = [part for _ in share.ranges for part in workers.result()]
                reports.append(_joined(share.paths[0], parts, reading))
            else:
                reports += [part.report for part in workers.result()]
    return reports


def pieces_of(share: Share) -> Iterator[Piece]:
    """What workers take of a share."""
    if share.ranges:
        yield from (Piece(share.paths, *bounds) for bounds in share.ranges)
    elif not share.alone:
        yield Piece(share.paths)


def _work(reading: Reading, piece: Piece, tell: Tell) -> list[Part]:
    """A worker's side: validate a piece."""
    if piece.start == 0 and piece.end is None:
        return [Part(validate.validate_path(path, reading, advance=tell)) for path in piece.paths]
    [path] = piece.paths
    report = validate.FileReport(path, "jsonl")
    with validate.open_regular(path) as stream:
        judge = validate.read_range(stream, report, reading, start=piece.start, end=piece.end, advance=tell)
    return [Part(report, judge.lines, judge.ids.dump())]


def _joined(path: str, parts: Sequence[Part], reading: Reading) -> FileReport:
    """The report of a whole file, from those of its ranges."""
    if len(parts) == 1:
        return parts[0].report
    report = validate.FileReport(path, "jsonl")
    ids = IdHashes()
    lines = 0
    for part in parts:
        report.add(part.report, lines)
        ids.merge(part.hashes)
        lines += part.lines
    if suspects := ids.suspects():
        with validate.open_regular(path) as stream:
            validate.find_twins(stream, report, reading, suspects)
    return report
