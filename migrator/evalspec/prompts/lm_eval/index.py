"""Which tasks, groups and tags a tree holds (lm_eval.md, "Finding and loading YAML")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.prompts.lm_eval.files import yaml_names
from evalspec.prompts.lm_eval.loader import Loader, LoadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.prompts.lm_eval.files import Files

TASK, PYTHON_TASK, GROUP, TAG = "task", "python task", "group", "tag"
#: The reason for a file that other files may include, and that is nothing by itself.
NOT_A_TASK = "neither a task nor a group"


@dataclass(slots=True)
class Entry:
    """A name that can be asked for.

    Attributes:
        name: the name.
        kind: `task`, `python task`, `group` or `tag`.
        root: which tree it is in, by number; None for a tag.
        path: its file in the tree; None for a tag.
        tags: for a tag its tasks; else the tags the file names, and the tasks of a tag that met the same name.
    """

    name: str
    kind: str
    root: int | None = None
    path: str | None = None
    tags: set[str] = field(default_factory=set)


class Skipped(NamedTuple):
    """A file that is in no index, and why: the harness says nothing of it.

    Attributes:
        root: which tree it is in, by number.
        path: its path in the tree.
        rule: `unloadable`, `duplicate_task_id` or `unknown_shape`.
        reason: why, in words.
        line: where in the file, from 1.
        column: where in the line, in characters from 1.
        key: what names the file, where the name is why: `task` or `group`.
        twin: what has that name already.
    """

    root: int
    path: str
    rule: str
    reason: str
    line: int = 1
    column: int = 1
    key: str = ""
    twin: Entry | None = None


class Index:
    """The names of one or more trees. Inside a tree the first file of a name wins; a later tree wins over all.

    Args:
        trees: the trees, in order.
        group_is_tag: read a task that names a `group` as harnesses before 0.4.5 did, to which that was a tag.
    """

    def __init__(self, trees: Sequence[Files], *, group_is_tag: bool = False) -> None:
        self._group_is_tag = group_is_tag
        self.loaders = [Loader(files) for files in trees]
        self.entries: dict[str, Entry] = {}
        self.skipped: list[Skipped] = []
        # Everything that is made here stays, so looking for what could be freed is time lost.
        import gc

        collecting = gc.isenabled()
        gc.disable()
        try:
            for root, loader in enumerate(self.loaders):
                found = self._one(root, loader)
                for name in self.entries.keys() & found.keys():
                    self._skip_twin(self.entries[name], found[name])
                self.entries.update(found)
        finally:
            if collecting:
                gc.enable()

    def _one(self, root: int, loader: Loader) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for path in yaml_names(loader.files.names()):
            try:
                values = loader.load(path).values
                self._add(entries, values, root, path)
            except LoadError as problem:
                where = (problem.line, problem.column) if problem.path == path else (1, 1)
                self.skipped.append(Skipped(root, path, "unloadable", str(problem), *where))
            except TypeError as problem:
                reason = f"the name cannot be one: {problem}"
                self.skipped.append(Skipped(root, path, "unknown_shape", reason))
        return entries

    def _add(self, entries: dict[str, Entry], values: dict[str, Any], root: int, path: str) -> None:
        if "class" in values:
            kind = PYTHON_TASK
        elif self._group_is_tag and isinstance(values.get("task"), str):
            kind = TASK
        elif "group" in values:
            kind = GROUP
        elif "task" in values:
            kind = TASK
        else:
            self.skipped.append(Skipped(root, path, "unknown_shape", NOT_A_TASK))
            return
        if kind == PYTHON_TASK and "task" not in values:
            self.skipped.append(Skipped(root, path, "unknown_shape", "a class without a task name"))
            return
        name = values["group"] if kind == GROUP else values["task"]
        if name in entries:
            self._skip_twin(Entry(name, kind, root, path), entries[name])
            return
        tags = values.get("tag")
        entries[name] = Entry(name, kind, root, path, _names(tags))
        if kind == GROUP or not tags:
            return
        for tag in tags if isinstance(tags, list) else [tags]:
            entry = entries.get(tag)
            if entry is None:
                entry = entries[tag] = Entry(tag, TAG)
            entry.tags.add(name)

    def _skip_twin(self, entry: Entry, winner: Entry) -> None:
        if entry.root is None or entry.path is None:
            return
        reason = f"the name {entry.name!r} is taken by {winner.path or 'a tag'}, which wins"
        key = "group" if entry.kind == GROUP else "task"
        skipped = Skipped(entry.root, entry.path, "duplicate_task_id", reason, key=key, twin=winner)
        self.skipped.append(skipped)

    def of_kind(self, *kinds: str) -> list[Entry]:
        """The entries of these kinds, by name."""
        found = [entry for entry in self.entries.values() if entry.kind in kinds]
        return sorted(found, key=lambda entry: str(entry.name))

    def values(self, entry: Entry) -> dict[str, Any]:
        """The merged mapping of an entry's file."""
        if entry.path is None or entry.root is None:
            return {}
        return self.loaders[entry.root].load(entry.path).values

    def match(self, patterns: Sequence[str]) -> list[str]:
        """The names that patterns match (`fnmatch`), sorted, each once."""
        from fnmatch import fnmatch

        names = [str(name) for name in self.entries]
        return sorted({name for pattern in patterns for name in names if fnmatch(name, pattern)})


def _names(tags: Any) -> set[str]:
    if tags is None:
        return set()
    return {tags} if isinstance(tags, str) else set(tags)
