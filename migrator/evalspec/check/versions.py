"""Are task files at the version that is required?"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import Finding, visible
from evalspec.tasks import open_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.tasks import FileReport, Reading, TaskFile


class VersionCheck(NamedTuple):
    """What a check found.

    Attributes:
        required: the id of the version that was required; None where none was.
        files: every file's report, in order.
        findings: what is wrong, file by file: the schema's own errors and warnings, then the version.
    """

    required: str | None
    files: Sequence[FileReport]
    findings: Sequence[Finding]

    @property
    def passed(self) -> bool:
        """True where nothing is wrong; a warning does not count."""
        return all(finding.severity != "error" for finding in self.findings)


def check_versions(
    paths: Iterable[str],
    reading: Reading,
    history: History[Migration],
    required: str | None,
    *,
    advance: Callable[[int], object] | None = None,
) -> VersionCheck:
    """Check that every record of `paths` is valid and, where one is required, at the version with that id.

    A file that is not gets one finding: `version_behind`, or `version_ahead` where its records are past it.

    Raises:
        UnknownVersion: there is no such version.
        WriteError: a file cannot be read.
    """
    line = history.line(required) if required is not None else ()
    reports, found = [], []
    for path in paths:
        with open_tasks([path], reading, advance=advance) as (file,):
            reports.append(file.report)
            found += [*file.report.errors, *file.report.warnings]
            if required is None:
                continue
            behind = {id_ for id_ in file.report.schemas if required not in history.line(id_)}
            ahead = {id_ for id_ in file.report.schemas if id_ not in behind and id_ != required}
            short = reading.families.short
            if behind:
                fix = _migrate_fix(path, short(required)) if behind <= set(line) else _NO_WAY
                found.append(_finding(file, "version_behind", behind, short(required), short, fix))
            if ahead:
                fix = f"require {short(max(ahead, key=history.versions.index))}, or restore the older file"
                found.append(_finding(file, "version_ahead", ahead, short(required), short, fix))
    return VersionCheck(required, reports, found)


_NO_WAY = "`evalspec history` shows which versions migrations lead to"


def _migrate_fix(path: str, required: str) -> str:
    return f"evalspec migrate --to {required} {shlex.quote(visible(path))}"


def _finding(
    file: TaskFile,
    rule: str,
    ids: Collection[str],
    required: str,
    short: Callable[[str], str],
    fix: str,
) -> Finding:
    """The finding about a file, at its first record of these versions."""
    counts = [(id_, count) for id_, count in sorted(file.report.schemas.items()) if id_ in ids]
    said = ", ".join(
        f"{count:,} {'record is' if count == 1 else 'records are'} at {short(id_)}" for id_, count in counts
    )
    first = next(record for record in file.records() if record.schema is not None and record.schema.id in ids)
    message = f"{said}; {required} is required"
    return Finding(
        rule, "error", file.path, first.line, first.column, first.task, "spec_version", message, "", fix
    )
