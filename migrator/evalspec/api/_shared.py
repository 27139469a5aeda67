"""What the functions of the API share: the project they work in, its versions, and one record judged or upgraded."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalspec.errors import Finding
from evalspec.project import Project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.schema.schema import Schema
    from evalspec.tasks import Reading

    AnyPath = str | os.PathLike[str]

#: What stands for a path where there is a record and no file.
RECORD = "<record>"


def project_or_found(project: Project | None) -> Project:
    """The project that was given, else the one that the working directory is in."""
    return _project_of(os.getcwd()) if project is None else project


@lru_cache(maxsize=8)
def _project_of(folder: str) -> Project:
    return Project.find(folder)


@lru_cache(maxsize=8)
def history_of(project: Project) -> History[Migration]:
    """The project's graph of versions."""
    from evalspec.migrate import load_history

    return load_history(project.families)


@lru_cache(maxsize=32)
def upgrades_to(project: Project, target: str) -> Upgrades:
    """Every way to the version with the id `target`."""
    from evalspec.migrate.upgrade import Upgrades

    return Upgrades(project.families, history_of(project), target)


def id_of(project: Project, reference: str) -> str:
    """The full id of the version that `v3`, `family@v3` or `head` names."""
    if reference == "head":
        return history_of(project).head(project.families.default)
    return "@".join(project.families.resolve(reference))


def reading_in(project: Project, *, unmarked: str | None = None, all_errors: bool = False) -> Reading:
    """How files are read."""
    from evalspec.tasks import Reading

    schema = project.schema(unmarked) if unmarked else project.unmarked()
    return Reading(project.families, schema, all_errors=all_errors)


def judged(
    record: Mapping[str, Any], project: Project
) -> tuple[dict[str, Any], Schema | None, list[Finding]]:
    """A copy of a record as plain data, its version, and what is wrong with it."""
    from evalspec.tasks import findings

    value = _plain(record)
    if not isinstance(value, dict):
        kind = type(record).__name__
        message = f"a record is a mapping of fields, not a {kind}"
        found = Finding("not_an_object", "error", RECORD, 1, 1, None, "_root", message, "", "give it a dict")
        return {}, None, [found]
    schema: Schema | None = project.unmarked()
    if "spec_version" in value:
        schema = project.families.of_marker(value["spec_version"])
    if schema is None:
        return value, None, [findings.unknown_version(RECORD, 1, 1, value, project.families)]
    violations = schema.check(value)
    return value, schema, [findings.of_violation(RECORD, 1, 1, value, violation) for violation in violations]


def _plain(value: Any) -> Any:
    """A copy as dicts and lists, whatever mappings and sequences it was made of."""
    from collections.abc import Mapping

    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def upgrade_record(
    value: dict[str, Any],
    schema: Schema,
    upgrades: Upgrades,
    path: str,
    line: int,
    format: str = "",  # noqa: A002
) -> Finding | None:
    """Upgrade a valid record in place; why that cannot be, where it cannot."""
    from evalspec.migrate.convert import Options, RecordUpgrader
    from evalspec.migrate.outcome import Outcome

    upgrader = RecordUpgrader(upgrades, Outcome(upgrades.target.id), Options())
    return upgrader.upgrade(value, schema, path, line, format=format).problem
