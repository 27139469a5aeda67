"""JSON text to nodes that know where they are, read as strictly as records.md asks ("v1 · inline tasks").

`json.loads` accepts what the contract refuses (NaN, repeated keys, lone surrogates, NUL), says little about where
an error is, and forgets how a value was written. `scan` keeps every value's place, so that an error can point at
the character and an edit can leave all other text alone. It holds its own stack: depth costs memory, never the
interpreter's recursion.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalspec.errors import MAX_DIGITS
from evalspec.formats import json_faults as faults

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalspec.formats.edits import Path

Kind = Literal["object", "list", "string", "number", "literal"]

#: How many objects and lists may lie inside one another.
MAX_DEPTH = 100

_STRING = rf'"{faults.STRING_BODY}"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+-])"
_value = re.compile(rf"[ \t\n\r]*+(?:({_STRING})|({_NUMBER})|((?:true|false|null)(?!\w))|([\[{{]))").match
_key = re.compile(rf"[ \t\n\r]*+({_STRING})[ \t\n\r]*+:").match
_next = re.compile(r"[ \t\n\r]*+([,\]}])").match
_end = re.compile(r"[ \t\n\r]*+\Z").match

_KINDS: tuple[Kind, ...] = ("object", "string", "number", "literal")
_NUMBER_GROUP = 2
_OPENING = 4
#: `int` and `str` refuse more digits than 4,300 at once.
_DIGITS = 4000


class Node(NamedTuple):
    """One value in a JSON text.

    Attributes:
        text: the whole text that the offsets count in.
        kind: `object`, `list`, `string`, `number` or `literal` (`true`, `false`, `null`).
        start: offset of the value's first character, in code points from 0.
        end: offset behind its last character.
        names: an object's keys, decoded.
        keys: an object's keys as string nodes, in the order of `names`.
        items: the values of an object or a list.
    """

    text: str
    kind: Kind
    start: int
    end: int
    names: tuple[str, ...] = ()
    keys: tuple[Node, ...] = ()
    items: tuple[Node, ...] = ()

    def __repr__(self) -> str:
        return f"Node({self.kind} {self.start}:{self.end})"

    @property
    def raw(self) -> str:
        """The value as it is written."""
        return self.text[self.start : self.end]

    @property
    def value(self) -> Any:
        """The value as plain data: integers of any size exact, an object's keys in their order."""
        try:
            return json.loads(self.raw)
        except (ValueError, RecursionError):  # a very long integer, or very deep
            return _decode(self)

    def child(self, step: str | int) -> Node | None:
        """The value under a key of an object or at an index of a list; None where there is none."""
        if isinstance(step, str):
            if self.kind == "object" and step in self.names:
                return self.items[self.names.index(step)]
        elif self.kind == "list" and -len(self.items) <= step < len(self.items):
            return self.items[step]
        return None

    def find(self, path: Path) -> Node | None:
        """The value at `path` below this one; None where there is none."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            node = node.child(step)
        return node


class _Open:
    """An object or a list whose end has not been read yet."""

    __slots__ = ("is_object", "items", "keys", "seen", "start")

    def __init__(self, start: int, *, is_object: bool) -> None:
        self.start = start
        self.is_object = is_object
        self.seen: dict[str, int] = {}
        self.keys: list[Node] = []
        self.items: list[Node] = []

    def close(self, text: str, end: int) -> Node:
        kind: Kind = "object" if self.is_object else "list"
        return Node(text, kind, self.start, end, tuple(self.seen), tuple(self.keys), tuple(self.items))


def scan(text: str, *, max_depth: int = MAX_DEPTH, line_number: int = 1) -> Node:
    """Read one JSON value, with white space around it.

    Args:
        text: the whole text.
        max_depth: how many objects and lists may lie inside one another.
        line_number: the number of the text's first line, for errors.

    Raises:
        FormatError: `bad_json`, `bad_number`, `duplicate_key`, `lone_surrogate`, `nul_character`, `too_deep` or
            `byte_order_mark`, at the first character that is at fault (records.md, "v1 · inline tasks").
    """
    outer: list[_Open] = []
    position = 0
    while True:
        match = _value(text, position)
        if match is None:
            raise faults.no_value(_at(text, position, outer, line_number), after_comma=_has_items(outer))
        group = match.lastindex or 0
        start, position = match.span(group)
        if group == _OPENING:
            frame = _Open(start, is_object=text[start] == "{")
            if len(outer) >= max_depth:
                raise faults.too_deep(_at(text, start, outer, line_number), max_depth)
            outer.append(frame)
            match = _next(text, position)
            if match is None or match[1] != ("}" if frame.is_object else "]"):
                if frame.is_object:
                    position = _read_key(text, position, outer, line_number)
                continue
            position = match.end()
            outer.pop()
            node = frame.close(text, position)
        else:
            node = Node(text, _KINDS[group], start, position)
            if group == _NUMBER_GROUP:
                _check_number(match[2], text, start, outer, line_number)
        while outer:
            frame = outer[-1]
            frame.items.append(node)
            match = _next(text, position)
            mark = match[1] if match else ""
            if match is None or (mark != "," and (mark == "}") is not frame.is_object):
                frame.items.pop()
                raise faults.no_next(_at(text, position, outer, line_number), frame.start)
            position = match.end()
            if mark == ",":
                if frame.is_object:
                    position = _read_key(text, position, outer, line_number)
                break
            outer.pop()
            node = frame.close(text, position)
        else:
            if _end(text, position) is None:
                raise faults.no_end(_at(text, position, outer, line_number))
            return node


def _read_key(text: str, position: int, outer: list[_Open], line_number: int) -> int:
    """Read a key and its colon into the innermost object; the offset behind the colon."""
    frame = outer[-1]
    match = _key(text, position)
    if match is None:
        raise faults.no_key(_at(text, position, outer, line_number), after_comma=bool(frame.items))
    start, end = match.span(1)
    name = text[start + 1 : end - 1]
    if "\\" in name:
        name = json.loads(text[start:end])
    if name in frame.seen:
        spot = faults.Spot(text, start, (*_path(outer), name), line_number)
        raise faults.duplicate_key(spot, frame.seen[name], text[start:end])
    frame.seen[name] = start
    frame.keys.append(Node(text, "string", start, end))
    return match.end()


def _check_number(number: str, text: str, start: int, outer: list[_Open], line_number: int) -> None:
    if number.isdigit() or number[1:].isdigit():
        if len(number) > MAX_DIGITS:
            raise faults.too_many_digits(_at(text, start, outer, line_number), number, MAX_DIGITS)
    elif math.isinf(float(number)):
        raise faults.overflow(_at(text, start, outer, line_number), number)


def _has_items(outer: list[_Open]) -> bool:
    return bool(outer and outer[-1].items and not outer[-1].is_object)


def _at(text: str, position: int, outer: Iterable[_Open], line_number: int) -> faults.Spot:
    return faults.Spot(text, position, _path(outer), line_number)


def _path(outer: Iterable[_Open]) -> Path:
    """Where the scanner is: the key or index that is being read at each level."""
    path: list[str | int] = []
    for frame in outer:
        if not frame.is_object:
            path.append(len(frame.items))
        elif len(frame.keys) > len(frame.items):
            path.append(next(reversed(frame.seen)))
    return tuple(path)


def _decode(node: Node) -> Any:
    """`node` as plain data without the interpreter's stack: containers are made first and filled later."""
    holder: list[Any] = []
    todo: list[tuple[Any, str | None, Node]] = [(holder, None, node)]
    while todo:
        target, name, node = todo.pop()
        value: Any
        if node.kind == "object":
            value = dict.fromkeys(node.names)
            todo.extend((value, name, item) for name, item in zip(node.names, node.items, strict=True))
        elif node.kind == "list":
            value = []
            todo.extend((value, None, item) for item in reversed(node.items))
        elif node.kind == "number" and node.raw.lstrip("-").isdigit():
            value = _integer(node.raw)
        else:
            value = json.loads(node.raw)
        if name is None:
            target.append(value)
        else:
            target[name] = value
    return holder[0]


def _integer(digits: str) -> int:
    """`int(digits)` in pieces, for `int` refuses more than 4,300 digits; neighbours are joined pair by pair."""
    if digits[0] == "-":
        return -_integer(digits[1:])
    parts = [int(digits[max(0, stop - _DIGITS) : stop]) for stop in range(len(digits), 0, -_DIGITS)]
    base = 10**_DIGITS
    while len(parts) > 1:
        high = [*parts[1::2], 0] if len(parts) % 2 else parts[1::2]
        parts = [low + base * top for low, top in zip(parts[::2], high, strict=True)]
        base *= base
    return parts[0]
