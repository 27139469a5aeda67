"""How texts are joined (prompting.md, "Prompt assembly")."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.prompts import (
    Message,
    build_qa_turn,
    maybe_delimit,
    multiturn_to_singleturn,
    requires_delimiter,
)
from evalspec.prompts.message import messages_to_text
from evalspec.prompts.parts import TurnOrigins, turn_parts
from evalspec.prompts.prompt import Origin

#: left, right, what `maybe_delimit` makes of them with a bar, whether they need a delimiter
JOINS = [
    ("a", "b", "a|b", True),
    ("a ", "b", "a b", False),
    ("a", " b", "a b", False),
    ("a\u00a0", "b", "a\u00a0b", False),
    ("a\n", "\nb", "a\n\nb", False),
    ("a\u200b", "b", "a\u200b|b", True),
]


@pytest.mark.parametrize(("left", "right", "joined", "required"), JOINS)
def test_a_seam_has_one_delimiter_or_white_space(left: str, right: str, joined: str, required: bool) -> None:
    assert maybe_delimit(left, right, "|") == joined
    assert requires_delimiter(left, right) is required


@pytest.mark.parametrize(
    ("left", "right", "joined"), [("", "b", "b"), (None, "b", "b"), ("a", "", "a"), (None, None, "")]
)
def test_nothing_is_joined_to_nothing(left: str | None, right: str | None, joined: str) -> None:
    assert maybe_delimit(left, right, "|") == joined


def test_nothing_before_needs_no_delimiter() -> None:
    assert not requires_delimiter("", "b")


#: choices, answer, prefix, and the turn's plain text after the question "Q:"
TURNS = [
    (None, "blue", None, "Q: blue\n\n"),
    (None, " blue", None, "Q:  blue\n\n"),
    (["red", "blue"], 1, None, "Q: blue\n\n"),
    (["red", "blue"], 0, None, "Q: red\n\n"),
    (["red", "blue"], False, None, "Q: red\n\n"),
    (None, ["blue", "azure"], None, "Q: blue\n\n"),
    (None, None, None, "Q:"),
    (None, "", None, "Q:"),
    (None, "blue", "It is", "Q: It is blue\n\n"),
    (None, "blue", "It is ", "Q: It is blue\n\n"),
    (None, None, "It is", "Q: It is"),
    (None, "", "It is", "Q: It is"),
]


@pytest.mark.parametrize(("choices", "answer", "prefix", "text"), TURNS)
def test_a_turn(choices: list[str] | None, answer: object, prefix: str | None, text: str) -> None:
    assert messages_to_text(build_qa_turn("Q:", choices, answer, prefix)) == text


@pytest.mark.parametrize("answer", [3, [1, 2], 1.5])
def test_an_answer_is_a_text(answer: object) -> None:
    with pytest.raises(AssertionError):
        build_qa_turn("Q:", None, answer)


def test_an_empty_list_has_no_first_answer() -> None:
    with pytest.raises(IndexError):
        build_qa_turn("Q:", None, [])


def test_a_question_is_a_text() -> None:
    with pytest.raises(AssertionError):
        build_qa_turn(3)


def test_an_inline_task_counts_an_empty_answer() -> None:
    assert messages_to_text(build_qa_turn("Q:", None, "", None, empty_answers=True)) == "Q: \n\n"


def test_one_turn_keeps_the_delimiters_between_what_it_folds() -> None:
    shot = build_qa_turn("Q1", None, "A1")
    folded = multiturn_to_singleturn([Message("system", "S"), *shot, Message("user", "Q2", " ")])
    assert folded == [Message("system", "S"), Message("user", "Q1 A1\n\nQ2")]


def test_one_turn_keeps_a_begun_answer_apart() -> None:
    shot = build_qa_turn("Q1", None, "A1")
    folded = multiturn_to_singleturn([*shot, *build_qa_turn("Q2", gen_prefix="So:")])
    assert folded == [Message("user", "Q1 A1\n\nQ2"), Message("assistant", "So:")]


TEXT = st.text(alphabet="ab \n\u00a0é", max_size=6)


@given(TEXT, st.one_of(st.none(), TEXT), st.one_of(st.none(), TEXT), TEXT, TEXT, st.booleans())
def test_the_parts_of_a_turn_are_its_text(
    q: str, a: str | None, prefix: str | None, tgt: str, few: str, empty: bool
) -> None:
    origins = TurnOrigins(*[Origin(rule=name) for name in "qajsp"])
    turn = build_qa_turn(q, None, a, prefix, tgt, few, empty_answers=empty)
    parts = turn_parts(origins, q, None, a, prefix, tgt, few, empty_answers=empty)
    assert "".join(part.text for part in parts) == messages_to_text(turn)
    bare = turn_parts(origins, q, None, a, prefix, tgt, few, empty_answers=empty, delimited=False)
    assert "".join(part.text for part in bare) == "".join(message.content for message in turn)
