"""Lint over files that are held in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.check.lint import lint_tree
from evalspec.prompts.lm_eval import Index, MemoryFiles
from evalspec.prompts.lm_eval.open_tree import Tree
from evalspec.prompts.rows import RowsInMemory
from evalspec.prompts.tasks import RowOptions
from evalspec.prompts.view import PLAIN, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.errors import Finding


def lint_of(
    files: dict[str, bytes | str],
    *,
    rows: list[dict[str, Any]] | None = None,
    pool: list[dict[str, Any]] | None = None,
    views: Sequence[View] = (PLAIN,),
    jobs: int = 1,
) -> list[Finding]:
    """The findings of a tree of these files; the rows are those of split `test`, the pool those of `dev`."""
    data = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    tree = Tree(Index([MemoryFiles(data)]), ("",), ("",))
    splits = {name: each for name, each in (("test", rows), ("dev", pool)) if each is not None}
    options = RowOptions(RowsInMemory(splits)) if splits else None
    return list(lint_tree(tree, views, options, jobs=jobs))
