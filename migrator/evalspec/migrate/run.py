"""A migration of files: every file converted beside the old one, then all put in place together.

    read → validate against the source version → apply → validate against the target → prove → write

A broken promise writes nothing. A file with an invalid record is left alone (with `atomic="run"`, all files are). A dry
run is the same code without the last step.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import Finding, FormatError, visible
from evalspec.migrate.convert import JsonlConverter, Options, RecordUpgrader
from evalspec.migrate.outcome import FileOutcome, Outcome
from evalspec.tasks import findings, format_of
from evalspec.tasks.ids import Twins
from evalspec.tasks.validate import (
    FileReport,
    chunk_size,
    chunks_of,
    is_much_work,
    judge_yaml,
    open_regular,
    read_yaml,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from evalspec.migrate.upgrade import Upgrades
    from evalspec.tasks import Reading
    from evalspec.tasks.sharing import Range
    from evalspec.writing import Run

    Sink = Callable[[bytes], object]


class Writing(NamedTuple):
    """How files are written.

    Attributes:
        folder: where the guard and the journal are.
        atomic: `file`: each file is replaced or left by itself; `run`: all files are, or none is.
        dry_run: convert everything, write nothing.
        allow_bad: carry bad records over byte for byte; without it their file is left alone.
        reformat: let a YAML file that cannot be spliced be laid out anew.
        backup: a folder for copies of the old files.
        jobs: how many processes may share the work on large files.
        wait: seconds to wait for another run to end.
        on_wait: called once, if there is a wait.
        advance: told the number of bytes read since it was last told.
    """

    folder: str
    atomic: Literal["file", "run"] = "file"
    dry_run: bool = False
    allow_bad: bool = False
    reformat: bool = False
    backup: str | None = None
    jobs: int = 1
    wait: float = 10.0
    on_wait: Callable[..., object] | None = None
    advance: Callable[[int], object] | None = None


def migrate_paths(
    paths: Sequence[str],
    upgrades: Upgrades,
    reading: Reading,
    writing: Writing,
    options: Options | None = None,
) -> Outcome:
    """Migrate files to the target of `upgrades`.

    Raises:
        BrokenPromise: a prompt changes that was promised not to; nothing was written.
        UsageError: a record is at a version from which no way leads to the target; nothing was written.
        WriteError: a file could not be read or written; what was there is intact.
        GuardHeld: another run holds the folder.
    """
    options = options or Options()
    outcome = Outcome(upgrades.target.id)
    with ExitStack() as stack:
        run = None
        if not writing.dry_run:
            from evalspec.writing import Run

            run = stack.enter_context(
                Run(
                    writing.folder,
                    atomic=writing.atomic,
                    wait=writing.wait,
                    on_wait=writing.on_wait,
                    backup=writing.backup,
                )
            )
            outcome.recovered = _recovered(run)
            run.announce([path for path in paths if path != "-"])
        for path in paths:
            outcome.files.append(_migrate_file(path, upgrades, reading, writing, options, outcome, run))
        if run is not None and not (writing.atomic == "run" and outcome.bad and not writing.allow_bad):
            _commit(run, outcome)
    return outcome


def _recovered(run: Run) -> str:
    """What was done about an earlier run that had not ended, as a sentence; empty where there was none."""
    recovery = run.recovered
    if recovery.outcome == "nothing":
        return ""
    files = [*recovery.placed, *recovery.undone, *recovery.dropped]
    return f"an earlier run here had not ended; it was {recovery.outcome} first ({', '.join(map(visible, files))})"


def _commit(run: Run, outcome: Outcome) -> None:
    from evalspec.writing import PartlyWritten

    try:
        written = run.commit()
    except PartlyWritten as error:
        _mark(outcome, error.written.paths)
        raise
    _mark(outcome, written.paths)
    outcome.backups = list(written.backups)


def _mark(outcome: Outcome, paths: Sequence[str]) -> None:
    done = set(paths)
    for file in outcome.files:
        file.written = file.path in done


def _migrate_file(
    path: str,
    upgrades: Upgrades,
    reading: Reading,
    writing: Writing,
    options: Options,
    total: Outcome,
    run: Run | None,
) -> FileOutcome:
    """Convert one file and prepare it; the counts of its steps go into `total` if the file is not left alone."""
    own = Outcome(total.target)
    file, suspects = _attempt(path, RecordUpgrader(upgrades, own, options), reading, writing, run, None)
    if suspects:
        # Some id may stand twice. Once more from the start, comparing exactly: a later twin is invalid and must stay.
        if run is not None:
            run.discard(path)
        own = Outcome(total.target)
        again = RecordUpgrader(upgrades, own, options)
        file, _ = _attempt(path, again, reading, writing._replace(advance=None), run, Twins(suspects))
    left_alone = bool(file.bad) and not writing.allow_bad
    if run is not None and (left_alone or not file.changed):
        run.discard(path)
    if left_alone:
        file.changed = 0
        file.changes.clear()
    else:
        for step in own.steps.values():
            total.step(step.migration).merge(step)
    return file


def _attempt(
    path: str,
    upgrader: RecordUpgrader,
    reading: Reading,
    writing: Writing,
    run: Run | None,
    twins: Twins | None,
) -> tuple[FileOutcome, frozenset[int]]:
    """Convert one file into a temp of the run, or into nothing; and the hashes of ids that may stand twice."""
    from evalspec.writing import identify

    ranges: Sequence[Range] = ()
    if writing.jobs > 1 and twins is None and is_much_work([path]):
        from evalspec.migrate.sharing import JOIN, convert_shared
        from evalspec.tasks.sharing import ranges_of

        ranges = ranges_of(path, writing.jobs, join=JOIN)
    if run is None:
        if len(ranges) > 1:
            return convert_shared(path, ranges, upgrader, reading, writing, None, None)
        return _convert(path, upgrader, reading, writing, _nowhere, twins)
    with run.prepare(path, seen=identify(path)) as pending:
        if len(ranges) > 1:
            return convert_shared(path, ranges, upgrader, reading, writing, pending, run)
        if not path.endswith(".gz"):
            return _convert(path, upgrader, reading, writing, pending.write, twins)
        from evalspec.formats.lines import gzip_writer

        with gzip_writer(pending) as zipped:  # type: ignore[arg-type]
            return _convert(path, upgrader, reading, writing, zipped.write, twins)


def _nowhere(data: bytes) -> None:
    """The sink of a dry run."""


def _convert(
    path: str, upgrader: RecordUpgrader, reading: Reading, writing: Writing, sink: Sink, twins: Twins | None
) -> tuple[FileOutcome, frozenset[int]]:
    if format_of(path) == "yaml":
        return _convert_yaml(path, upgrader, reading, writing, sink), frozenset()
    file = FileOutcome(path)
    converter = JsonlConverter(upgrader, reading, file, twins=twins)
    with open_regular(path) as source:
        for chunk in chunks_of(source, reading):
            converter.convert(chunk, source, sink)
            if writing.advance is not None:
                writing.advance(chunk_size(chunk))
    file.schemas += converter.judge.schemas
    return file, frozenset() if twins else converter.judge.ids.suspects()


def _convert_yaml(
    path: str, upgrader: RecordUpgrader, reading: Reading, writing: Writing, sink: Sink
) -> FileOutcome:
    from evalspec.formats.yaml import EditRefused, edit, place

    file = FileOutcome(path)
    report = FileReport(path, "yaml")
    try:
        data, parsed = read_yaml(path, reading)
    except FormatError as error:
        file.bad.append(findings.of_format_error(path, error))
        return file
    changes, accepted = [], []
    for record, schema, valid in judge_yaml(parsed, report, reading):
        file.records += 1
        if not valid or schema is None or record.value is None:
            continue
        line, column = place(record, ())
        task = record.value["task_id"]
        upgraded = upgrader.upgrade(record.value, schema, path, line, column, format="yaml")
        if upgraded.problem is not None:
            report.errors.append(upgraded.problem)
            continue
        accepted.append((upgrader.upgrades.from_(schema), task, upgraded))
        if upgraded.edits:
            changes.append((record.key, upgraded.edits))
    file.bad += report.errors
    file.warnings += report.warnings
    file.schemas += report.schemas
    try:
        new = edit(data, changes, reformat=writing.reformat) if changes else data
    except EditRefused as error:
        refused = Finding(
            "edit_refused", "error", path, error.line, error.column, None, None, error.reason, "", error.fix
        )
        file.bad.append(refused)
        sink(data)
        return file
    for item in accepted:
        upgrader.accept(*item)
    file.changed = len(changes)
    sink(new)
    if changes and upgrader.options.want_changes:
        file.changes.append((1, data, new))
    return file
