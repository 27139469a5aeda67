"""Edits of one JSON object's text that leave every other character where it was.

The text is taken apart only along the paths of the edits: a `Box` is an object or a list that has been opened,
its entries keep the white space around them; what was not opened stays a `Node` and is copied as it is written.
New text takes its white space from its neighbours, or from the record's outermost object.

A value of the outermost object is a slot until an edit opens it: whatever text stands there, the edits do the same
with it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import FormatError
from evalspec.formats.edits import IN_PLACE, EditError, Insert, Move, Remove, Rename, Replace, apply_to_value
from evalspec.formats.json_box import Box, Entry
from evalspec.formats.json_style import Style, escapes_in, quote, render
from evalspec.formats.json_text import Node, scan

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalspec.formats.edits import Edit, Path, Where

#: New values may be nested this deep; whether the record may be is asked of the result.
_NEW_DEPTH = 100_000


class Edited(NamedTuple):
    """A text before and after edits, as pieces: text, or the number of a slot.

    Attributes:
        before: the text as it was: text and slots in turn, beginning and ending with text.
        after: the edited text, likewise; a slot that was opened or removed is not in it.
        slots: the values whose text goes where the numbers are.
        opened: the numbers of the slots that edits looked into.
        depths: for each slot in `after`, how many objects and lists it lies in.
    """

    before: list[str | int]
    after: list[str | int]
    slots: list[Node]
    opened: tuple[int, ...]
    depths: dict[int, int]

    @property
    def text(self) -> str:
        """The edited text."""
        return "".join(self.slots[piece].raw if isinstance(piece, int) else piece for piece in self.after)


def edit_text(
    root: Node, edits: Sequence[Edit], *, max_depth: int, open_first: Collection[int] = ()
) -> Edited:
    """Apply `edits` in order to the JSON object `root`, with the white space around it.

    Args:
        root: the object's node, from `scan`.
        edits: what to change; each path is meant in the state that the earlier ones left.
        max_depth: how deep the result may be nested.
        open_first: values of `root`, by their place, whose own members become the slots.

    Raises:
        EditError: an edit that does not fit the record, or whose result would not be what the edits mean.
    """
    record = _Record(root, open_first)
    before = record.pieces()
    edit: Edit | None = None
    try:
        for edit in edits:
            record.apply(edit)
        edited = Edited(before, record.pieces(), record.slots, tuple(record.opened), record.depths())
        _verify(edited.text, apply_to_value(root.value, edits), max_depth)
    except (FormatError, RecursionError, TypeError, ValueError) as error:
        if edit is None or isinstance(error, EditError):
            raise
        raise EditError(edit, f"the edited record would be no valid line ({error})") from error
    return edited


def _verify(text: str, meant: Any, max_depth: int) -> None:
    if not same_value(scan(text, max_depth=max_depth).value, meant):
        raise ValueError("it does not read as what was meant")


def same_value(left: Any, right: Any) -> bool:
    """Whether two values are written the same: equal, of the same types, keys in the same order."""
    todo = [(left, right)]
    while todo:
        one, two = todo.pop()
        if type(one) is not type(two):
            return False
        if isinstance(one, dict):
            if list(one) != list(two):
                return False
            todo.extend(zip(one.values(), two.values(), strict=True))
        elif isinstance(one, list):
            if len(one) != len(two):
                return False
            todo.extend(zip(one, two, strict=True))
        elif one != two or (isinstance(one, float) and math.copysign(1, one) != math.copysign(1, two)):
            return False
    return True


class _Record:
    """One record while it is edited."""

    def __init__(self, root: Node, open_first: Collection[int]) -> None:
        self.root = root
        self.box = Box(root)
        self.style = self._style()
        self.slots: list[Node] = []
        self.opened: list[int] = []
        for number, entry in enumerate(self.box.entries):
            inside = self.enter(entry) if number in open_first else None
            for member in inside.entries if inside else [entry]:
                if isinstance(member.value, Node):
                    member.slot = len(self.slots)
                    self.slots.append(member.value)

    def _style(self) -> Style:
        """How the record is written; for an empty one, as `json.dumps` writes."""
        escapes = escapes_in(self.root.text)
        entries = self.box.entries
        if not entries:
            return Style(escapes=escapes)
        first, last = entries[0], entries[-1]
        before, after = "", " " if first.colon.endswith(" ") else ""
        if len(entries) > 1:
            before, after = first.trail, entries[1].lead
        return Style(first.colon, before, after, first.lead, last.trail, escapes)

    def pieces(self) -> list[str | int]:
        """The record as text and slots in turn."""
        root = self.root
        out: list[str | int] = []
        run = [root.text[: root.start]]
        for piece in self.box.pieces():
            if isinstance(piece, str):
                run.append(piece)
            else:
                out += ("".join(run), piece)
                run = []
        return [*out, "".join([*run, root.text[root.end :]])]

    def depths(self) -> dict[int, int]:
        """How many objects and lists each slot lies in."""
        found: dict[int, int] = {}
        todo = [(self.box, 1)]
        while todo:
            box, depth = todo.pop()
            for entry in box.entries:
                if isinstance(entry.value, Box):
                    todo.append((entry.value, depth + 1))
                elif entry.slot is not None:
                    found[entry.slot] = depth
        return found

    def apply(self, edit: Edit) -> None:
        match edit:
            case Replace(path, value):
                box, index = self.holder(path, edit)
                box.entries[index].value = self.new(value)
                box.entries[index].slot = None
            case Rename(path, key):
                box, index = self.holder(path, edit)
                if not box.is_object:
                    raise EditError(edit, "a list has no keys")
                if box.index(key) is not None:
                    raise EditError(edit, "the new key is there already")
                box.entries[index].rename(key, self.style)
            case Insert(path, value, where):
                self.place(Entry(self.new(value)), path, where, edit)
            case Remove(path):
                box, index = self.holder(path, edit)
                box.take(index)
            case Move(path, to, where):
                box, index = self.holder(path, edit)
                if where == IN_PLACE:
                    self.move_in_place(box, index, edit)
                else:
                    self.place(box.take(index), to, where, edit)

    def new(self, value: Any) -> Node:
        return scan(render(value, self.style), max_depth=_NEW_DEPTH)

    def enter(self, entry: Entry) -> Box | None:
        """The value of an entry, opened; None where it is neither an object nor a list."""
        if isinstance(entry.value, Node):
            if entry.slot is not None:
                self.opened.append(entry.slot)
                entry.slot = None
            if entry.value.kind not in ("object", "list"):
                return None
            entry.value = Box(entry.value)
        return entry.value

    def holder(self, path: Path, edit: Edit) -> tuple[Box, int]:
        """The object or list that holds the last step of `path`, and where in it."""
        if not path:
            raise EditError(edit, "a path names a key or a list item")
        box = self.box
        for step in path[:-1]:
            index = box.index(step)
            inside = self.enter(box.entries[index]) if index is not None else None
            if inside is None:
                raise EditError(edit, f"there is no {step!r} to look into")
            box = inside
        index = box.index(path[-1])
        if index is None:
            raise EditError(edit, f"there is no {path[-1]!r}")
        return box, index

    def place(self, entry: Entry, path: Path, where: Where, edit: Edit) -> None:
        """Put `entry` at `path`, making the objects on the way."""
        if not path or not isinstance(path[-1], str):
            raise EditError(edit, "a new key is a string")
        box = self.box
        for step in path[:-1]:
            index = box.index(step)
            if index is None and box.is_object and isinstance(step, str):
                index = len(box.entries)
                box.put(index, Entry(Box(), name=step, key=quote(step, self.style)), self.style)
            inside = self.enter(box.entries[index]) if index is not None else None
            if inside is None:
                raise EditError(edit, f"there is no {step!r} to look into")
            box = inside
        if not box.is_object:
            raise EditError(edit, "the new key's parent is no object")
        if box.index(path[-1]) is not None:
            raise EditError(edit, "the new key is there already")
        after = box.index(where.after)
        index = 0 if where.first else len(box.entries) if after is None else after + 1
        entry.rename(path[-1], self.style)
        box.put(index, entry, self.style)

    def move_in_place(self, box: Box, index: int, edit: Move) -> None:
        """The moved key becomes the first missing key of `to`, the rest of `to` lies below it."""
        depth = len(edit.path) - 1
        names = [step for step in edit.to[depth:] if isinstance(step, str)]
        if edit.path[:-1] != edit.to[:depth] or not names or len(names) != len(edit.to) - depth:
            raise EditError(edit, "a move in place stays below the same object")
        if not box.is_object or box.index(names[0]) not in {None, index}:
            raise EditError(edit, "the new key is there already" if box.is_object else "a list has no keys")
        entry = box.entries[index]
        for name in reversed(names[1:]):
            inner = Entry(entry.value)
            inner.rename(name, self.style)
            inner.slot, entry.slot = entry.slot, None
            entry.value = Box()
            entry.value.put(0, inner, self.style)
        if entry.name != names[0]:
            entry.rename(names[0], self.style)
