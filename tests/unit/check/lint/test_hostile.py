"""Files that are written to make a linter stumble: it says something, or nothing, and ends soon."""

from __future__ import annotations

import time

import pytest
from support.linting import lint_of

from evalspec.check.lint.joins import repeated_phrase
from evalspec.check.lint.patterns import flaws
from evalspec.check.lint.pieces import outside_jinja

FILES = {
    "braces": 'task: t\ntest_split: x\ndoc_to_text: "' + "{{" * 200_000 + '"\n',
    "single braces": 'task: t\ntest_split: x\ndoc_to_text: "' + "{a " * 200_000 + '"\n',
    "backslashes": "task: t\ntest_split: x\ndoc_to_text: '" + "\\" * 300_000 + "n'\n",
    "dollars": "task: t\ntest_split: x\ndoc_to_text: '" + "$" * 300_000 + "{x}'\n",
    "entities": 'task: t\ntest_split: x\ndoc_to_text: "' + "&lt" * 200_000 + '"\n',
    "words": 'task: t\ntest_split: x\ndoc_to_text: "' + "aа" * 200_000 + '"\n',
    "aliases": "task: t\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ndoc_to_choice: *c\n",
    "not yaml": "task: [\n",
    "not a mapping": "- 1\n",
    "nothing": "",
    "keys": "task: t\n? [a, b]\n: 1\n1: 2\nnull: 3\n",
    "kinds": "task: t\ndoc_to_text: [1]\nfewshot_config: 7\nfilter_list: {a: 1}\nmetric_list: x\n",
    "more kinds": "task: t\ntest_split: [1]\ngeneration_kwargs: []\ndoc_to_choice: 1\nnum_fewshot: x\n",
    "itself": "include: t.yaml\ntask: t\n",
    "out": "include: ../../etc/passwd\ntask: t\n",
    "include": "include: [[a], {b: c}, 1]\ntask: t\n",
    "function": "task: t\nprocess_docs: !function ''\ndoc_to_text: !function ..\ndoc_to_target: !function a.b.c.d\n",
    "group": "group: g\ntask: [{task: x, doc_to_text: '{q}'}, 1, null]\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str) -> None:
    began = time.monotonic()
    lint_of({"t.yaml": FILES[name]})
    assert time.monotonic() - began < 30


def test_a_recursive_alias_is_refused() -> None:
    found = lint_of({"t.yaml": "task: t\na: &a [*a]\n"})
    assert [each.rule for each in found] == ["alias_bomb"]


@pytest.mark.parametrize(
    "pattern",
    ["(" * 1000 + ")" * 1000, "[" * 100_000, "a{1,999}" * 400, "(?:" * 90 + "a" + ")*" * 90, "(?P<a>", "\\"],
)
def test_a_pattern(pattern: str) -> None:
    began = time.monotonic()
    flaws(pattern)
    assert time.monotonic() - began < 10


def test_a_phrase_is_looked_for_near_the_join_only() -> None:
    began = time.monotonic()
    assert repeated_phrase("a. " * 300_000 + "Think of it step by step.", "Think of it step by step. So:")
    assert len(repeated_phrase("a. " * 300_000, "a. " * 300_000)) <= 400
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("{{a}} {b} {% if x %}c{# d #}", "  {b}  c "),
        ("{{a {b}", "{{a {b}"),
        ("{% a {{b}}", "{% a  "),
        ("{{ '}' }}x", " x"),
        ("{", "{"),
        ("", ""),
    ],
)
def test_what_is_outside_of_jinja(text: str, left: str) -> None:
    assert outside_jinja(text) == left
