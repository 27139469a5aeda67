"""A large JSONL file converted by several processes: each takes a range of it and writes a part of the new file.

The first worker writes to the temp of the file itself, the others to part files beside it, whose bytes the kernel
copies behind, from the end of the first worker on while the others are still at work. What comes of it, errors and
line numbers included, is what one process makes.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import FindingsError
from evalspec.migrate.convert import JsonlConverter, RecordUpgrader
from evalspec.migrate.outcome import FileOutcome, Outcome, StepOutcome
from evalspec.tasks import findings
from evalspec.tasks.ids import IdHashes
from evalspec.tasks.validate import chunk_size, chunks_of, open_regular
from evalspec.tasks.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.migrate.convert import Options
    from evalspec.migrate.run import Writing
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.tasks import Reading
    from evalspec.tasks.sharing import Range
    from evalspec.tasks.workers import Tell
    from evalspec.writing import PendingFile, Run


#: What it takes to copy a converted byte, as a share of what it takes to convert it.
JOIN = 0.1


class Work(NamedTuple):
    """What every worker on a file is told."""

    path: str
    upgrades: Upgrades
    reading: Reading
    options: Options


class Piece(NamedTuple):
    """What one worker takes: a range of the file, and where its new bytes go; None for a dry run."""

    start: int
    end: int | None
    part: str | None


class Converted(NamedTuple):
    """What a worker made of its range, whose lines it numbered from 1.

    Attributes:
        file: the counts and findings.
        steps: the counts of each migration, by its id.
        lines: how many lines there are.
        hashes: those of the ids.
    """

    file: FileOutcome
    steps: dict[str, dict[str, Any]]
    lines: int
    hashes: bytes


def convert_shared(
    path: str,
    ranges: Sequence[Range],
    upgrader: RecordUpgrader,
    reading: Reading,
    writing: Writing,
    pending: PendingFile | None,
    run: Run | None,
) -> tuple[FileOutcome, frozenset[int]]:
    """Convert a file into a pending one, or into nothing; also the hashes of ids that may stand twice.

    Raises:
        BrokenPromise: a prompt changes that was promised not to.
        UsageError: no way leads from a record's version to the target.
        WriteError: the file cannot be read, or a part not written.
        WorkerLost: a worker was killed.
    """
    parts = list(_parts(path, len(ranges), pending, run))
    pieces = [Piece(*bounds, part) for bounds, part in zip(ranges, parts, strict=True)]
    work = Work(path, upgrader.upgrades, reading, upgrader.options)
    file, ids, lines = FileOutcome(path), IdHashes(), 0
    with Workers(partial(_convert_range, work), pieces, writing.jobs, advance=writing.advance) as workers:
        for piece in pieces:
            behind = None
            if pending is not None and piece.start:
                behind = _Behind(pending, piece.part or "")
            try:
                converted = workers.result(behind.catch_up if behind else None)
            except FindingsError as error:
                error.findings = tuple(findings.moved(error.findings, lines))
                raise
            file.add(converted.file, lines)
            for id_, counts in converted.steps.items():
                _count(upgrader, id_, counts, lines)
            ids.merge(converted.hashes)
            lines += converted.lines
            if behind:
                behind.catch_up()
    return file, ids.suspects()


class _Behind:
    """A part that is copied behind the pending file as it grows."""

    def __init__(self, pending: PendingFile, part: str) -> None:
        self._pending = pending
        self._part = part
        self._copied = 0

    def catch_up(self) -> None:
        self._copied = self._pending.copy_from(self._part, self._copied)


def _parts(path: str, count: int, pending: PendingFile | None, run: Run | None) -> Iterator[str | None]:
    for number in range(count):
        if pending is None or run is None:
            yield None
        else:
            yield str(run.part(path)) if number else pending.temp


def _count(upgrader: RecordUpgrader, id_: str, counts: dict[str, Any], lines: int) -> None:
    """Add what a worker counted for one migration, behind so many lines."""
    step = StepOutcome(upgrader.upgrades.history.steps[id_], **counts)
    step.prompts = [prompt._replace(line=prompt.line + lines) for prompt in step.prompts]
    total = upgrader.outcome.step(step.migration)
    total.merge(step)
    del total.prompts[upgrader.options.want_prompts :]


def _convert_range(work: Work, piece: Piece, tell: Tell) -> Converted:
    """A worker's side: convert a range of the file into its part."""
    from evalspec.writing import PartWriter

    outcome = Outcome(work.upgrades.target.id)
    file = FileOutcome(work.path)
    upgrader = RecordUpgrader(work.upgrades, outcome, work.options)
    converter = JsonlConverter(upgrader, work.reading, file)
    opened = (
        PartWriter(piece.part, work.path, stays=not piece.start) if piece.part is not None else nullcontext()
    )
    with open_regular(work.path) as source, opened as part:
        sink = _nowhere if part is None else part.write
        for chunk in chunks_of(source, work.reading, start=piece.start, end=piece.end):
            converter.convert(chunk, source, sink)
            tell(chunk_size(chunk))
    file.schemas += converter.judge.schemas
    steps = {id_: step.counts() for id_, step in outcome.steps.items()}
    return Converted(file, steps, converter.judge.lines, converter.judge.ids.dump())


def _nowhere(data: bytes) -> None:
    """The sink of a dry run."""
