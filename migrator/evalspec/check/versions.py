"""Are task files at the version that is required?"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from evalspec.check.rule import Rule
from evalspec.errors import Place, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from evalspec.errors import Finding
    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.tasks import FileReport, Reading, TaskFile


VERSION_BEHIND = Rule(
    "version_behind",
    "error",
    "A file's records are at an older schema version than the project requires.",
    '{"spec_version": 2, …}  # and `requires = "v3"`\n',
    "upgrade it: evalspec migrate --to VERSION FILE",
    group="contract",
)
VERSION_AHEAD = Rule(
    "version_ahead",
    "error",
    "A file's records are at a newer schema version than the project requires.",
    '{"spec_version": 3, …}  # and `requires = "v2"`\n',
    "require the newer version, or restore the older file",
    group="contract",
)
MIXED_VERSIONS = Rule(
    "mixed_versions",
    "warning",
    "The records of one file are at several schema versions.",
    '{"task_id": "a", …}\n{"spec_version": 3, "task_id": "b", …}\n',
    "upgrade the file: evalspec migrate --to head FILE",
    group="contract",
)
TASK_IN_TWO_FILES = Rule(
    "task_id_in_two_files",
    "error",
    "Two files have a task of one id, so a score under that id may mean either.",
    '{"task_id": "arith_001", …}  # in a.jsonl, and in b.jsonl\n',
    "give one of them another id",
    group="contract",
)

RULES = (VERSION_BEHIND, VERSION_AHEAD, MIXED_VERSIONS, TASK_IN_TWO_FILES)


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
    files: Iterable[TaskFile],
    reading: Reading,
    history: History[Migration],
    required: str | None,
) -> VersionCheck:
    """Check that every record of judged files is valid and, where one is required, at the version with that id.

    A file that is not gets one finding: `version_behind`, or `version_ahead` where its records are past it. A file with
    records of several versions, and an id that an earlier file has, are told too.

    Raises:
        UnknownVersion: there is no such version.
    """
    line = history.line(required) if required is not None else ()
    reports: list[FileReport] = []
    found: list[Finding] = []
    owners: dict[str, tuple[str, int]] = {}
    for file in files:
        reports.append(file.report)
        found += [*file.report.errors, *file.report.warnings]
        found += _ids(file, owners)
        if len(file.report.schemas) > 1:
            found.append(_mixed(file, reading.families.short))
        if required is None:
            continue
        behind = {id_ for id_ in file.report.schemas if required not in history.line(id_)}
        ahead = {id_ for id_ in file.report.schemas if id_ not in behind and id_ != required}
        short = reading.families.short
        if behind:
            fix = _migrate_fix(file.path, short(required)) if behind <= set(line) else _NO_WAY
            found.append(_finding(file, VERSION_BEHIND, behind, short(required), short, fix))
        if ahead:
            fix = f"require {short(max(ahead, key=history.versions.index))}, or restore the older file"
            found.append(_finding(file, VERSION_AHEAD, ahead, short(required), short, fix))
    return VersionCheck(required, reports, found)


_NO_WAY = "`evalspec history` shows which versions migrations lead to"


def _migrate_fix(path: str, required: str) -> str:
    return f"evalspec migrate --to {required} {shlex.quote(visible(path))}"


def _finding(
    file: TaskFile,
    rule: Rule,
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
    place = Place(file.path, first.line, first.column)
    return rule.at(place, message, task=first.task, field="spec_version", fix=fix)


def _ids(file: TaskFile, owners: dict[str, tuple[str, int]]) -> Iterator[Finding]:
    """The tasks of a file that an earlier file has; a second one in the same file is the schema's own finding."""
    for record in file.records():
        if record.task is None:
            continue
        path, line = owners.setdefault(record.task, (file.path, record.line))
        if path != file.path:
            message = f"{visible(path)}:{line} has a task of this id, too"
            place = Place(file.path, record.line, record.column)
            yield TASK_IN_TWO_FILES.at(place, message, task=record.task, field="task_id", text=record.task)


def twins_in_trees(tree: Tree) -> Iterator[Finding]:
    """The files of trees of lm-eval YAML whose name another file has: the harness loads one of them, without a word."""
    places = tree.places()
    for _, each in tree.skipped():
        if each.twin is None:
            continue
        other = tree.path_of(each.twin.root, each.twin.path) if each.twin.path else "a tag"
        name = visible(str(each.twin.name))
        place = places[each.root].of_file(each.root, each.path, each.key)
        message = f"{visible(other)} has this name, too, and is the one that is loaded"
        yield TASK_IN_TWO_FILES.at(place, message, task=name, field=each.key, text=name)


def _mixed(file: TaskFile, short: Callable[[str], str]) -> Finding:
    said = " and ".join(f"{count:,} at {short(id_)}" for id_, count in sorted(file.report.schemas.items()))
    fix = f"evalspec migrate --to head {shlex.quote(visible(file.path))}"
    return MIXED_VERSIONS.at(Place(file.path), f"its records are at several versions: {said}", fix=fix)
