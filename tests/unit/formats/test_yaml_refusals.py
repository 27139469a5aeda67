"""What cannot be edited in place is refused with a reason and a place, or laid out anew on request."""

from __future__ import annotations

import pytest

from evalspec.formats.edits import IN_PLACE, Edit, Insert, Move, Remove, Rename, Replace, apply_to_value
from evalspec.formats.yaml import LM_EVAL, EditRefused, RecordKey, edit, read, records, roundtrip, splice

KEY = RecordKey()


def refusal(text: str, *edits: Edit, key: RecordKey = KEY, reformat: bool = False) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        edit(text.encode(), [(key, edits)], dialect=LM_EVAL, reformat=reformat)
    return caught.value


@pytest.mark.parametrize(
    ("text", "one", "reason", "place"),
    [
        ("b: 1\na: &x {k: 1}\nc: *x\n", Replace(("a", "k"), 2), "alias", (1, 1)),
        ("a: &x {k: 1}\nc: *x\n", Replace(("c", "k"), 2), "alias", (2, 4)),
        ("a: &x 1\nc: *x\n", Remove(("a",)), "alias", (1, 1)),
        ("a: &x 1\nc: *x\n", Move(("a",), ("d",)), "alias", (1, 1)),
        ("a: &x {k: 1}\nm:\n  <<: *x\n", Replace(("m", "k"), 2), "merge", (3, 3)),
        ("a: &x {k: 1}\nm:\n  <<: *x\n  k: 2\n", Remove(("m", "k")), "merge key", (1, 1)),
        ("? a\n: 1\n", Replace(("a",), 2), "`?`", (1, 1)),
        ("{? a : 1}\n", Replace(("a",), 2), "`?`", (1, 2)),
        ("a: [b: 1]\n", Replace(("a", 0, "b"), 2), "without braces", (1, 5)),
        ("&k a: 1\n", Rename(("a",), "b"), "anchor", (1, 1)),
        ("!!str a: 1\n", Rename(("a",), "b"), "tag", (1, 1)),
        ("a:\n  k: 1\nb: {}\n", Move(("a",), ("b", "a")), "into braces", (1, 1)),
        ("a: 1  # c\nb: {}\n", Move(("a",), ("b", "a")), "into braces", (1, 1)),
        ("b: {\n  a: 1 # c\n  }\n", Move(("b", "a"), ("a",)), "out of braces", (2, 3)),
        ("n: 1\nn: 2\n", Remove(("n",)), "more than once", (1, 1)),
        ("n: 1\nn: 2\n", Rename(("n",), "m"), "more than once", (1, 1)),
        ("a: |+\n  x\n\n\nb: 1\n\n\n", Remove(("b",)), "not read as it is meant", (1, 1)),
        ("a: |\n  x", Insert(("b",), 1), "not read as it is meant", (1, 1)),
    ],
)
def test_refused_with_reason_and_place(text: str, one: Edit, reason: str, place: tuple[int, int]) -> None:
    error = refusal(text, one)
    assert reason in error.reason
    assert (error.line, error.column) == place
    assert error.exit_code == 1
    assert "--reformat" in error.fix
    assert f"{place[0]}:{place[1]}" in str(error)


def test_another_record_that_shares_the_value_is_not_changed() -> None:
    error = refusal("- a: &x\n    k: 1\n- b: *x\n", Replace(("a", "k"), 2), key=RecordKey(0, 0))
    assert "alias" in error.reason


def test_refusal_names_the_record() -> None:
    text = "- a: 1\n- b: &x {k: 1}\n- c: *x\n"
    error = refusal(text, Replace(("c", "k"), 2), key=RecordKey(0, 2))
    assert (error.key, error.line, error.column) == (RecordKey(0, 2), 3, 6)


@pytest.mark.parametrize("key", [RecordKey(0, None), RecordKey(0, 9), RecordKey(3), RecordKey(0, 0)])
def test_no_such_record(key: RecordKey) -> None:
    for reformat in (False, True):
        assert refusal("- text\n- a: 1\n", Remove(("a",)), key=key, reformat=reformat).fix


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, {"a": (1,)}, "\ud800"])
def test_values_that_no_file_can_hold(value: object) -> None:
    for text in ("a: 1\n", "{a: 1}\n"):
        assert refusal(text, Replace(("a",), value)).fix


