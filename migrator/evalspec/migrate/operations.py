"""Record operations: what a migration does to records, as values (design.md, "Migrations").

An operation looks at one plain record, as the operations before it left it, and answers with the edits it wants. It
never sees text. It says of itself what it does (`describe`), which fields it alters and which it carries elsewhere with
their value untouched, on which values its answer depends, and what would undo it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from evalspec.errors import EvalspecError, visible
from evalspec.formats.edits import IN_PLACE, Edit, Insert, Move, Path, Remove, Rename, Replace, Where

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class OperationError(EvalspecError):
    """An operation that does not fit a record; `field` is the dotted field it stumbled over."""

    exit_code = 1

    def __init__(self, message: str, field: str) -> None:
        self.field = field
        super().__init__(message)


class RecordOperation(Protocol):
    """One step of an upgrade, on one record."""

    @property
    def sign(self) -> str:
        """`+` adds, `-` removes, `~` changes, `>` moves: the first character of its line in a plan."""

    def describe(self) -> str:
        """What it does, as half a sentence."""

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        """The edits for this record.

        Raises:
            OperationError: the record cannot take it.
        """

    def alters(self) -> frozenset[str]:
        """The dotted fields that are given a new value, made or taken away."""

    def carries(self) -> dict[str, str]:
        """Dotted fields that go elsewhere with their value untouched, old to new."""

    def looks_at(self) -> frozenset[str] | None:
        """The dotted fields whose values (not their mere presence) decide the edits; None: it cannot say."""

    def inverse(self) -> RecordOperation | None:
        """The operation that undoes it on every record; None where something is lost."""


def split_path(name: str) -> Path:
    """The path of a dotted field."""
    return tuple(name.split("."))


def value_at(record: Any, path: Path) -> tuple[bool, Any]:
    """Whether there is a value at `path`, and which."""
    for step in path:
        if not isinstance(record, dict) or step not in record:
            return False, None
        record = record[step]
    return True, record


class _Quiet:
    """What most operations answer."""

    sign = "~"

    def alters(self) -> frozenset[str]:
        return frozenset()

    def carries(self) -> dict[str, str]:
        return {}

    def looks_at(self) -> frozenset[str] | None:
        return frozenset()

    def inverse(self) -> RecordOperation | None:
        return None


@dataclass(frozen=True)
class Add(_Quiet):
    """Add a field with a fixed value. A field that is there already is an error, unless `if_absent`."""

    name: str
    value: Any
    where: Where = Where()
    if_absent: bool = False
    sign = "+"

    def describe(self) -> str:
        return f"add {self.name} = {self.value!r}"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        path = split_path(self.name)
        if value_at(record, path)[0]:
            if self.if_absent:
                return []
            raise OperationError(f"`{self.name}` is there already", self.name)
        return [Insert(path, self.value, self.where)]

    def alters(self) -> frozenset[str]:
        return frozenset([self.name])

    def inverse(self) -> RecordOperation | None:
        return None if self.if_absent else RemoveField(self.name, "it was added")


@dataclass(frozen=True)
class SetField(_Quiet):
    """Give a field a fixed value, whatever it was; add it where it is not there."""

    name: str
    value: Any
    where: Where = Where()

    def describe(self) -> str:
        return f"set {self.name} = {self.value!r}"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        path = split_path(self.name)
        there, value = value_at(record, path)
        if not there:
            return [Insert(path, self.value, self.where)]
        return [] if _same(value, self.value) else [Replace(path, self.value)]

    def alters(self) -> frozenset[str]:
        return frozenset([self.name])

    def looks_at(self) -> frozenset[str] | None:
        return frozenset([self.name])


@dataclass(frozen=True)
class RemoveField(_Quiet):
    """Take a field away; `reason` says why nothing is lost that matters."""

    name: str
    reason: str
    sign = "-"

    def describe(self) -> str:
        return f"remove {self.name} ({self.reason})"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        path = split_path(self.name)
        return [Remove(path)] if value_at(record, path)[0] else []

    def alters(self) -> frozenset[str]:
        return frozenset([self.name])


@dataclass(frozen=True)
class RenameField(_Quiet):
    """Give a field another name beside its siblings; its place and its text stay."""

    name: str
    to: str
    sign = ">"

    def describe(self) -> str:
        return f"rename {self.name} to {self.to}"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        path = split_path(self.name)
        if not value_at(record, path)[0]:
            return []
        if value_at(record, (*path[:-1], self.to))[0]:
            raise OperationError(
                f"`{self.name}` cannot become `{self.to}`, which is there already", self.name
            )
        return [Rename(path, self.to)]

    def carries(self) -> dict[str, str]:
        return {self.name: ".".join([*self.name.split(".")[:-1], self.to])}

    def inverse(self) -> RecordOperation | None:
        return RenameField(self.carries()[self.name], self.name.rpartition(".")[2])


@dataclass(frozen=True)
class MoveField(_Quiet):
    """Move a field's value elsewhere, its text untouched.

    Attributes:
        name: the field to move.
        to: where it goes; must not be there.
        where: the new key's place. By default a mapping that has to be made stands where the field stood.
        only: move only a value of this type (a boolean is no integer); another one stays.
        otherwise: the value that `to` gets where nothing was moved; nothing, unless said.
        drop_empty: take away the mapping that the move emptied.
    """

    name: str
    to: str
    where: Where = IN_PLACE
    only: type | None = None
    otherwise: Any = None
    drop_empty: bool = False
    sign = ">"

    def describe(self) -> str:
        what = f" where it is {self.only.__name__}" if self.only else ""
        instead = f", else {self.to} = {self.otherwise!r}" if self.otherwise is not None else ""
        return f"move {self.name} to {self.to}{what}{instead}"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        path, to = split_path(self.name), split_path(self.to)
        there, value = value_at(record, path)
        if value_at(record, to)[0] and (there or self.otherwise is not None):
            raise OperationError(f"`{self.to}` is there already", self.to)
        if not there or (self.only is not None and type(value) is not self.only):
            where = Where() if self.where == IN_PLACE else self.where
            return [] if self.otherwise is None else [Insert(to, self.otherwise, where)]
        edits: list[Edit] = [Move(path, to, self.where)]
        holder = value_at(record, path[:-1])[1]
        if self.drop_empty and len(path) > 1 and len(holder) == 1:
            edits.append(Remove(path[:-1]))
        return edits

    def _always(self) -> bool:
        """True where the field goes along whatever its value."""
        return self.only is None and self.otherwise is None

    def alters(self) -> frozenset[str]:
        return frozenset() if self._always() else frozenset([self.name, self.to])

    def carries(self) -> dict[str, str]:
        return {self.name: self.to} if self._always() else {}

    def looks_at(self) -> frozenset[str] | None:
        return frozenset([self.name]) if self.only is not None or self.drop_empty else frozenset()

    def inverse(self) -> RecordOperation | None:
        return MoveField(self.to, self.name) if self._always() and not self.drop_empty else None


@dataclass(frozen=True)
class MapValues(_Quiet):
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
        known = isinstance(value, (str, int, bool)) and value in self.table
        if not known and not self.keep_others:
            raise OperationError(f"`{self.name}` has no successor for {visible(repr(value))}", self.name)
        edits: list[Edit] = []
        if known and not _same(self.table[value], value):
            edits.append(Replace(path, self.table[value]))
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
class Split(_Quiet):
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
        made = self.by(value)
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
class Each(_Quiet):
    """Let a plain Python function change a copy of the record; what it changed becomes edits."""

    function: Callable[[dict[str, Any]], object]
    fields: tuple[str, ...]

    def describe(self) -> str:
        return f"run {self.function.__name__} on each record ({', '.join(self.fields)})"

    def edits(self, record: Mapping[str, Any]) -> list[Edit]:
        import copy

        changed = copy.deepcopy(dict(record))
        self.function(changed)
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
class Narrowed(_Quiet):
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
            if not there or not any(_same(value, wanted) for wanted in values):
                return []
        return self.inner.edits(record)

    def alters(self) -> frozenset[str]:
        # What is carried for some records only is altered, as far as a proof over all of them goes.
        moved = self.inner.carries()
        return self.inner.alters() | frozenset(moved) | frozenset(moved.values())

    def looks_at(self) -> frozenset[str] | None:
        inner = self.inner.looks_at()
        return None if inner is None else inner | frozenset(name for name, _ in self.conditions)

    def inverse(self) -> RecordOperation | None:
        inner = self.inner.inverse()
        if inner is None or any(name in self.inner.alters() for name, _ in self.conditions):
            return None
        return replace(self, inner=inner)


def _same(left: Any, right: Any) -> bool:
    """Equal, and of one kind: 1, 1.0 and True are three values."""
    return type(left) is type(right) and bool(left == right)


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
        elif not _same(old[key], value):
            edits.append(Replace((*path, key), value))
        previous = key
    return edits
