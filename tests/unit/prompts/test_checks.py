"""What a person should know of a task (prompting.md, "Checked at load"): one table, one row a rule."""

from __future__ import annotations

from typing import Any

import pytest

from evalspec.prompts.chat import chat_template
from evalspec.prompts.checks import check_task
from evalspec.prompts.config import task_config
from evalspec.prompts.docs import docs_of
from evalspec.prompts.rows import RowsInMemory
from evalspec.prompts.sandbox import Sandbox
from evalspec.prompts.template import TemplateTask
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
ROWS = {
    "test": [
        {"q": f"Q{n}", "a": "x", "n": n % 2, "l": "['a']" if n else "b", "c": "['a']" if n < 2 else "["}
        for n in range(3)
    ],
    "dev": [{"q": f"D{n}", "a": "y", "n": n % 2, "l": "b", "c": "['a']"} for n in range(3)],
}
CHAT = View(chat=chat_template("chatml"))
SINGLE = View(chat=chat_template("chatml"), multiturn=False)


def rules(settings: dict[str, Any], view: View) -> set[str]:
    config = task_config(settings)
    data = docs_of("t", config, RowsInMemory(ROWS))
    assert isinstance(data.docs, list)
    task = TemplateTask(config, data.docs, data.features, data.pool, Sandbox())
    return {check.rule for check in check_task(task, data, view)}


TABLE = [
    (CLEAN, View(), set()),
    (MC, View(), set()),
    (MC, CHAT, set()),
    (MC, SINGLE, {"shown_not_scored"}),
    ({**MC, "target_delimiter": ""}, View(), {"no_space_join"}),
    ({**MC, "doc_to_choice": [" x", "y"]}, View(), {"double_space_join"}),
    ({**MC, "gen_prefix": "So: "}, View(), {"double_space_join"}),
    ({**CLEAN, "fewshot_split": None, "num_fewshot": 3}, View(), {"fewshot_fallback", "fewshot_leak"}),
    ({**CLEAN, "fewshot_split": "test"}, View(), {"fewshot_from_test"}),
    ({**CLEAN, "description": "Go."}, View(), {"glued_parts"}),
    ({**CLEAN, "description": "Go.\n"}, View(), set()),
    ({**CLEAN, "fewshot_config": {"doc_to_target": ""}}, View(), {"empty_shot_target"}),
    ({**CLEAN, "doc_to_target": "{{l}}"}, View(), {"target_type_changes", "first_row_decides"}),
    ({**MC, "doc_to_choice": "{{c}}", "doc_to_target": "{{0}}", "num_fewshot": 0}, View(), {"choices_do_not_parse"}),
    ({**CLEAN, "generation_kwargs": {"max_gen_toks": 5}}, View(), {"implicit_stop"}),
    ({**CLEAN, "generation_kwargs": None}, View(), {"implicit_stop"}),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "view", "expected"), TABLE)
def test_a_rule(settings: dict[str, Any], view: View, expected: set[str]) -> None:
    assert rules(settings, view) == expected
