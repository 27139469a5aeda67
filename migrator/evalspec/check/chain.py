"""The chain of schema versions and migrations: each version is made by one migration, which says all that it changes.

(design.md, "Migrations": contract operations replayed over a version give the next.)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.check.operations import operation_for, operations_for
from evalspec.check.owned import owned_families, place_in
from evalspec.check.rule import Rule
from evalspec.errors import EvalspecError, HistoryError, Place
from evalspec.migrate.migration import load_migrations
from evalspec.schema.family import module_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.errors import Finding
    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project
    from evalspec.schema.family import Family

CHAIN_BROKEN = Rule(
    "chain_broken",
    "error",
    "Versions form one line a family: one head, no missing parent, no circle, no version made twice.",
    'revision = "v2"\ndown_revision = "v9"  # there is no v9\n',
    "mend `revision` or `down_revision` of the script that is named",
    group="chain",
)
MIGRATION_MISSING = Rule(
    "migration_missing",
    "error",
    "A schema version differs from the one before in something that no migration speaks of.",
    'METRICS = {**v1.METRICS, "chrf": Metric()}  # and no op.metric("chrf", added=True)\n',
    'draft the migration with `evalspec revision -m "…"`, or add the operation to the one there is',
    group="chain",
)
CHAIN_DIFFERS = Rule(
    "chain_differs_from_schema",
    "error",
    "A migration says of the contract what the schema version does not bear out.",
    'op.metric("chrf", added=True)  # and the schema has no metric chrf\n',
    "mend the operation, or the schema",
    group="chain",
)
SCHEMA_UNREADABLE = Rule(
    "schema_unreadable",
    "error",
    "A schema version's module does not load.",
    "version = Declaration(  # and no more\n",
    "mend the module",
    group="chain",
)

RULES = (CHAIN_BROKEN, MIGRATION_MISSING, CHAIN_DIFFERS, SCHEMA_UNREADABLE)


def check_chain(project: Project) -> Iterator[Finding]:
    """What is wrong with the chain of the project's own families."""
    for family in owned_families(project):
        found = check_family(project, family)
        yield from found
        if any(each.rule in (CHAIN_BROKEN.id, SCHEMA_UNREADABLE.id) for each in found):
            return
        for migration in load_migrations(project.families):
            if migration.family == family.name and migration.revision in family.versions:
                yield from check_step(project, migration)


def check_family(project: Project, family: Family) -> list[Finding]:
    """One line of versions, each of which loads and is made by a migration; and a version for each migration."""
    from evalspec.migrate import load_history

    try:
        history = load_history(project.families)
    except HistoryError as error:
        return [CHAIN_BROKEN.at(_at(path), str(error), fix=error.fix) for path in error.files[:1]]
    except EvalspecError as error:
        return [CHAIN_BROKEN.at(_at(family.root.migrations), str(error), fix=error.fix)]
    found = []
    for number, version in enumerate(family.versions):
        id_ = f"{family.name}@{version}"
        path = f"{family.root.schemas}/{family.name}/{module_name(version)}.py"
        try:
            family.schema(version)
        except EvalspecError as error:
            found.append(SCHEMA_UNREADABLE.at(_at(path), str(error), fix=error.fix))
            continue
        if number and id_ not in history.steps:
            message = f"{id_} comes after {family.versions[number - 1]}, and no migration makes it"
            found.append(MIGRATION_MISSING.at(_at(path), message))
    return [*found, *_without_schema(history, family.name, family.versions)]


def check_step(project: Project, migration: Migration) -> list[Finding]:
    """A migration's contract operations, replayed over the version before, give the version that it makes."""
    from evalspec.migrate.replay import ReplayError, differences, replay
    from evalspec.schema.contract import contract_of

    try:
        schema = project.families.schema(migration.id)
        before = contract_of(project.families.schema(migration.parent))
        replayed = replay(before, migration.contract)
    except ReplayError as error:
        return [CHAIN_DIFFERS.at(place_in(migration.path, error.operation.name), str(error))]
    except EvalspecError as error:
        return [CHAIN_BROKEN.at(_at(migration.path), str(error), fix=error.fix)]
    found = []
    all_of = differences(replayed, contract_of(schema), before)
    for each in all_of:
        if not each.is_silent:
            word = each.name.rpartition(".")[2] if each.section == "field" else each.name
            fix = "" if each.after is None else f"say in its place: {operation_for(each)}"
            found.append(
                CHAIN_DIFFERS.at(place_in(migration.path, word), each.sentence, text=each.name, fix=fix)
            )
    script = os.path.relpath(migration.path)
    for said in operations_for(each for each in all_of if each.is_silent):
        message = f"from {migration.parent} to {schema.id}: {said.sentence}"
        fix = f"add to {script}: {said.operation}"
        found.append(
            MIGRATION_MISSING.at(place_in(schema.path, *said.words), message, text=said.words[0], fix=fix)
        )
    return found


def missing_operations(project: Project, migration: Migration) -> list[str]:
    """The operations that a migration lacks, as its author would write them.

    Raises:
        EvalspecError: a version does not load, or an operation of the migration does not fit.
    """
    from evalspec.migrate.replay import differences, replay
    from evalspec.schema.contract import contract_of

    before, after = (contract_of(project.families.schema(id_)) for id_ in (migration.parent, migration.id))
    found = differences(replay(before, migration.contract), after, before)
    return [said.operation for said in operations_for(each for each in found if each.is_silent)]


def _without_schema(history: History[Migration], family: str, versions: tuple[str, ...]) -> Iterator[Finding]:
    for migration in history.steps.values():
        if migration.family == family and migration.revision not in versions:
            yield CHAIN_DIFFERS.at(
                place_in(migration.path, migration.revision),
                f"it makes {migration.id}, and there is no such schema version",
                fix=f"add the schema {migration.revision}.py, or remove the migration",
            )


def _at(path: str) -> Place:
    return Place(os.path.relpath(path))
