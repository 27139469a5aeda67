"""The strict JSON reader: its values, its places, and where it says that something is wrong."""

from __future__ import annotations

import json
import time

import pytest

from evalspec.errors import MAX_DIGITS, FormatError
from evalspec.formats.json_text import Node, scan

# text, rule, column, words of the message, the offending text
BAD = [
    # nothing, or not all of it
    ("", "bad_json", 1, "expected a value, found the end", ""),
    ("  ", "bad_json", 3, "expected a value, found the end", ""),
    ("{", "bad_json", 2, "expected a key in double quotes or }", ""),
    ('{"a"', "bad_json", 5, 'expected a colon after the key "a"', ""),
    ('{"a":', "bad_json", 6, "expected a value, found the end", ""),
    ('{"a": 1', "bad_json", 8, "the object that begins at column 1", ""),
    ('{"a": [1, 2', "bad_json", 12, "the list that begins at column 7", ""),
    ('{"a": "b', "bad_json", 7, "no closing quote", '"b'),
    ('{"a": "b\\', "bad_json", 7, "no closing quote", '"b\\'),
    # punctuation
    ('{"a": 1,}', "bad_json", 9, "expected a key after the comma, found }", "}"),
    ("[1, ]", "bad_json", 5, "expected a value after the comma, found ]", "]"),
    ('{"a": 1,, "b": 2}', "bad_json", 9, "expected a key in double quotes, found ,", ","),
    ("[1 2]", "bad_json", 4, "expected a comma or ], found 2", "2"),
    ('{"a": 1 "b": 2}', "bad_json", 9, 'expected a comma or }, found "', '"'),
    ('{"a" 1}', "bad_json", 6, "expected a colon", "1"),
    ("[1}", "bad_json", 3, "found } in the list that begins at column 1", "}"),
    ('{"a": 1]', "bad_json", 8, "found ] in the object that begins at column 1", "]"),
    ("{} {}", "bad_json", 4, "a second value", "{}"),
    ("{}}", "bad_json", 3, "expected the end of the line, found }", "}"),
    ('{"a": "say "hi""}', "bad_json", 13, "found hi", "hi"),
    # other languages
    ("{'a': 1}", "bad_json", 2, "expected a key in double quotes or }, found '", "'"),
    ("{a: 1}", "bad_json", 2, "expected a key in double quotes or }, found a", "a"),
    ('{"a": True}', "bad_json", 7, "expected a value, found True", "True"),
    ('{"a": None}', "bad_json", 7, "expected a value, found None", "None"),
    ('{"a": 1} // c', "bad_json", 10, "expected the end of the line, found /", "/"),
    ('{"a":\u00a01}', "bad_json", 6, "found U+00A0", "\u00a0"),
    ("[truest]", "bad_json", 2, "found truest", "truest"),
    # numbers
    ("[01]", "bad_json", 2, "begins with a zero", "01"),
    ("[+1]", "bad_json", 2, "begins with a plus sign", "+1"),
    ("[.5]", "bad_json", 2, "does not begin with a digit", ".5"),
    ("[1.]", "bad_json", 2, "digits are missing at its end", "1."),
    ("[-]", "bad_json", 2, "does not begin with a digit", "-"),
    ("[1e]", "bad_json", 2, "digits are missing at its end", "1e"),
    ("[0x10]", "bad_json", 2, "0x10 is no JSON number", "0x10"),
    ("[1_000]", "bad_json", 2, "1_000 is no JSON number", "1_000"),
    ("[NaN]", "bad_number", 2, "NaN is no JSON number", "NaN"),
    ("[Infinity]", "bad_number", 2, "Infinity is no JSON number", "Infinity"),
    ("[-Infinity]", "bad_number", 2, "-Infinity is no JSON number", "-Infinity"),
    ("[1, 1e999]", "bad_number", 5, "1e999 is beyond a 64-bit float", "1e999"),
    ("[-1E+400]", "bad_number", 2, "beyond a 64-bit float", "-1E+400"),
    # strings
    ('{"a": "¯\\_(ツ)_/¯"}', "bad_json", 9, "\\_ is no escape in JSON", "\\_"),
    ('{"a": "C:\\new\\dir"}', "bad_json", 14, "\\d is no escape in JSON", "\\d"),
    ('{"a\\-b": 1}', "bad_json", 4, "\\- is no escape in JSON", "\\-"),
    ('{"a": "b\tc"}', "bad_json", 9, "expected \\t for the control character U+0009", "\t"),
    ('{"a": "b\x1bc"}', "bad_json", 9, "expected \\u001b for the control character U+001B", "\x1b"),
    ('{"a": "\\u12G4"}', "bad_json", 8, "four hexadecimal digits", "\\u12G4"),
    ('{"a": "\\u12"}', "bad_json", 8, "four hexadecimal digits", '\\u12"}'),
    ('{"a": "\\ud83d!"}', "lone_surrogate", 8, "\\ud83d is half of a surrogate pair", "\\ud83d"),
    ('{"a": "\\uDE00"}', "lone_surrogate", 8, "\\uDE00 is half of a surrogate pair", "\\uDE00"),
    ('{"a": "\\ud83d\\ud83d\\ude00"}', "lone_surrogate", 8, "\\ud83d is half", "\\ud83d"),
    ('{"a": "\ud800"}', "lone_surrogate", 8, "U+D800 is half of a surrogate pair", "\ud800"),
    ('{"\\ud800": 1}', "lone_surrogate", 3, "\\ud800 is half", "\\ud800"),
    ('{"a": "b\\u0000"}', "nul_character", 9, "the escape of a NUL character", "\\u0000"),
    ('{"a": "b\0"}', "nul_character", 9, "a NUL character", "\0"),
    ('\0{"a": 1}', "nul_character", 1, "a NUL character", "\0"),
    ('{"a": 1}\0', "nul_character", 9, "a NUL character", "\0"),
    # keys
    ('{"a": 1, "b": 2, "a": 3}', "duplicate_key", 18, 'the key "a" stands at column 2 and again at column 18', '"a"'),
    ('{"a": 1, "\\u0061": 3}', "duplicate_key", 10, "at column 2 and again at column 10; most readers take the last",
     '"\\u0061"'),
    ('{"m": {"é": 1, "é": 3}}', "duplicate_key", 16, "at column 8 and again at column 16", '"é"'),
    # marks
    ("\ufeff{}", "byte_order_mark", 1, "bytes EF BB BF", "\ufeff"),
    (" \ufeff{}", "byte_order_mark", 2, "bytes EF BB BF", "\ufeff"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "column", "message", "offending"), BAD)
