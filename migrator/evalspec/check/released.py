"""What is released never changes: every line of the base's lock still holds (design.md, "Schema versions")."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.check.lock import NAME, Key, Lock
from evalspec.check.owned import owned_families
from evalspec.check.prints import algorithm, migration_print
from evalspec.check.rule import Rule
from evalspec.errors import EvalspecError, FindingsError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalspec.errors import Finding
    from evalspec.project import Project

SCHEMA_CHANGED = Rule(
    "released_schema_changed",
    "error",
    "A schema version that is in the lock of the base is another one now: files in the world were written under it.",
    'METRICS = {"exact_match": Metric()}  # v1 is released, and had "f1" too\n',
    'restore the file, and draft the change as a new version with `evalspec revision -m "…"`',
    group="lock",
)
MIGRATION_CHANGED = Rule(
    "released_migration_changed",
    "error",
    "A migration that is in the lock of the base is another one now: files were upgraded by it.",
    'op.add("output_type", "loglikelihood")  # v2 is released, and added "generate_until"\n',
    'restore the file, and mend in a new version with `evalspec revision -m "…"`',
    group="lock",
)
LOCK_CHANGED = Rule(
    "lock_changed",
    "error",
    "The lock says of a released version or migration another thing than the base's lock.",
    "schema acme@v1 s1:sha256:0000…  # the base has another fingerprint\n",
    "restore the line as the base has it",
    group="lock",
)
ALGORITHM_UNKNOWN = Rule(
    "algorithm_unknown",
    "warning",
    "A line of the lock was made by another algorithm, so nobody can tell whether what it is about has changed.",
    "schema acme@v1 s0:md5:0000…\n",
    "check by hand that it is the same, then write the line anew with the tool that the project uses",
    group="lock",
)

RULES = (SCHEMA_CHANGED, MIGRATION_CHANGED, LOCK_CHANGED, ALGORITHM_UNKNOWN)


def current_lines(project: Project) -> dict[Key, tuple[str, ...]]:
    """A line for every schema version and migration of the project's own families, as they are now.

    Raises:
        EvalspecError: one does not load.
    """
    from evalspec.migrate.migration import load_migrations
    from evalspec.schema.contract import fingerprint

    names = {family.name: family for family in owned_families(project)}
    lines: dict[Key, tuple[str, ...]] = {}
    for family in names.values():
        for version in family.versions:
            schema = family.schema(version)
            lines[Key("schema", schema.id)] = (fingerprint(schema),)
    for migration in load_migrations(project.families):
        if migration.family in names:
            lines[Key("migration", migration.id)] = (migration_print(migration),)
    return lines


def refuse_changes(base: Lock, lines: Mapping[Key, tuple[str, ...]]) -> None:
    """Stop where a line that the base has would become another one.

    Raises:
        FindingsError: one would.
    """
    found = []
    for key, words in base.lines.items():
        rule = _RULE_OF.get(key.kind)
        if rule is not None and lines.get(key, ())[:1] != words[:1]:
            what = "would get another fingerprint" if key in lines else "is gone"
            found.append(rule.at(Place(NAME), f"{key.kind} {key.name} is released at the base, and {what}"))
    if found:
        raise FindingsError("the lock was not written: what is released does not change", found)


_RULE_OF = {"schema": SCHEMA_CHANGED, "migration": MIGRATION_CHANGED}


def check_released(project: Project, lock: Lock, base: Lock) -> Iterator[Finding]:
    """What of the released things has changed.

    Args:
        project: the project as it is.
        lock: its lock.
        base: the lock of the base; where there is no base, the lock itself.
    """
    if project.folder is None:
        return
    path = os.path.relpath(os.path.join(project.folder, NAME))
    try:
        now = current_lines(project)
    except EvalspecError:
        return  # the chain is broken, which is told
    for key, (print_, *_) in base.lines.items():
        rule = _RULE_OF.get(key.kind)
        if rule is None:
            continue
        if key in lock.lines and lock.lines[key][0] != print_:
            yield LOCK_CHANGED.at(
                Place(path, lock.places[key]),
                f"{key.kind} {key.name} has another fingerprint in the base's lock",
            )
        if key not in now:
            yield rule.at(
                Place(path, lock.places.get(key, 1)), f"{key.kind} {key.name} is released, and is gone"
            )
        elif algorithm(now[key][0]) != algorithm(print_):
            yield ALGORITHM_UNKNOWN.at(
                Place(path, lock.places.get(key, 1)),
                f"{key.kind} {key.name}: {algorithm(print_)} is not known",
            )
        elif now[key][0] != print_:
            yield rule.at(
                Place(_file_of(project, key)), f"{key.kind} {key.name} is released, and was changed since"
            )


def _file_of(project: Project, key: Key) -> str:
    from evalspec.migrate.migration import load_migrations

    family, _, version = key.name.rpartition("@")
    if key.kind == "schema":
        return os.path.relpath(project.families.by_name[family].schema(version).path)
    found = next(each for each in load_migrations(project.families) if each.id == key.name)
    return os.path.relpath(found.path)
