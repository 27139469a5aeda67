"""Edits of one record, as values: what a migration asks for, and what a format carries out on text.

An edit knows nothing of text, and a format nothing of migrations. Edits apply in order; each path is meant in
the state that the earlier ones left. `apply_to_value` is their meaning on plain data, and the law that every
format is tested against:

    parse(edit_text(text, edits)) == apply_to_value(parse(text), edits)
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Path = tuple["str | int", ...]


class Where(NamedTuple):
    """Where a new key goes in its mapping: first, last, or after a key (last, if that key is not there)."""

    first: bool = False
    after: str | None = None


LAST = Where()
FIRST = Where(first=True)


class Replace(NamedTuple):
    """Give an existing key or list item another value."""

    path: Path
    value: Any


class Rename(NamedTuple):
    """Give an existing key another name; its place and its value's text stay."""

    path: Path
    key: str


class Insert(NamedTuple):
    """Add a key that is not there. Mappings missing on the way are made, last in their parent."""

    path: Path
    value: Any
    where: Where = LAST


class Remove(NamedTuple):
    """Take an existing key or list item away."""

    path: Path


class Move(NamedTuple):
    """Take an existing value to a key that is not there; its text stays. Missing mappings are made.

    Where the source's mapping is `to`'s mapping this still moves: the key goes where `where` says. The mapping
    that is made for `to` at the source's own depth takes the source's place if `where` is `IN_PLACE`.
    """

    path: Path
    to: Path
    where: Where = LAST


#: For `Move` into a mapping that does not exist yet: the new mapping stands where the moved key stood.
IN_PLACE = Where(after="")

Edit = Replace | Rename | Insert | Remove | Move


class EditError(ValueError):
    """An edit that does not fit the record: `edit` and the reason."""

    def __init__(self, edit: Edit, reason: str) -> None:
        self.edit = edit
        self.reason = reason
        super().__init__(f"{reason}: {edit}")


def apply_to_value(record: Any, edits: Sequence[Edit]) -> Any:
    """`record` with `edits` applied in order; the argument is not changed.

    Raises:
        EditError: a path that is not there (or, for a new key, is there already).
    """
    result = copy.deepcopy(record)
    for edit in edits:
        apply_edit(result, edit)
    return result


def apply_edit(record: Any, edit: Edit) -> None:
    """Apply one edit to plain data, in place.

    Raises:
        EditError: as `apply_to_value`; the record may then be half edited.
    """
    match edit:
        case Replace(path, value):
            _holder(record, path, edit)[path[-1]] = copy.deepcopy(value)
        case Rename(path, key):
            mapping = _holder(record, path, edit)
            if key in mapping:
                raise EditError(edit, "the new key is there already")
            _reorder(mapping, [(key if name == path[-1] else name, item) for name, item in mapping.items()])
        case Insert(path, value, where):
            _place(record, path, copy.deepcopy(value), where, edit)
        case Remove(path):
            del _holder(record, path, edit)[path[-1]]
        case Move(path, to, where):
            holder = _holder(record, path, edit)
            if where == IN_PLACE:
                _move_in_place(holder, path, to, edit)
                return
            value = holder.pop(path[-1])
            _place(record, to, value, where, edit)


def _move_in_place(holder: dict[Any, Any], path: Path, to: Path, edit: Edit) -> None:
    """The moved key becomes the first missing key of `to`, with the rest of `to` nested below it."""
    depth = len(path) - 1
    if path[:-1] != to[:depth] or len(to) <= depth:
        raise EditError(edit, "a move in place stays below the same mapping")
    key, *rest = to[depth:]
    value = holder[path[-1]]
    for name in reversed(rest):
        value = {name: value}
    if key in holder and key != path[-1]:
        raise EditError(edit, "the new key is there already")
    _reorder(holder, [(key if name == path[-1] else name, value if name == path[-1] else item)
                      for name, item in holder.items()])  # fmt: skip


def _holder(record: Any, path: Path, edit: Edit) -> Any:
    """The mapping or list that holds the last step of `path`, which must be there."""
    value = record
    for step in path[:-1]:
        value = _step(value, step, edit)
    _step(value, path[-1], edit)
    return value


def _step(value: Any, step: str | int, edit: Edit) -> Any:
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        raise EditError(edit, f"there is no {step!r}") from None


def _place(record: Any, path: Path, value: Any, where: Where, edit: Edit) -> None:
    """Insert `value` at `path`, making the mappings on the way."""
    mapping = record
    for step in path[:-1]:
        if isinstance(mapping, dict) and step not in mapping:
            mapping[step] = {}
        mapping = _step(mapping, step, edit)
    if not isinstance(mapping, dict):
        raise EditError(edit, "the new key's parent is no mapping")
    key = path[-1]
    if key in mapping:
        raise EditError(edit, "the new key is there already")
    items = list(mapping.items())
    names = [name for name, _ in items]
    index = 0 if where.first else names.index(where.after) + 1 if where.after in names else len(items)
    items.insert(index, (key, value))
    _reorder(mapping, items)


def _reorder(mapping: dict[Any, Any], items: list[tuple[Any, Any]]) -> None:
    mapping.clear()
    mapping.update(items)
