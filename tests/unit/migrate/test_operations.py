"""Record operations one by one: the edits they ask for, and what they say of themselves."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from evalspec.formats.edits import EditError, apply_edit
from evalspec.migrate import Recorder
from evalspec.migrate.operations import OperationError, RecordOperation


def recorded(say: Callable[[Recorder], object]) -> RecordOperation:
    """The one operation that `say` records."""
    recorder = Recorder()
    say(recorder)
    (operation,) = recorder.records
    return operation


def after(operation: RecordOperation, record: dict[str, Any]) -> dict[str, Any]:
    """The record with the operation's edits; the operation itself must leave it alone."""
    changed = copy.deepcopy(record)
    for edit in operation.edits(record):
        apply_edit(changed, edit)
    return changed


def wrap(record: dict[str, Any]) -> None:
    record["a"] = [record["a"]]
    record.pop("b", None)
    record["m"]["new"] = {"x": 1}


def halves(value: str) -> dict[str, Any]:
    left, _, right = value.partition(" ")
    return {"left": left, "right": right}


Say = Callable[[Recorder], object]
TABLE: list[tuple[Say, str, dict[str, Any], dict[str, Any]]] = [
    # what is said, its sentence, before, after
    (lambda op: op.add("n", 1), "add n = 1", {"a": 0}, {"a": 0, "n": 1}),
    (lambda op: op.add("n", 1, first=True), "add n = 1", {"a": 0}, {"n": 1, "a": 0}),
    (lambda op: op.add("n", 1, after="a"), "add n = 1", {"a": 0, "b": 0}, {"a": 0, "n": 1, "b": 0}),
    (lambda op: op.add("n", 1, after="z"), "add n = 1", {"a": 0, "b": 0}, {"a": 0, "b": 0, "n": 1}),
    (lambda op: op.add("m.n", 1), "add m.n = 1", {}, {"m": {"n": 1}}),
    (lambda op: op.add("n", None), "add n = None", {}, {"n": None}),
    (lambda op: op.add("n", 1, if_absent=True), "add n = 1", {"n": 2}, {"n": 2}),
    (lambda op: op.add("n", 1, if_absent=True), "add n = 1", {"n": None}, {"n": None}),
    (lambda op: op.set("n", 1), "set n = 1", {"n": 2, "a": 0}, {"n": 1, "a": 0}),
    (lambda op: op.set("n", 1, first=True), "set n = 1", {"a": 0}, {"n": 1, "a": 0}),
    (lambda op: op.set("n", 1, first=True), "set n = 1", {"a": 0, "n": 2}, {"a": 0, "n": 1}),
    (lambda op: op.set("n", 1), "set n = 1", {"n": True}, {"n": 1}),
    (lambda op: op.set("n", 1), "set n = 1", {"n": 1.0}, {"n": 1}),
    (lambda op: op.set("n", [1]), "set n = [1]", {"n": [True]}, {"n": [1]}),
    (lambda op: op.remove("n", "unread"), "remove n (unread)", {"n": 1, "a": 0}, {"a": 0}),
    (lambda op: op.remove("m.n", "unread"), "remove m.n (unread)", {"m": {"n": 1}}, {"m": {}}),
    (lambda op: op.remove("n", "unread"), "remove n (unread)", {"a": 0}, {"a": 0}),
    (lambda op: op.remove("m.n", "unread"), "remove m.n (unread)", {"m": [1]}, {"m": [1]}),
    (lambda op: op.rename("a", "z"), "rename a to z", {"a": 1, "b": 2}, {"z": 1, "b": 2}),
    (lambda op: op.rename("m.a", "z"), "rename m.a to z", {"m": {"a": 1, "b": 2}}, {"m": {"z": 1, "b": 2}}),
    (lambda op: op.rename("a", "z"), "rename a to z", {"z": 1}, {"z": 1}),
    (lambda op: op.move("a", "m.x"), "move a to m.x", {"a": 1, "b": 2}, {"m": {"x": 1}, "b": 2}),
    (lambda op: op.move("a", "m.x"), "move a to m.x", {"a": 1, "m": {"k": 0}, "b": 2}, {"m": {"k": 0, "x": 1}, "b": 2}),
    (lambda op: op.move("a", "a.x"), "move a to a.x", {"a": 1, "b": 2}, {"a": {"x": 1}, "b": 2}),
    (lambda op: op.move("a", "z"), "move a to z", {"a": 1, "b": 2}, {"z": 1, "b": 2}),
    (lambda op: op.move("m.a", "m.z"), "move m.a to m.z", {"m": {"a": 1, "b": 2}}, {"m": {"z": 1, "b": 2}}),
    (lambda op: op.move("m.a", "z"), "move m.a to z", {"m": {"a": 1}, "b": 2}, {"m": {}, "b": 2, "z": 1}),
    (lambda op: op.move("m.a", "n.z"), "move m.a to n.z", {"m": {"a": 1}}, {"m": {}, "n": {"z": 1}}),
    (lambda op: op.move("a", "z", first=True), "move a to z", {"b": 2, "a": 1}, {"z": 1, "b": 2}),
    (lambda op: op.move("m.a", "z", after="b"), "move m.a to z",
     {"m": {"a": 1, "k": 0}, "b": 2, "c": 3}, {"m": {"k": 0}, "b": 2, "z": 1, "c": 3}),
    (lambda op: op.move("m.a", "z"), "move m.a to z", {"m": {}}, {"m": {}}),
    (lambda op: op.move("m.a", "z", drop_empty=True, first=True), "move m.a to z", {"m": {"a": 1}}, {"z": 1}),
    (lambda op: op.move("m.a", "z", drop_empty=True, first=True), "move m.a to z",
     {"m": {"a": 1, "b": 2}}, {"z": 1, "m": {"b": 2}}),
    (lambda op: op.move("m.a", "z", only=int, otherwise=7, after="b"), "move m.a to z where it is int, else z = 7",
     {"m": {"a": True}, "b": 0}, {"m": {"a": True}, "b": 0, "z": 7}),
    (lambda op: op.move("m.a", "z", only=int, otherwise=7, after="b"), "move m.a to z where it is int, else z = 7",
     {"m": {"a": 3}, "b": 0}, {"m": {}, "b": 0, "z": 3}),
    (lambda op: op.move("m.a", "z", only=int), "move m.a to z where it is int", {"m": {"a": "3"}}, {"m": {"a": "3"}}),
    (lambda op: op.map("n", {"x": "y"}), "map n by a table of 1", {"n": "x"}, {"n": "y"}),
    (lambda op: op.map("n", {"x": "x"}), "map n by a table of 1", {"n": "x"}, {"n": "x"}),
    (lambda op: op.map("n", {"x": "y"}), "map n by a table of 1", {}, {}),
    (lambda op: op.map("n", {"x": [1]}, rename="z"), "map n to z by a table of 1",
     {"n": "x", "a": 0}, {"z": [1], "a": 0}),
    (lambda op: op.map("n", {"x": "y"}, keep_others=True), "map n by a table of 1", {"n": ["q"]}, {"n": ["q"]}),
    (lambda op: op.map("n", {1: "one"}, keep_others=True), "map n by a table of 1", {"n": True}, {"n": True}),
    (lambda op: op.map("n", {True: "yes"}, keep_others=True), "map n by a table of 1", {"n": 1}, {"n": 1}),
    (lambda op: op.split("n", ("left", "right"), halves), "split n into left, right",
     {"n": "a b", "z": 0}, {"left": "a", "right": "b", "z": 0}),
    (lambda op: op.split("n", ("left", "right"), halves), "split n into left, right", {"z": 0}, {"z": 0}),
    (lambda op: op.split("n", ("n", "size"), lambda text: {"n": text.strip(), "size": len(text)}),
     "split n into n, size", {"n": " a", "z": 0}, {"n": "a", "size": 2, "z": 0}),
    (lambda op: op.each(wrap, fields=("a", "b", "m")), "run wrap on each record (a, b, m)",
     {"a": 1, "b": 2, "m": {}}, {"a": [1], "m": {"new": {"x": 1}}}),
    (lambda op: op.where(kind="x").set("n", 1), "set n = 1, where kind is 'x'", {"kind": "x"}, {"kind": "x", "n": 1}),
    (lambda op: op.where(kind="x").set("n", 1), "set n = 1, where kind is 'x'", {"kind": "y"}, {"kind": "y"}),
    (lambda op: op.where(kind="x").set("n", 1), "set n = 1, where kind is 'x'", {}, {}),
    (lambda op: op.where(kind=("x", "y")).set("n", 1), "set n = 1, where kind is 'x' or 'y'",
     {"kind": "y"}, {"kind": "y", "n": 1}),
    (lambda op: op.where(kind=1).set("n", 1), "set n = 1, where kind is 1", {"kind": True}, {"kind": True}),
    (lambda op: op.where(**{"m.k": 1}).where(b=2).rename("a", "z"), "rename a to z, where m.k is 1 and b is 2",
     {"m": {"k": 1}, "b": 2, "a": 0}, {"m": {"k": 1}, "b": 2, "z": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("say", "sentence", "before", "wanted"), TABLE)
def test_edits_and_sentence(say: Say, sentence: str, before: dict[str, Any], wanted: dict[str, Any]) -> None:
    operation = recorded(say)
    frozen = copy.deepcopy(before)
    result = after(operation, before)
    assert result == wanted
    assert list(result) == list(wanted)
    assert repr(result) == repr(wanted)  # 1, 1.0 and True are three values
    assert before == frozen
    assert operation.describe() == sentence


@pytest.mark.parametrize(("say", "before"), [(say, before) for say, _, before, _ in TABLE])
def test_an_operation_names_every_field_it_touches(say: Say, before: dict[str, Any]) -> None:
    operation = recorded(say)
    said = {*operation.alters(), *operation.carries(), *operation.carries().values()}
    tops = {name.partition(".")[0] for name in said}
    assert {str(edit.path[0]) for edit in operation.edits(before)} <= tops
    assert {*operation.may_carry(), *operation.may_carry().values()} <= operation.alters()


@pytest.mark.parametrize(
    ("say", "before", "wanted"), [(say, before, wanted) for say, _, before, wanted in TABLE]
)
def test_the_inverse_undoes(say: Say, before: dict[str, Any], wanted: dict[str, Any]) -> None:
    operation = recorded(say)
    inverse = operation.inverse()
    if inverse is not None and before != wanted:
        assert after(inverse, wanted) == before


INVERSES: list[tuple[Say, str | None]] = [
    (lambda op: op.add("n", 1), "remove n (it was added)"),
    (lambda op: op.add("n", 1, if_absent=True), None),
    (lambda op: op.set("n", 1), None),
    (lambda op: op.remove("n", "unread"), None),
    (lambda op: op.rename("m.a", "z"), "rename m.z to a"),
    (lambda op: op.add("m.n", 1), None),
    (lambda op: op.move("a", "m.z"), "move m.z to a"),
    (lambda op: op.move("a", "z"), "move z to a"),
    (lambda op: op.move("m.a", "z"), None),
    (lambda op: op.move("m.a", "z", drop_empty=True), None),
    (lambda op: op.move("m.a", "z", only=int), None),
    (lambda op: op.map("n", {"x": "y"}), "map n by a table of 1"),
    (lambda op: op.map("m.n", {"x": "y"}, rename="z"), "map m.z to n by a table of 1"),
    (lambda op: op.map("n", {"x": "y", "z": "y"}), None),
    (lambda op: op.map("n", {"x": ["y"]}), None),
    (lambda op: op.map("n", {"x": "y"}, keep_others=True), None),
    (lambda op: op.split("n", ("left", "right"), halves), None),
    (lambda op: op.each(wrap, fields=("a",)), None),
    (lambda op: op.where(kind="x").rename("a", "z"), "rename z to a, where kind is 'x'"),
    (lambda op: op.where(kind="x").rename("kind", "sort"), None),
    (lambda op: op.where(**{"m.k": "x"}).rename("m", "n"), None),
    (lambda op: op.where(kind="x").add("kind.of", 1), None),
]


@pytest.mark.parametrize(("say", "sentence"), INVERSES)
def test_only_what_loses_nothing_has_an_inverse(say: Say, sentence: str | None) -> None:
    inverse = recorded(say).inverse()
    assert (inverse.describe() if inverse else None) == sentence


#: What is said: altered, carried, carried in some records, looked at, its sign.
ANSWERS: list[tuple[Say, set[str], dict[str, str], dict[str, str], set[str] | None, str]] = [
    (lambda op: op.add("m.n", 1), {"m.n"}, {}, {}, set(), "+"),
    (lambda op: op.set("n", 1), {"n"}, {}, {}, {"n"}, "~"),
    (lambda op: op.remove("n", "why"), {"n"}, {}, {}, set(), "-"),
    (lambda op: op.rename("m.a", "z"), set(), {"m.a": "m.z"}, {}, set(), ">"),
    (lambda op: op.move("a", "m.z"), set(), {"a": "m.z"}, {}, set(), ">"),
    (lambda op: op.move("m.a", "z", drop_empty=True), set(), {"m.a": "z"}, {}, {"m.a"}, ">"),
    (lambda op: op.move("m.a", "z", only=int), {"m.a", "z"}, {}, {"m.a": "z"}, {"m.a"}, ">"),
    (lambda op: op.move("m.a", "z", otherwise=1), {"m.a", "z"}, {}, {"m.a": "z"}, set(), ">"),
    (lambda op: op.map("m.n", {}, rename="z"), {"m.n", "m.z"}, {}, {}, {"m.n"}, "~"),
    (lambda op: op.split("n", ("a", "b"), halves), {"n", "a", "b"}, {}, {}, None, "~"),
    (lambda op: op.each(wrap, fields=("a", "m")), {"a", "m"}, {}, {}, None, "~"),
    (lambda op: op.where(k=1).rename("a", "z"), {"a", "z"}, {}, {"a": "z"}, {"k"}, ">"),
    (lambda op: op.where(k=1).add("n", 1), {"n"}, {}, {}, {"k"}, "+"),
    (lambda op: op.where(k=1).split("n", ("a",), halves), {"n", "a"}, {}, {}, None, "~"),
]  # fmt: skip


@pytest.mark.parametrize(("say", "alters", "carries", "may_carry", "looks_at", "sign"), ANSWERS)
def test_what_an_operation_says_of_itself(
    say: Say,
    alters: set[str],
    carries: dict[str, str],
    may_carry: dict[str, str],
    looks_at: set[str] | None,
    sign: str,
) -> None:
    operation = recorded(say)
    assert operation.alters() == alters
    assert operation.carries() == carries
    assert operation.may_carry() == may_carry
    assert operation.looks_at() == looks_at
    assert operation.sign == sign


def breaks(record: dict[str, Any]) -> None:
    raise KeyError(record["a"])


REFUSED: list[tuple[Say, dict[str, Any], str, str]] = [
    (lambda op: op.add("n", 1), {"n": 1}, "n", "`n` is there already"),
    (lambda op: op.rename("a", "b"), {"a": 1, "b": 2}, "a", "`a` cannot become `b`, which is there already"),
    (lambda op: op.move("a", "b"), {"a": 1, "b": 2}, "b", "`b` is there already"),
    (lambda op: op.move("a", "b", otherwise=1), {"b": 2}, "b", "`b` is there already"),
    (lambda op: op.map("n", {"x": "y"}), {"n": "q\x1b"}, "n", r"`n` has no successor for 'q\\x1b'"),
    (lambda op: op.map("n", {1: "y"}), {"n": True}, "n", "no successor for True"),
    (lambda op: op.map("n", {"x": "y"}), {"n": ["x"]}, "n", "no successor for"),
    (lambda op: op.split("n", ("left",), halves), {"n": "a b"}, "n", "gave `right`, which it did not name"),
    (lambda op: op.split("n", ("left", "right"), halves), {"n": 1}, "n", "`halves` failed: AttributeError: "),
    (
        lambda op: op.each(wrap, fields=("a", "m")),
        {"a": 1, "b": 2, "m": {}},
        "b",
        "changed `b`, which it did not name",
    ),
    (lambda op: op.each(wrap, fields=("a", "m")), {"a": 1}, "a", "`wrap` failed: KeyError: 'm'"),
    (lambda op: op.each(breaks, fields=("a",)), {"a": "x"}, "a", "`breaks` failed: KeyError: 'x'"),
]


@pytest.mark.parametrize(("say", "record", "field", "message"), REFUSED)
def test_a_record_that_does_not_fit_is_told_by_field(
    say: Say, record: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(OperationError, match=message) as caught:
        recorded(say).edits(record)
    assert caught.value.field == field


def test_a_table_that_renames_onto_a_key_is_refused_by_the_edit() -> None:
    with pytest.raises(EditError, match="there already"):
        after(recorded(lambda op: op.map("n", {"x": "y"}, rename="z")), {"n": "x", "z": 0})


def test_each_sees_kinds_inside_lists() -> None:
    def true_to_one(record: dict[str, Any]) -> None:
        record["a"] = [{"x": 1}]

    operation = recorded(lambda op: op.each(true_to_one, fields=("a",)))
    assert repr(after(operation, {"a": [{"x": True}]})) == repr({"a": [{"x": 1}]})


def test_an_inserted_value_is_every_records_own() -> None:
    recorder = Recorder()
    recorder.add("m", {"list": []})
    recorder.add("m.n", 1)
    for _ in range(2):
        record: dict[str, Any] = {"a": 0}
        for operation in recorder.records:
            for edit in operation.edits(record):
                apply_edit(record, edit)
        assert record == {"a": 0, "m": {"list": [], "n": 1}}


def test_where_narrows_only_what_is_said_through_it() -> None:
    recorder = Recorder()
    recorder.where(kind="x").set("n", 1)
    recorder.set("o", 2)
    assert [operation.describe() for operation in recorder.records] == [
        "set n = 1, where kind is 'x'",
        "set o = 2",
    ]
