"""Migrations: the steps between versions, what they do to records and to files, and the proof of their promises.

A migration script needs `Recorder` from here, for its `upgrade(op)`. The rest of the tool calls

    load_history(families) → History          migrate_paths(paths, upgrades, …) → Outcome
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.migrate.recorder import Recorder

if TYPE_CHECKING:
    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.schema.family import Families

__all__ = ["Recorder", "load_history"]


def load_history(families: Families) -> History[Migration]:
    """The graph of every version at hand. A family's first version needs no migration.

    Raises:
        HistoryError: the migrations do not form one line a family; the error names the files.
    """
    from evalspec.migrate.history import History
    from evalspec.migrate.migration import load_migrations

    migrations = load_migrations(families)
    made = {migration.id for migration in migrations}
    firsts = (f"{name}@{family.versions[0]}" for name, family in families.by_name.items() if family.versions)
    return History(migrations, [id_ for id_ in firsts if id_ not in made])