def test_an_error_points_at_the_character(
    text: str, rule: str, column: int, message: str, offending: str
) -> None:
    with pytest.raises(FormatError) as caught:
        scan(text)
    error = caught.value
    assert (error.rule, error.line, error.column, error.text) == (rule, 1, column, offending)
    assert message in error.message


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"few": [{"a": 1}, {"b": NaN}]}', "few[1].b"),
        ('{"few": [[1, 2], [3, "\\x"]]}', "few[1][1]"),
        ('{"m": {"a": 1, "a": 2}}', "m.a"),
        ('{"m": nope}', "m"),
        ("nope", None),
        ('{"a": 1} x', None),
    ],
)
def test_an_error_names_the_field(text: str, field: str | None) -> None:
    with pytest.raises(FormatError) as caught:
        scan(text)
    assert caught.value.field == field


def test_columns_count_code_points_and_lines_are_counted() -> None:
    with pytest.raises(FormatError) as caught:
        scan('{"🤗": "介绍",\n  "b": nope}', line_number=7)
    assert (caught.value.line, caught.value.column) == (8, 8)


def test_a_quoted_text_is_cut() -> None:
    with pytest.raises(FormatError) as caught:
        scan('{"a": "' + "x" * 5000)
    assert len(caught.value.text) == 80


@pytest.mark.parametrize("found", ["\u202e", "\u200b", "\x1b", "\x7f", "\u2028"])
def test_messages_hold_no_invisible_characters(found: str) -> None:
    for text in (found, f"[{found}]", f'{{"a"{found}', f'["\\{found}"]', f'{{"{found}": 1, "{found}": 2}}'):
        with pytest.raises(FormatError) as caught:
            scan(text)
        assert found not in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "0", "-0", "-0.0", "1.0", "1e3", "1E+3", "1e-999", "123456789012345678901234567890", "0.1e1", "true",
        "false", "null", '""', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"', '"\u2028\u2029\u0085\x7f\ufeff"',
        "[]", "{}", "[ ]", "{ }", "[[], {}, [{}]]", ' {"a" : [ 1 , 2 ] , "b":{"a":1} }\t\r\n', '"\\\\ud800"',
        '{"": {"": ""}}',
    ],
)  # fmt: skip
def test_values_are_those_of_the_standard_library(text: str) -> None:
    value = scan(text).value
    assert repr(value) == repr(json.loads(text))


