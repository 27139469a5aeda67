"""Which paths mean trees of lm-eval YAML, and such trees opened.

A path may be a whole tree, one of its folders, or one file; what a file includes may lie anywhere in the tree that it
is part of: below `lm_eval/tasks`, else in its git repository, else in the working folder.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from evalspec.errors import UsageError, visible
from evalspec.prompts.lm_eval.files import FilesBelow, FolderFiles
from evalspec.prompts.lm_eval.groups import BadGroup, selected
from evalspec.prompts.lm_eval.index import Index
from evalspec.prompts.lm_eval.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.errors import Place
    from evalspec.prompts.lm_eval.files import Files
    from evalspec.prompts.lm_eval.groups import ResolvedTask
    from evalspec.prompts.lm_eval.index import Skipped
    from evalspec.prompts.lm_eval.places import ResolvedValue

FAMILY, VERSION = "lm-eval", "0.4.13"

#: So many files of a folder are looked at before it is taken for what was seen.
_LOOKED_AT = 2000


def lm_eval_paths(paths: Sequence[str], spec: str | None, defaults: Sequence[str]) -> list[str] | None:
    """The paths, where they are lm-eval YAML: because `spec` says so, or because they look so; else None.

    Args:
        paths: what was given.
        spec: the family and version that were given, if any.
        defaults: what is meant where no path was given.

    Raises:
        UsageError: a version of lm-eval that cannot be read, or a path that is not there.
    """
    wanted = _expanded(paths or defaults)
    if spec is not None:
        family, _, version = spec.partition("@")
        if family != FAMILY:
            return None
        if version not in ("", VERSION):
            raise UsageError(
                f"lm-eval tasks are read as version {VERSION} reads them, and as no other: not {visible(version)!r}",
                fix=f"--spec {FAMILY}@{VERSION}",
            )
        for path in wanted:
            if not os.path.exists(path):
                raise UsageError(f"no such file or folder: {visible(path)}", fix="check the path")
        return wanted
    return wanted if wanted and all(_seems_lm_eval(path) for path in wanted) else None


def _expanded(paths: Sequence[str]) -> list[str]:
    """The paths, in the place of each pattern the folders and YAML files that it matches."""
    from evalspec.tree import format_of
    from evalspec.tree.patterns import expand, is_pattern

    out: list[str] = []
    for path in paths:
        if is_pattern(path) and not os.path.exists(path):
            found = [each for each in expand(path) if os.path.isdir(each) or format_of(each) == "yaml"]
            out += found or [path]
        else:
            out.append(path)
    return out


def _seems_lm_eval(path: str) -> bool:
    from evalspec.tree import format_of, looks_like

    if path == "-" or not os.path.isdir(path):
        return path != "-" and os.path.isfile(path) and looks_like(path) == FAMILY
    if _tasks_of_harness(os.path.realpath(path)) or _harness_above(os.path.realpath(path)):
        return True
    seen, found = 0, False
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(names):
            if format_of(name) is None or name.startswith("."):
                continue
            kind = looks_like(f"{folder}/{name}")
            if kind == "evalspec":
                return False
            found = found or kind == FAMILY
            seen += 1
            if seen >= _LOOKED_AT:
                return found
    return found


class PartsOfTree(FolderFiles):
    """Folders and files of a tree: their names alone are indexed, and includes may reach all of the tree."""

    def __init__(self, root: str, parts: Sequence[str]) -> None:
        super().__init__(root)
        self.parts = parts

    def names(self) -> list[str]:
        """The files of the parts, by their paths in the tree."""
        if self.root in self.parts:
            return super().names()
        start = len(self.root.rstrip("/")) + 1
        found: dict[str, None] = {}
        for part in self.parts:
            if os.path.isdir(part):
                found.update((f"{part[start:]}/{name}", None) for name in FolderFiles(part).names())
            else:
                found[part[start:]] = None
        return list(found)


@dataclass(frozen=True, slots=True)
class Tree:
    """Trees of tasks, read.

    Attributes:
        index: their names; where two trees share one, the later tree's counts.
        roots: each tree's folder.
        shown: the same, as it is shown.
    """

    index: Index
    roots: tuple[str, ...]
    shown: tuple[str, ...]

    def path_of(self, root: int | None, path: str | None) -> str:
        """A file's path as it is shown; of what stands in no file, its tree's."""
        shown = self.shown[root or 0]
        return os.path.join(shown, path) if path else shown or os.curdir

    def places(self) -> list[Places]:
        """Finders of places, one a tree."""
        return [Places(self.index, shown) for shown in self.shown]

    def skipped(self) -> list[tuple[str, Skipped]]:
        """What is in no index, each with its path as it is shown."""
        return [(self.path_of(each.root, each.path), each) for each in self.index.skipped]

    def select(self, names: Sequence[str]) -> list[ResolvedTask]:
        """The tasks that names and patterns ask for, each once; every task where there are none.

        A pattern means tasks; where it matches none, groups and tags.

        Raises:
            UsageError: nothing is called or matches so, two names reach one task, or there is no task at all.
        """
        entries = self.index.entries
        if not any(_is_task(entry.kind) for entry in entries.values()):
            raise UsageError(
                f"no task of {FAMILY} in {', '.join(visible(each or os.curdir) for each in self.shown)}",
                fix="name a folder of its YAML files; `evalspec tasks -v` says why a file counts for none",
            )
        exact = [name for name in names if name in entries]
        try:
            chosen = list(selected(self.index, exact)) if exact or not names else []
        except BadGroup as problem:
            raise UsageError(
                str(problem), fix="name one of the two; the harness refuses both at once"
            ) from problem
        for name in names:
            if name in entries:
                continue
            found = [
                each
                for each in self.index.match([name])
                if entries[each].path and _is_task(entries[each].kind)
            ]
            chosen += selected(self.index, found or [name])
        return list({task.name: task for task in reversed(chosen)}.values())[::-1] if names else chosen


def _is_task(kind: str) -> bool:
    return kind in ("task", "python task")


def place_finder(places: Sequence[Places], task: ResolvedTask) -> Callable[[str], Place | None]:
    """A function from a setting's dotted name to its place, for a task of one of the trees."""
    return places[task.root or 0].place_of(task)


