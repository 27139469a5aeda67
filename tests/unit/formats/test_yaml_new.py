"""Values as they are written: plain only where every reader takes them for text."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
import yaml as pyyaml

from evalspec.formats.edits import Replace
from evalspec.formats.yaml import LM_EVAL, RecordKey, Tagged, Unwritable, dump_new, edit, read, records
from evalspec.formats.yaml.scalars import is_plain, quoted_like

AMBIGUOUS = [
    *"yes no on off y n Yes NO true False null Null ~ None = << nan inf .inf -.inf .NaN".split(),  # noqa: SIM905
    *"010 0o10 0x1F 0b1 1 -1 +1 1.5 .5 1. 1e3 1e+3 1E3 1_000 1,000 1.2.3 192.168.0.1 1-2".split(),  # noqa: SIM905
    *"12:30 1:30:00 2024-01-01 2024-01-01T10:00:00Z --- ... - ? : -x ?x :x a: a::".split(),  # noqa: SIM905
    *"{a} [a] &a *a !a |a >a %a @a `a #a ,a 'a \"a".split(),  # noqa: SIM905
]

PLAIN = [
    "a",
    "exact_match",
    "two words",
    "it's",
    'say "x"',
    "a:b",
    "a#b",
    "/path/x.py",
    "http://x.y/z?a=b",
    "é",
    "日本語",
    "😀",
    "a-b",
    "v1.2",
    "3 apples",
    "(x)",
    "$x",
    "100%",
]


@pytest.mark.parametrize(
    "text", [*AMBIGUOUS, "", " a", "a ", "a: b", "a #b", "a\tb", "a\nb", "\u00a0x", "\u200b", "\x85"]
)
def test_what_another_reader_may_misread_is_quoted(text: str) -> None:
    assert not is_plain(text)
    for like in ("", "'", '"'):
        written = quoted_like(text, like)
        assert written[0] in "'\""
        assert pyyaml.safe_load(f"k: {written}\n") == {"k": text}


@pytest.mark.parametrize("text", PLAIN)
def test_what_nobody_misreads_is_plain(text: str) -> None:
    assert is_plain(text)
    assert quoted_like(text, "") == text
    assert pyyaml.safe_load(f"k: {text}\n") == {"k": text}


@pytest.mark.parametrize("text", ["a, b", "a]", "{a", "a:b", "what?", "a#b"])
def test_flow_collections_are_stricter(text: str) -> None:
    assert not is_plain(text, flow=True)
    assert pyyaml.safe_load(f"[{quoted_like(text, '', flow=True)}]") == [text]


VALUES: list[Any] = [
    *AMBIGUOUS,
    *PLAIN,
    "",
    "\n",
    "\n\n",
    "a\nb",
    "a\nb\n",
    "a\n\n",
    " a\nb",
    "\ta\nb",
    "a \nb",
    "a\n b\n",
    "# a\nb: c",
    "- a\n- b\n",
    "a\r\nb",
    "a\x85b",
    "a\u2028b",
    "\ufeffa",
    "tab\there",
    "\x07",
    "\x7f",
    'q"\\',
    "é\n日本\n",
    "\u202eabc",
    "a\n" + "long " * 100,
    "a: b\nc: d",
    "|",
    "|\nx",
    "...\nx",
    "---\nx\n",
    0,
    -1,
    10**40,
    True,
    False,
    None,
    1.5,
    -0.0,
    1e22,
    1e-7,
    1.0,
    date(2024, 2, 29),
    datetime(2024, 1, 2, 3, 4, 5),  # noqa: DTZ001 - YAML has such
    datetime(2024, 1, 2, 3, 4, 5, 678, UTC),
    b"\x00\xff",
    [],
    {},
    [[]],
    [{}],
    {"a": {}},
    [1, [2, [3, {"a": [4]}]]],
    {"a": {"b": {"c": "x\ny\n"}}},
    [{"a": 1, "b": ["x\ny"]}, "z"],
    {"yes": 1, "a: b": 2, "": 3, "é": 4, "1": 5},
    Tagged("!function", "utils.f"),
    Tagged("!list", [1, {"a": 2}]),
    Tagged("!map", {"a": "x\ny\n"}),
    [Tagged("!function", "a b: c")],
]


@pytest.mark.parametrize(
    "text",
    [
        "k: old\n",
        "k: 'old'\n",
        'k: "old"\n',
        "k: |\n  old\n",
        "k: >\n  old\n",
        "k: [old]\n",
        "{k: old}\n",
        "k: old\r\nl:\r\n- m: 1\r\n",
        "k: old",
        "? x\n: 1\nk: old\n",
    ],
)
def test_every_value_reads_back_wherever_it_is_written(text: str) -> None:
    for value in VALUES:
        result = edit(text.encode(), [(RecordKey(), [Replace(("k",), value)])], dialect=LM_EVAL)
        found = records(read(result, dialect=LM_EVAL))[0].value
        assert found is not None
        assert (repr(found["k"]), type(found["k"])) == (repr(value), type(value)), result


def test_every_value_reads_back_from_a_new_file() -> None:
    for value in VALUES:
        data = dump_new([{"k": value, "l": [value]}, {"k": 1}])
        found = [record.value for record in records(read(data, dialect=LM_EVAL))]
        assert found == [{"k": value, "l": [value]}, {"k": 1}], data


def test_a_new_file_is_laid_out_for_people() -> None:
    task = {
        "task_id": "a1",
        "prompt": "Q: x\nA:",
        "targets": ["yes"],
        "few": [{"prompt": "p\n", "n": {"x": []}}],
        "nothing": None,
    }
    assert dump_new([task, {"b": "10"}]).decode() == (
        '- task_id: a1\n  prompt: |-\n    Q: x\n    A:\n  targets:\n    - "yes"\n  few:\n    - prompt: |\n        p\n'
        '      "n":\n        x: []\n  nothing: null\n- b: "10"\n'
    )
    assert dump_new({"a": 1}) == b"a: 1\n"
    assert dump_new([]) == b"[]\n"


@pytest.mark.parametrize("value", [float("nan"), object(), {1: 2}, (1,), "\ud800", "\0"])
def test_what_cannot_be_read_back_is_not_written(value: object) -> None:
    with pytest.raises(Unwritable):
        dump_new([{"k": value}])
