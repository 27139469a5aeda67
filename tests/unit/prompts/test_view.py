"""Views by their settings, and what a task is scored by where it does not say."""

from __future__ import annotations

from typing import Any

import pytest

from evalspec.errors import UsageError
from evalspec.prompts.lm_eval import BadGroup, Index, MemoryFiles, Places, requested, selected
from evalspec.prompts.metrics import filled_metrics
from evalspec.prompts.view import PLAIN, View, view_of_settings


def test_a_view_from_settings() -> None:
    assert view_of_settings("plain", {}) == PLAIN
    made = view_of_settings("chat", {"chat": "chatml", "single_turn": True, "shots": 3, "limit": 0.5})
    assert made.chat is not None
    assert (made.name, made.multiturn, made.shots, made.limit) == ("chat", False, 3, 0.5)
    assert view_of_settings("own", {"chat": "t.jinja"}, {"t.jinja": b"x"}.get).chat is not None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"shot": 3}, "did you mean 'shots'?"),
    ({"shots": "3"}, ""),
    ({"shots": True}, ""),
    ({"shots": -1}, ""),
    ({"rank": 2, "world_size": 2}, ""),
    ({"chat": "chatlm"}, "chatml"),
]


@pytest.mark.parametrize(("settings", "fix"), WRONG)
def test_a_view_that_is_wrong(settings: dict[str, Any], fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        view_of_settings("v", settings)
    assert fix in caught.value.fix


def test_metrics_are_filled_in() -> None:
    assert filled_metrics(None, "loglikelihood") == [
        {"metric": "perplexity", "aggregation": "perplexity", "higher_is_better": False},
        {"metric": "acc", "aggregation": "mean", "higher_is_better": True},
    ]
    own = [{"metric": "own", "k": 1}, {"metric": "bleu", "higher_is_better": False}]
    assert filled_metrics(own, "generate_until") == [
        {"metric": "own", "k": 1},
        {"metric": "bleu", "higher_is_better": False, "aggregation": "bleu"},
    ]


TREE = Index(
    [
        MemoryFiles(
            {
                "a.yaml": b"task: a\ntag: t\n",
                "b.yaml": b"task: b\ntag: t\n",
                "g.yaml": b"group: g\ntask: [a]\nnum_fewshot: 2\n",
                "c.yaml": b"task: c\nclass: !function x.C\n",
            }
        )
    ]
)


def test_tasks_by_name_pattern_group_and_tag() -> None:
    def names(*asked: str) -> list[str]:
        return [task.name for task in selected(TREE, asked)]

    assert names() == ["a", "b", "c"]
    assert names("b", "a") == ["b", "a"]
    assert names("t") == ["a", "b"]
    assert names("[ab]") == ["a", "b"]
    assert selected(TREE, ["g"])[0].settings["num_fewshot"] == 2
    with pytest.raises(BadGroup):
        selected(TREE, ["g", "a"])
    with pytest.raises(UsageError):
        selected(TREE, ["nothing"])


def test_a_resolved_task_names_its_metrics_and_filters() -> None:
    told = {value.key: value.value for value in Places(TREE).resolved(requested(TREE, "a")[0])}
    assert told["metric_list"][0]["metric"] == "exact_match"
    assert told["filter_list"] == [{"name": "none", "filter": [{"function": "take_first"}]}]
    assert isinstance(View(), View)
