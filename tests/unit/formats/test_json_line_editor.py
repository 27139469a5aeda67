"""Many lines edited from templates: always what editing each one by itself gives."""

from __future__ import annotations

import json
import time

import pytest

from evalspec.errors import FormatError
from evalspec.formats import json_edit, line_editor
from evalspec.formats.edits import FIRST, IN_PLACE, Edit, EditError, Insert, Move, Remove, Replace, Where
from evalspec.formats.jsonl import edit_line
from evalspec.formats.line_editor import LineEditor

MIGRATION: list[Edit] = [
    Insert(("spec_version",), 3, FIRST),
    Insert(("output_type",), "generate_until", Where(after="category")),
    Move(("few",), ("fewshot", "samples"), IN_PLACE),
]
VERSION: list[Edit] = [*MIGRATION, Move(("metadata", "version"), ("version",))]


def line(number: int = 0, **more: object) -> bytes:
    record = {"task_id": f"t{number}", "category": "mcq", "few": [{"a": "{[", "b": number}], **more}
    return json.dumps(record).encode()


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The lines that were edited with all checks, in their order."""
    calls: list[object] = []
    whole = json_edit.edit_text

    def counted(root: object, *args: object, **options: object) -> object:
        calls.append(root)
        return whole(root, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(line_editor, "edit_text", counted)
    return calls


def test_lines_of_one_kind_are_checked_once(checked: list[object]) -> None:
    editor = LineEditor(MIGRATION)
    for number in range(50):
        text = line(number, metadata={"k": number})
        assert editor.edit(text) == edit_line(text, MIGRATION)
    assert len(checked) == 1


def test_kinds_that_alternate_are_each_checked_once(checked: list[object]) -> None:
    editor = LineEditor(MIGRATION)
    kinds = [
        line(1),
        line(1, metadata={}),
        line(1, metadata={}).replace(b": ", b":"),
        line(1).replace(b", ", b" ,\t"),
        line(1) + b"\r",
        b' {"few": [], "task_id": "x", "category": "mcq"}',
    ]
    for text in kinds * 3:
        assert editor.edit(text) == edit_line(text, MIGRATION)
    assert len(checked) == len(kinds)


def test_a_value_that_edits_look_into_has_its_own_places(checked: list[object]) -> None:
    editor = LineEditor(VERSION)
    for number in range(20):
        text = line(number, metadata={"version": number, "note": ["x"] * number})
        assert editor.edit(text) == edit_line(text, VERSION)
    assert len(checked) == 2  # once to see what is looked into, once with its members as slots
    text = line(1, metadata={"note": 1, "version": 2, "more": 3}, tail=1)
    assert editor.edit(text) == edit_line(text, VERSION)


def test_what_no_template_can_hold_is_edited_line_by_line() -> None:
    edits: list[Edit] = [Replace(("few", 0, "b"), "new"), Remove(("few", 1))]
    editor = LineEditor(edits)
    for number in range(3):
        text = line(number).replace(b'[{"a"', b'[{"x": 1, "a"').replace(b"}]", b"}, 0, %d]" % number)
        assert editor.edit(text) == edit_line(text, edits)


def test_the_kind_of_a_value_that_edits_look_into_matters() -> None:
    editor = LineEditor(VERSION)
    assert editor.edit(line(metadata={"version": 1}))
    for other in ("text", [1], 5, None, {}, {"k": 1}):
        with pytest.raises(EditError):
            editor.edit(line(metadata=other))
    assert editor.edit(line(metadata={"version": 1}))


def test_new_text_is_escaped_as_each_line_does_it() -> None:
    edits: list[Edit] = [Insert(("ü",), "é🤗")]
    editor = LineEditor(edits)
    lines = [
        b'{"a": "x"}',
        b'{"a": "\\u00e8"}',
        b'{"a": "\\u00E8"}',
        '{"a": "è"}'.encode(),
        b'{"a": "\\\\u00e8"}',
    ]
    for text in lines * 3:
        assert editor.edit(text) == edit_line(text, edits)
    # a control character needs an escape in JSON, yet it is no ASCII-only text either way
    assert LineEditor([Insert(("b",), "\x85\u200b")]).edit(lines[1]).isascii()


def test_a_value_moved_too_deep_is_refused_also_behind_a_template() -> None:
    editor = LineEditor(MIGRATION)
    shallow = b'{"category": 1, "few": []}'
    assert editor.edit(shallow) == edit_line(shallow, MIGRATION)
    flat = b'{"category": 1, "few": [' + b"[]," * 500 + b'"[[["]}'
    assert editor.edit(flat) == edit_line(flat, MIGRATION)
    deep = b'{"category": 1, "few": ' + b"[" * 99 + b"]" * 99 + b"}"
    with pytest.raises(EditError):
        editor.edit(deep)
    trusting = LineEditor(MIGRATION, bounded=True)
    trusting.edit(shallow)
    assert trusting.edit(flat) == edit_line(flat, MIGRATION)


def test_a_repeated_key_is_seen_behind_a_template() -> None:
    editor = LineEditor(MIGRATION)
    editor.edit(line())
    with pytest.raises(FormatError, match="duplicate_key"):
        editor.edit(line()[:-1] + b', "few": []}')


def test_any_number_of_kinds_is_edited_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_editor, "_REMEMBERED", 4)
    editor = LineEditor(MIGRATION)
    for number in range(12):
        text = line(number, **{f"k{number}": 1})
        for _ in range(2):
            assert editor.edit(text) == edit_line(text, MIGRATION)
    assert len(editor._by_glue) == 4


def test_a_template_is_far_quicker_than_all_checks() -> None:
    editor = LineEditor(MIGRATION)
    lines = [line(number) for number in range(400)]

    def seconds(edit: object) -> float:
        began = time.perf_counter()
        for text in lines:
            edit(text)  # type: ignore[operator]
        return time.perf_counter() - began

    editor.edit(lines[0])
    templates = min(seconds(editor.edit) for _ in range(3))
    each = seconds(lambda text: edit_line(text, MIGRATION))
    assert templates * 10 < each
