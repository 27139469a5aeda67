"""YAML edited in place where real task trees have nothing like it: what comes out, byte for byte."""

from __future__ import annotations

import pytest
from support.yaml_edits import edited

from evalspec.formats.edits import FIRST, Edit, Insert, Move, Remove, Rename, Replace, Where
from evalspec.formats.yaml import Tagged

CASES: list[tuple[str, list[Edit], str]] = [
    # no final newline: none is added
    ("a: 1", [Insert(("b",), "x")], "a: 1\nb: x"),
    ("a: 1\nb: 2", [Remove(("b",))], "a: 1"),
    ("a: 1", [Insert(("b",), "x\ny\n")], 'a: 1\nb: "x\\ny\\n"'),
    ("a: [1]", [Insert(("b", "c"), 1)], "a: [1]\nb:\n  c: 1"),
    ("a: x", [Replace(("a",), ["p", "q"])], "a:\n  - p\n  - q"),
    # empty and flow mappings
    ("{}\n", [Insert(("a",), "x")], "{a: x}\n"),
    ("a: {}\n", [Insert(("a", "b"), "x, y")], 'a: {b: "x, y"}\n'),
    ("a: { }  # c\n", [Insert(("a", "b"), 1)], "a: {b: 1}  # c\n"),
    ('{"a": 1, "b": "x"}\n', [Insert(("c",), "y")], '{"a": 1, "b": "x", "c": "y"}\n'),
    ("{ a: 1, b: 2 }\n", [Remove(("b",))], "{ a: 1 }\n"),
    ("{ a: 1, b: 2 }\n", [Remove(("a",))], "{ b: 2 }\n"),
    ("{a: 1, b: 2,}\n", [Remove(("b",))], "{a: 1,}\n"),
    ("{a: 1, b: {c: 2}}\n", [Move(("b", "c"), ("c",), FIRST)], "{c: 2, a: 1, b: {}}\n"),
    ("{a: 1, b}\n", [Replace(("b",), "x")], "{a: 1, b: x}\n"),
    ("{a: 1}\n", [Insert(("b", "c"), "x\ny")], '{a: 1, b: {c: "x\\ny"}}\n'),
    ("a: {x: 1, y: 2}\n", [Move(("a", "x"), ("x",))], "a: {y: 2}\nx: 1\n"),
    ("a: 1\nb: {}\n", [Move(("a",), ("b", "a"))], "b: {a: 1}\n"),
    (
        "a: {\n  x: 1, # ax\n  y: 2  # ay\n}\n",
        [Insert(("a", "z"), 3)],
        "a: {\n  x: 1, # ax\n  y: 2,  # ay\n  z: 3\n}\n",
    ),
    ("a: {\n  x: 1, # ax\n  y: 2, # ay\n}\n", [Remove(("a", "y"))], "a: {\n  x: 1, # ax\n}\n"),
    (
        "a: {\n  x: 1, # ax\n  y: 2\n}\n",
        [Insert(("a", "b"), 3, Where(after="x"))],
        "a: {\n  x: 1, # ax\n  b: 3,\n  y: 2\n}\n",
    ),
    # what is left of a mapping or a list that lost everything
    ("a: 1\n", [Remove(("a",))], "{}\n"),
    ("# c\na:\n  - 1\n", [Remove(("a", 0))], "# c\na: []\n"),
    ("a: &x  # c\n  b: 1\n", [Remove(("a", "b"))], "a: &x {}  # c\n"),
    ("a:\n  b: 1\nc: 2\n", [Move(("a", "b"), ("b",)), Insert(("a", "z"), 3)], "a:\n  z: 3\nc: 2\nb: 1\n"),
    # keys and values in quotes, odd keys, nulls, dates, numbers
    ("'a': 1\n\"b\": 2\n", [Rename(("a",), "c"), Rename(("b",), "d")], "'c': 1\n\"d\": 2\n"),
    ("a: 1\n", [Rename(("a",), "#x")], '"#x": 1\n'),
    ("a:\nb: ~\n", [Replace(("a",), "x"), Replace(("b",), 0)], "a: x\nb: 0\n"),
    ("a:\nb: 1\n", [Move(("a",), ("c",)), Rename(("b",), "a")], "a: 1\nc:\n"),
    ("? a\n: b\nc: 1\n", [Remove(("a",)), Rename(("c",), "d")], "d: 1\n"),
    ("? |\n  x\n: b\nc: 1\n", [Replace(("c",), 2)], "? |\n  x\n: b\nc: 2\n"),
    ("a : 1\n", [Replace(("a",), 1e22), Rename(("a",), "b")], "b : 1.0e+22\n"),
    ("a: 0x10\nb: 1_000\n", [Rename(("a",), "c")], "c: 0x10\nb: 1_000\n"),
    ("n: 1.10\n", [Rename(("n",), "version")], "version: 1.10\n"),
    # tabs, inner white space, a value on the line below
    ("a:\t'x\ty' \t# c\n", [Replace(("a",), "z")], "a:\t'z' \t# c\n"),
    ("a:\n    long\n    text # c\n", [Replace(("a",), "short")], "a:\n    short # c\n"),
    ("a: # c\n  x\n", [Replace(("a",), "p\nq\n")], "a: | # c\n  p\n  q\n"),
    # block texts
    ("a: |\n  x\n\nb: 1\n", [Replace(("a",), "y\n")], "a: |\n  y\n\nb: 1\n"),
    ("a: |\n  x\nb: 1\n", [Replace(("a",), "y\nz")], "a: |-\n  y\n  z\nb: 1\n"),
    ("a: >-\n  x\n  y\n", [Replace(("a",), "p\nq")], "a: >-\n  p\n\n  q\n"),
    ("a: |  # c\n  x\n", [Replace(("a",), 1)], "a: 1  # c\n"),
    ("a: |\n  x\n", [Replace(("a",), "  y\n z\n")], "a: |2\n    y\n   z\n"),
    ("a: |\n  x\n", [Replace(("a",), "y  \nz\n")], 'a: "y  \\nz\\n"\n'),
    ("a: 1\n", [Replace(("a",), "x\n\n")], 'a: "x\\n\\n"\n'),
    ("a: |1-\n  x\n  y\nb:\n  c: 1\n", [Move(("a",), ("b", "a"))], "b:\n  c: 1\n  a: |1-\n    x\n    y\n"),
    ("a: |+\n  x\n\n\nb: 1\n", [Remove(("b",))], "a: |+\n  x\n\n\n"),
    # lists in lists, lists at every indent
    ("a:\n- - 1\n  - 2\n", [Replace(("a", 0, 1), {"b": []})], "a:\n- - 1\n  - b: []\n"),
    ("a:\n-\n  - 1\n", [Replace(("a", 0, 0), "x")], "a:\n-\n  - x\n"),
    ("a:\n    - b: 1\n", [Replace(("a", 0, "b"), ["x"])], "a:\n    - b:\n          - x\n"),
    ("a: [[1, 2], [3]]\n", [Remove(("a", 0, 0)), Replace(("a", -1), "x")], "a: [[2], x]\n"),
    # directives, document marks, comments everywhere
    ("%YAML 1.1\n--- # c\na: 1\n...\n", [Insert(("b",), 2)], "%YAML 1.1\n--- # c\na: 1\nb: 2\n...\n"),
    ("a: 1\n\n# the end\n", [Insert(("b",), 2)], "a: 1\nb: 2\n\n# the end\n"),
    ("# one\n\n# two\na: 1\nb: 2\n", [Remove(("a",))], "# one\n\nb: 2\n"),
    ("#!/usr/bin/env x\na: 1\nb: 2\n", [Remove(("a",))], "#!/usr/bin/env x\nb: 2\n"),
    ("  a: 1\n  b: 2\n", [Remove(("a",)), Insert(("c",), [1])], "  b: 2\n  c:\n    - 1\n"),
    # non-ASCII and astral text on the way to the place
    (
        "é😀: '😀é'\nb: {'😀': [é, 😀]}\n",
        [Replace(("b", "😀", 1), "x"), Rename(("é😀",), "ü")],
        "ü: '😀é'\nb: {'😀': [é, x]}\n",
    ),
    # tags, anchors and merge keys beside what changes
    (
        "a: !function u.f\nb: 1\n",
        [Rename(("a",), "c"), Replace(("b",), Tagged("!function", "u.g"))],
        "c: !function u.f\nb: !function u.g\n",
    ),
    ("a: !function u.f\n", [Replace(("a",), "text")], "a: text\n"),
    ("a: &x 1\nb: *x\nc: *x\n", [Rename(("a",), "d"), Remove(("b",)), Replace(("c",), 2)], "d: &x 1\nc: 2\n"),
    (
        "b: &b {x: 1}\nm:\n  <<: *b\n  y: 2\n",
        [Replace(("m", "y"), 3), Insert(("m", "z"), 4)],
        "b: &b {x: 1}\nm:\n  <<: *b\n  y: 3\n  z: 4\n",
    ),
    ("a: &x\n  k: 1\nb: 2\n", [Insert(("a", "l"), 3)], "a: &x\n  k: 1\n  l: 3\nb: 2\n"),
    # a key that is given twice: the last one counts
    ("n: 1\nn: 2\n", [Replace(("n",), 3)], "n: 1\nn: 3\n"),
]


