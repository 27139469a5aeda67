"""Follow fields through operations: where each goes untouched, which are altered, and on what the edits depend.

Everything here is decided from the operations alone, once, before a record is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.migrate.operations import Add, SetField, is_in, overlaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.migrate.operations import RecordOperation


class Carry(NamedTuple):
    """What operations do to fields, by dotted name.

    Attributes:
        operations: the operations, in order.
        looked_at: names, as they were before, of the fields whose values decide the edits; None: cannot be said.
        sometimes: names, as they were before, of the fields that go elsewhere in some records only.
        named: names, as they were before, that an operation mentions.
    """

    operations: tuple[RecordOperation, ...]
    looked_at: frozenset[str] | None
    sometimes: frozenset[str]
    named: frozenset[str]

    def origin(self, name: str) -> str | None:
        """The name that a field had before, if its value came through untouched in every record."""
        return _origin(name, self.operations)


def carry(operations: Sequence[RecordOperation]) -> Carry:
    """Follow the fields through `operations` in order."""
    looked_at: set[str] | None = set()
    sometimes: set[str] = set()
    named: set[str] = set()
    for index, operation in enumerate(operations):
        before = operations[:index]
        looks, carries, may = operation.looks_at(), operation.carries(), operation.may_carry()
        if looks is None:
            looked_at = None
        elif looked_at is not None:
            looked_at |= _origins(looks, before)
        sometimes |= _origins(may, before)
        mentioned = {*operation.alters(), *carries, *carries.values(), *may, *may.values(), *(looks or ())}
        named |= _origins(mentioned, before)
    decided = None if looked_at is None else frozenset(looked_at)
    return Carry(tuple(operations), decided, frozenset(sometimes), frozenset(named))


def _origins(names: Iterable[str], operations: Sequence[RecordOperation]) -> set[str]:
    """The first names of fields. A field made or changed on the way has none: what it holds follows from others."""
    return {origin for name in names if (origin := _origin(name, operations)) is not None}


def _origin(name: str, operations: Sequence[RecordOperation]) -> str | None:
    """Walk back through `operations`: the first name of a field whose value none of them touches; else None."""
    for operation in reversed(operations):
        if any(overlaps(name, altered) for altered in operation.alters()):
            return None
        for old, new in operation.carries().items():
            if is_in(name, new):
                name = old + name.removeprefix(new)
                break
            if is_in(new, name) or overlaps(name, old):
                return None  # something was put into it, or taken out of it, or it went away
    return name


def made_by(operations: Iterable[RecordOperation]) -> dict[str, Any]:
    """The fields that operations give one fixed value in every record, and the last such value."""
    made: dict[str, Any] = {}
    for operation in operations:
        carries = operation.carries()
        touched = {*operation.alters(), *carries, *carries.values()}
        left = {
            name: value for name, value in made.items() if not any(overlaps(name, other) for other in touched)
        }
        for old, new in carries.items():
            left |= {new + name.removeprefix(old): made[name] for name in made if is_in(name, old)}
        if isinstance(operation, (Add, SetField)) and not getattr(operation, "if_absent", False):
            left[operation.name] = operation.value
        made = left
    return made
