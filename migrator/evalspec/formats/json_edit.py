"""Edits of one JSON object's text that leave every other character where it was.

The text is taken apart only along the paths of the edits: a `_Box` is an object or a list that has been opened, its
entries keep the white space around them, everything that was not opened stays a `Node` and is copied as it is
written. New text takes its white space from its neighbours, or from the record's outermost object.

A value of the outermost object that was not opened is a slot: the same edit holds for any other text in its place.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import FormatError
from evalspec.formats.edits import IN_PLACE, EditError, Insert, Move, Remove, Rename, Replace, apply_to_value
from evalspec.formats.json_text import Node, scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.formats.edits import Edit, Path, Where

#: An escape of a character beyond ASCII: how a writer that keeps to ASCII spells it.
_escaped = re.compile(r"\\(?:u(?!00[0-7])([0-9a-fA-F]{4})|.)")
_any_escape = re.compile(r"\\(?:u[0-9a-f]{4}|.)")


class Style(NamedTuple):
    """How a record is written, seen in its outermost object.

    Attributes:
        colon: between a key and its value, with its white space.
        before: white space before a comma.
        after: white space after a comma.
        opening: white space after an opening brace.
        closing: white space before a closing brace.
        escapes: characters beyond ASCII are written as escapes.
        upper: their hexadecimal digits are capitals.
    """

    colon: str = ": "
    before: str = ""
    after: str = " "
    opening: str = ""
    closing: str = ""
    escapes: bool = False
    upper: bool = False


class _Entry:
    """One member of an opened object or list, with the white space around it."""

    __slots__ = ("colon", "key", "lead", "name", "slot", "trail", "value")

    def __init__(self, name: str, key: str, colon: str, value: Node | _Box, lead: str = "", trail: str = "") -> None:
        self.name = name
        self.key = key
        self.colon = colon
        self.value = value
        self.lead = lead
        self.trail = trail
        self.slot: int | None = None


class _Box:
    """An opened object or list."""

    __slots__ = ("entries", "inner", "is_object")

    def __init__(self, *, is_object: bool, inner: str = "") -> None:
        self.is_object = is_object
        self.inner = inner
        self.entries: list[_Entry] = []

    def index(self, step: str | int) -> int | None:
        """Where the entry of a key or list index is; None where there is none."""
        if isinstance(step, str):
            names = [entry.name for entry in self.entries] if self.is_object else []
            return names.index(step) if step in names else None
        if self.is_object or not -len(self.entries) <= step < len(self.entries):
            return None
        return step % len(self.entries)

    def put(self, index: int, entry: _Entry, style: Style) -> None:
        """Add an entry before the one at `index`, spaced as its neighbours are."""
        entries = self.entries
        count = len(entries)
        if not entries:
            entry.lead = self.inner or style.opening
            entry.trail = self.inner or style.closing
        else:
            after = entries[min(max(index, 1), count - 1)].lead if count > 1 else style.after
            before = entries[min(max(index - 1, 0), count - 2)].trail if count > 1 else style.before
            entry.lead, entry.trail = after, before
            if index == 0:
                entry.lead, entries[0].lead = entries[0].lead, after
            elif index == count:
                entry.trail, entries[-1].trail = entries[-1].trail, before
            entry.colon = entries[max(index - 1, 0)].colon
        entries.insert(index, entry)

    def take(self, index: int) -> _Entry:
        """Remove the entry at `index`; the white space beside the brackets stays."""
        entry = self.entries.pop(index)
        if not self.entries:
            self.inner = ""
        elif index == 0:
            self.entries[0].lead = entry.lead
        elif index == len(self.entries):
            self.entries[-1].trail = entry.trail
        return entry


def edit_text(
    text: str, root: Node, edits: Sequence[Edit], *, max_depth: int
) -> tuple[list[str | int], list[str | int]]:
    """The text before and after `edits`, each as pieces: text as it stands, or the number of a slot.

    Args:
        text: a JSON object, with white space around it.
        root: its node.
        edits: applied in order.
        max_depth: how deep the result may be nested.

    Returns:
        The pieces of `text`, every value of the outermost object a slot; and the pieces of the edited text, where
        only the values that no edit opened are slots.

    Raises:
        EditError: an edit that does not fit the record, or whose result would not be what the edits mean.
    """
    box = _open(root)
    for slot, entry in enumerate(box.entries):
        entry.slot = slot
    head, tail = text[: root.start], text[root.end :]
    before = _joined([head, *_pieces(box), tail])
    style = _style(text, box)
    edit: Edit | None = None
    try:
        for edit in edits:
            _apply(box, edit, style)
        after = _joined([head, *_pieces(box), tail])
        _verify(root, edits, after, max_depth)
    except (FormatError, RecursionError, TypeError, ValueError) as error:
        if edit is None or isinstance(error, EditError):
            raise
        raise EditError(edit, f"the edited record would be no valid JSON line ({error})") from error
    return before, after


def fill(root: Node, pieces: Iterable[str | int]) -> str:
    """`pieces` as text, each slot the text of that value of `root`."""
    return "".join(root.items[piece].raw if isinstance(piece, int) else piece for piece in pieces)


def writes_escapes(text: str) -> bool:
    """Whether a text writes its characters beyond ASCII as escapes: it has some, and no such character as it is."""
    return bool(_escapes(text))


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


def _verify(root: Node, edits: Sequence[Edit], after: list[str | int], max_depth: int) -> None:
    """Hold the result against the meaning of the edits on plain data."""
    result = scan(fill(root, after), max_depth=max_depth).value
    if not same_value(result, apply_to_value(root.value, edits)):
        raise ValueError("it does not read as what was meant")


def _open(node: Node) -> _Box:
    """Take an object or a list apart, one level deep."""
    text = node.text
    box = _Box(is_object=node.kind == "object")
    position = node.start + 1
    for number, item in enumerate(node.items):
        if box.is_object:
            key = node.keys[number]
            entry = _Entry(node.names[number], key.raw, text[key.end : item.start], item)
            first = key.start
        else:
            entry = _Entry("", "", "", item)
            first = item.start
        gap = text[position:first]
        if number:
            box.entries[-1].trail, _, gap = gap.partition(",")
        entry.lead = gap
        box.entries.append(entry)
        position = item.end
    rest = text[position : node.end - 1]
    if box.entries:
        box.entries[-1].trail = rest
    else:
        box.inner = rest
    return box


def _pieces(box: _Box) -> list[str | int]:
    """An opened object or list as text and slots."""
    out: list[str | int] = ["{" if box.is_object else "[", box.inner if not box.entries else ""]
    for number, entry in enumerate(box.entries):
        out += ("," if number else "", entry.lead, entry.key, entry.colon)
        if isinstance(entry.value, _Box):
            out += _pieces(entry.value)
        else:
            out.append(entry.value.raw if entry.slot is None else entry.slot)
        out.append(entry.trail)
    out.append("}" if box.is_object else "]")
    return out


def _joined(pieces: Iterable[str | int]) -> list[str | int]:
    """`pieces` with neighbouring texts made one."""
    out: list[str | int] = []
    for piece in pieces:
        if out and isinstance(piece, str) and isinstance(out[-1], str):
            out[-1] += piece
        else:
            out.append(piece)
    return out


def _apply(root: _Box, edit: Edit, style: Style) -> None:
    match edit:
        case Replace(path, value):
            box, index = _holder(root, path, edit)
            entry = box.entries[index]
            entry.value, entry.slot = _new(value, style), None
        case Rename(path, key):
            box, index = _holder(root, path, edit)
            if not box.is_object or box.index(key) is not None:
                raise EditError(edit, "the new key is there already" if box.is_object else "a list has no keys")
            entry = box.entries[index]
            entry.name, entry.key = key, _quote(key, style)
        case Insert(path, value, where):
            _place(root, path, _Entry("", "", style.colon, _new(value, style)), where, edit, style)
        case Remove(path):
            box, index = _holder(root, path, edit)
            box.take(index)
        case Move(path, to, where):
            box, index = _holder(root, path, edit)
            if where == IN_PLACE:
                _move_in_place(box, index, path, to, edit, style)
            else:
                _place(root, to, box.take(index), where, edit, style)


def _enter(entry: _Entry) -> _Box | None:
    """The value of an entry, opened; None where it is neither an object nor a list."""
    if isinstance(entry.value, Node):
        if entry.value.kind not in ("object", "list"):
            return None
        entry.value, entry.slot = _open(entry.value), None
    return entry.value


def _holder(root: _Box, path: Path, edit: Edit) -> tuple[_Box, int]:
    """The object or list that holds the last step of `path`, and where in it."""
    if not path:
        raise EditError(edit, "a path names a key or a list item")
    box: _Box | None = root
    index: int | None = None
    for depth, step in enumerate(path):
        if depth and index is not None and box is not None:
            box = _enter(box.entries[index])
        index = box.index(step) if box is not None else None
        if box is None or index is None:
            raise EditError(edit, f"there is no {step!r}")
    assert box is not None and index is not None
    return box, index


def _place(root: _Box, path: Path, entry: _Entry, where: Where, edit: Edit, style: Style) -> None:
    """Put `entry` at `path`, making the objects on the way."""
    if not path or not isinstance(path[-1], str):
        raise EditError(edit, "a new key is a string")
    box = root
    for step in path[:-1]:
        index = box.index(step)
        if index is None and box.is_object and isinstance(step, str):
            index = len(box.entries)
            made = _Box(is_object=True)
            box.put(index, _Entry(step, _quote(step, style), style.colon, made), style)
        inside = _enter(box.entries[index]) if index is not None else None
        if inside is None:
            raise EditError(edit, f"there is no {step!r}" if index is None else f"{step!r} is no object")
        box = inside
    name = path[-1]
    if not box.is_object:
        raise EditError(edit, "the new key's parent is no object")
    if box.index(name) is not None:
        raise EditError(edit, "the new key is there already")
    after = box.index(where.after) if where.after is not None else None
    index = 0 if where.first else len(box.entries) if after is None else after + 1
    entry.name, entry.key = name, _quote(name, style)
    entry.colon = style.colon
    box.put(index, entry, style)


def _move_in_place(box: _Box, index: int, path: Path, to: Path, edit: Edit, style: Style) -> None:
    """The moved key becomes the first missing key of `to`, the rest of `to` lies below it."""
    depth = len(path) - 1
    names = [step for step in to[depth:] if isinstance(step, str)]
    if path[:-1] != to[:depth] or not names or len(names) != len(to) - depth or not box.is_object:
        raise EditError(edit, "a move in place stays below the same object")
    old = box.entries[index]
    taken = box.index(names[0])
    if taken is not None and taken != index:
        raise EditError(edit, "the new key is there already")
    value, slot = old.value, old.slot
    for name in reversed(names[1:]):
        made = _Box(is_object=True)
        inner = _Entry(name, _quote(name, style), old.colon, value)
        inner.slot = slot
        made.put(0, inner, style)
        inner.colon = old.colon
        value, slot = made, None
    old.value, old.slot = value, slot
    if old.name != names[0]:
        old.name, old.key = names[0], _quote(names[0], style)


def _style(text: str, box: _Box) -> Style:
    """How the record at hand is written; for an empty one, as `json.dumps` writes."""
    escapes = _escapes(text)
    upper = any(code != code.lower() for code in escapes) and all(code == code.upper() for code in escapes)
    if not box.entries:
        return Style(escapes=bool(escapes), upper=upper)
    first, last = box.entries[0], box.entries[-1]
    after = " " if first.colon.endswith(" ") else ""
    before = ""
    if len(box.entries) > 1:
        before, after = first.trail, box.entries[1].lead
    return Style(first.colon, before, after, first.lead, last.trail, bool(escapes), upper)


def _escapes(text: str) -> list[str]:
    """The code units that a text writes as escapes though they lie beyond ASCII; none if it also has such characters."""
    if "\\u" not in text or not text.isascii():
        return []
    return [match[1] for match in _escaped.finditer(text) if match[1]]


def _new(value: Any, style: Style) -> Node:
    return scan(_render(value, style), max_depth=10**6)


def _render(value: Any, style: Style) -> str:
    """A new value as text, in the record's own style."""
    comma = f"{style.before},{style.after}"
    match value:
        case str():
            return _quote(value, style)
        case dict() if value:
            members = (f"{_quote(key, style)}{style.colon}{_render(item, style)}" for key, item in value.items())
            return f"{{{style.opening}{comma.join(members)}{style.closing}}}"
        case list() if value:
            return f"[{comma.join(_render(item, style) for item in value)}]"
        case _:
            return json.dumps(value, allow_nan=False)


def _quote(text: str, style: Style) -> str:
    if not isinstance(text, str):
        raise TypeError("a key is a string")
    quoted = json.dumps(text, ensure_ascii=style.escapes)
    if style.upper:
        quoted = _any_escape.sub(lambda m: f"\\u{m[0][2:].upper()}" if m[0][1] == "u" else m[0], quoted)
    return quoted
