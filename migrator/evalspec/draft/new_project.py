"""A new spec project: configuration, a family's first version, its fixtures, its lock, and what CI runs."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from evalspec.errors import UsageError, visible
from evalspec.schema.family import OWN

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The family that a branching project is written after (`examples/acme`: evalspec@v3, written out in full).
_EXAMPLE = "acme"
_BRANCH = "evalspec_v3_v1"

_CONFIG = """\
# What this project's task files must be. `evalspec check` enforces it; every key is in the documentation.
spec = "{name}"
requires = "{name}@v1"
tasks = ["tasks"]
# views.chat = {{ chat = "chatml" }}   # prompts are also compared and checked under this view
# lock_prompts = true                 # the lock holds the fingerprint of every prompt
"""

_WORKFLOW = """\
name: evalspec

on:
  pull_request:

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0 # the base of the pull request is compared with
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install evalspec-migrator
      - run: evalspec check --base "origin/${{ github.base_ref }}"
      - run: evalspec diff "origin/${{ github.base_ref }}"
        if: always()
"""

_HOOK = """\
repos:
  - repo: local
    hooks:
      - id: evalspec-check
        name: evalspec check
        entry: evalspec check --staged
        language: python
        additional_dependencies: [evalspec-migrator]
        pass_filenames: false
"""

_FRESH_SCHEMA = '''\
"""Version {name}@v1: what a task of this project is.

This page is the whole contract: the vocabularies, what goes with what, the fields of a record, and how its prompt is
put together. What is in `evalspec.lock` is released and frozen; `evalspec revision -m "…"` drafts the next version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from evalspec.schema import (
    Assembly,
    Constant,
    Declaration,
    Exactly,
    FromField,
    Metric,
    MinLen,
    OneOf,
    Pair,
    Shape,
)

CATEGORIES = {{"question": "a question with a short answer"}}

METRICS = {{"exact_match": Metric()}}


def none(text: str) -> str:
    """The text unchanged."""
    return text


POST_PROCESS = {{"none": none}}

PAIRS = (Pair("question", ("exact_match",), ("none",)),)


@dataclass(frozen=True, kw_only=True)
class Example:
    """An example that is shown before the question."""

    prompt: str
    completion: str


@dataclass(frozen=True, kw_only=True)
class Task:
    """A record."""

    spec_version: Annotated[str, Exactly("{name}@v1")]
    task_id: Annotated[str, MinLen(1)]
    category: Annotated[str, OneOf(CATEGORIES)]
    description: str = ""
    prompt: Annotated[str, MinLen(1)]
    targets: Annotated[list[str], MinLen(1)]
    examples: list[Example] = field(default_factory=list)
    metric_name: Annotated[str, OneOf(METRICS)]
    post_process: Annotated[str, OneOf(POST_PROCESS)]
    metadata: dict[str, Any] = field(default_factory=dict)


version = Declaration(
    marker="{name}@v1",
    shapes=(Shape("inline", Task),),
    categories=CATEGORIES,
    metrics=METRICS,
    post_process=POST_PROCESS,
    pairs=PAIRS,
    rules=(),
    assembly=Assembly(
        system=FromField("description"),
        question="prompt",
        examples="examples",
        target_delimiter=Constant(" "),
    ),
)
'''

_FRESH_TASK = (
    '{{"spec_version": "{name}@v1", "task_id": "question_001", "category": "question", "prompt": "2 + 2 =", '
    '"targets": ["4"], "metric_name": "exact_match", "post_process": "none", "metadata": {{}}}}\n'
)


def new_project(folder: str, name: str, *, fresh: bool = False) -> list[str]:
    """Make a spec project in a folder and return the files that were written, from the folder.

    Args:
        folder: where; it is made if it is not there.
        name: the name of its family.
        fresh: begin with a small contract of its own, where else a copy of our head is the family's first version.

    Raises:
        UsageError: the name cannot be one, or a file that would be written is there.
        WriteError: a file cannot be written.
    """
    from evalspec.writing import write_file

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in (OWN, "lm_eval"):
        raise UsageError(
            f"{visible(name)!r} cannot be the name of a family of your own",
            fix="take small letters, digits and _, as in --name acme",
        )
    files = dict(_fresh(name) if fresh else _branch(name))
    files["evalspec.toml"] = _CONFIG.format(name=name).encode()
    snippets = {".github/workflows/evalspec.yml": _WORKFLOW, ".pre-commit-config.yaml": _HOOK}
    for path in (*files, "evalspec.lock"):
        if os.path.exists(os.path.join(folder, path)):
            raise UsageError(
                f"{visible(os.path.join(folder, path))} is there already", fix="name another folder: init DIR"
            )
    for path, text in snippets.items():
        if not os.path.exists(os.path.join(folder, path)):
            files[path] = text.encode()
    for path, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)) or os.curdir, exist_ok=True)
        write_file(os.path.join(folder, path), data)
    write_file(os.path.join(folder, "evalspec.lock"), _lock(folder).encode())
    return sorted([*files, "evalspec.lock"])


def _lock(folder: str) -> str:
    from evalspec.check.lock import lock_text
    from evalspec.check.released import current_lines
    from evalspec.project import Project

    return lock_text(current_lines(Project.find(folder)))


def _branch(name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a family that begins as a copy of our head."""
    from evalspec.project import example_root

    root = example_root()
    wanted = (
        f"schemas/{_EXAMPLE}/v1.py",
        f"migrations/{_EXAMPLE}/v1.py",
        f"fixtures/{_EXAMPLE}/v1",
        f"fixtures/{_EXAMPLE}/migrations/{_BRANCH}",
    )
    for path in wanted:
        whole = os.path.join(root, path)
        for file in [whole] if os.path.isfile(whole) else sorted(_below(whole)):
            with open(file, "rb") as stream:
                data = stream.read()
            yield (
                os.path.relpath(file, root).replace(_EXAMPLE, name),
                data.replace(_EXAMPLE.encode(), name.encode()),
            )
    with open(os.path.join(root, f"fixtures/{_EXAMPLE}/v1/tasks.jsonl"), "rb") as stream:
        task = stream.read().split(b"\n")[1]
    yield "tasks/example.jsonl", (task + b"\n").replace(_EXAMPLE.encode(), name.encode())


def _fresh(name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a family that begins with a small contract."""
    task = _FRESH_TASK.format(name=name).encode()
    yield f"schemas/{name}/v1.py", _FRESH_SCHEMA.format(name=name).encode()
    yield f"fixtures/{name}/v1/tasks.jsonl", task
    yield f"fixtures/{name}/v1/generations.jsonl", b'{"task_id": "question_001", "text": "4"}\n'
    yield f"fixtures/{name}/v1/post_process.jsonl", b'{"rule": "none", "input": " 4\\n", "output": " 4\\n"}\n'
    yield "tasks/example.jsonl", task


def _below(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(folder):
        yield from (os.path.join(above, name) for name in names if not name.endswith(".pyc"))