def open_tree(paths: Sequence[str], *, group_is_tag: bool = False) -> Tree:
    """Read the trees that paths mean; paths into one tree are parts of it.

    Args:
        paths: folders and files.
        group_is_tag: see `Index`.
    """
    parts = [_tasks_of_harness(os.path.realpath(path)) or os.path.realpath(path) for path in paths]
    trees: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    for path, part in zip(paths, parts, strict=True):
        root = _root_of(part)
        trees.setdefault(root, []).append(part)
        shown.setdefault(root, root if os.path.isabs(path) else _relative(root))
    index = Index(
        [PartsOfTree(root, found) for root, found in trees.items()],
        group_is_tag=group_is_tag,
    )
    return Tree(index, tuple(trees), tuple(shown.values()))


def tree_in(files: Files, folder: str, paths: Sequence[str], *, group_is_tag: bool = False) -> Tree:
    """Read trees out of files that lie in no folder, as `open_tree` does it on disk.

    Args:
        files: every file of what would be a repository.
        folder: the path that its top would have.
        paths: whole paths in it.
        group_is_tag: see `Index`.
    """
    names = files.names()
    trees: dict[str, list[str]] = {}
    for path in paths:
        part = "" if path == folder else os.path.relpath(path, folder)
        tasks = os.path.join(part, "lm_eval/tasks")
        if any(name.startswith(f"{tasks}/") for name in names):
            part = tasks
        at = f"/{part}/".find("/lm_eval/tasks/")
        trees.setdefault(f"{part[:at]}lm_eval/tasks" if at >= 0 else "", []).append(part)
    index = Index(
        [FilesBelow(files, root, parts) for root, parts in trees.items()], group_is_tag=group_is_tag
    )
    shown = tuple(os.path.join(folder, root) for root in trees)
    return Tree(index, shown, shown)


def one_task(tree: Tree, name: str) -> list[ResolvedValue]:
    """The settings of a task, each with its place or its origin.

    Raises:
        UsageError: there is no task of that name.
    """
    entry = tree.index.entries.get(name)
    if entry is not None and not _is_task(entry.kind):
        raise UsageError(
            f"{visible(name)!r} is a {entry.kind}, not a task", fix="`evalspec tasks` lists the tasks"
        )
    task = tree.select([name])[0]
    return tree.places()[task.root or 0].resolved(task)


def _relative(root: str) -> str:
    shown = os.path.relpath(root)
    return "" if shown == os.curdir else shown


def _tasks_of_harness(folder: str) -> str | None:
    """The tree of tasks in an unpacked distribution of the harness, which is all of it that is indexed."""
    tasks = os.path.join(folder, "lm_eval", "tasks")
    return tasks if os.path.isdir(tasks) else None


@lru_cache(maxsize=64)
def _harness_above(part: str) -> str | None:
    """The harness's own tree that a path is part of."""
    at = f"{part}/".find("/lm_eval/tasks/")
    return f"{part[:at]}/lm_eval/tasks" if at >= 0 else None


def _root_of(part: str) -> str:
    harness = _harness_above(part)
    if harness is not None:
        return harness
    folder = part if os.path.isdir(part) else os.path.dirname(part)
    above = folder
    while True:
        if os.path.exists(os.path.join(above, ".git")):
            return above
        parent = os.path.dirname(above)
        if parent == above:
            break
        above = parent
    here = os.path.realpath(os.curdir)
    inside = here != os.path.dirname(here) and f"{folder}/".startswith(f"{here}/")
    return here if inside else folder
