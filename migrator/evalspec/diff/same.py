"""Which tasks of two revisions are made of the same bytes: nothing of them needs to be looked at.

This may leave out tasks that are the same; it has none that differs. What a task is made of are its file and all that
this includes, the modules of its functions, and its rows. Where any module changed, every task with a function counts
as changed; where any file of rows changed, every task that has rows in the repository.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from evalspec.diff.git_objects import GitFiles
from evalspec.diff.side_rows import LOCAL
from evalspec.diff.sides import BESIDE
from evalspec.prompts.problems import FunctionRef

if TYPE_CHECKING:
    from evalspec.diff.side_tasks import SideTasks


def same_tasks(old: SideTasks, new: SideTasks) -> frozenset[str]:
    """The names of tasks that are the same on both sides; none where they are not both trees in git's objects."""
    before, after = old.side.files, new.side.files
    if not (isinstance(before, GitFiles) and isinstance(after, GitFiles) and old.tree and new.tree):
        return frozenset()
    changed = before.differing(after)
    code = any(name.endswith(".py") for name in changed)
    rows = any(name.endswith(BESIDE) for name in changed)
    # Each tree's folder, from the top of the repository.
    tops, others = (
        [os.path.normpath(os.path.relpath(root, side.side.folder)) for root in tree.roots]
        for side, tree in ((old, old.tree), (new, new.tree))
    )
    found = set()
    for name, entry in old.entries.items():
        other = new.entries.get(name)
        if other is None or entry.root is None or entry.path is None or other.root is None:
            continue
        top = tops[entry.root]
        if top != others[other.root] or entry.path != other.path or entry.kind != other.kind:
            continue
        loaded = old.tree.index.loaders[entry.root].load(entry.path)
        above = "" if top == os.curdir else f"{top}/"
        if not changed.isdisjoint([f"{above}{file}" for file in loaded.files]):
            continue
        if code and _names_function(loaded.values):
            continue
        if rows and (str(loaded.values.get("dataset_path")) in LOCAL or _has_rows(name, old, new)):
            continue
        found.add(name)
    return frozenset(found)


def _has_rows(name: str, *sides: SideTasks) -> bool:
    return any(side.has_fixtures(name) for side in sides)


def _names_function(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_names_function, value.values()))
    if isinstance(value, list):
        return any(map(_names_function, value))
    return isinstance(value, FunctionRef)
