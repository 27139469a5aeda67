"""Lines of a JSONL file: strict reading, places, and edits that leave all other bytes alone."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import pytest

from evalspec.errors import FormatError
from evalspec.formats.edits import (
    FIRST,
    IN_PLACE,
    Edit,
    EditError,
    Insert,
    Move,
    Remove,
    Rename,
    Replace,
    Where,
)
from evalspec.formats.json_edit import same_value
from evalspec.formats.jsonl import edit_line, edit_pieces, parse_line, place, scan_top, split_top
from evalspec.formats.line_editor import LineEditor

if TYPE_CHECKING:
    from collections.abc import Sequence


def refused(line: bytes, **options: int) -> FormatError:
    with pytest.raises(FormatError) as caught:
        parse_line(line, **options)
    return caught.value


# ------------------------------------------------------------------------------------------- reading


def test_a_record_with_white_space_and_a_carriage_return() -> None:
    parsed = parse_line(b' {"a": "\xc3\xa9"} \r')
    assert parsed.text == ' {"a": "é"} \r'
    assert parsed.value == {"a": "é"}
    assert parsed.node.start == 1


@pytest.mark.parametrize(
    ("line", "column", "byte"),
    [
        (b'{"a": "\xff"}', 8, "0xFF"),
        (b'{"\xc3\xa9": "\xf0\x9f\xa4\x97\xe9"}', 9, "0xE9"),
        (b'{"a": "\xed\xa0\x80"}', 8, "0xED"),
        (b'{"a": "\xc0\x80"}', 8, "0xC0"),
        ('{"介": "'.encode() + "北京".encode("gbk") + b'"}', 8, "0xB1"),
        (b'{"a": "\xe4\xbb', 8, "0xE4"),
    ],
)
def test_the_first_byte_that_is_not_utf8_is_named(line: bytes, column: int, byte: str) -> None:
    error = refused(line, line_number=3)
    assert (error.rule, error.line, error.column) == ("bad_encoding", 3, column)
    assert byte in error.message


def test_text_is_utf8_whatever_the_locale_says() -> None:
    record = {"prompt": "介绍一下🤗北京", "label": "A"}
    assert parse_line(json.dumps(record, ensure_ascii=False).encode()).value == record
    assert refused(json.dumps({"label": "北京"}, ensure_ascii=False).encode("cp936")).rule == "bad_encoding"


def test_utf16_is_recognised() -> None:
    assert "UTF-16" in refused('{"a": 1}'.encode("utf-16")).message


def test_a_byte_order_mark_is_named_by_its_bytes() -> None:
    error = refused(b'\xef\xbb\xbf{"question": "2+2?"}', line_number=4)
    assert (error.rule, error.line, error.column) == ("byte_order_mark", 4, 1)
    assert "EF BB BF" in error.message


@pytest.mark.parametrize(
    ("line", "what", "column"),
    [(b"[1]", "a list", 1), (b' "x"', "a string", 2), (b"12", "a number", 1), (b"null", "a literal", 1)],
)
def test_a_record_is_an_object(line: bytes, what: str, column: int) -> None:
    error = refused(line)
    assert (error.rule, error.field, error.column) == ("not_an_object", "_root", column)
    assert what in error.message


def test_errors_carry_the_line_number_and_the_depth_can_be_set() -> None:
    assert refused(b'{"a": nope}', line_number=12).line == 12
    assert refused(b'{"a": [[]]}', max_depth=2).rule == "too_deep"


def test_a_kaomoji_backslash_is_found() -> None:
    line = '{"input":[{"role":"user","content":"¯\\_(ツ)_/¯"}],"ideal":"shrug"}'
    error = refused(line.encode())
    assert (error.rule, error.column, error.field) == ("bad_json", line.index("\\") + 1, "input[0].content")
    assert "\\_ is no escape" in error.message
    assert error.fix


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    "line",
    [b"", b"{", b'{"a"', b'{"a":', b'{"a": 1', b'{"a": [1', b'{"a": 1,', b'{"a": "b', b'{"a": "b\\', b'{"b',
     b'{"a": nope', b'{"a": "\\x"}', b'{"a": 1} 2', b"[1]"],
)  # fmt: skip
def test_a_line_end_makes_no_difference_to_an_error(line: bytes, end: bytes) -> None:
    bare, ended = refused(line, line_number=5), refused(line + end, line_number=5)
    for attribute in ("rule", "message", "line", "column", "text", "field", "fix"):
        assert getattr(bare, attribute) == getattr(ended, attribute)
    assert ended.line == 5


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_a_newline_ends_a_line(separator: str) -> None:
    text = separator if ord(separator) >= 0x20 else f"\\u{ord(separator):04x}"
    line = f'{{"p": "a{text}b"}}'.encode()
    assert parse_line(line).value == {"p": f"a{separator}b"}
    assert edit_line(line, [Insert(("q",), 1)]) == f'{{"p": "a{text}b", "q": 1}}'.encode()


def test_place_of_values() -> None:
    parsed = parse_line(' {"é🤗": [1, {"b": "x"}], "c": 2}'.encode())
    assert place(parsed, ()) == 2
    assert place(parsed, ("é🤗",)) == parsed.text.index("[") + 1
    assert place(parsed, ("é🤗", 1, "b")) == parsed.text.index('"x"') + 1
    assert place(parsed, ("c",)) == parsed.text.index("2}") + 1
    for missing in [("d",), ("é🤗", 5), ("é🤗", 1, "z"), ("c", "x")]:
        assert place(parsed, missing) == 2


# ------------------------------------------------------------------------------------------- editing

LINE = '{"a": 1.0, "b": [1,  2], "m": {"x": 1e3, "v": -0}}'

# line, edits, result
EDITED: list[tuple[str, list[Edit], str]] = [
    # every kind of edit
    (LINE, [], LINE),
    (LINE, [Replace(("a",), 2)], '{"a": 2, "b": [1,  2], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Replace(("b", 1), "x")], '{"a": 1.0, "b": [1,  "x"], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Replace(("m", "v"), None)], '{"a": 1.0, "b": [1,  2], "m": {"x": 1e3, "v": null}}'),
    (LINE, [Rename(("b",), "c")], '{"a": 1.0, "c": [1,  2], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Rename(("m", "x"), "y")], '{"a": 1.0, "b": [1,  2], "m": {"y": 1e3, "v": -0}}'),
    (LINE, [Remove(("a",))], '{"b": [1,  2], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Remove(("b",))], '{"a": 1.0, "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Remove(("m",))], '{"a": 1.0, "b": [1,  2]}'),
    (LINE, [Remove(("b", 0))], '{"a": 1.0, "b": [2], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Remove(("b", -1))], '{"a": 1.0, "b": [1], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Insert(("n",), 0)], '{"a": 1.0, "b": [1,  2], "m": {"x": 1e3, "v": -0}, "n": 0}'),
    (LINE, [Insert(("n",), 0, FIRST)], '{"n": 0, "a": 1.0, "b": [1,  2], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Insert(("n",), 0, Where(after="a"))], '{"a": 1.0, "n": 0, "b": [1,  2], "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Insert(("n",), 0, Where(after="?"))], '{"a": 1.0, "b": [1,  2], "m": {"x": 1e3, "v": -0}, "n": 0}'),
    (LINE, [Insert(("m", "n"), [1, {"k": True}])],
     '{"a": 1.0, "b": [1,  2], "m": {"x": 1e3, "v": -0, "n": [1, {"k": true}]}}'),
    (LINE, [Insert(("p", "q"), {})], '{"a": 1.0, "b": [1,  2], "m": {"x": 1e3, "v": -0}, "p": {"q": {}}}'),
    (LINE, [Move(("a",), ("z",))], '{"b": [1,  2], "m": {"x": 1e3, "v": -0}, "z": 1.0}'),
    (LINE, [Move(("m", "v"), ("v",), FIRST)], '{"v": -0, "a": 1.0, "b": [1,  2], "m": {"x": 1e3}}'),
    (LINE, [Move(("b",), ("m", "b"), FIRST)], '{"a": 1.0, "m": {"b": [1,  2], "x": 1e3, "v": -0}}'),
    (LINE, [Move(("b", 1), ("c",))], '{"a": 1.0, "b": [1], "m": {"x": 1e3, "v": -0}, "c": 2}'),
    (LINE, [Move(("b",), ("f", "samples"), IN_PLACE)],
     '{"a": 1.0, "f": {"samples": [1,  2]}, "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Move(("b",), ("b", "c", "d"), IN_PLACE)],
     '{"a": 1.0, "b": {"c": {"d": [1,  2]}}, "m": {"x": 1e3, "v": -0}}'),
    (LINE, [Move(("m", "x"), ("m", "y"), IN_PLACE)], '{"a": 1.0, "b": [1,  2], "m": {"y": 1e3, "v": -0}}'),
    # one after another
    (LINE, [Move(("m", "v"), ("v",)), Remove(("m", "x")), Remove(("m",))], '{"a": 1.0, "b": [1,  2], "v": -0}'),
    (LINE, [Insert(("n",), {}), Insert(("n", "k"), 1), Rename(("n",), "o"), Move(("a",), ("o", "a"))],
     '{"b": [1,  2], "m": {"x": 1e3, "v": -0}, "o": {"k": 1, "a": 1.0}}'),
    (LINE, [Replace(("a",), {"p": [1, 2]}), Remove(("a", "p", 0))],
     '{"a": {"p": [2]}, "b": [1,  2], "m": {"x": 1e3, "v": -0}}'),
    # the line's own style
    ('{"a":1,"b":2}', [Insert(("c",), {"k": [1, 2], "l": 0})], '{"a":1,"b":2,"c":{"k":[1,2],"l":0}}'),
    ('{"a":1}', [Insert(("c",), [1, 2])], '{"a":1,"c":[1,2]}'),
    ('{"a": 1}', [Insert(("c",), [1, 2])], '{"a": 1, "c": [1, 2]}'),
    ('{ "a" : 1 , "b" : 2 }', [Insert(("c",), {"k": 1})], '{ "a" : 1 , "b" : 2 , "c" : { "k" : 1 } }'),
    ('{ "a" : 1 , "b" : 2 }', [Insert(("c",), 3, FIRST)], '{ "c" : 3 , "a" : 1 , "b" : 2 }'),
    ('{ "a" : 1 , "b" : 2 }', [Remove(("b",))], '{ "a" : 1 }'),
    ('{ "a" : 1 , "b" : 2 }', [Remove(("a",))], '{ "b" : 2 }'),
    ('{"a":1 ,"b":2\t}', [Remove(("b",))], '{"a":1\t}'),
    ('{"a":1 ,"b":2\t}', [Insert(("c",), 3)], '{"a":1 ,"b":2 ,"c":3\t}'),
    ('{ "a": 1 }', [Insert(("c",), 2)], '{ "a": 1, "c": 2 }'),
    ('{"a":1,\t"b":2,   "c":3}', [Insert(("n",), 0, Where(after="a"))], '{"a":1,\t"n":0,\t"b":2,   "c":3}'),
    ('{"a":1,\t"b":2,   "c":3}', [Insert(("n",), 0)], '{"a":1,\t"b":2,   "c":3,   "n":0}'),
    ('{"a": 1, "m":{"x":1,"y":2}}', [Insert(("m", "z"), 3)], '{"a": 1, "m":{"x":1,"y":2,"z":3}}'),
    ('{"a": 1, "m":{}}', [Insert(("m", "z"), 3)], '{"a": 1, "m":{"z": 3}}'),
    ("{}", [Insert(("a",), 1), Insert(("b",), 2)], '{"a": 1, "b": 2}'),
    ("{ }", [Insert(("a",), 1)], '{ "a": 1 }'),
    ('{"a": 1}', [Remove(("a",))], "{}"),
    (' \t{"a": 1} \r', [Insert(("b",), 2)], ' \t{"a": 1, "b": 2} \r'),
    ('{"a": 1}\n', [Insert(("b",), 2)], '{"a": 1, "b": 2}\n'),
    # escapes and characters beyond ASCII
    ('{"a": "\\/\\u0041\\ud83d\\ude00"}', [Rename(("a",), "b")], '{"b": "\\/\\u0041\\ud83d\\ude00"}'),
    ('{"a": "x"}', [Insert(("b",), "é🤗")], '{"a": "x", "b": "é🤗"}'),
    ('{"a": "\\u00e8"}', [Insert(("b",), "é🤗")], '{"a": "\\u00e8", "b": "\\u00e9\\ud83e\\udd17"}'),
    ('{"a": "\\u00E8"}', [Insert(("é",), "\\u00e9")], '{"a": "\\u00E8", "\\u00E9": "\\\\u00e9"}'),
    ('{"a": "\\u00e8 è"}', [Insert(("b",), "é")], '{"a": "\\u00e8 è", "b": "é"}'),
    ('{"a": "\\u001b\\n"}', [Insert(("b",), "é\n")], '{"a": "\\u001b\\n", "b": "é\\n"}'),
    ('{"a": "\\\\u00e8"}', [Insert(("b",), "é")], '{"a": "\\\\u00e8", "b": "é"}'),
    # keys written with escapes are found by what they mean
    ('{"\\u0061": 1, "b": 2}', [Replace(("a",), 3)], '{"\\u0061": 3, "b": 2}'),
    ('{"\\u0061": 1, "b": 2}', [Insert(("n",), 0, Where(after="a"))], '{"\\u0061": 1, "n": 0, "b": 2}'),
    # exact text of what is moved
    ('{"n": 123456789012345678901234567890, "f": 1.50E+02, "d": {"k" :[ ]}}', [Move(("n",), ("x", "n")),
     Move(("f",), ("g",), FIRST), Rename(("d",), "e")],
     '{"g": 1.50E+02, "e": {"k" :[ ]}, "x": {"n": 123456789012345678901234567890}}'),
]  # fmt: skip


@pytest.mark.parametrize(("line", "edits", "result"), EDITED)
def test_edits_change_nothing_else(line: str, edits: Sequence[Edit], result: str) -> None:
    assert edit_line(line.encode(), edits).decode() == result
    editor = LineEditor(edits)
    assert [editor.edit(line.encode()).decode() for _ in range(3)] == [result] * 3
    before, after = edit_pieces(line.encode(), edits)
    values = split_top(line.encode())[1]
    assert filled(before, values) == line
    assert filled(after, values) == result


def filled(pieces: Sequence[bytes | int], values: Sequence[bytes]) -> str:
    return b"".join(values[piece] if isinstance(piece, int) else piece for piece in pieces).decode()


DEEP_99 = '{"a": ' + "[" * 99 + "]" * 99 + "}"

REFUSED: list[tuple[str, Edit]] = [
    (LINE, Replace(("z",), 1)),
    (LINE, Replace(("b", 2), 1)),
    (LINE, Replace(("b", "x"), 1)),
    (LINE, Replace(("m", 0), 1)),
    (LINE, Replace(("a", 0), 1)),
    (LINE, Replace((), {})),
    (LINE, Rename(("a",), "b")),
    (LINE, Rename(("a",), "a")),
    (LINE, Rename(("b", 0), "x")),
    (LINE, Insert(("a",), 1)),
    (LINE, Insert((), 1)),
    (LINE, Insert(("b", 0), 1)),
    (LINE, Insert(("b", "x"), 1)),
    (LINE, Insert(("a", "x"), 1)),
    (LINE, Insert(("b", 0, "x"), 1)),
    (LINE, Insert(("b", 7, "x"), 1)),
    (LINE, Remove(("z",))),
    (LINE, Remove(("m", "x", "y"))),
    (LINE, Move(("z",), ("y",))),
    (LINE, Move(("a",), ("b",))),
    (LINE, Move(("a",), ("b", "x"))),
    (LINE, Move(("a",), ("b", "x"), IN_PLACE)),
    (LINE, Move(("m", "x"), ("x",), IN_PLACE)),
    (LINE, Move(("b", 0), ("b", "x"), IN_PLACE)),
    # what JSON or the contract cannot hold
    (LINE, Insert(("n",), float("nan"))),
    (LINE, Insert(("n",), [float("inf")])),
    (LINE, Insert(("n",), {1: 2})),
    (LINE, Insert(("n",), (1, 2))),
    (LINE, Insert(("n",), object())),
    (LINE, Insert(("n",), "a\0b")),
    (LINE, Insert(("n",), "\ud800")),
    (LINE, Rename(("a",), "\0")),
    (DEEP_99, Move(("a",), ("b", "a"))),
    (DEEP_99, Move(("a",), ("a", "a"), IN_PLACE)),
]


@pytest.mark.parametrize(("line", "edit"), REFUSED)
def test_an_edit_that_does_not_fit_is_refused(line: str, edit: Edit) -> None:
    for attempt in (edit_line, edit_pieces):
        with pytest.raises(EditError) as caught:
            attempt(line.encode(), [edit])
        assert caught.value.edit == edit
    editor = LineEditor([edit])
    for _ in range(2):
        with pytest.raises(EditError):
            editor.edit(line.encode())


@pytest.mark.parametrize(
    "line", [b"", b"[1]", b'{"a": 1', b'{"a": 1, "a": 2}', b"\xff", b'\xef\xbb\xbf{"a": 1}']
)
def test_a_line_that_is_no_record_is_not_edited(line: bytes) -> None:
    for attempt in (edit_line, edit_pieces):
        with pytest.raises(FormatError):
            attempt(line, [Insert(("b",), 1)])
    with pytest.raises(FormatError):
        LineEditor([Insert(("b",), 1)]).edit(line)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ([0.0], [-0.0]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([1], [1, 1]),
        ("", None),
    ],
)
def test_values_that_are_written_differently_are_not_the_same(one: object, two: object) -> None:
    assert not same_value(one, two)
    assert same_value(one, copy.deepcopy(one))


# ---------------------------------------------------------------------------------- top-level values


@pytest.mark.parametrize(
    "line",
    [
        b"{}", b" { } \r", b'{"a":1}', b'{"a": "x, \\"b\\": {[", "c": [1, {"d": "]"}], "e": {"f": {}}}\r',
        b' {\t"\\u0061" : -1.5e3 , "b":null}  ', b'{"a\\"b": "\\\\", "c\\\\": "\\\\\\""}',
        '{"é": "🤗", "x": ["é"]}'.encode(),
        b'{"deep": ' + b"[" * 40 + b'"]"' + b"]" * 40 + b', "next": {"deep": ' + b'{"a":' * 40 + b"1" + b"}" * 42,
    ],
)  # fmt: skip
def test_top_level_values_are_found(line: bytes) -> None:
    glue, values = split_top(line)
    assert b"".join(piece for pair in zip(glue, [*values, b""], strict=True) for piece in pair) == line
    record = json.loads(line)
    assert [json.loads(value) for value in values] == list(record.values())
    found = scan_top(line)
    assert [key for key, _, _ in found] == list(record)
    assert [line[start:end] for _, start, end in found] == values


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"nope",
        b'{"a" 1}',
        b'{"a": 1',
        b'{"a": }',
        b'x{"a": 1}',
        b'{"\x01": 1}',
        b'{"\\x": 1}',
        b'{"\xff": 1}',
    ],
)
def test_what_is_plainly_no_object_has_no_values(line: bytes) -> None:
    with pytest.raises(FormatError):
        scan_top(line)


def test_very_deep_values_are_taken_apart_too() -> None:
    line = b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    assert scan_top(line) == [("a", 6, len(line) - 1)]
