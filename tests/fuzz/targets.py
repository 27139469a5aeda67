"""What must hold of any bytes at all, for both readers and both writers.

An input of a reader is a file. An input of a writer is a file below one more line, whose bytes choose the edits,
so a seed can be written by hand. A target returns whether the input was good, and raises where a promise broke.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from evalspec.errors import FormatError
from evalspec.formats.edits import (
    FIRST,
    IN_PLACE,
    LAST,
    Edit,
    EditError,
    Insert,
    Move,
    Remove,
    Rename,
    Replace,
    Where,
    apply_to_value,
)
from evalspec.formats.json_edit import same_value
from evalspec.formats.jsonl import edit_line, parse_line
from evalspec.formats.yaml import EditRefused, YamlLimits, edit, read, records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.formats.edits import Path

T = TypeVar("T")
LIMITS = YamlLimits(size=100_000)
NAMES = ("a", "b", "prompt", "metadata", "é", "yes", "x y", "#")
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    "",
    "text",
    "yes",
    "a\nb\n",
    " # é",
    "⟨🤗⟩",
    [],
    {},
    [1, "a"],
    {"a": {"b": 1}},
)


class Choices:
    """Choices made by bytes; the first of everything once they are used up."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def number(self, below: int) -> int:
        return next(self._bytes, 0) % below

    def one(self, options: Sequence[T]) -> T:
        return options[self.number(len(options))]


def paths_in(value: Any, prefix: Path = ()) -> Iterator[Path]:
    """The path of everything in `value`, parents first."""
    steps: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, item in steps:
        yield (*prefix, step)
        yield from paths_in(item, (*prefix, step))


def choose(value: Any, choices: Choices) -> Edit:
    """An edit that mostly fits `value`."""
    path = choices.one([*paths_in(value), ("a",)])
    name = choices.one(NAMES)
    parent = choices.one([path[:-1], path, (), ("new",)])
    where = choices.one([LAST, FIRST, Where(after="a"), Where(after="b")])
    kind = choices.number(6)
    match kind:
        case 0:
            return Replace(path, choices.one(VALUES))
        case 1:
            return Rename(path, name)
        case 2:
            return Insert((*parent, name), choices.one(VALUES), where)
        case 3:
            return Remove(path)
        case 4:
            return Move(path, (*parent, name), where)
        case _:
            return Move(path, (*path[:-1], "new", name), IN_PLACE)


def chosen(value: Any, choices: Choices) -> tuple[list[Edit], Any]:
    """One to three edits, and the value they must give; `EditError` for the value where they do not fit."""
    edits: list[Edit] = []
    for _ in range(1 + choices.number(3)):
        edits.append(choose(value, choices))
        try:
            value = apply_to_value(value, edits[-1:])
        except (EditError, AttributeError, TypeError):
            return edits, EditError
    return edits, value


def json_reader(data: bytes) -> bool:
    """A line is read as the standard library reads it, or refused with a rule."""
    try:
        parsed = parse_line(data)
    except FormatError as error:
        assert error.rule
        assert 1 <= error.column <= len(data) + 1
        return False
    assert same_value(parsed.value, json.loads(data))
    assert json.loads(data.decode()[parsed.node.start : parsed.node.end]) is not None
    return True


def json_writer(data: bytes) -> bool:
    """An edited line reads as the edits mean; edits that do not fit are refused."""
    head, _, line = data.partition(b"\n")
    try:
        value = parse_line(line).value
    except FormatError:
        return False
    edits, expected = chosen(value, Choices(head))
    try:
        result = edit_line(line, edits)
    except EditError:
        assert expected is EditError, edits
        return False
    assert expected is not EditError, edits
    assert same_value(json.loads(result), expected), edits
    return True


def yaml_reader(data: bytes) -> bool:
    """A file is read, every record of it by itself, or refused with a rule and a place inside the file."""
    try:
        found = list(records(read(data, limits=LIMITS)))
    except FormatError as error:
        assert error.rule
        assert error.line >= 1
        assert error.column >= 1
        return False
    for record in found:
        assert (record.value is None) == (record.error is not None)
    return all(record.error is None for record in found)


def yaml_writer(data: bytes) -> bool:
    """Every record of an edited file reads as was meant and no other changed; or nothing comes back."""
    head, _, body = data.partition(b"\n")
    try:
        before = list(records(read(body, limits=LIMITS)))
    except FormatError:
        return False
    good = [record for record in before if record.value is not None]
    if not good:
        return False
    choices = Choices(head)
    target = choices.one(good)
    edits, expected = chosen(target.value, choices)
    try:
        result = edit(body, [(target.key, edits)], limits=LIMITS)
    except (EditRefused, FormatError):
        return False
    except EditError:
        assert expected is EditError, edits
        return False
    assert expected is not EditError, edits
    after = list(records(read(result, limits=LIMITS)))
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        wanted = expected if old.key == target.key else old.value
        assert new.key == old.key
        assert same(new.value, wanted), edits
    return True


def same(one: Any, other: Any) -> bool:
    """Equality that tells `1`, `1.0` and `true` apart, and the order of keys."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


TARGETS: dict[str, Callable[[bytes], bool]] = {
    target.__name__: target for target in (json_reader, json_writer, yaml_reader, yaml_writer)
}
