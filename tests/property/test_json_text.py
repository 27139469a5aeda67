"""The strict reader against the standard library's, on any text."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.json_texts import json_texts, records

from evalspec.errors import FormatError
from evalspec.formats.json_edit import same_value
from evalspec.formats.json_text import Node, scan
from evalspec.formats.jsonl import edit_line, edit_pieces, parse_line, place, scan_top, split_top

MAX_DEPTH = 4
RULES = {
    "bad_json", "bad_number", "duplicate_key", "lone_surrogate", "nul_character", "too_deep", "byte_order_mark",
    "bad_encoding", "not_an_object",
}  # fmt: skip
#: What a damaged text has put in.
DAMAGE = [
    "", '"', "\\", "{", "}", "[", "]", ",", ":", "\0", "\\u0000", "\\ud83d", "\\ude00", "NaN", "-", ".", "e", "0",
    "1e999", "\n", "\x1f", "\ufeff", "true", " ", "[[[[[[", "\\u00e", '"a":1,', "\ud800", "\u2028", "'",
]  # fmt: skip


class Refused(Exception):
    """The contract's rules, put over what the standard library reads."""


def by_the_rules(text: str) -> Any:
    """What `scan` must give, by other means."""

    def refuse(_: str) -> None:
        raise Refused

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(items)) != len(items):
            raise Refused
        return dict(items)

    def check(value: Any, depth: int) -> None:
        if isinstance(value, str):
            if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
                raise Refused
        elif isinstance(value, float) and not math.isfinite(value):
            raise Refused
        elif isinstance(value, (dict, list)):
            if depth == MAX_DEPTH:
                raise Refused
            for item in [*value, *value.values()] if isinstance(value, dict) else value:
                check(item, depth + 1)

    try:
        value = json.loads(text, parse_constant=refuse, object_pairs_hook=pairs)
    except ValueError:
        raise Refused from None
    check(value, 0)
    return value


def verdict(text: str) -> Node | FormatError:
    try:
        return scan(text, max_depth=MAX_DEPTH)
    except FormatError as error:
        return error


def assert_same_verdict(text: str) -> None:
    found = verdict(text)
    try:
        expected = by_the_rules(text)
    except Refused:
        assert isinstance(found, FormatError)
        assert found.rule in RULES
        assert 1 <= found.line <= text.count("\n") + 1
        assert 1 <= found.column <= len(text.split("\n")[found.line - 1]) + 1
        assert found.message
    else:
        assert isinstance(found, Node), found
        assert same_value(found.value, expected)


@given(json_texts())
def test_valid_texts_are_read_as_the_standard_library_reads_them(text: str) -> None:
    assert same_value(scan(text).value, json.loads(text))


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A valid text with some characters put in, taken out or replaced."""
    text = draw(json_texts())
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 2)))
        text = text[:start] + draw(st.sampled_from(DAMAGE)) + text[end:]
    return text


@given(damaged())
def test_damaged_texts_get_the_verdict_of_the_rules(text: str) -> None:
    assert_same_verdict(text)


@given(st.text(st.characters(), max_size=20) | st.text('{}[],:"\\ue0189aNn.- \n', max_size=20))
def test_any_text_gets_the_verdict_of_the_rules(text: str) -> None:
    assert_same_verdict(text)


@given(json_texts())
def test_every_node_is_where_its_text_is(text: str) -> None:
    def check(node: Node) -> None:
        assert same_value(json.loads(node.raw), node.value)
        assert node.raw.strip(" \t\r\n") == node.raw
        for number, item in enumerate(node.items):
            step = node.names[number] if node.kind == "object" else number
            assert node.child(step) is item
            assert node.start < item.start < item.end < node.end
            check(item)
        for name, key in zip(node.names, node.keys, strict=True):
            assert json.loads(key.raw) == name

    check(scan(text))


@given(records())
def test_top_level_values_are_where_the_nodes_are(text: str) -> None:
    line = text.encode()
    parsed = parse_line(line)
    found = scan_top(line)
    assert [top.key for top in found] == list(parsed.value)
    assert [line[top.start : top.end].decode() for top in found] == [item.raw for item in parsed.node.items]
    glue, values = split_top(line)
    assert b"".join(piece for pair in zip(glue, [*values, b""], strict=True) for piece in pair) == line
    for key, item in zip(parsed.node.names, parsed.node.items, strict=True):
        assert place(parsed, (key,)) == item.start + 1


@given(st.binary(max_size=40) | damaged().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_garbage_raises_nothing_but_the_format_error(line: bytes) -> None:
    for read in (parse_line, scan_top, split_top, read_to_edit, read_to_compile):
        with suppress(FormatError):
            read(line)


def read_to_edit(line: bytes) -> bytes:
    return edit_line(line, [])


def read_to_compile(line: bytes) -> object:
    return edit_pieces(line, [])
