"""Keys that nothing reads, at every level, and functions that are there in one way or another."""

from __future__ import annotations

import pytest
from support.linting import lint_of

KEYS = [
    ("task: t\nnum_fewshots: 1\n", "2:1 num_fewshots error", "did you mean 'num_fewshot'?"),
    ("task: t\ndelimiter: ' '\n", "2:1 delimiter error", "it is called target_delimiter now"),
    (
        "task: t\nfewshot_config: {sampler: first_n, smaples: []}\n",
        "2:36 fewshot_config.smaples error",
        "did you mean 'samples'?",
    ),
    (
        "task: t\nmetric_list:\n  - metric: acc\n    high_is_better: true\n",
        "4:5 metric_list[0].high_is_better warning",
        "did you mean 'higher_is_better'?",
    ),
    (
        "task: t\nmetric_list: [{metric: acc, weight_by_size: true}]\n",
        "2:29 metric_list[0].weight_by_size warning",
        "remove it here",
    ),
    (
        "task: t\ngeneration_kwargs: {temprature: 0}\n",
        "2:21 generation_kwargs.temprature warning",
        "did you mean 'temperature'?",
    ),
    (
        "task: t\nfilter_list: [{name: n, filters: []}]\n",
        "2:25 filter_list[0].filters error",
        "did you mean 'filter'?",
    ),
    (
        "task: t\nfilter_list: [{name: n, filter: [{function: regex, regex: x}]}]\n",
        "2:52 filter_list[0].filter[0].regex error",
        "its keys are: fallback, function, group_select, regex_pattern",
    ),
    (
        "group: g\ntask: [a]\naggregate_metric_list: [{metric: acc, weight_by_sise: true}]\n",
        "3:39 aggregate_metric_list[0].weight_by_sise error",
        "did you mean 'weight_by_size'?",
    ),
    (
        "group: g\ntask: [a]\naggregate_metric_list: {metric: acc, weight: true}\n",
        "3:38 aggregate_metric_list.weight error",
        "",
    ),
    (
        "group: g\ntask: [{task: a, num_fewshoot: 1}]\n",
        "2:18 task[0].num_fewshoot error",
        "did you mean 'num_fewshot'?",
    ),
    ("group: g\ntask: [a]\ngroup_alais: x\n", "3:1 group_alais error", "did you mean 'group_alias'?"),
    ("task: t\ngroup: old\n", "2:1 group error", "call it `tag`"),
]

KNOWN = [
    "task: t\ngeneration_kwargs: {max_length: 5, my_model_likes: 1}\n",
    "task: t\nmetric_list: [{metric: exact_match, ignore_case: true, regexes_to_ignore: ['x']}]\n",
    "task: t\nfilter_list: [{name: n, filter: [{function: !function utils.f, anything: 1}, {function: take_first}]}]\n",
    "task: t\nmetadata: {anything: {at: all}}\ndataset_kwargs: {x: 1}\n",
    "group: g\ngroup_alias: G\ntask: [a, {task: b, num_fewshot: 1}, {group: h, task: [c]}]\nnum_fewshot: 2\n",
    "class: !function utils.f\ntask: t\nrecipe: x\n",
]


@pytest.mark.parametrize(("text", "place", "fix"), KEYS, ids=[case[1] for case in KEYS])
def test_a_key_that_nothing_reads(text: str, place: str, fix: str) -> None:
    found = [each for each in lint_of({"t.yaml": text}) if each.rule == "unknown_key"]
    assert [f"{each.line}:{each.column} {each.field} {each.severity}" for each in found] == [place]
    assert fix in found[0].fix


@pytest.mark.parametrize("text", KNOWN)
def test_what_is_read_is_known(text: str) -> None:
    found = lint_of({"t.yaml": text, "utils.py": "def f(): pass\n"})
    assert [each for each in found if each.rule in ("unknown_key", "function_unresolved")] == []


def test_a_class_may_come_from_an_include() -> None:
    files = {
        "base": "class: !function utils.f\n",
        "t.yaml": "include: base\ntask: t\nrecipe: x\n",
        "utils.py": "f = 1\n",
    }
    assert lint_of(files) == []


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("def fn(): pass\n", None),
        ("fn = lambda: 1\n", None),
        ("from other import fn\n", None),
        ("from other import *\n", None),
        ("if True:\n    fn = 1\n", None),
        ("globals()['f' + 'n'] = 1\n", None),
        ("def fm(): pass\n", "utils.py has no 'fn'"),
        ("# def fn\n", "utils.py has no 'fn'"),
        (None, "there is no module 'utils' beside the file, and none is installed"),
    ],
)
def test_a_function(module: str | None, expected: str | None) -> None:
    files = {"t.yaml": "task: t\nprocess_docs: !function utils.fn\n"} | (
        {} if module is None else {"utils.py": module}
    )
    found = [each.message for each in lint_of(files) if each.rule == "function_unresolved"]
    assert found == ([] if expected is None else [expected])


def test_a_function_of_an_installed_module_is_not_looked_into() -> None:
    assert not [
        each
        for each in lint_of(
            {"t.yaml": "task: t\nprocess_docs: !function json.loads\ndoc_to_text: !function lm_eval.x.y\n"}
        )
        if each.rule == "function_unresolved"
    ]
