"""YAML files are read as PyYAML's safe loader reads them, or refused with a rule and a place; nothing hangs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import pytest
import yaml as pyyaml

from evalspec.errors import FormatError
from evalspec.formats.yaml import LM_EVAL, STRICT, Dialect, Tagged, YamlLimits, compose, read, records


def first(data: bytes | str, dialect: Dialect = STRICT) -> Any:
    """The first record's value, or its error raised."""
    record = records(read(data.encode() if isinstance(data, str) else data, dialect=dialect))[0]
    if record.error is not None:
        raise record.error
    return record.value


def fault(data: bytes | str, dialect: Dialect = STRICT) -> FormatError:
    with pytest.raises(FormatError) as caught:
        first(data, dialect)
    return caught.value


@pytest.fixture
def pure(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyYAML as it is where libyaml is absent."""
    monkeypatch.setitem(sys.modules, "yaml.cyaml", None)
    compose._loader.cache_clear()
    yield
    monkeypatch.undo()
    compose._loader.cache_clear()


VALUES = """
text: plain
none: ~
empty:
yes_: yes
octal: 010
hex: 0x1F
big: 123456789012345678901234567890
sexagesimal: 1:30
float: 1.5e+3
text too: 1e3
day: 2024-02-29
moment: 2024-02-29T12:30:00Z
bytes: !!binary aGk=
string: !!str 5
list: [1, [two], {three: 3}]
set: !!set {a, b}
ordered: !!omap [x: 1, y: 2]
pairs: !!pairs [x: 1, x: 2]
base: &base {a: 1, b: [1]}
again: *base
merged: {<<: *base, b: 2, c: 3}
two bases: {<<: [{p: 1, q: 1}, {p: 2, r: 2}], q: 3}
literal: |
  two
  lines
folded: >-
  one
  line
escapes: "\\u00e9\\n\\x41\\U0001F600"
=: value
"""


def test_values_are_those_of_pyyaml() -> None:
    wanted = pyyaml.safe_load(VALUES)
    assert first(VALUES) == wanted
    assert first(VALUES)["day"] == date(2024, 2, 29)
    assert isinstance(first(VALUES)["moment"], datetime)
    assert list(first(VALUES)["merged"]) == list(wanted["merged"])


@pytest.mark.usefixtures("pure")
def test_values_are_the_same_without_libyaml() -> None:
    assert not compose.has_libyaml()
    assert first(VALUES) == pyyaml.safe_load(VALUES)


def test_order_of_the_file_is_kept() -> None:
    assert list(first("z: 1\na: 2\nm: 3\n")) == ["z", "a", "m"]


def test_aliases_are_written_out() -> None:
    value = first("a: &x {k: [1]}\nb: *x\n")
    value["a"]["k"].append(2)
    assert value["b"] == {"k": [1]}


def test_byte_order_mark_is_a_warning_that_names_the_bytes() -> None:
    file = read(b"\xef\xbb\xbfa: 1\n")
    assert file.bom
    assert [(found.rule, found.line, found.column) for found in file.warnings] == [("byte_order_mark", 1, 1)]
    assert "EF BB BF" in file.warnings[0].message
    assert (records(file)[0].line, records(file)[0].column) == (1, 1)


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"# only a comment\n", b"---\n", b"---\n...\n", b"\xef\xbb\xbf"]
)
def test_files_without_records(data: bytes) -> None:
    assert records(read(data)) == []


@pytest.mark.parametrize(
    ("data", "rule", "place"),
    [
        (b"a: 1\nb: \xff\n", "bad_encoding", (2, 4)),
        ("é: ".encode() + b"\xc3(", "bad_encoding", (1, 4)),
        (b"\xff\xfea\x00", "bad_encoding", (1, 1)),
        (b"a: \0\n", "nul_character", (1, 4)),
        (b"a: 1\nb: x\x07y\n", "bad_yaml", (2, 5)),
        ("a: 1\nb: \x7f\n", "bad_yaml", (2, 4)),
        ("a: b: c\n", "bad_yaml", (1, 5)),
        ("a: 1\n b: 2\n", "bad_yaml", (2, 3)),
        ("a: [1, 2\nb: 3\n", "bad_yaml", (2, 2)),
        ("x: 1\na: [1, 2\n", "bad_yaml", (2, 4)),
        ('x: 1\na: "never\nclosed\n', "bad_yaml", (2, 4)),
        ("a:\n\t- 1\n", "bad_yaml", (2, 1)),
        ("a: @x\n", "bad_yaml", (1, 4)),
        ('é😀: "\\q"\n', "bad_yaml", (1, 6)),
        ('a: "\\ud83d\\ude00"\n', "bad_yaml", (1, 7)),
        ("a: *nowhere\n", "bad_yaml", (1, 4)),
        ("a: &x 1\nb: &x 2\n", "bad_yaml", (2, 4)),
        ("- a: 1\nb: 2\n", "bad_yaml", (2, 1)),
        ("%YAML 3.0\n---\na: 1\n", "bad_yaml", (1, 1)),
        ("a: !e!x 1\n", "bad_yaml", (1, 4)),
        ("{a: 1}}\n", "bad_yaml", (1, 7)),
        ("a: 1\nb: 2\na: 3\n", "duplicate_key", (3, 1)),
        ("a: {x: 1,\n  'x': 2}\n", "duplicate_key", (2, 3)),
        ("? [a]\n: 1\n", "bad_yaml", (1, 3)),
        ("? {a: 1}\n: 1\n", "bad_yaml", (1, 3)),
        ("1: a\n", "bad_type", (1, 1)),
        ("a: {yes: 1}\n", "bad_type", (1, 5)),
        ("~: a\n", "bad_type", (1, 1)),
        ("a: 1\nb: .nan\n", "bad_number", (2, 4)),
        ("a: [1, -.inf]\n", "bad_number", (1, 8)),
        ("a: 1.0e+999\n", "bad_number", (1, 4)),
        ("a: !!int x\n", "bad_number", (1, 4)),
        ("a: 2024-13-45\n", "bad_yaml", (1, 4)),
        ("a: !!bool maybe\n", "bad_yaml", (1, 4)),
        ("a: !!binary é\n", "bad_yaml", (1, 4)),
        ("a: !function x.y\n", "bad_yaml", (1, 4)),
        ("a: !!python/object/apply:os.system [echo]\n", "bad_yaml", (1, 4)),
        ("a: !!str [1]\n", "bad_yaml", (1, 4)),
        ("a: !!map 1\n", "bad_yaml", (1, 4)),
        ("a: !!omap [1]\n", "bad_yaml", (1, 12)),
        ("<<: 1\n", "bad_yaml", (1, 5)),
        ('a: "x\\0y"\n', "nul_character", (1, 4)),
        ("a: &a [*a]\n", "alias_bomb", (1, 4)),
    ],
)
def test_faults_have_a_rule_and_a_place(data: bytes | str, rule: str, place: tuple[int, int]) -> None:
    error = fault(data)
    assert (error.rule, (error.line, error.column)) == (rule, place)
    assert error.fix
    assert error.message


def test_duplicate_key_names_both_lines_and_the_winner() -> None:
    error = fault("a: 1\nb: 2\na: 3\n")
    assert "line 1" in error.message
    assert "line 3" in error.message
    assert "last one wins" in error.message


def test_lm_eval_keeps_tags_and_lets_the_last_duplicate_win() -> None:
    data = b"doc_to_text: !function utils.text\nn: 1\nn: 2\n3: x\nt: !list [a]\nm: !map {k: v}\n"
    (record,) = records(read(data, dialect=LM_EVAL))
    assert record.value == {
        "doc_to_text": Tagged("!function", "utils.text"),
        "n": 2,
        3: "x",
        "t": Tagged("!list", ["a"]),
        "m": Tagged("!map", {"k": "v"}),
    }
    assert [(found.rule, found.line) for found in record.warnings] == [("duplicate_key", 3)]


def test_the_two_spellings_of_one_number_are_one_key() -> None:
    assert fault("1: a\n0x1: b\n", Dialect(keys=True)).rule == "duplicate_key"


@pytest.mark.usefixtures("pure")
def test_lone_surrogate_without_libyaml() -> None:
    assert fault('a: "\\ud800"\n').rule == "lone_surrogate"


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [{','.join(['*' + old] * 9)}]}}\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "brackets": ("[" * 1_000_000, "too_deep"),
    "braces": ("{a: " * 500_000, "too_deep"),
    "dashes": ("- " * 1_000_000, "too_deep"),
    "questions": ("? " * 500_000, "too_deep"),
    "indents": ("".join(" " * depth + "a:\n" for depth in range(2_000)), "too_deep"),
    "moderate": ("[" * 101 + "]" * 101, "too_deep"),
    "one line each": ("".join(" " * depth + "-\n" for depth in range(101)), "too_deep"),
    "odd breaks": ("".join(" " * depth + "-\x85" for depth in range(101)), "too_deep"),
    "laughs": (LAUGHS, "alias_bomb"),
    "merges": (MERGES, "alias_bomb"),
    "empty lists": ("[" + "[]," * 2_000_000 + "]", "too_large"),
    "size": ("#" * 10_000_001, "too_large"),
    "sexagesimal": ("a: 1" + ":1" * 500_000, "bad_number"),
    "digits": ("a: " + "9" * 1_000_000, "bad_number"),
    "quotes": ('"' * 1_000_000, "bad_yaml"),
    "anchors": ("&a " * 300_000, "bad_yaml"),
    "no records": ("- \n" * 100_000, "not_an_object"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_soon(name: str) -> None:
    text, rule = HOSTILE[name]
    start = time.perf_counter()
    assert fault(text).rule == rule
    assert time.perf_counter() - start < 30  # far above what it takes, far below a hang


@pytest.mark.usefixtures("pure")
@pytest.mark.parametrize("name", ["moderate", "one line each", "laughs", "dashes"])
def test_hostile_files_without_libyaml(name: str) -> None:
    text, rule = HOSTILE[name]
    assert fault(text[:20_000]).rule == rule


def test_depth_up_to_the_limit_is_read() -> None:
    assert first("a: " + "[" * 99 + "]" * 99)
    assert fault("a: " + "[" * 100 + "]" * 100).rule == "too_deep"
    assert first("".join(" " * depth + "a:\n" for depth in range(100)))


def test_limits_can_be_raised_and_lowered() -> None:
    deep = b"a: " + b"[" * 150 + b"]" * 150
    assert records(read(deep, limits=YamlLimits(depth=200)))[0].value
    for limits, rule in ((YamlLimits(depth=3), "too_deep"), (YamlLimits(size=10), "too_large")):
        with pytest.raises(FormatError) as caught:
            read(b"a: [[[[1]]]]\n", limits=limits)
        assert caught.value.rule == rule
    with pytest.raises(FormatError) as caught:
        read(b"a: &a [1, 1]\nb: [*a, *a]\n", limits=YamlLimits(nodes=8))
    assert caught.value.rule == "alias_bomb"


def test_importing_and_reading_leaves_the_heavy_modules_alone() -> None:
    import subprocess

    code = (
        "import sys; from evalspec.formats import yaml; yaml.records(yaml.read(b'a: 1'));"
        "print([name for name in ('ruamel.yaml', 'pydantic', 'evalspec.formats.yaml.opening') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
