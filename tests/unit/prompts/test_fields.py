"""Fields read as Python literals (prompting.md, "Field dispatch")."""

from __future__ import annotations

import warnings

import pytest

from evalspec.prompts.fields import Fields, literal
from evalspec.prompts.sandbox import Sandbox


def test_a_backslash_before_an_ordinary_letter_is_read_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert literal(r"['a\ b', 'c\d']") == ["a\\ b", "c\\d"]


@pytest.mark.parametrize("text", ["07", "²", "[1or 2"])
def test_what_is_no_literal_is_a_syntax_error(text: str) -> None:
    with pytest.raises(SyntaxError):
        literal(text)


#: template, has choices, text, target
DISPATCH = [
    ("{{x}}", True, 3, 3),
    ("{{x}}", False, "3", "3"),
    ("00", True, 0, 0),
    ("[1, 2]", False, "[1, 2]", [1, 2]),
    ("[1, x]", False, "[1, x]", "[1, x]"),
    ("", True, "", ""),
    ("x", True, "3", "3"),
    (5, False, 5, 5),
    (True, False, True, True),
]


@pytest.mark.parametrize(("spec", "has_choices", "text", "target"), DISPATCH)
def test_dispatch(spec: object, has_choices: bool, text: object, target: object) -> None:
    fields = Fields(Sandbox(), ["x"], has_choices=has_choices)
    assert fields.text(spec)({"x": "3"}) == text
    assert fields.target(spec)({"x": "3"}) == target
