"""Edits between two prompts: each as small as it can be said, in its class, none lost and none made up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.diff.edits import Edit, edits_of
from evalspec.prompts.prompt import Part


def rendered(*parts: tuple[str, str], **more: Any) -> dict[str, Any]:
    """A line of `evalspec render`, as far as a comparison looks at it."""
    return with_parts(*(Part(kind, text).to_dict() for kind, text in parts)) | more


def with_parts(*parts: dict[str, Any]) -> dict[str, Any]:
    """The same, of parts that say where they come from."""
    text = "".join(part["text"] for part in parts)
    return {"parts": [*parts], "text": text, "shots": [], "target": None, "choices": None, "requests": []}


def told(edit: Edit) -> tuple[str, tuple[str, ...], str, str]:
    return edit.change, edit.parts, edit.before, edit.after


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([("join", " ")], [("join", "")], ("delimiter", ("join",), " ", "")),
        ([("join", "\n")], [("join", "\n\n")], ("delimiter", ("join",), "", "\n")),
        ([("separator", "\n\n")], [("separator", "\n---\n")], ("delimiter", ("separator",), "", "---")),
        ([("gen_prefix", "Answer:")], [("gen_prefix", "Answer: ")], ("delimiter", ("gen_prefix",), "", " ")),
        ([("system", "Be brief.")], [("system", "Be brief!")], ("system", ("system",), ".", "!")),
        ([("system", "Be  brief")], [("system", "Be brief")], ("whitespace", ("system",), " ", "")),
        ([("question", "a b")], [("question", "a\tb")], ("whitespace", ("question",), " ", "\t")),
        ([("question", "1 + 1")], [("question", "1 + 2")], ("text", ("question",), "1", "2")),
        ([("question", "Q")], [("question", "Q"), ("join", " ")], ("delimiter", ("join",), "", " ")),
    ],
)
def test_the_class_and_size_of_an_edit(
    before: list[tuple[str, str]], after: list[tuple[str, str]], expected: tuple[Any, ...]
) -> None:
    around = ("question", "around")
    [edit] = edits_of(rendered(around, *before, around), rendered(around, *after, around))
    assert told(edit) == expected
    [back] = edits_of(rendered(around, *after, around), rendered(around, *before, around))
    assert (back.before, back.after) == (edit.after, edit.before)


def test_text_that_moved_between_parts_is_no_edit() -> None:
    assert not list(edits_of(rendered(("system", "a "), ("question", "b")), rendered(("question", "a b"))))


def test_values_beside_the_text() -> None:
    request = {"type": "generate_until", "context": "q", "generation": {"until": ["\n"], "temperature": 0}}
    other = {**request, "generation": {"until": ["\n", "Q:"], "temperature": 1}}
    before = rendered(target="A", choices=["A", "B"], requests=[request])
    after = rendered(target="B", choices=["A", "B", "C"], requests=[other])
    assert {edit.change for edit in edits_of(before, after)} == {"target", "choices", "stop", "generation"}


def test_other_examples_are_one_edit() -> None:
    shot = {"kind": "question", "text": "one", "origin": {"shot": 0}}
    before, after = with_parts(shot) | {"shots": [0]}, with_parts(shot | {"text": "two"}) | {"shots": [3]}
    assert [told(edit) for edit in edits_of(before, after)] == [("shots", ("shots",), "rows 0", "rows 3")]


def test_a_rows_value_goes_by_its_column_and_is_an_edit_of_its_own() -> None:
    part = {"kind": "question", "text": "long", "origin": {"row_column": "question"}}
    before = with_parts(part, Part("join", " ").to_dict())
    after = with_parts(part | {"text": "short"}, Part("join", "\n").to_dict())
    edits = list(edits_of(before, after))
    assert [told(edit)[2:] for edit in edits] == [(" ", "\n"), ("long", "short")]
    assert [edit.column for edit in edits] == ["", "question"]
    after = with_parts(part | {"text": "short"}, Part("join", " ").to_dict())
    assert [told(edit)[2:] for edit in edits_of(before, after)] == [("long", "short")]


def test_the_same_bytes_from_a_column_and_from_the_template_are_no_edit() -> None:
    before = rendered(("question", "Q: one"))
    column = {"kind": "question", "text": "one", "origin": {"row_column": "question"}}
    after = with_parts(Part("question", "Q: ").to_dict(), column)
    assert not list(edits_of(before, after))
    assert not list(edits_of(after, before))


_PARTS = st.lists(
    st.tuples(
        st.sampled_from(["system", "question", "join", "answer", "separator"]),
        st.text(min_size=1, max_size=6),
    ),
    max_size=6,
)


@given(_PARTS, _PARTS)
def test_edits_say_all_that_changed_and_no_more(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    edits = list(edits_of(rendered(*before), rendered(*after)))
    texts = ["".join(text for _, text in parts) for parts in (before, after)]
    if before == after:
        assert not edits
    grown = sum(len(edit.after) - len(edit.before) for edit in edits)
    assert grown == len(texts[1]) - len(texts[0])
    for edit in edits:
        assert edit.before != edit.after
        assert edit.before in texts[0]
        assert edit.after in texts[1]
