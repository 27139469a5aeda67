"""Functions of tasks run in a child process: within limits, and with the rows they make (design.md, "Trust")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalspec.prompts.lm_eval import FolderFiles, Index, TrustedRenderer, TrustLimits, requested
from evalspec.prompts.rows import RowsFolder
from evalspec.prompts.view import View

UTILS = """
import os, socket, subprocess, sys

def process_docs(dataset):
    print("this goes nowhere")
    kept = dataset.filter(lambda row: row["keep"])
    return kept.map(lambda row: {"shout": row["q"].upper()}, remove_columns=["keep"])

def doc_to_text(doc):
    return f"{doc['shout']}?"

def samples():
    return [{"shout": "S", "a": "x"}]

def hang(doc):
    while True:
        pass

def fall(doc):
    os._exit(3)

def fail(doc):
    raise LookupError("no such thing")

def write(doc):
    open(os.path.join(os.path.dirname(__file__), "written"), "w")

def connect(doc):
    socket.create_connection(("127.0.0.1", 9), timeout=1)

def start(doc):
    subprocess.run(["true"])

def flood(doc):
    return "x" * (1 << 22)

def memory(doc):
    return str(len(bytearray(1 << 40)))
"""

TASK = """task: {name}
test_split: test
process_docs: !function utils.process_docs
doc_to_text: !function utils.{function}
doc_to_target: a
fewshot_config: {{sampler: first_n, samples: !function utils.samples}}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tasks"
    root.mkdir()
    (root / "utils.py").write_text(UTILS)
    for name in (
        "doc_to_text",
        "hang",
        "fall",
        "fail",
        "write",
        "connect",
        "start",
        "flood",
        "memory",
        "nowhere",
    ):
        (root / f"{name}.yaml").write_text(TASK.format(name=name, function=name))
        rows = tmp_path / "rows" / name
        rows.mkdir(parents=True)
        made = [{"q": "no", "keep": False, "a": "x"}, {"q": "yes", "keep": True, "a": "y"}]
        (rows / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    return tmp_path


def run(
    tree: Path, *names: str, limits: TrustLimits | None = None, view: View | None = None
) -> list[dict[str, Any]]:
    index = Index([FolderFiles(str(tree / "tasks"))])
    source = RowsFolder(str(tree / "rows"))
    with TrustedRenderer(str(tree / "tasks"), source, limits=limits) as renderer:
        tasks = [task for name in names for task in requested(index, name)]
        return list(renderer.render(tasks, [view or View()]))


def test_functions_make_rows_texts_and_samples(tree: Path) -> None:
    [line] = run(tree, "doc_to_text", view=View(shots=1))
    assert line["unknown"] is None
    assert line["text"] == "S? x\n\nYES?"
    assert (line["row"], line["target"], line["split"]) == (0, "y", "test")


def test_an_error_of_a_function_is_the_tasks(tree: Path) -> None:
    [line] = run(tree, "fail")
    assert line["error"] == {"type": "LookupError", "message": "no such thing"}


@pytest.mark.parametrize("name", ["write", "connect", "start"])
def test_what_a_function_may_not_do(tree: Path, name: str) -> None:
    [line] = run(tree, name)
    assert line["error"]["type"] == "PermissionError"
    assert not (tree / "tasks" / "written").exists()


def test_a_function_that_takes_all_memory(tree: Path) -> None:
    [line] = run(tree, "memory")
    assert line["error"]["type"] == "MemoryError"


def test_a_function_that_does_not_end_or_ends_the_process_costs_its_task_only(tree: Path) -> None:
    lines = run(tree, "hang", "fall", "doc_to_text", limits=TrustLimits(seconds=10))
    assert [line["task"] for line in lines] == ["hang", "fall", "doc_to_text"]
    assert "did not end" in lines[0]["unknown"]
    assert "ended early" in lines[1]["unknown"]
    assert lines[2]["text"] == "YES?"


def test_a_function_that_says_too_much(tree: Path) -> None:
    [line] = run(tree, "flood", limits=TrustLimits(output=1 << 20))
    assert "too much" in line["unknown"]


def test_a_function_that_is_not_there(tree: Path) -> None:
    [line] = run(tree, "nowhere")
    assert line["error"]["type"] == "AttributeError"
