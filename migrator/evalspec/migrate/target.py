"""Which version `--to` means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalspec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project
    from evalspec.tasks import Reading


def resolve_target(
    wanted: str, project: Project, history: History[Migration], paths: Sequence[str], reading: Reading
) -> str:
    """The full id of the version that `v3`, `family@v3`, `head` or `+1` names.

    `+1` counts from the version that the records are at, which must be one and the same.

    Raises:
        UnknownVersion: there is no such version.
        UsageError: `+1` of records that are at several versions, or past the head.
    """
    families = project.families
    if wanted == "head":
        return history.head(families.default)
    if not re.fullmatch(r"\+\d+", wanted):
        family, version = families.resolve(wanted)
        return f"{family}@{version}"
    start = _only_version(wanted, paths, reading)
    line = history.line(history.head(families.default))
    if start not in line:
        line = history.line(history.head(start.rpartition("@")[0]))
    place = line.index(start) + int(wanted)
    if place >= len(line):
        raise UsageError(f"{wanted} from {start} is past the head, {line[-1]}", fix=f"the head is {line[-1]}")
    return line[place]


def _only_version(wanted: str, paths: Sequence[str], reading: Reading) -> str:
    from evalspec.tasks import validate_paths

    found = sorted({id_ for report in validate_paths(paths, reading) for id_ in report.schemas})
    if len(found) != 1:
        where = ", ".join(found) or "no known version"
        raise UsageError(
            f"{wanted} needs records of one version; these are at {where}", fix="name the version"
        )
    return found[0]
