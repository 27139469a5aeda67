"""Follow fields through operations: where each goes untouched, which are altered, and on what the edits depend.

Everything here is decided from the operations alone, once, before a record is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.migrate.operations import Add, SetField

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.migrate.operations import RecordOperation


class Carry(NamedTuple):
    """What operations do to fields, by dotted name.

    Attributes:
        moved: fields that stand elsewhere afterwards, value untouched: old name to new.
        altered: names, as they are afterwards, of fields that were given a value, made or taken away.
        looked_at: names, as they were before, of the fields whose values decide the edits; None: cannot be said.
        named: every name an operation mentions, as it was when its turn came.
    """

    moved: dict[str, str]
    altered: frozenset[str]
    looked_at: frozenset[str] | None
    named: frozenset[str]

    def origin(self, name: str) -> str | None:
        """The name that a field had before, if its value came through untouched."""
        if any(_overlaps(name, other) for other in self.altered):
            return None
        for old, new in self.moved.items():
            if name == new or name.startswith(f"{new}."):
                return old + name.removeprefix(new)
            if old == name or name.startswith(f"{old}.") or new.startswith(f"{name}."):
                return None
        return name


def carry(operations: Sequence[RecordOperation]) -> Carry:
    """Follow the fields through `operations` in order."""
    moved: dict[str, str] = {}
    altered: set[str] = set()
    looked_at: set[str] | None = set()
    named: set[str] = set()
    for operation in operations:
        looks = operation.looks_at()
        if looks is None:
            looked_at = None
        elif looked_at is not None:
            before = Carry(moved, frozenset(altered), frozenset(), frozenset())
            # A field made earlier has a value that follows from what was looked at when it was made.
            looked_at |= {origin for name in looks if (origin := before.origin(name)) is not None}
        for old, new in operation.carries().items():
            source = next((first for first, last in moved.items() if last == old), old)
            if any(_overlaps(old, other) for other in altered):
                altered = {other for other in altered if not _overlaps(old, other)} | {new}
            else:
                moved[source] = new
            named |= {old, new}
        altered |= operation.alters()
        named |= operation.alters() | (looks or frozenset())
    return Carry(
        moved, frozenset(altered), None if looked_at is None else frozenset(looked_at), frozenset(named)
    )


def made_by(operations: Iterable[RecordOperation]) -> dict[str, Any]:
    """The fields that operations give one fixed value in every record, and the last such value."""
    made: dict[str, Any] = {}
    for operation in operations:
        for name in operation.alters():
            made.pop(name, None)
        if isinstance(operation, (Add, SetField)) and not getattr(operation, "if_absent", False):
            made[operation.name] = operation.value
    return made


def _overlaps(left: str, right: str) -> bool:
    """True where one of two dotted names is the other, or lies inside it."""
    return left == right or left.startswith(f"{right}.") or right.startswith(f"{left}.")
