"""The chain of schema versions and migrations: each version is made by one migration, which says all that it changes.

(design.md, "Migrations": contract operations replayed over a version give the next.)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.check.operations import operations_for
from evalspec.check.owned import owned_families, place_in
from evalspec.check.rule import Rule
from evalspec.errors import EvalspecError, HistoryError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.errors import Finding
    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project
    from evalspec.schema.schema import Schema

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
    from evalspec.migrate import load_history

    families = owned_families(project)
    if not families:
        return
    try:
        history = load_history(project.families)
    except HistoryError as error:
        for path in error.files[:1] or [families[0].root.migrations]:
            yield CHAIN_BROKEN.at(_at(path), str(error), fix=error.fix)
        return
    except EvalspecError as error:
        yield CHAIN_BROKEN.at(_at(families[0].root.migrations), str(error), fix=error.fix)
        return
    for family in families:
        for number, version in enumerate(family.versions):
            try:
                schema = family.schema(version)
            except EvalspecError as error:
                path = f"{family.root.schemas}/{family.name}"
                yield SCHEMA_UNREADABLE.at(_at(path), str(error), fix=error.fix)
                continue
            migration = history.steps.get(schema.id)
            if migration is not None:
                yield from _of_step(project, schema, migration)
            elif number:
                before = family.versions[number - 1]
                yield MIGRATION_MISSING.at(
                    _at(schema.path), f"{schema.id} comes after {before}, and no migration makes it"
                )
        yield from _without_schema(history, family.name, family.versions)


def _of_step(project: Project, schema: Schema, migration: Migration) -> Iterator[Finding]:
    from evalspec.migrate.replay import ReplayError, differences, replay
    from evalspec.schema.contract import contract_of

    try:
        before = contract_of(project.families.schema(migration.parent))
        replayed = replay(before, migration.contract)
    except ReplayError as error:
        yield CHAIN_DIFFERS.at(place_in(migration.path, error.operation.name), str(error))
        return
    except EvalspecError as error:
        yield CHAIN_BROKEN.at(_at(migration.path), str(error), fix=error.fix)
        return
    silent = []
    for found in differences(replayed, contract_of(schema), before):
        if found.is_silent:
            silent.append(found)
        else:
            word = found.name.rpartition(".")[2] if found.section == "field" else found.name
            yield CHAIN_DIFFERS.at(place_in(migration.path, word), found.sentence, text=found.name)
    script = os.path.relpath(migration.path)
    for said in operations_for(silent):
        message = f"from {migration.parent} to {schema.id}: {said.sentence}"
        fix = f"add to {script}: {said.operation}"
        yield MIGRATION_MISSING.at(place_in(schema.path, *said.words), message, text=said.words[0], fix=fix)


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
