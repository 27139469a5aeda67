"""Lint of task files of our own contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.sound import sound

from evalspec.check.lint import lint_records
from evalspec.errors import Finding
from evalspec.project import Project
from evalspec.prompts.chat import chat_template
from evalspec.prompts.view import PLAIN, View
from evalspec.tasks import Reading, open_tasks


def lint_of(path: Path, view: View = PLAIN) -> list[Finding]:
    project = Project(None)
    with open_tasks([str(path)], Reading(project.families, project.unmarked())) as files:
        assert files[0].report.errors == []
        return list(lint_records(files, [view]))


def written(folder: Path, version: str = "v3", category: str = "arithmetic", **more: Any) -> Path:
    record = sound(version, category) | {"task_id": "t", **more}
    path = folder / "t.jsonl"
    path.write_text(json.dumps({key: value for key, value in record.items() if value is not None}) + "\n")
    return path


EXAMPLES = {"samples": [{"prompt": "1 + 1 =", "completion": "2"}]}
GLUED = {"samples": [{"prompt": "1 + 1 is", "completion": "2"}]}
SPACED = {"samples": [{"prompt": "1 + 1 = ", "completion": "2"}]}
LONG = {"samples": [{"prompt": "1 =", "completion": "First.\nThen 2"}]}

TABLE = [
    ({"prompt": "1 + 1 ="}, set()),
    ({"prompt": "Add:\u200b 1 + 1"}, {"invisible_character"}),
    ({"prompt": "1 + 1\nAnswer\uff1a"}, {"confusable_character"}),
    ({"prompt": "Add {a} and {b}."}, {"format_braces"}),
    ({"prompt": '{prompt}\nReturn JSON: {"answer": "value"}.'}, {"format_braces"}),
    ({"prompt": 'Return JSON: {"answer": "value"}.'}, set()),
    ({"prompt": "Is 1 &lt; 2?"}, {"html_entities"}),
    ({"prompt": "Add 1 and 1.\\nAnswer:"}, {"literal_escape"}),
    ({"prompt": "Print it:\nprint('a\\nb')"}, set()),
    ({"prompt": "1 + 1 =", "description": "Answer with a number."}, {"glued_parts"}),
    ({"prompt": "1 + 1 =", "description": "Answer with a number.\n"}, set()),
    ({"prompt": "2 + 2 =", "fewshot": EXAMPLES}, set()),
    ({"prompt": "2 + 2 =", "fewshot": EXAMPLES, "target_delimiter": ""}, set()),
    ({"prompt": "2 + 2 is", "fewshot": GLUED, "target_delimiter": ""}, {"no_space_at_join"}),
    ({"prompt": "2 + 2 =", "fewshot": SPACED}, {"space_on_both_sides"}),
    ({"prompt": "2 + 2 =", "fewshot": EXAMPLES, "fewshot_delimiter": "#"}, {"glued_parts"}),
    (
        {"prompt": "2 + 2 =", "fewshot": LONG, "generation": {"until": ["\n"]}},
        {"stop_in_prompt"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("more", "expected"), TABLE)
def test_an_inline_task(tmp_path: Path, more: dict[str, Any], expected: set[str]) -> None:
    found = lint_of(written(tmp_path, **more))
    assert {each.rule for each in found} == expected
    assert {each.task for each in found} <= {"t"}


def test_places_are_those_of_the_values(tmp_path: Path) -> None:
    path = written(tmp_path, prompt="Is 1 &lt; 2?")
    (found,) = lint_of(path)
    assert (found.field, found.line) == ("prompt", 1)
    assert path.read_text()[found.column - 1 :].startswith('"Is 1 &lt; 2?"')


def test_a_line_separator_is_a_note(tmp_path: Path) -> None:
    """marin-community/marin#8042: nothing is wrong with the file, and some readers cut the record there."""
    (found,) = lint_of(written(tmp_path, prompt="one\u2028two ="))
    assert (found.rule, found.severity) == ("invisible_character", "info")
    assert "U+2028 LINE SEPARATOR" in found.message


def test_a_chat_view_has_other_joins(tmp_path: Path) -> None:
    path = written(tmp_path, prompt="2 + 2 =", description="Answer with a number.")
    assert [each.rule for each in lint_of(path)] == ["glued_parts"]
    assert lint_of(path, View(chat=chat_template("chatml"))) == []


TEMPLATE = """\
- spec_version: 3
  version: 1
  task_id: t
  category: arithmetic
  output_type: generate_until
  dataset: {path: d, splits: {test: test}}
  doc_to_text: "{{question}}\\nAnswer: "
  doc_to_target: answer
  metrics: [{name: exact_match, aggregation: mean, higher_is_better: true}]
  post_process: none
  fewshot: {num: 2}
"""


def test_a_template_task_is_told_of_in_the_words_of_its_record(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(TEMPLATE)
    said = {(each.rule, each.field, each.line, each.column) for each in lint_of(path)}
    assert said == {
        ("space_on_both_sides", "doc_to_text", 7, 16),
        ("fewshot_pool_fallback", "fewshot.split", 6, 37),
        ("fewshot_leak", "fewshot.split", 6, 37),
    }


def test_the_quotes_of_a_yaml_file_count(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(TEMPLATE.replace('"{{question}}\\nAnswer: "', "'{{question}}\\nAnswer:'"))
    found = [each for each in lint_of(path) if each.rule == "literal_escape"]
    assert [(each.line, each.column, each.task) for each in found] == [(7, 16, "t")]
