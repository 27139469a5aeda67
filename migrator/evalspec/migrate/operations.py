"""Record operations: what a migration does to records, as values (design.md, "Migrations").

An operation looks at one plain record, as the operations before it left it, and answers with the edits it wants. It
never sees text. It says of itself what it does (`describe`), which fields it alters and which it carries elsewhere with
their value untouched, on which values its answer depends, and what would undo it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evalspec.errors import EvalspecError
from evalspec.formats.edits import IN_PLACE, LAST, Edit, Insert, Move, Path, Remove, Rename, Replace, Where
from evalspec.formats.json_edit import same_value

if TYPE_CHECKING:
    from collections.abc import Mapping


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

    def may_carry(self) -> dict[str, str]:
        """Dotted fields that go elsewhere in some records only, old to new; both are among those it alters."""

    def looks_at(self) -> frozenset[str] | None:
        """The dotted fields whose values (not their mere presence) decide the edits; None: it cannot say."""

    def inverse(self) -> RecordOperation | None:
        """The operation that undoes it on every record it changed; None where something is lost."""


def split_path(name: str) -> Path:
    """The path of a dotted field."""
    return tuple(name.split("."))


def is_in(name: str, holder: str) -> bool:
    """True where a dotted name is `holder`, or lies inside it."""
    return name == holder or name.startswith(f"{holder}.")


def overlaps(left: str, right: str) -> bool:
    """True where one of two dotted names is the other, or lies inside it."""
    return is_in(left, right) or is_in(right, left)


def value_at(record: Any, path: Path) -> tuple[bool, Any]:
    """Whether there is a value at `path`, and which."""
    for step in path:
        if not isinstance(record, dict) or step not in record:
            return False, None
        record = record[step]
    return True, record


class Quiet:
    """What most operations answer; each overrides what it has to say."""

    sign = "~"

    def alters(self) -> frozenset[str]:
        return frozenset()

    def carries(self) -> dict[str, str]:
        return {}

    def may_carry(self) -> dict[str, str]:
        return {}

    def looks_at(self) -> frozenset[str] | None:
        return frozenset()

    def inverse(self) -> RecordOperation | None:
        return None


@dataclass(frozen=True)
class Add(Quiet):
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
        # A mapping that had to be made for it may stay empty.
        return None if self.if_absent or "." in self.name else RemoveField(self.name, "it was added")


@dataclass(frozen=True)
class SetField(Quiet):
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
        return [] if same_value(value, self.value) else [Replace(path, self.value)]

    def alters(self) -> frozenset[str]:
        return frozenset([self.name])

    def looks_at(self) -> frozenset[str] | None:
        return frozenset([self.name])


@dataclass(frozen=True)
class RemoveField(Quiet):
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
class RenameField(Quiet):
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
class MoveField(Quiet):
    """Move a field's value elsewhere, its text untouched.

    Attributes:
        name: the field to move.
        to: where it goes; must not be there.
        where: the new key's place. By default it, or the mapping that has to be made for it, stands where the field
            stood; and last, where that is in another mapping.
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
            where = LAST if self.where == IN_PLACE else self.where
            return [] if self.otherwise is None else [Insert(to, self.otherwise, where)]
        where = self.where
        if where == IN_PLACE and not _has_place(record, path, to):
            where = LAST
        edits: list[Edit] = [Move(path, to, where)]
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

    def may_carry(self) -> dict[str, str]:
        return {} if self._always() else {self.name: self.to}

    def looks_at(self) -> frozenset[str] | None:
        return frozenset([self.name]) if self.only is not None or self.drop_empty else frozenset()

    def inverse(self) -> RecordOperation | None:
        if not self._always() or self.drop_empty or "." in self.name or is_in(self.to, self.name):
            return None
        return MoveField(self.to, self.name, drop_empty="." in self.to)


def _has_place(record: Mapping[str, Any], path: Path, to: Path) -> bool:
    """True where the first key that has to be made for `to` can stand where `path` stands."""
    depth = len(path) - 1
    return path[:depth] == to[:depth] and (to[depth] == path[-1] or not value_at(record, to[: depth + 1])[0])