def test_a_result_that_reads_differently_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break the writer on purpose: what it gives is caught by the comparison."""
    for wrong in ("a: 2\nb: 1\n", "a: 3\n", 'a: "2"\n', "a: 2\n---\nb: 1\n", "a: [2\n", "- a: 2\n", "b: 2\n"):
        monkeypatch.setattr(splice, "render_root", lambda *_, text=wrong: text)
        assert "not read as it is meant" in refusal("a: 1\n", Replace(("a",), 2)).reason


def test_a_style_that_changed_elsewhere_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("a: 2\nb: x\n", 'a: 2\nb: "x"\n'):
        monkeypatch.setattr(splice, "render_root", lambda *_, text=wrong: text)
        assert refusal("a: 1\nb: 'x'\n", Replace(("a",), 2)).reason
    monkeypatch.setattr(splice, "render_root", lambda *_: "a: 2\nb: !!str 3\n")
    assert refusal("a: 1\nb: 3\n", Replace(("a",), 2)).reason


REFORMATTED: list[tuple[str, Edit, str | None]] = [
    ("# c\na: &x {k: 1}  # d\nc: *x\n", Replace(("c", "k"), 2), "# c\na: {k: 1}  # d\nc: {k: 2}  # d\n"),
    ("a: &x {k: 1}\nc: *x\n", Remove(("a",)), "c: {k: 1}\n"),
    ("a: &x {k: 1}\nm:\n  <<: *x\n", Replace(("m", "k"), 2), "a: &x {k: 1}\nm:\n  <<: *x\n  k: 2\n"),
    ("? a\n: 'x'\n# c\nb: yes\n", Rename(("a",), "no"), "\"no\": 'x'\n# c\nb: yes\n"),
    ("? a\n: 1\nb: 010\n", Move(("a",), ("m", "a"), IN_PLACE), "m:\n  a: 1\nb: 010\n"),
    ("? a\n: 1\n", Insert(("a2", "b"), "x\ny\n"), None),
    ("a: 1 # c\nb: {}\n", Move(("a",), ("d", "a")), None),
]


@pytest.mark.parametrize(("text", "one", "wanted"), REFORMATTED)
@pytest.mark.parametrize("nl", ["\n", "\r\n"])
def test_laid_out_anew_on_request(text: str, one: Edit, wanted: str | None, nl: str) -> None:
    data = ("\ufeff" + text.replace("\n", nl)).encode()
    result = edit(data, [(KEY, [one])], dialect=LM_EVAL, reformat=True)
    (before,), (after,) = records(read(data, dialect=LM_EVAL)), records(read(result, dialect=LM_EVAL))
    assert after.value == apply_to_value(before.value, [one])
    if wanted is not None and "# d" not in text:
        assert result.decode() == "\ufeff" + wanted.replace("\n", nl)
    assert result.count(b"#") >= data.count(b"#")


def test_reformat_is_the_last_resort() -> None:
    """A file that can be edited in place keeps its layout although `reformat` is on."""
    text = "a:   1\nb:    [ x ]\n"
    assert edit(text.encode(), [(KEY, [Replace(("a",), 2)])], reformat=True).decode() == text.replace(
        "1", "2"
    )


@pytest.mark.parametrize(
    ("text", "one", "reason"),
    [
        ("? a\n: 1\nb: [1, # c\n  2]\n", Replace(("a",), 2), "lose a comment"),
        ("? a\n: 1\nb: 1\nb: 2\n", Replace(("a",), 2), "cannot be laid out anew"),
    ],
)
def test_what_even_a_round_trip_cannot_do(text: str, one: Edit, reason: str) -> None:
    error = refusal(text, one, reformat=True)
    assert reason in error.reason
    assert "--reformat" not in error.fix


def test_a_round_trip_that_changes_a_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = roundtrip._dump
    monkeypatch.setattr(roundtrip, "_dump", lambda *args: whole(*args).replace("b: x", "b: y"))
    assert "would change" in refusal("? a\n: 1\nb: x\n", Replace(("a",), 2), reformat=True).reason
