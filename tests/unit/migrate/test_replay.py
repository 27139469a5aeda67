"""Replaying contract operations over a version: they give the next one's contract, and every slip is found."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from support.migrating import own_project

from evalspec.migrate import Recorder, load_history
from evalspec.migrate.contract_operations import ContractOperation
from evalspec.migrate.replay import ReplayError, differences, replay
from evalspec.schema.contract import Contract, contract_of

PROJECT = own_project()
STEPS = load_history(PROJECT.families).steps


def contracts(revision: str) -> tuple[Contract, Contract]:
    step = STEPS[f"evalspec@{revision}"]
    return contract_of(PROJECT.schema(step.parent)), contract_of(PROJECT.schema(step.id))


@pytest.mark.parametrize("revision", ["v2", "v3"])
def test_the_chain_gives_the_schemas(revision: str) -> None:
    before, after = contracts(revision)
    frozen = repr(before)
    assert differences(replay(before, STEPS[f"evalspec@{revision}"].contract), after) == []
    assert repr(before) == frozen


@pytest.mark.parametrize(
    ("revision", "index"),
    [
        (revision, at)
        for revision in ("v2", "v3")
        for at in range(len(STEPS[f"evalspec@{revision}"].contract))
    ],
)
def test_an_operation_that_is_left_out_is_missed(revision: str, index: int) -> None:
    """No operation is idle: without any one of them the versions do not fit, or the others do not."""
    before, after = contracts(revision)
    operations = list(STEPS[f"evalspec@{revision}"].contract)
    left_out = operations.pop(index)
    with contextlib.suppress(ReplayError):
        assert differences(replay(before, operations), after), left_out.describe()


@pytest.mark.parametrize(
    ("revision", "index"),
    [
        (revision, at)
        for revision in ("v2", "v3")
        for at in range(len(STEPS[f"evalspec@{revision}"].contract))
    ],
)
def test_an_operation_said_twice_is_refused_or_changes_nothing(revision: str, index: int) -> None:
    before, after = contracts(revision)
    operations = list(STEPS[f"evalspec@{revision}"].contract)
    try:
        replayed = replay(before, [*operations[: index + 1], *operations[index:]])
    except ReplayError as error:
        assert error.operation is operations[index]
        assert str(error).startswith(operations[index].describe())
        return
    assert operations[index].change == "changed"
    assert differences(replayed, after) == []


def said(say: Callable[[Recorder], object]) -> list[ContractOperation]:
    recorder = Recorder()
    say(recorder)
    return recorder.contract


#: What changes in v1's contract behind the migration's back, and the sentence that says so.
SILENT: list[tuple[Callable[[Contract], object], str]] = [
    (lambda it: it["field"].update({"inline.note": {"type": "text", "required": False}}),
     "field inline.note is new, and no operation adds it"),
    (lambda it: it["field"].pop("inline.metadata"), "field inline.metadata is gone, and no operation removes it"),
    (lambda it: it["field"]["inline.prompt"].update(required=False), "field inline.prompt is {'type': "),
    (lambda it: it["field"]["inline.prompt"].update(default=""), "field inline.prompt is {'type': "),
    (lambda it: it["category"].update(essay=True), "category essay is new, and no operation adds it"),
    (lambda it: it["category"].pop("mcq"), "category mcq is gone, and no operation removes it"),
    (lambda it: it["metric"].update(f1=["mean", False]),
     "metric f1 is ['mean', False]; the operations make it ['mean', True]"),
    (lambda it: it["post_process"].update(lower="s1:sha256:0"), "post-process lower is 's1:sha256:0'; "),
    (lambda it: it["post_process"].update(upper="s1:sha256:0"), "post-process upper is new, and no operation adds it"),
    (lambda it: it["pairs"].update({"mcq  f1 none": True}), "pairs mcq  f1 none is new, and no operation adds it"),
    (lambda it: it["pairs"].pop("mcq  exact_match none"), "pairs mcq  exact_match none is gone, and no operation"),
    (lambda it: it["rule"].pop("embedded_few_shot prompt"), "rule embedded_few_shot prompt is gone, and no operation"),
    (lambda it: it["assembly"].update(question="text"), "assembly question is 'text'; the operations make it 'prompt'"),
    (lambda it: it["assembly"].update(stop="until"), "assembly stop is new, and no operation adds it"),
    (lambda it: it["shape"]["inline"].update(formats=["yaml"]), "shape inline is {'keys': [], 'formats': ['yaml']}; "),
    (lambda it: it["shape"].update(other={}), "shape other is new, and no operation adds it"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), SILENT)
def test_a_change_that_no_operation_speaks_of(change: Callable[[Contract], object], sentence: str) -> None:
    before, after = (contract_of(PROJECT.schema("v1")) for _ in range(2))
    assert differences(replay(before, []), after) == []
    change(after)
    (found,) = differences(replay(before, []), after)
    assert found.sentence.startswith(sentence)


#: What an operation says of v1 that v1 itself does not bear out.
UNTRUE: list[tuple[Callable[[Recorder], object], str]] = [
    (lambda op: op.post_process("lower", changed="upper case too"),
     "post-process lower is said to change, and does not"),
    (lambda op: op.rule("embedded_few_shot", field="prompt", changed="laxer"),
     "rule embedded_few_shot prompt is said to change, and does not"),
    (lambda op: op.assembly("in another way"), "assembly is said to change, and does not"),
    (lambda op: op.assembly("the delimiter", target_delimiter={"text": ""}),
     "assembly target_delimiter is {'text': ' '}; "),
    (lambda op: op.category("essay", added=True), "category essay is gone, and no operation removes it"),
    (lambda op: op.field("note", type="text"), "field inline.note is gone, and no operation removes it"),
    (lambda op: op.metric("f1", changed="worse", higher_is_better=False), "metric f1 is ['mean', True]; "),
    (lambda op: op.pairs("mcq", metrics=("f1",), post_process=("none",)),
     "pairs mcq  f1 none is gone, and no operation"),
]  # fmt: skip


@pytest.mark.parametrize(("say", "sentence"), UNTRUE)
def test_an_operation_that_the_next_version_does_not_bear_out(
    say: Callable[[Recorder], object], sentence: str
) -> None:
    contract = contract_of(PROJECT.schema("v1"))
    (found,) = differences(replay(contract, said(say)), contract)
    assert found.sentence.startswith(sentence)


IMPOSSIBLE: list[tuple[Callable[[Recorder], object], str]] = [
    (lambda op: op.category("mcq", added=True), "category mcq added: it is there already"),
    (lambda op: op.category("essay", removed=True), "category essay removed: there is none"),
    (lambda op: op.metric("new", changed="x"), "metric new changed: x: there is none"),
    (lambda op: op.post_process("lower", added=True), "post-process lower added: it is there already"),
    (lambda op: op.field("prompt", type="text"), "field inline.prompt added: it is there already"),
    (lambda op: op.field("note", removed=True), "field inline.note removed: there is none"),
    (lambda op: op.rule("odd", field="prompt", removed=True), "rule odd prompt removed: there is none"),
    (lambda op: op.pairs("mcq", metrics=("exact_match",), post_process=("none",)), "pairs mcq added: "),
    (
        lambda op: op.pairs("mcq", metrics=("f1",), post_process=("none",), removed=True),
        "pairs mcq removed: ",
    ),
    (lambda op: op.shape("inline"), "shape inline added: it is there already"),
    (lambda op: op.shape("template", removed=True), "shape template removed: there is none"),
]


@pytest.mark.parametrize(("say", "sentence"), IMPOSSIBLE)
def test_an_operation_that_the_version_leaves_no_room_for(
    say: Callable[[Recorder], object], sentence: str
) -> None:
    (operation,) = said(say)
    with pytest.raises(ReplayError) as caught:
        replay(contract_of(PROJECT.schema("v1")), [operation])
    assert str(caught.value).startswith(sentence)
    assert caught.value.operation is operation


def test_contract_operations_that_hold() -> None:
    before = contract_of(PROJECT.schema("v1"))
    after: dict[str, Any] = contract_of(PROJECT.schema("v1"))
    after["category"].pop("mcq")
    after["pairs"] = {key: True for key in after["pairs"] if not key.startswith("mcq ")}
    after["shape"]["list"] = {"keys": ["items"], "formats": ["yaml"]}
    after["field"] |= {
        name.replace("inline.", "list."): value
        for name, value in after["field"].items()
        if name != "inline.prompt"
    }

    def say(op: Recorder) -> None:
        op.category("mcq", removed=True)
        op.pairs(
            "mcq",
            metrics=("exact_match",),
            post_process=("none", "strip_whitespace", "extract_letter"),
            removed=True,
        )
        op.shape("list", like="inline", without=("prompt",), keys=("items",), formats=("yaml",))

    replayed = replay(before, said(say))
    assert differences(replayed, after) == []
    replayed = replay(after, said(lambda op: op.shape("list", removed=True)))
    assert not [name for name in replayed["field"] if name.startswith("list.")]
    assert [operation.sign for operation in said(say)] == ["-", "-", "+"]