@pytest.mark.parametrize(("text", "edits", "wanted"), CASES)
def test_made_up_files(text: str, edits: list[Edit], wanted: str) -> None:
    assert edited(text, *edits) == wanted


BETWEEN = """\
# 1
--- # 2
# 3
a: # 4
  # 5
  b: # 6
    # 7
    - # 8
      # 9
      x # 10
    # 11
    - { # 12
       c: # 14
       1 # 15
       , # 16
       d: 2 # 17
      } # 18
  # 19
  e: # 20
    # 21
    "f" # 22
# 23
g: 1 # 24
# 25
... # 26
# 27
"""


@pytest.mark.parametrize(
    ("edits", "swaps"),
    [
        ([Replace(("a", "b", 0), "z")], [("x # 10", "z # 10")]),
        ([Replace(("a", "e"), "h")], [('"f"', '"h"')]),
        ([Replace(("a", "b", 1, "d"), 3)], [("d: 2 ", "d: 3 ")]),
        ([Rename(("a", "b", 1, "c"), "h")], [("c: # 14", "h: # 14")]),
        ([Rename(("a",), "h")], [("a: # 4", "h: # 4")]),
        ([Remove(("a", "e"))], [('  # 19\n  e: # 20\n    # 21\n    "f" # 22\n', "")]),
        ([Remove(("g",))], [("# 23\ng: 1 # 24\n", "")]),
        ([Insert(("h",), 2)], [("g: 1 # 24\n", "g: 1 # 24\nh: 2\n")]),
        ([Remove(("a", "b", 0))], [("    # 7\n    - # 8\n      # 9\n      x # 10\n", "")]),
        (
            [Move(("g",), ("a", "g"))],
            [("# 23\ng: 1 # 24\n", ""), ('"f" # 22\n', '"f" # 22\n  # 23\n  g: 1 # 24\n')],
        ),
    ],
)
def test_comments_between_every_pair_of_tokens(edits: list[Edit], swaps: list[tuple[str, str]]) -> None:
    wanted = BETWEEN
    for old, new in swaps:
        assert wanted.count(old) == 1
        wanted = wanted.replace(old, new)
    assert edited(BETWEEN, *edits) == wanted
