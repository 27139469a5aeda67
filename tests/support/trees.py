"""A small tree of lm-eval YAML, and what tests do with rows and lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

TREE = {
    "colours/_base": 'dataset_path: nowhere\ntest_split: test\ndoc_to_text: "Q: {{q}}\\nA:"\ndoc_to_target: a\n',
    "colours/sky.yaml": "include: _base\ntask: sky\ntag: nature\noutput_type: generate_until\nmetadata: {version: 2}\n",
    "colours/wine.yaml": "include: _base\ntask: wine\noutput_type: multiple_choice\ndoc_to_choice: [red, white]\n"
    "doc_to_target: 0\nnum_fewshot: 0\n",
    "colours/coded.yaml": "include: _base\ntask: coded\ndoc_to_text: !function code.text\n",
    "colours/code.py": "def text(doc):\n    return 'code says ' + doc['q']\n",
    "group.yaml": "group: both\ntask: [sky, wine]\ngen_prefix: So\n",
}


def write_tree(folder: Path) -> Path:
    """Write the tree into a folder."""
    for name, text in TREE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def rows(path: Path, *docs: dict[str, Any]) -> Path:
    """Write a file of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    return path


def lines(out: str) -> dict[str, dict[str, Any]]:
    """The lines of `evalspec render --format json`, by task."""
    return {line["task"]: line for line in map(json.loads, out.splitlines())}
