"""Tasks with Python functions: what the trusted child makes of them is what the harness makes of them."""
# ruff: noqa: E501 - one task a line

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import ask

from evalspec.prompts.lm_eval import FolderFiles, Index, TrustedRenderer, requested
from evalspec.prompts.rows import RowsFolder
from evalspec.prompts.view import View

UTILS = """
from functools import partial
from neighbour import LETTERS

def text(doc):
    return f"{doc['q']} ({', '.join(doc['options'])})"

def target(doc):
    return doc["options"].index(doc["answer"])

def choices(doc):
    return [f"{letter}: {option}" for letter, option in zip(LETTERS, doc["options"])]

def tidy(dataset):
    return dataset.filter(lambda row: row["keep"]).map(lambda row: {"q": row["q"].strip() + "?", "extra": len(row["q"])})

def batched(dataset):
    def double(batch):
        return {"q": [q * 2 for q in batch["q"]], "at": [number for number in range(len(batch["q"]))]}
    return dataset.map(double, batched=True, batch_size=3)

def renamed(dataset):
    return dataset.rename_column("q", "query").remove_columns(["keep"]).select(range(1, 5))

def indexed(dataset):
    return dataset.map(lambda row, number: {"q": f"{number}. {row['q']}"}, with_indices=True)

def samples():
    return [{"q": f"S{n}", "answer": "a", "options": ["a", "b"], "keep": True} for n in range(4)]

def number(doc):
    return len(doc["q"]) % 2

def broken(doc):
    return doc["nothing"]

loud = partial(lambda mark, doc: doc["q"] + mark, "!")
"""

BASE = "dataset_path: x\ntest_split: test\nfewshot_split: dev\nnum_fewshot: 2\ndoc_to_text: '{{q}}'\ndoc_to_target: answer\n"
TASKS = {
    "text": "doc_to_text: !function utils.text\n",
    "partial": "doc_to_text: !function utils.loud\n",
    "mc": "output_type: multiple_choice\ndoc_to_choice: !function utils.choices\ndoc_to_target: !function utils.target\n",
    "tidy": "process_docs: !function utils.tidy\ndoc_to_text: '{{q}} {{extra}}'\n",
    "batched": "process_docs: !function utils.batched\ndoc_to_text: '{{at}} {{q}}'\n",
    "renamed": "process_docs: !function utils.renamed\ndoc_to_text: query\n",
    "indexed": "process_docs: !function utils.indexed\n",
    "shots_only": "fewshot_config: {process_docs: !function utils.indexed, doc_to_text: !function utils.text}\n",
    "shots_raw": "process_docs: !function utils.indexed\nfewshot_config: {process_docs: null}\n",
    "samples": "fewshot_split: null\nfewshot_config: {samples: !function utils.samples, sampler: first_n}\n",
    "inputs": "output_type: multiple_choice\ndoc_to_text: !function utils.number\ndoc_to_choice: !function utils.choices\n",
    "broken": "doc_to_target: !function utils.broken\n",
    "missing": "doc_to_target: !function utils.not_there\n",
}


def rows(mark: str) -> list[dict[str, Any]]:
    return [
        {"q": f" {mark}{n} ", "answer": "ab"[n % 2], "options": ["a", "b"], "keep": n % 3 != 1}
        for n in range(9)
    ]


@pytest.fixture(scope="module")
def both(
    harness: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    folder = tmp_path_factory.mktemp("functions")
    tree = folder / "tree"
    tree.mkdir()
    (tree / "utils.py").write_text(
        UTILS.replace(
            "from neighbour", "import sys, os\nsys.path.insert(0, os.path.dirname(__file__))\nfrom neighbour"
        )
    )
    (tree / "neighbour.py").write_text("LETTERS = 'ABC'\n")
    (tree / "base").write_text(BASE)
    splits = {"test": rows("t"), "dev": rows("d")}
    jobs = []
    for name, text in TASKS.items():
        path = tree / f"{name}.yaml"
        path.write_text(f"include: base\ntask: {name}\n{text}")
        (folder / "rows" / name).mkdir(parents=True)
        for split, made in splits.items():
            lines = "".join(json.dumps(row) + "\n" for row in made)
            (folder / "rows" / name / f"{split}.jsonl").write_text(lines)
        job = {"name": name, "path": str(path), "splits": splits, "rows_are_docs": False, "functions": True}
        jobs.append({**job, "cases": [{"shots": None}]})
    answers = ask(harness, jobs, folder)
    index = Index([FolderFiles(str(tree))])
    ours: dict[str, list[Any]] = {}
    with TrustedRenderer(str(tree), RowsFolder(str(folder / "rows"))) as renderer:
        for name in TASKS:
            ours[name] = list(renderer.render(requested(index, name), [View()]))
    return answers, ours


@pytest.mark.parametrize("name", TASKS)
def test_a_function_is_run_as_the_harness_runs_it(
    name: str, both: tuple[dict[str, Any], dict[str, list[Any]]]
) -> None:
    theirs, lines = both[0][name], both[1][name]
    if "load_error" in theirs:
        assert [line["error"]["type"] for line in lines] == [theirs["load_error"]]
        return
    [case] = theirs["cases"]
    assert [line["unknown"] for line in lines] == [None] * len(lines)
    assert [line["text"] for line in lines] == case["contexts"]
    made = [
        [
            line["row"],
            [
                [r["type"], [r["context"], r.get("generation", r.get("continuation"))]]
                for r in line["requests"]
            ],
        ]
        for line in lines
    ]
    assert made == case["requests"]