def test_places_of_keys_and_values() -> None:
    text = ' { "é" : [1, {"b": null}] , "c": "x" }'
    root = scan(text)
    assert (root.start, root.end, root.kind) == (1, len(text), "object")
    assert root.names == ("é", "c")
    assert [key.raw for key in root.keys] == ['"é"', '"c"']
    assert [item.raw for item in root.items] == ['[1, {"b": null}]', '"x"']
    inner = root.find(("é", 1, "b"))
    assert inner is not None
    assert (inner.raw, inner.kind, inner.start) == ("null", "literal", text.index("null"))
    assert root.find(("é", -1)) == root.find(("é", 1))
    for path in [("nope",), ("é", 2), ("é", "b"), ("c", 0), ("é", 0, "b", "c"), (0,)]:
        assert root.find(path) is None
    assert root.find(()) is root
    assert repr(root) == f"Node(object 1:{len(text)})"


def test_depth_is_limited_at_the_bracket_that_goes_too_deep() -> None:
    assert scan("[" * 100 + "]" * 100).kind == "list"
    with pytest.raises(FormatError) as caught:
        scan("[" * 101 + "]" * 101)
    assert (caught.value.rule, caught.value.column) == ("too_deep", 101)
    with pytest.raises(FormatError, match="too_deep"):
        scan('{"a":[{}]}', max_depth=2)
    assert scan('{"a":[{}]}', max_depth=3).value == {"a": [{}]}


@pytest.mark.parametrize("depth", [10_000, 1_000_000])
def test_an_unclosed_tower_is_refused_at_once(depth: int) -> None:
    for text in ("[" * depth, '{"a":' * depth):
        began = time.perf_counter()
        with pytest.raises(FormatError, match="too_deep"):
            scan(text)
        assert time.perf_counter() - began < 2


def test_depth_costs_no_stack_where_it_is_allowed() -> None:
    depth = 50_000
    node = scan('{"a":[' * depth + "1" + "]}" * depth, max_depth=2 * depth)
    value = node.value
    for _ in range(depth):
        value = value["a"][0]
    assert value == 1


def _depth_seconds(depth: int) -> float:
    text = "[" * depth + "]" * depth
    began = time.perf_counter()
    scan(text, max_depth=depth)
    return time.perf_counter() - began


def test_time_grows_with_depth_no_faster_than_the_text() -> None:
    _depth_seconds(1000)
    small = min(_depth_seconds(5_000) for _ in range(3))
    large = min(_depth_seconds(50_000) for _ in range(3))
    assert large < 60 * small  # 10 times the text; quadratic would be 100


def test_a_string_of_escapes_and_a_list_of_many_items_are_read() -> None:
    text = '["' + "\\n" * 500_000 + '",' + "1," * 100_000 + "0]"
    value = scan(text).value
    assert len(value[0]) == 500_000
    assert len(value) == 100_002


def test_integers_of_any_reasonable_size_are_exact() -> None:
    for digits in (19, 400, 4300, 4301, 8001, 30_000):
        for sign in ("", "-"):
            number = scan(f"[{sign}{'7' * digits}]").value[0]
            assert number * 9 == int(f"{sign}1") * 7 * (10**digits - 1)
    with pytest.raises(FormatError) as caught:
        scan("9" * (MAX_DIGITS + 1))
    assert caught.value.rule == "bad_number"
    assert f"{MAX_DIGITS + 1:,} digits" in caught.value.message


def test_a_node_decodes_itself_in_any_place() -> None:
    node = scan('{"a": ["\\u00e9", ' + "1" * 5000 + ', {"b": [1.5, true]}]}')
    item = node.find(("a", 2))
    assert isinstance(item, Node)
    assert item.value == {"b": [1.5, True]}
    assert list(node.value) == ["a"]
    assert node.value["a"][0] == "é"
    assert node.value["a"][2] == {"b": [1.5, True]}
