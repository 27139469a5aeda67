"""The operations that an unreleased version's migration lacks, written into it."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import UsageError

if TYPE_CHECKING:
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project

#: The line of a draft in front of which its contract operations stand.
_RECORDS = "    # the records"


class Completed(NamedTuple):
    """A migration and the operations that were added to it."""

    path: str
    operations: tuple[str, ...]


def complete_migration(project: Project) -> Completed:
    """Add what the project's newest version says, and its migration does not, to the migration.

    What is written there already stays as it is. An operation that says a thing wrongly is left for `evalspec check` to
    name, and the records' operations are the author's.

    Raises:
        UsageError: the version is released, or no migration makes it.
        EvalspecError: the version does not load, or an operation does not fit.
        WriteError: the migration cannot be written.
    """
    from evalspec.check.chain import missing_operations
    from evalspec.check.lock import Key, read_lock
    from evalspec.check.owned import owned_families
    from evalspec.migrate.migration import load_migrations
    from evalspec.writing import write_file

    family = next((each for each in owned_families(project) if each.name == project.families.default), None)
    if family is None or not family.versions or project.folder is None:
        raise UsageError("the project has no schema versions of its own", fix="make a project: evalspec init")
    head = f"{family.name}@{family.versions[-1]}"
    if Key("schema", head) in read_lock(project.folder).lines:
        raise UsageError(f"{head} is released", fix='draft the next version: evalspec revision -m "…"')
    migration = next((each for each in load_migrations(project.families) if each.id == head), None)
    if migration is None:
        raise UsageError(
            f"no migration makes {head}",
            fix='write one, or remove the schema and draft both: evalspec revision -m "…"',
        )
    operations = tuple(missing_operations(project, migration))
    if operations:
        write_file(migration.path, _with(migration, operations).encode())
    return Completed(os.path.relpath(migration.path), operations)


def _with(migration: Migration, operations: tuple[str, ...]) -> str:
    """The script with the operations in front of those of the records, else at the end of `upgrade`."""
    with open(migration.path, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    added = [f"    {operation}\n" for operation in operations]
    at = next((number for number, line in enumerate(lines) if line.startswith(_RECORDS)), None)
    if at is None:
        tree = ast.parse("".join(lines))
        upgrade = next(
            node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "upgrade"
        )
        at = upgrade.end_lineno or len(lines)
    return "".join([*lines[:at], *added, *lines[at:]])
