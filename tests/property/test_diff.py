"""What a comparison promises of any two trees: nothing from nothing, one result from both ends, no edit lost."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from evalspec.diff import Comparison, Group, compare, named_sides
from evalspec.diff.causes import ViewPair
from evalspec.diff.groups import Groups
from evalspec.diff.side_tasks import SideTasks
from evalspec.project import Project
from evalspec.prompts.view import view_of_settings

VIEWS = tuple(
    view_of_settings(name, given)
    for name, given in (
        ("plain", {}),
        ("chat", {"chat": "chatml", "shots": 1}),
        ("system", {"system": "Be brief.", "shots": 0}),
    )
)
PROJECT = Project(None)

_TEXTS = ["", "Think.\n", "Think. ", "Think hard.", "  "]
_QUESTIONS = ["{{question}}", "Q: {{question}}\nA:", "Q： {{question}}\nA:", "{{question}} ", "Q: {{other}}"]
_SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "description": st.sampled_from(_TEXTS),
        "doc_to_text": st.sampled_from(_QUESTIONS),
        "doc_to_target": st.sampled_from(["{{answer}}", "{{answer}}.", 0]),
        "target_delimiter": st.sampled_from([" ", "", "\n"]),
        "fewshot_delimiter": st.sampled_from(["\n\n", "\n", "---"]),
        "gen_prefix": st.sampled_from(["Answer:", "Answer: "]),
        "num_fewshot": st.sampled_from([0, 2]),
        "generation_kwargs": st.sampled_from([{"until": ["\n"]}, {"until": []}, {"temperature": 1}]),
        "metric_list": st.sampled_from([[{"metric": "acc"}], [{"metric": "exact_match"}]]),
        "metadata": st.sampled_from([{"version": 1}, {"version": 2}]),
        "doc_to_text_": st.just("no setting"),
    },
)
#: A base's settings, and those of each task over them; not every task is on both sides.
TREES = st.tuples(_SETTINGS, st.dictionaries(st.sampled_from("abc"), _SETTINGS, min_size=1))
Tree = tuple[dict[str, Any], dict[str, dict[str, Any]]]


def write(folder: Path, tree: Tree) -> str:
    """A tree's files; JSON is YAML."""
    folder.mkdir()
    base, tasks = tree
    fixed = {"dataset_path": "made/up", "output_type": "generate_until", "test_split": "test"}
    texts = {"doc_to_text": "{{question}}", "doc_to_target": "{{answer}}"}
    (folder / "base.yaml").write_text(json.dumps({**fixed, **texts, **base}), encoding="utf-8")
    for name, values in tasks.items():
        said = {"include": "base.yaml", "task": f"t_{name}", **values}
        (folder / f"{name}.yaml").write_text(json.dumps(said), encoding="utf-8")
    return str(folder)


class Both(NamedTuple):
    there: Comparison
    back: Comparison
    noted: list[tuple[Any, Any, Any]]
    texts: tuple[dict[Any, Any], dict[Any, Any]]


def compared(one: Tree, other: Tree) -> Both:
    """Both directions, every edit that was noted on the way there, and the prompts of both sides."""
    views = [ViewPair(view, view) for view in VIEWS]
    noted: list[tuple[Any, Any, Any]] = []
    really = Groups.add

    def add(self: Groups, edit: Any, cause: Any, example: Any, **more: Any) -> None:
        noted.append((edit, cause, example))
        really(self, edit, cause, example, **more)

    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        paths = [write(folder / side, tree) for side, tree in (("one", one), ("other", other))]
        sides = named_sides(paths[0], paths[1], "lm-eval")
        with mock.patch.object(Groups, "add", add):
            there = compare(sides, PROJECT, views)
        back = compare(named_sides(paths[1], paths[0], "lm-eval"), PROJECT, views)
        read = []
        for side in sides[:2]:
            tasks = SideTasks(side, PROJECT, lm_eval=True)
            lines = tasks.prompts(tasks.tasks, VIEWS)
            read.append({(line["task"], line["view"]): line["text"] for line in lines})
    return Both(there, back, noted, (read[0], read[1]))


def told(group: Group, *, mirrored: bool = False) -> tuple[object, ...]:
    pieces = [group.before, group.after]
    places = [group.cause.before, group.cause.after]
    change: str = group.change
    if mirrored:
        pieces.reverse()
        places.reverse()
        change = {"new": "removed", "removed": "new"}.get(change, change)
    return (
        change, sorted(group.parts), *pieces, group.cause.kind, group.cause.detail, repr(places[0]),
        repr(places[1]), sorted(group.tasks), group.rows, sorted(group.views),
    )  # fmt: skip


def folders_of(cause: Any) -> list[str | None]:
    return [place and str(Path(place.path).parent) for place in (cause.before, cause.after)]


@given(TREES)
@settings(max_examples=15)
def test_a_side_compared_with_itself_is_empty(tree: Tree) -> None:
    found = compared(tree, tree).there
    assert found.is_empty
    assert (found.moved, found.records, found.silent, found.versioned, found.compared.prompts) == (
        (), (), (), (), 0,
    )  # fmt: skip


@given(TREES, TREES)
@settings(max_examples=25)
def test_what_a_comparison_holds_to(one: Tree, other: Tree) -> None:
    there, back, noted, texts = compared(one, other)

    # Mirrored, it is the comparison in the other direction.
    assert sorted(map(told, there.groups), key=repr) == sorted(
        (told(group, mirrored=True) for group in back.groups), key=repr
    )
    assert {each.task for each in there.unknown} == {each.task for each in back.unknown}
    assert {(each.task, each.before, each.after) for each in there.moved} == {
        (each.task, each.after, each.before) for each in back.moved
    }
    assert (sorted(there.silent), sorted(there.versioned)) == (sorted(back.silent), sorted(back.versioned))

    # Every edit is in exactly one group, with its task, row and view, and a group has nothing else.
    members: dict[int, list[Any]] = {number: [] for number in range(len(there.groups))}
    for edit, cause, example in noted:
        [number] = [
            number
            for number, group in enumerate(there.groups)
            if (edit.change, edit.before, edit.after) == (group.change, group.before, group.after)
            and (cause.kind, cause.detail) == (group.cause.kind, group.cause.detail)
            and (cause.kind != "include" or cause == group.cause)
            and (edit.parts != ("task",) or folders_of(cause) == folders_of(group.cause))
        ]
        members[number].append((edit, example))
    for number, group in enumerate(there.groups):
        assert set(group.tasks) == {example.task for _, example in members[number]}
        assert set(group.views) == {example.view for _, example in members[number]}
        assert set(group.parts) == {part for edit, _ in members[number] for part in edit.parts}
        if group.parts != ("task",):
            assert group.rows == len({(example.task, example.row) for _, example in members[number]})

    # A task whose text differs is in some group; one without a group or a doubt has the same text everywhere.
    grouped = {task for group in there.groups for task in group.tasks}
    doubted = {each.task for each in there.unknown}
    for (task, view), text in texts[0].items():
        if task not in grouped | doubted and (task, view) in texts[1]:
            assert texts[1][task, view] == text
    assert {*there.summary} == {group.change for group in there.groups}
