"""From one version to another: the steps on the way, and what they do to one record."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.formats.edits import apply_edit
from evalspec.migrate.carry import carry
from evalspec.migrate.proof import proved_by_operations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.formats.edits import Edit
    from evalspec.migrate.carry import Carry
    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.schema.family import Families
    from evalspec.schema.schema import Schema


class Step(NamedTuple):
    """One migration on the way, with both its versions.

    Attributes:
        migration: the script.
        source: the version before it.
        target: the version it makes.
        proved: True where its prompts cannot change, by its operations alone.
    """

    migration: Migration
    source: Schema
    target: Schema
    proved: bool


class Upgrade:
    """The way from one version to another.

    Attributes:
        source: where it starts.
        target: where it ends.
        steps: the migrations, in order; none where both are the same.
    """

    def __init__(self, source: Schema, target: Schema, steps: Sequence[Step]) -> None:
        self.source = source
        self.target = target
        self.steps = tuple(steps)
        #: What `evalspec.migrate.lanes` worked out from the operations, kept for the next file.
        self.lane_keys: dict[object, tuple[bool, Callable[[Sequence[Any]], list[object]]]] = {}

    @cached_property
    def carry(self) -> Carry:
        """What becomes of each field along the whole way."""
        return carry([operation for step in self.steps for operation in step.migration.records])

    def edits(self, record: dict[str, Any]) -> list[Edit]:
        """The edits for one record, which is changed along with them.

        Raises:
            OperationError: an operation does not fit the record, which is then half changed.
        """
        edits: list[Edit] = []
        for step in self.steps:
            edits += step_edits(step, record)
        return edits


def step_edits(step: Step, record: dict[str, Any]) -> list[Edit]:
    """The edits of one step for one record, which is changed along with them.

    Raises:
        OperationError: an operation does not fit the record, which is then half changed.
    """
    edits: list[Edit] = []
    for operation in step.migration.records:
        for edit in operation.edits(record):
            apply_edit(record, edit)
            edits.append(edit)
    return edits


class Upgrades:
    """Every way to one target, each worked out when a record first needs it."""

    def __init__(self, families: Families, history: History[Migration], target: str) -> None:
        """Take the target by its full id.

        Raises:
            UnknownVersion: there is no such version.
        """
        self.families = families
        self.history = history
        self.target = families.schema(target)
        self._known: dict[str, Upgrade] = {}

    def __reduce__(self) -> tuple[Callable[[Families, str], Upgrades], tuple[Families, str]]:
        return _upgrades, (self.families, self.target.id)

    def from_(self, source: Schema) -> Upgrade:
        """The way from `source`.

        Raises:
            UsageError: none leads from there to the target.
        """
        if source.id not in self._known:
            steps = []
            for migration in self.history.path(source.id, self.target.id):
                before, after = self.families.schema(migration.parent), self.families.schema(migration.id)
                proved = proved_by_operations(migration, before, after)
                steps.append(Step(migration, before, after, proved))
            self._known[source.id] = Upgrade(source, self.target, steps)
        return self._known[source.id]


def _upgrades(families: Families, target: str) -> Upgrades:
    """The same ways in another process, which loads the migrations anew."""
    from evalspec.migrate import load_history

    return Upgrades(families, load_history(families), target)
