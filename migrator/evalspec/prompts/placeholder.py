"""Placeholder rows: made up from the variables of a task's templates, so that a prompt can be shown without data.

`{{question}}` shows `⟨question⟩`. How a variable is used says what it is: looped over or indexed, it is a list of
two; a key is read from it, a mapping; counted with or used as an index, a number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalspec.prompts.shapes import Shape, read_template

if TYPE_CHECKING:
    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.sandbox import Sandbox

Doc = dict[str, Any]

_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def placeholder_rows(
    config: TaskConfig, sandbox: Sandbox, shots: int, prompt: Any = None
) -> tuple[Doc, list[Doc]]:
    """A made-up row for a task, and as many for its pool as examples are shown.

    The rows of the pool say which example they belong to, so that they are told apart.
    """
    root = shape_of(config, sandbox, prompt)
    return root.row(""), [root.row(f" {number}") for number in range(1, shots + 1)]


def shape_of(config: TaskConfig, sandbox: Sandbox, prompt: Any) -> Shape:
    """What a task's fields say of its columns."""
    root = Shape()
    few = config.fewshot
    choices = config.doc_to_choice
    texts = [prompt] if prompt is not None else [config.doc_to_text, few.doc_to_text]
    targets = [] if prompt is not None else [config.doc_to_target, few.doc_to_target]
    listed = [] if prompt is not None else [choices, few.doc_to_choice]
    for spec in texts:
        _note(root, spec, sandbox, "text")
    for spec in listed:
        _note(root, spec, sandbox, "list")
    for spec in (config.gen_prefix, few.gen_prefix, config.description):
        if isinstance(spec, str) and "{" in spec:
            _note(root, spec, sandbox, "text")
    for spec in (config.doc_to_image, config.doc_to_audio):
        for each in spec if isinstance(spec, list) else [spec]:
            _note(root, each, sandbox, "list")
    for spec in targets:
        _note(root, spec, sandbox, "number" if choices is not None else "text")
    return root


def _note(root: Shape, spec: Any, sandbox: Sandbox, used_as: str) -> None:
    """Learn from one field: the column it names, or the variables of its template."""
    if not isinstance(spec, str) or not spec:
        return
    if _COLUMN.match(spec):
        root.member(spec).use(used_as)
        return
    if "{{" in spec or "{%" in spec:
        read_template(sandbox.environment, spec, root, used_as)
