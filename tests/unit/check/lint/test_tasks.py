"""What shows of a task under a view, with rows and with made-up ones: one table, one row a case."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.linting import lint_of

from evalspec.prompts.chat import ChatTemplate, chat_template
from evalspec.prompts.view import View

CLEAN: dict[str, Any] = {
    "task": "t",
    "test_split": "test",
    "fewshot_split": "dev",
    "doc_to_text": "{{q}}",
    "doc_to_target": "a",
    "num_fewshot": 1,
    "generation_kwargs": {"until": ["."]},
}
MC = {**CLEAN, "output_type": "multiple_choice", "doc_to_choice": ["x", "y"], "doc_to_target": "n"}
del MC["generation_kwargs"]
ROWS = [
    {"q": f"Q{n}", "a": "x", "n": n % 2, "l": "['a']" if n else "b", "c": "['a']" if n < 2 else "["}
    for n in range(3)
]
POOL = [{"q": f"D{n}", "a": "y", "n": n % 2, "l": "b", "c": "['a']"} for n in range(3)]
PLAIN = View()
CHAT = View(chat=chat_template("chatml"))
SINGLE = View(chat=chat_template("chatml"), multiturn=False)
BOS = View(chat=ChatTemplate("bos", "<s>{% for m in messages %}{{ m.content }}{% endfor %}"))

WITH_ROWS = [
    (CLEAN, PLAIN, set()),
    (MC, PLAIN, set()),
    (MC, CHAT, set()),
    (MC, SINGLE, {"shown_differs_from_scored"}),
    ({**MC, "target_delimiter": ""}, PLAIN, {"no_space_at_join"}),
    ({**MC, "doc_to_choice": [" x", "y"]}, PLAIN, {"space_on_both_sides"}),
    ({**MC, "gen_prefix": "So: "}, PLAIN, {"space_on_both_sides"}),
    ({**MC, "gen_prefix": "So:"}, PLAIN, set()),
    ({**CLEAN, "fewshot_split": None, "num_fewshot": 3}, PLAIN, {"fewshot_pool_fallback", "fewshot_leak"}),
    ({**CLEAN, "fewshot_split": None, "num_fewshot": 2}, PLAIN, {"fewshot_pool_fallback", "fewshot_leak"}),
    ({**CLEAN, "fewshot_split": "test"}, PLAIN, {"fewshot_leak"}),
    ({**CLEAN, "num_fewshot": 4}, PLAIN, {"pool_too_small"}),
    ({**CLEAN, "description": "Go."}, PLAIN, {"glued_parts"}),
    ({**CLEAN, "description": "Go."}, CHAT, set()),
    ({**CLEAN, "description": "Go.\n"}, PLAIN, set()),
    (CLEAN, View(system="You are helpful."), {"glued_parts"}),
    ({**CLEAN, "num_fewshot": 2, "fewshot_delimiter": "###"}, PLAIN, {"glued_parts"}),
    ({**CLEAN, "fewshot_config": {"doc_to_target": ""}}, PLAIN, {"empty_shot_target"}),
    ({**CLEAN, "fewshot_config": {"doc_to_text": "{{q}} {{a}}\n\n", "doc_to_target": ""}}, PLAIN, set()),
    ({**CLEAN, "fewshot_config": {"doc_to_text": "{{q}} {{a}}\n\n", "doc_to_target": ""}}, CHAT, {"empty_shot_target"}),
    ({**CLEAN, "fewshot_config": {"doc_to_text": "{{q}} {{a}}\n\n", "doc_to_target": ""}}, SINGLE, set()),
    ({**CLEAN, "doc_to_target": "{{l}}"}, PLAIN, {"target_type_changes", "first_row_decides"}),
    ({**MC, "doc_to_choice": "{{c}}", "doc_to_target": "{{0}}", "num_fewshot": 0}, PLAIN, {"choices_unparsable"}),
    ({**MC, "doc_to_target": "a", "doc_to_choice": ["y", "z"]}, PLAIN, {"gold_not_in_choices"}),
    ({**CLEAN, "generation_kwargs": {"max_gen_toks": 5}}, PLAIN, {"implicit_stop"}),
    ({**CLEAN, "generation_kwargs": None}, PLAIN, {"implicit_stop"}),
    ({**CLEAN, "generation_kwargs": {"until": ["\n\n"]}}, PLAIN, set()),
    ({**CLEAN, "doc_to_text": "{{query}}"}, PLAIN, {"undefined_variable"}),
    ({**CLEAN, "doc_to_text": "Question: {{q}}", "generation_kwargs": {"until": ["Question:"]}}, PLAIN, set()),
    (
        {**CLEAN, "doc_to_text": "Question: {{q}}", "num_fewshot": 0, "generation_kwargs": {"until": ["Question:"]}},
        CHAT,
        {"stop_in_prompt"},
    ),
    ({**CLEAN, "doc_to_text": "<s>{{q}}", "num_fewshot": 0}, PLAIN, {"doubled_bos"}),
    ({**CLEAN, "doc_to_text": "<s>{{q}}", "num_fewshot": 0}, BOS, {"doubled_bos"}),
    ({**CLEAN, "num_fewshot": 0}, BOS, set()),
]  # fmt: skip

MADE_UP = [
    (CLEAN, PLAIN, set()),
    ({**MC, "doc_to_choice": "{{choices}}"}, PLAIN, set()),
    ({**MC, "doc_to_text": "{{q}} "}, PLAIN, {"space_on_both_sides"}),
    ({**MC, "doc_to_text": "{{q}} "}, CHAT, set()),
    ({**MC, "target_delimiter": ""}, PLAIN, set()),
    # What a made-up row gives is no reason to find fault with a template.
    ({**CLEAN, "doc_to_target": "{{a[21:]}}"}, PLAIN, set()),
    ({**MC, "doc_to_target": "{{n|int - 1}}"}, PLAIN, set()),
    ({**MC, "doc_to_choice": "{{c|map(attribute='text')|list}}"}, PLAIN, set()),
    ({**CLEAN, "fewshot_split": "test", "num_fewshot": None}, PLAIN, {"fewshot_leak"}),
    ({**CLEAN, "fewshot_split": None, "num_fewshot": 0}, PLAIN, set()),
    ({**CLEAN, "description": "Go. "}, PLAIN, set()),
    ({**CLEAN, "num_fewshot": 25}, PLAIN, set()),
    (CLEAN, View(shots=25), set()),
    ({**CLEAN, "fewshot_delimiter": "#"}, View(shots=25), {"glued_parts"}),
    ({**CLEAN, "doc_to_text": "{{q}} ", "num_fewshot": None}, View(shots=0), set()),
    ({**CLEAN, "doc_to_text": "{{q}} ", "num_fewshot": None}, PLAIN, {"space_on_both_sides"}),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "view", "expected"), WITH_ROWS)
def test_with_rows(settings: dict[str, Any], view: View, expected: set[str]) -> None:
    found = lint_of({"t.yaml": json.dumps(settings)}, rows=ROWS, pool=POOL, views=[view])
    assert {each.rule for each in found} == expected


@pytest.mark.parametrize(("settings", "view", "expected"), MADE_UP)
def test_with_a_made_up_row(settings: dict[str, Any], view: View, expected: set[str]) -> None:
    found = lint_of({"t.yaml": json.dumps(settings)}, views=[view])
    assert {each.rule for each in found} == expected


def test_the_severity_of_a_leak_is_what_can_happen() -> None:
    def severity(**more: Any) -> dict[str, str]:
        found = lint_of({"t.yaml": json.dumps({**CLEAN, **more})})
        return {each.rule: each.severity for each in found}

    assert severity(fewshot_split="test", num_fewshot=None) == {"fewshot_leak": "info"}
    assert severity(fewshot_split="test") == {"fewshot_leak": "warning"}
    assert severity(fewshot_split=None) == {"fewshot_leak": "error", "fewshot_pool_fallback": "warning"}
    own = {"test_split": None, "validation_split": "dev"}
    assert severity(**own) == {"fewshot_leak": "error"}


def test_a_finding_of_a_shared_file_stands_once_where_the_value_is_written() -> None:
    base = 'doc_to_text: "{{q}} "\ndoc_to_target: a\ntest_split: test\n'
    leaves = {f"{name}.yaml": f"include: _base\ntask: {name}\n" for name in "abc"}
    found = [each for each in lint_of({"_base": base, **leaves}) if each.rule == "space_on_both_sides"]
    assert [(each.path, each.line, each.column) for each in found] == [("_base", 1, 14)]


def test_a_pattern_that_misses_the_tasks_own_examples() -> None:
    def found(pattern: str) -> list[tuple[str, str]]:
        samples = [{"q": "1 + 1?", "a": "Add. The answer is 2."}, {"q": "2 + 2?", "a": "The answer is 4."}]
        steps = [{"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]
        settings = {**CLEAN, "fewshot_split": None, "fewshot_config": {"samples": samples}}
        text = json.dumps({**settings, "filter_list": [{"name": "n", "filter": steps}]})
        return [
            (each.rule, each.field or "")
            for each in lint_of({"t.yaml": text})
            if each.rule == "extracts_nothing"
        ]

    assert found("answer is ([0-9]+)") == []
    assert found("Answer: ([0-9]+)") == [("extracts_nothing", "filter_list")]
    # A stranger's pattern is given up in time.
    assert found("(?:a|a|[^x])*Answer: x") in ([], [("extracts_nothing", "filter_list")])


def test_several_processes_find_what_one_does() -> None:
    base = 'doc_to_text: "{{q}} "\ndoc_to_target: a\ntest_split: test\ngeneration_kwargs: {until: []}\n'
    files = {
        f"t{n:04}.yaml": f"include: _base\ntask: t{n}\nmetadata: {{version: {n}.10}}\n" for n in range(1001)
    }
    one = lint_of({"_base": base, **files})
    assert one == lint_of({"_base": base, **files}, jobs=2)
    assert len(one) == 2 + 1001
    assert one[0].message.endswith("; 1,000 more tasks share it")


def test_a_task_whose_include_is_missing_is_linted_on_its_own_keys() -> None:
    found = lint_of({"a.yaml": "include: nowhere\ntask: a\ndoc_to_text: 'Q\\nA'\nnum_fewshots: 1\n"})
    assert {each.rule for each in found} == {"include_missing", "literal_escape", "unknown_key"}


def test_a_name_that_no_sibling_knows_is_told_with_the_one_that_is_meant() -> None:
    def leaf(number: int, name: str) -> str:
        return (
            f'task: t{number}\ndataset_path: d\ntest_split: test\ndoc_to_text: "{number}: {{{{{name}}}}}"\n'
        )

    files = {f"{n}.yaml": leaf(n, "question") for n in range(4)}
    found = lint_of({**files, "x.yaml": leaf(9, "questoin")})
    told = [each for each in found if each.rule == "undefined_variable"]
    assert [(each.path, each.fix) for each in told] == [("x.yaml", "did you mean 'question'?")]
    other = lint_of({**files, "x.yaml": leaf(9, "question_en")})
    assert not [each for each in other if each.rule == "undefined_variable"]
