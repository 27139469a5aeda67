"""Lines of a JSONL file: one record each, read strictly and edited byte for byte (design.md, "Bytes").

`parse_line` is for the few lines that need explaining, and `edit_line` for the few that need editing one by one.
Where many lines are edited alike, `evalspec.formats.line_editor` does the same from templates.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import FormatError, cut
from evalspec.formats.json_edit import edit_text
from evalspec.formats.json_faults import Spot
from evalspec.formats.json_faults import byte_order_mark as _byte_order_mark
from evalspec.formats.json_text import MAX_DEPTH, Node, scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.formats.edits import Edit, Path

Pieces = list["bytes | int"]

_MARK = b"\xef\xbb\xbf"
_KINDS = {"list": "a list", "string": "a string", "number": "a number", "literal": "a literal"}

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def _nested(levels: int) -> bytes:
    """The pattern of an object or a list with up to `levels` more inside one another."""
    inside = rb'[^\[\]{}"]++|' + _STRING
    if levels:
        inside += b"|" + _nested(levels - 1)
    return rb"[\[{](?:" + inside + rb")*+[\]}]"


_VALUE = rb'[^\s,\[\]{}"]++|' + _STRING + b"|" + _nested(4)
_split = re.compile(
    rb"([ \t\r\n]*+[{,][ \t\r\n]*+" + _STRING + rb"[ \t\r\n]*+:[ \t\r\n]*+)(" + _VALUE + b")", re.DOTALL
).split
_glue_key = re.compile(rb"[ \t\r\n]*+[{,][ \t\r\n]*+(" + _STRING + b")", re.DOTALL).match


class ParsedLine(NamedTuple):
    """A record with its places.

    Attributes:
        text: the line, decoded.
        node: its object, with the place of every value in `text`.
        value: the record as plain data.
    """

    text: str
    node: Node
    value: dict[str, Any]


class TopValue(NamedTuple):
    """A value of a line's outermost object: its key, decoded, and where it is, in bytes."""

    key: str
    start: int
    end: int


def parse_line(line: bytes, *, line_number: int = 1, max_depth: int = MAX_DEPTH) -> ParsedLine:
    """Read one line, without or with its line end.

    Raises:
        FormatError: a rule of records.md ("v1 · inline tasks") is broken: one of `scan`'s, `bad_encoding`, or
            `not_an_object`.
    """
    text = _decode(line, line_number)
    node = scan(text, max_depth=max_depth, line_number=line_number)
    if node.kind != "object":
        spot = Spot(text, node.start, (), line_number)
        error = spot.error(
            "not_an_object", f"a record is an object, found {_KINDS[node.kind]}", text=node.raw,
            fix='write the record as {"key": value, …}',
        )  # fmt: skip
        error.field = "_root"
        raise error
    return ParsedLine(text, node, node.value)


def place(parsed: ParsedLine, path: Path) -> int:
    """The column of the value at `path`, from 1 in code points; of the record where there is no such value."""
    node = parsed.node.find(path) or parsed.node
    return Spot(parsed.text, node.start).column_of(node.start)


def edit_line(line: bytes, edits: Sequence[Edit], *, max_depth: int = MAX_DEPTH) -> bytes:
    """The line with `edits` made in order and every other byte as it was.

    Raises:
        FormatError: the line is not a valid JSON object.
        EditError: an edit does not fit the record, or its result would not be a valid line.
    """
    parsed = parse_line(line, max_depth=max_depth)
    return edit_text(parsed.node, edits, max_depth=max_depth).text.encode()


def edit_pieces(line: bytes, edits: Sequence[Edit], *, max_depth: int = MAX_DEPTH) -> tuple[Pieces, Pieces]:
    """The line before and after `edits` as pieces: bytes as they stand, or the number of a top-level value.

    With the values' own texts in place of their numbers, the first are `line` and the second
    `edit_line(line, edits)`. A value that an edit looks into is bytes in the second.

    The second are the same for every line with the same glue (what `split_top` gives), as long as the edits look
    into no value and bring only ASCII text. `LineEditor` keeps account of that.

    Raises:
        FormatError: the line is not a valid JSON object.
        EditError: an edit does not fit the record, or its result would not be a valid line.
    """
    parsed = parse_line(line, max_depth=max_depth)
    edited = edit_text(parsed.node, edits, max_depth=max_depth)
    return encoded(edited.before), encoded(edited.after)


def split_top(line: bytes) -> tuple[tuple[bytes, ...], list[bytes]]:
    """A line's glue and the texts of its top-level values, which stand between each two pieces of the glue.

    Made for lines that are known to be JSON objects: what lies inside a value is not looked at.

    Raises:
        FormatError: the line is no JSON object, where that shows.
    """
    parts = _split(line)
    tail = parts[-1]
    if len(parts) == 1 or any(parts[:-1:3]) or tail.strip(b" \t\r\n") != b"}":
        return _split_strictly(line)
    return (*parts[1::3], tail), parts[2::3]


def scan_top(line: bytes) -> list[TopValue]:
    """The top-level values of a line that is known to be a JSON object, in their order.

    Raises:
        FormatError: the line is not a JSON object.
    """
    glue, values = split_top(line)
    found = []
    position = 0
    for piece, value in zip(glue, values, strict=False):
        start = position + len(piece)
        position = start + len(value)
        found.append(TopValue(_key_in(piece, line), start, position))
    return found


def _key_in(piece: bytes, line: bytes) -> str:
    """The key in a piece of glue, decoded."""
    match = _glue_key(piece)
    try:
        return str(json.loads(match[1].decode())) if match else ""
    except ValueError:
        parse_line(line, max_depth=len(line) + 1)  # says what is wrong with it
        raise


def _split_strictly(line: bytes) -> tuple[tuple[bytes, ...], list[bytes]]:
    """`split_top` for a line that one pattern does not take apart: very deep, empty, or not JSON at all."""
    parsed = parse_line(line, max_depth=len(line) + 1)
    items = parsed.node.items
    ends = [0, *(item.end for item in items)]
    starts = [*(item.start for item in items), len(parsed.text)]
    glue = tuple(parsed.text[end:start].encode() for end, start in zip(ends, starts, strict=True))
    return glue, [item.raw.encode() for item in items]


def encoded(pieces: list[str | int]) -> Pieces:
    """Pieces of text as pieces of bytes."""
    return [piece.encode() if isinstance(piece, str) else piece for piece in pieces]


def _decode(line: bytes, line_number: int) -> str:
    """The line as text: UTF-8, without a byte order mark."""
    if line.startswith(_MARK):
        raise _byte_order_mark(Spot("\ufeff", 0, (), line_number))
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = line[error.start]
        before = line[: error.start].decode("utf-8")
        utf16 = line[:2] in (b"\xff\xfe", b"\xfe\xff")
        raise FormatError(
            "bad_encoding",
            f"the byte 0x{bad:02X} is not UTF-8 here" + (": the file looks like UTF-16" if utf16 else ""),
            line=line_number + before.count("\n"),
            column=Spot(before, 0).column_of(len(before)),
            text=cut(line[error.start : error.start + 80].decode("utf-8", "backslashreplace")),
            fix="save the file as UTF-8",
        ) from None
