"""Template tasks from their settings and rows to lines (prompting.md)."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalspec.errors import FormatError, Place, UsageError
from evalspec.prompts.chat import chat_template
from evalspec.prompts.config import task_config
from evalspec.prompts.docs import docs_of
from evalspec.prompts.findings import findings_of
from evalspec.prompts.lm_eval import Index, MemoryFiles, Places, requested
from evalspec.prompts.problems import FunctionRef, Unknown
from evalspec.prompts.render import RenderedRow
from evalspec.prompts.rows import FirstOf, OwnFiles, RowsFile, RowsFolder, RowsInMemory
from evalspec.prompts.tasks import RowOptions, TaskSpec, lm_eval_spec, record_spec, render_tasks
from evalspec.prompts.view import View
from evalspec.prompts.write_out import write_out

MMLU = {
    "task": "mmlu_anatomy",
    "dataset_path": "cais/mmlu",
    "test_split": "test",
    "fewshot_split": "dev",
    "fewshot_config": {"sampler": "first_n"},
    "output_type": "multiple_choice",
    "description": "The following are multiple choice questions (with answers) about anatomy.\n\n",
    "doc_to_text": "{{question.strip()}}\nA. {{choices[0]}}\nB. {{choices[1]}}\nC. {{choices[2]}}\nD. {{choices[3]}}\nAnswer:",
    "doc_to_choice": ["A", "B", "C", "D"],
    "doc_to_target": "answer",
    "metadata": {"version": 1.0},
}


def question(text: str, answer: int) -> dict[str, Any]:
    return {"question": text, "choices": ["one", "two", "three", "four"], "answer": answer}


DEV = [question(f"Dev {number}? ", number % 4) for number in range(6)]
ROWS = {"test": [question("Which?", 2)], "dev": DEV}


def render(
    settings: dict[str, Any], rows: Any = None, view: View | None = None, **options: Any
) -> list[RenderedRow]:
    source = RowsInMemory(rows) if rows is not None else None
    spec = TaskSpec(settings["task"], "lm-eval@0.4.13", 1.0, lambda: task_config(settings))
    return list(render_tasks([spec], [view or View()], RowOptions(source, **options)))


def test_mmlu_with_its_five_dev_examples() -> None:
    [row] = render(MMLU, ROWS, View(shots=5))
    shown = "".join(
        f"Dev {number}?\nA. one\nB. two\nC. three\nD. four\nAnswer: {'ABCD'[number % 4]}\n\n"
        for number in range(5)
    )
    line = row.to_dict()
    assert line["text"] == (
        "The following are multiple choice questions (with answers) about anatomy.\n\n"
        f"{shown}Which?\nA. one\nB. two\nC. three\nD. four\nAnswer:"
    )
    assert line["shots"] == [0, 1, 2, 3, 4]
    assert line["target"] == 2
    assert [request["continuation"] for request in line["requests"]] == [" A", " B", " C", " D"]
    assert "".join(part["text"] for part in line["parts"]) == line["text"]


def test_the_keys_of_a_line() -> None:
    [row] = render(MMLU, ROWS)
    assert list(row.to_dict()) == [
        "task", "schema", "version", "split", "row", "view", "text", "messages", "system", "shots", "target",
        "choices", "output_type", "requests", "parts", "unknown",
    ]  # fmt: skip
    line = row.to_dict()
    assert (line["task"], line["split"], line["row"], line["view"]) == ("mmlu_anatomy", "test", 0, "plain")
    assert json.loads(json.dumps(line)) == line


def test_a_rolling_request_has_no_context() -> None:
    settings = {
        "task": "t",
        "test_split": "test",
        "doc_to_text": "",
        "doc_to_target": "q",
        "output_type": "loglikelihood_rolling",
    }
    [row] = render(settings, {"test": [{"q": "all of it"}]})
    assert row.to_dict()["requests"] == [
        {"type": "loglikelihood_rolling", "context": None, "continuation": "all of it"}
    ]


def test_several_inputs_are_several_texts() -> None:
    settings = {
        **MMLU,
        "doc_to_text": "answer",
        "doc_to_choice": ["x _", "y _"],
        "doc_to_target": "question",
        "description": "",
    }
    [row] = render(settings, {"test": [question("Q", 1)]})
    assert row.to_dict()["text"] == ["x _", "y _"]
    assert [len(chat) for chat in row.to_dict()["messages"]] == [1, 1]


def test_an_error_of_the_harness_ends_the_task_and_not_the_run() -> None:
    broken = {**MMLU, "task": "broken", "doc_to_target": "{{ labels[answer] }}"}
    specs = [
        TaskSpec(each["task"], "lm-eval@0.4.13", 1, lambda each=each: task_config(each))  # type: ignore[misc]
        for each in (broken, MMLU)
    ]
    rows = list(render_tasks(specs, [View()], RowOptions(RowsInMemory(ROWS))))
    assert [(row.label.task, row.row) for row in rows] == [("broken", None), ("mmlu_anatomy", 0)]
    assert rows[0].to_dict()["error"] == {"type": "UndefinedError", "message": "'labels' is undefined"}


def test_an_error_of_a_later_row_is_that_rows() -> None:
    rows = [{"q": "a", "x": {"y": 1}}, {"q": "b", "x": {}}, {"q": "c", "x": {"y": 1}}]
    settings = {"task": "t", "test_split": "test", "doc_to_text": "{{x.y}}", "doc_to_target": "q"}
    made = render(settings, {"test": rows})
    assert [(row.row, row.error.type if row.error else None) for row in made] == [
        (0, None),
        (1, "UndefinedError"),
    ]


def test_a_template_error_says_where_and_what_was_meant() -> None:
    settings = {
        "task": "t",
        "test_split": "test",
        "doc_to_text": "Say\nit: {{headline_text}}",
        "doc_to_target": "x",
    }
    [row] = render(settings, {"test": [{"headline": "h", "x": "y"}]})
    [finding] = findings_of(
        row,
        "t.yaml",
        place_of=lambda _: Place("t.yaml", 7, 14),
        columns=["headline", "x"],
        source_of=settings.get,
    )
    assert (finding.rule, finding.path, finding.line, finding.column) == (
        "undefined_variable",
        "t.yaml",
        7,
        14,
    )
    assert "line 2, column 7 of the template" in finding.message
    assert finding.fix == "did you mean 'headline'?"


def test_a_template_that_runs_away_is_a_finding() -> None:
    settings = {"task": "t", "test_split": "test", "doc_to_text": "{{ 'x' * 10**9 }}", "doc_to_target": "x"}
    [row] = render(settings, {"test": [{"x": "y"}]})
    assert row.unknown is not None
    assert [finding.rule for finding in findings_of(row, "t.yaml")] == ["template_limit"]


FUNCTION = FunctionRef("utils.f", "t")


def test_a_function_that_was_not_run_is_unknown_by_name() -> None:
    [row] = render({**MMLU, "doc_to_text": FUNCTION}, ROWS)
    assert row.to_dict()["text"] is None
    assert "doc_to_text" in str(row.unknown)
    assert "utils.f" in str(row.unknown)


def test_what_does_not_need_the_function_is_still_shown() -> None:
    settings = {"task": "t", "test_split": "test", "doc_to_text": "{{question}}", "doc_to_target": FUNCTION}
    [row] = render(settings, ROWS)
    line = row.to_dict()
    assert line["text"] == "Which?"
    assert line["target"] is None
    assert "doc_to_target" in line["unknown"]
    [row] = render({**settings, "num_fewshot": 1, "fewshot_split": "dev"}, ROWS)
    assert row.to_dict()["text"] is None


def test_rows_that_are_docs_need_no_process_docs() -> None:
    settings = {**MMLU, "process_docs": FUNCTION}
    [unknown] = render(settings, ROWS)
    assert "process_docs" in str(unknown.unknown)
    pool = {**ROWS, "fewshot": [question("From the pool", 0)]}
    [row] = render(settings, pool, View(shots=1), are_docs=True)
    assert "From the pool" in row.to_dict()["text"]


def test_a_pool_that_is_not_at_hand_is_unknown_only_where_it_is_needed() -> None:
    rows = {"test": ROWS["test"]}
    assert render(MMLU, rows)[0].unknown is None
    assert "'dev'" in str(render(MMLU, rows, View(shots=1))[0].unknown)


def test_the_pool_falls_back() -> None:
    config = task_config({"task": "t", "test_split": "test", "doc_to_text": "q"})
    found = docs_of("t", config, RowsInMemory({"test": [{"q": 1}]}))
    assert (found.fell_back, found.pool) == ("test", [{"q": 1}])


PLACEHOLDERS = [
    ({"doc_to_text": "{{question}}", "doc_to_target": "answer"}, "⟨question⟩"),
    ({"doc_to_text": "question", "doc_to_target": "answer"}, "⟨question⟩"),
    ({"doc_to_text": "{% for c in choices %}{{loop.index}} {{c}};{% endfor %}", "doc_to_target": ""}, "1 ⟨choices[0]⟩;2 ⟨choices[1]⟩;"),
    ({"doc_to_text": "{{choices.text[3]}} {{choices.label|join('/')}}", "doc_to_target": ""}, "⟨choices.text[3]⟩ ⟨choices.label[0]⟩/⟨choices.label[1]⟩"),
    ({"doc_to_text": "{{n + 1}} {{name.upper()}}", "doc_to_target": ""}, "1 ⟨NAME⟩"),
    ({"doc_to_text": "{{['no', 'yes'][label]}}", "doc_to_target": ""}, "no"),
    ({"doc_to_text": "{{choices.label.index(key)}}", "doc_to_target": "", "doc_to_choice": None}, "0"),
    ({"doc_to_text": "{{ {'a': 'x'}[kind] }}", "doc_to_target": ""}, "x"),
    ({"doc_to_text": "{% for t in turns %}{{t.role}}: {{t.said}}{% endfor %}", "doc_to_target": ""}, "⟨turns[0].role⟩: ⟨turns[0].said⟩⟨turns[1].role⟩: ⟨turns[1].said⟩"),
    ({"doc_to_text": "{% set x = q.strip() %}{{x}}{{ q[:3] }}", "doc_to_target": ""}, "⟨q⟩⟨q⟩"[:3] + "⟨q⟩"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "text"), PLACEHOLDERS)
def test_a_placeholder_row(fields: dict[str, Any], text: str) -> None:
    [row] = render({"task": "t", "test_split": "test", **fields})
    assert row.to_dict()["text"] == text, row
    assert row.to_dict()["placeholder"] is True


def test_placeholder_examples_are_told_apart() -> None:
    [row] = render(
        {"task": "t", "test_split": "test", "doc_to_text": "{{q}}", "doc_to_target": "a"}, None, View(shots=2)
    )
    assert row.to_dict()["text"] == "⟨q 1⟩ ⟨a 1⟩\n\n⟨q 2⟩ ⟨a 2⟩\n\n⟨q⟩"


def test_without_placeholders_a_task_without_rows_is_unknown() -> None:
    [row] = render(MMLU, {}, None, placeholders=False)
    assert "no rows" in str(row.unknown)


RECORD = {
    "task_id": "capitals",
    "spec_version": 3,
    "version": 4,
    "dataset": {"path": "x", "splits": {"test": "test", "train": "train"}},
    "doc_to_text": "{{q}}",
    "doc_to_target": "{{a}}",
    "output_type": "generate_until",
    "fewshot": {"num": 2, "split": "train", "sampler": "default"},
    "generation": {"max_gen_toks": 5},
}


def test_a_template_task_of_our_own_family() -> None:
    rows = {
        "test": [{"q": f"q{n}", "a": "x"} for n in range(6)],
        "train": [{"q": f"t{n}", "a": "y"} for n in range(9)],
    }
    options = RowOptions(RowsInMemory(rows))
    alone = list(render_tasks([record_spec(RECORD)], [View()], options))
    spread = list(render_tasks([record_spec(RECORD)], [View(rank=1, world_size=3)], options))
    assert [row.row for row in spread] == [1, 4]
    assert [row.prompt for row in spread] == [alone[1].prompt, alone[4].prompt]
    line = alone[0].to_dict()
    assert (line["schema"], line["version"], line["task"]) == ("evalspec@v3", 4, "capitals")
    assert line["requests"][0]["generation"] == {"max_gen_toks": 5, "until": []}


def test_row_57_alone_is_row_57_of_a_full_run() -> None:
    rows = {
        "test": [{"q": f"q{n}", "a": "x"} for n in range(60)],
        "train": [{"q": f"t{n}", "a": "y"} for n in range(9)],
    }
    made = list(render_tasks([record_spec(RECORD)], [View()], RowOptions(RowsInMemory(rows))))
    again = list(
        render_tasks([record_spec(RECORD)], [View(rank=57, world_size=60)], RowOptions(RowsInMemory(rows)))
    )
    assert again[0].prompt == made[57].prompt


def test_origins_lead_through_includes_to_file_line_and_column() -> None:
    files = {
        "sub/t.yaml": b"include: ../base\ntask: t\ndescription: 'Hi '\n",
        "base": b"test_split: test\nfewshot_split: dev\ndoc_to_text: '{{q}}'\ndoc_to_target: a\ntarget_delimiter: ': '\nnum_fewshot: 1\n",
    }
    index = Index([MemoryFiles(files)])
    [task] = requested(index, "t")
    spec = lm_eval_spec(task, Places(index).place_of(task))
    rows = RowsInMemory({"test": [{"q": "Q", "a": "A"}], "dev": [{"q": "D", "a": "B"}]})
    [row] = render_tasks([spec], [View()], RowOptions(rows))
    parts = [(part["kind"], part["text"], part["origin"]) for part in row.to_dict()["parts"]]
    base = {"path": "base", "column": 14}
    assert parts == [
        ("system", "Hi ", {"path": "sub/t.yaml", "line": 3, "column": 14, "key": "description", "row": 0}),
        ("question", "D", {**base, "line": 3, "key": "doc_to_text", "shot": 0, "row": 0}),
        ("join", ": ", {**base, "line": 5, "column": 19, "key": "target_delimiter", "shot": 0}),
        (
            "answer",
            "B",
            {**base, "line": 4, "column": 16, "key": "doc_to_target", "row_column": "a", "shot": 0, "row": 0},
        ),
        ("separator", "\n\n", {"rule": "fewshot_delimiter: the default", "shot": 0}),
        ("question", "Q", {**base, "line": 3, "key": "doc_to_text", "row": 0}),
    ]


def test_rows_from_files(tmp_path: Path) -> None:
    folder = tmp_path / "rows" / "t"
    folder.mkdir(parents=True)
    (folder / "test.jsonl").write_bytes(b'{"q": "a\xe2\x80\xa8b"}\r\n\n{"q": 1, "late": true}')
    config = task_config({"task": "t", "test_split": "test", "training_split": "train", "doc_to_text": "q"})
    rows = [{"q": "a\u2028b", "late": None}, {"q": 1, "late": True}]
    assert RowsFolder(str(tmp_path / "rows")).split("t", config, "test") == rows
    assert RowsFolder(str(tmp_path / "rows")).split("../rows/t", config, "test") is None
    one = RowsFile(str(folder / "test.jsonl"))
    assert one.split("any", config, "test") == rows
    assert FirstOf((one, RowsInMemory({"train": []}))).split("t", config, "train") == []
    (folder / "test.jsonl").write_bytes(b'{"q": 1}\n[2]\n')
    with pytest.raises(FormatError) as caught:
        one.split("t", config, "test")
    assert caught.value.line == 2
    with pytest.raises(UsageError):
        RowsFile(str(tmp_path / "missing.jsonl")).split("t", config, "test")


def test_a_tasks_own_files_stay_inside_the_tree(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "d.csv").write_text("q,n\nhello,1\nthere,2\n")
    (tmp_path / "secret.jsonl").write_text('{"q": "secret"}')

    def rows(kind: str, files: Any) -> Any:
        settings = {
            "task": "t",
            "test_split": "test",
            "dataset_path": kind,
            "dataset_kwargs": {"data_files": files},
        }
        return OwnFiles((str(tree),)).split("t", task_config(settings), "test")

    assert rows("csv", {"test": "d.csv"}) == [{"q": "hello", "n": 1}, {"q": "there", "n": 2}]
    assert rows("json", {"test": "../secret.jsonl"}) is None
    assert rows("json", {"test": str(tmp_path / "secret.jsonl")}) is None
    assert rows("json", {"train": "d.csv"}) is None


def test_a_prompt_source_that_is_not_installed_is_unknown() -> None:
    [row] = render({**MMLU, "use_prompt": "promptsource:GPT-3"}, ROWS)
    assert "promptsource" in str(row.unknown)


def test_what_is_shown_and_what_is_scored() -> None:
    single = View(shots=1, chat=chat_template("chatml"), multiturn=False)
    pairs = write_out(render(MMLU, ROWS, single)[0])
    assert [pair.continuation for pair in pairs] == ["A", "B", "C", "D"]
    assert pairs[0].shown_join == " "
    assert all(pair.differs for pair in pairs)
    plain = write_out(render(MMLU, ROWS, View(shots=1))[0])
    assert [pair.differs for pair in plain] == [False] * 4


def test_an_unknown_says_field_and_reason() -> None:
    assert str(Unknown("why", "field")) == "field: why"


def test_a_task_that_insists_on_no_examples_says_so_once() -> None:
    [row] = render({**MMLU, "num_fewshot": 0}, ROWS, View(shots=5))
    assert row.to_dict()["shots"] == []
    assert "firm" in row.label.notes[0]


def test_a_bad_file_of_rows_is_that_tasks_trouble(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"q": \n')
    spec = TaskSpec("mmlu", "lm-eval@0.4.13", 1.0, lambda: task_config(MMLU))
    [row] = render_tasks([spec], [View()], RowOptions(RowsFile(str(tmp_path / "rows.jsonl"))))
    assert "rows.jsonl" in str(row.unknown)
    assert row.label.split == "test"
