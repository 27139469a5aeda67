"""Record operations whose edits depend on values: tables, functions, and operations for some records only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evalspec.errors import visible, written
from evalspec.formats.edits import Edit, Insert, Path, Remove, Rename, Replace, Where
from evalspec.formats.json_edit import same_value
from evalspec.migrate.operations import OperationError, Quiet, overlaps, split_path, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalspec.migrate.operations import RecordOperation


@dataclass(frozen=True)
class MapValues(Quiet):
    """Give a field the value that a table has for its own; a value the table lacks is an error, or stays.

    Attributes:
        name: the field.
        table: old value to new.
        rename: the field's new name, if it gets one.
        keep_others: leave a value that the table lacks as it is.
    """

    name: str
    table: Mapping[Any, Any] = field(hash=False)
    rename: str | None = None
    keep_others: bool = False

    def describe(self) -> str:
        to = f" to {self.rename}" if self.rename else ""
        return f"map {self.name}{to} by a table of {len(self.table)}"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        path = split_path(self.name)
        there, value = value_at(record, path)
        if not there:
            return []
        # Not by hash alone: True is no key of a table that has 1.
        known = next((key for key in self.table if same_value(key, value)), None)
        if known is None and not self.keep_others:
            raise OperationError(f"`{self.name}` has no successor for {visible(written(value))}", self.name)
        edits: list[Edit] = []
        if known is not None and not same_value(self.table[known], value):
            edits.append(Replace(path, self.table[known]))
        if self.rename is not None:
            edits.append(Rename(path, self.rename))
        return edits

    def alters(self) -> frozenset[str]:
        new = ".".join([*self.name.split(".")[:-1], self.rename]) if self.rename else self.name
        return frozenset([self.name, new])

    def looks_at(self) -> frozenset[str] | None:
        return frozenset([self.name])

    def inverse(self) -> RecordOperation | None:
        values = list(self.table.values())
        if self.keep_others or any(not isinstance(value, (str, int)) for value in values):
            return None
        if len(set(values)) != len(values):
            return None
        back = {new: old for old, new in self.table.items()}
        name, to = self.name, None
        if self.rename is not None:
            name = ".".join([*self.name.split(".")[:-1], self.rename])
            to = self.name.rpartition(".")[2]
        return MapValues(name, back, to)


@dataclass(frozen=True)
class Split(Quiet):
    """Replace a field by several, made from its value by a function that gives them by name."""

    name: str
    into: tuple[str, ...]
    by: Callable[[Any], Mapping[str, Any]]

    def describe(self) -> str:
        return f"split {self.name} into {', '.join(self.into)}"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        there, value = value_at(record, (self.name,))
        if not there:
            return []
        made = _call(self.by, value, self.name)
        if unknown := [name for name in made if name not in self.into]:
            raise OperationError(
                f"splitting `{self.name}` gave `{unknown[0]}`, which it did not name", self.name
            )
        edits: list[Edit] = []
        after = self.name
        for name in self.into:
            if name in made and name != self.name:
                edits.append(Insert((name,), made[name], Where(after=after)))
                after = name
        edits.append(Replace((self.name,), made[self.name]) if self.name in made else Remove((self.name,)))
        return edits

    def alters(self) -> frozenset[str]:
        return frozenset([self.name, *self.into])

    def looks_at(self) -> frozenset[str] | None:
        return None


@dataclass(frozen=True)
class Each(Quiet):
    """Let a plain Python function change a copy of the record; what it changed becomes edits."""

    function: Callable[[dict[str, Any]], object]
    fields: tuple[str, ...]

    def describe(self) -> str:
        return f"run {self.function.__name__} on each record ({', '.join(self.fields)})"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        import copy

        changed = copy.deepcopy(dict(record))
        _call(self.function, changed, self.fields[0] if self.fields else "")
        edits = list(_difference(record, changed, ()))
        for edit in edits:
            if str(edit.path[0]) not in self.fields:
                raise OperationError(f"`{self.function.__name__}` changed `{edit.path[0]}`, which it did not name",
                                     str(edit.path[0]))  # fmt: skip
        return edits

    def alters(self) -> frozenset[str]:
        return frozenset(self.fields)

    def looks_at(self) -> frozenset[str] | None:
        return None


@dataclass(frozen=True)
class Narrowed(Quiet):
    """An operation for some records only: those whose fields have the given values when its turn comes."""

    inner: RecordOperation
    conditions: tuple[tuple[str, tuple[Any, ...]], ...]

    @property
    def sign(self) -> str:  # type: ignore[override]
        return self.inner.sign

    def describe(self) -> str:
        terms = [f"{name} is {' or '.join(map(repr, values))}" for name, values in self.conditions]
        return f"{self.inner.describe()}, where {' and '.join(terms)}"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        for name, values in self.conditions:
            there, value = value_at(record, split_path(name))
            if not there or not any(same_value(value, wanted) for wanted in values):
                return []
        return self.inner.edits(record)

    def alters(self) -> frozenset[str]:
        # What is carried for some records only is altered, as far as a proof over all of them goes.
        moved = self.inner.carries()
        return self.inner.alters() | frozenset(moved) | frozenset(moved.values())

    def may_carry(self) -> dict[str, str]:
        return {**self.inner.may_carry(), **self.inner.carries()}

    def looks_at(self) -> frozenset[str] | None:
        inner = self.inner.looks_at()
        return None if inner is None else inner | frozenset(name for name, _ in self.conditions)

    def inverse(self) -> RecordOperation | None:
        inner = self.inner.inverse()
        touched = {*self.inner.alters(), *self.inner.carries(), *self.inner.carries().values()}
        if inner is None or any(overlaps(name, other) for name, _ in self.conditions for other in touched):
            return None
        return replace(self, inner=inner)


def _call(function: Callable[[Any], Any], value: Any, field: str) -> Any:
    """What a migration's own function gives.

    Raises:
        OperationError: it failed.
    """
    try:
        return function(value)
    except Exception as error:
        raise OperationError(
            f"`{function.__name__}` failed: {type(error).__name__}: {error}", field
        ) from error


def _difference(old: Any, new: Any, path: Path) -> Sequence[Edit]:
    """The edits that lead from one mapping to another, key by key."""
    edits: list[Edit] = [Remove((*path, key)) for key in old if key not in new]
    previous: str | None = None
    for key, value in new.items():
        where = Where(first=True) if previous is None else Where(after=previous)
        if key not in old:
            edits.append(Insert((*path, key), value, where))
        elif isinstance(value, dict) and isinstance(old[key], dict):
            edits += _difference(old[key], value, (*path, key))
        elif not same_value(old[key], value):
            edits.append(Replace((*path, key), value))
        previous = key
    return edits
