"""From names to tasks: groups with their overrides, tags, inline tasks (lm_eval.md, "Finding and loading YAML")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import EvalspecError, UsageError, did_you_mean, visible
from evalspec.prompts.lm_eval.index import GROUP, PYTHON_TASK, TAG, TASK, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalspec.prompts.lm_eval.index import Index

GROUP_FIELDS = frozenset(["group", "group_alias", "task", "aggregate_metric_list", "metadata"])
_STRUCTURE = ("tag", "group", "task_list")


class BadGroup(EvalspecError):
    """A group or a request that the harness refuses.

    Attributes:
        harness_type: the class of what the harness raises.
    """

    exit_code = 1

    def __init__(self, sentence: str, harness_type: str = "ValueError") -> None:
        self.harness_type = harness_type
        super().__init__(sentence)

    def __reduce__(self) -> tuple[type[BadGroup], tuple[str, str]]:
        return type(self), (str(self), self.harness_type)


class ResolvedTask(NamedTuple):
    """A task as it is built: its settings with every override in them.

    Attributes:
        name: the name it goes by.
        path: its file in the tree, None for a task that a group defines inline.
        root: which tree the file is in.
        settings: the keys of its configuration.
        overrides: the keys that groups or items set, over the file's own.
        group: the group it was reached through, outermost first, joined by `/`; empty where it was asked for itself.
        is_class: it is a Python class (`class:`), not a configuration.
        broken: why the harness refuses the group of this name, so that there is nothing of it to show.
    """

    name: Any
    path: str | None
    root: int | None
    settings: dict[str, Any]
    overrides: frozenset[str] = frozenset()
    group: str = ""
    is_class: bool = False
    broken: BadGroup | None = None


def resolve_task(
    index: Index, entry: Entry, overrides: Mapping[str, Any] | None = None, group: str = ""
) -> ResolvedTask:
    """The settings of one task of the index.

    The metadata becomes a mapping where it is none, and gets the file's path under `config_source`.
    """
    settings = dict(index.values(entry))
    if overrides:
        settings.update(overrides)
    metadata = settings.get("metadata", {})
    metadata = dict(metadata) if isinstance(metadata, dict) else {"_metadata": metadata}
    metadata["config_source"] = entry.path or "inline"
    settings["metadata"] = metadata
    for key in _STRUCTURE:
        settings.pop(key, None)
    return ResolvedTask(
        settings.get("task", entry.name),
        entry.path,
        entry.root,
        settings,
        frozenset(overrides or ()),
        group,
        "class" in settings,
    )


def requested(index: Index, name: Any) -> list[ResolvedTask]:
    """The tasks that a name stands for: itself, a group's with the overrides, or a tag's by name.

    Raises:
        BadGroup: the name is unknown, or a group is not as a group must be.
    """
    entry = index.entries.get(name)
    if entry is None:
        raise BadGroup(f"there is no task, group or tag {name!r}")
    if entry.kind == TAG:
        return [
            resolve_task(index, index.entries[each]) for each in sorted(entry.tags) if each in index.entries
        ]
    if entry.kind == GROUP:
        return list(_Expansion(index).group(str(name), index.values(entry), {}, ""))
    return [resolve_task(index, entry)]


def _requested_or_broken(index: Index, name: Any) -> list[ResolvedTask]:
    try:
        return requested(index, name)
    except BadGroup as problem:
        entry = index.entries[name]
        return [ResolvedTask(entry.name, entry.path, entry.root, {}, broken=problem)]


def check_requests(requests: Sequence[tuple[Any, Sequence[ResolvedTask]]]) -> None:
    """Refuse a task that two requests reach: its scores would be mixed up.

    Raises:
        BadGroup: a task is reached from two requests.
    """
    seen: dict[Any, Any] = {}
    for source, tasks in requests:
        for task in tasks:
            if seen.setdefault(task.name, source) != source:
                raise BadGroup(f"task {task.name!r} is reached from both {seen[task.name]!r} and {source!r}")


def selected(index: Index, names: Sequence[str] = ()) -> list[ResolvedTask]:
    """The tasks that names and patterns ask for; every task of the index where there are none.

    A group that is not as a group must be stands for itself, `broken`.

    Raises:
        UsageError: nothing is called or matches so.
        BadGroup: a task is reached twice.
    """
    if not names:
        return [resolve_task(index, entry) for entry in index.of_kind(TASK, PYTHON_TASK)]
    asked: list[tuple[Any, list[ResolvedTask]]] = []
    for name in names:
        found = [name] if name in index.entries else index.match([name])
        if not found:
            known = [str(each) for each in index.entries]
            raise UsageError(
                f"no task, group or tag {visible(name)!r}",
                fix=did_you_mean(name, known) or "see evalspec tasks",
            )
        asked += [(each, _requested_or_broken(index, each)) for each in found]
    if len(names) == 1 and len(asked) > 1:
        # A pattern matches groups and their members alike: each task once, as it is for itself.
        return list({task.name: task for _, tasks in asked for task in tasks}.values())
    check_requests(asked)
    return [task for _, tasks in asked for task in tasks]


class _Expansion:
    """Walks a group's members; a group that leads back to itself is refused."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.open: list[str] = []

    def group(
        self, name: str, settings: Mapping[str, Any], overrides: Mapping[str, Any], above: str
    ) -> Iterator[ResolvedTask]:
        """The tasks of a group: keys that no group has are overrides, those of whoever asks win over them."""
        if name in self.open:
            raise BadGroup(f"group {name!r} leads back to itself", "RecursionError")
        self.open.append(name)
        own = {key: value for key, value in settings.items() if key not in GROUP_FIELDS}
        merged = {**own, **overrides}
        members = settings.get("task")
        path = f"{above}/{name}" if above else name
        if isinstance(members, list):
            for item in members:
                yield from self.member(item, name, merged, path)
        self.open.pop()

    def member(
        self, item: Any, group: str, overrides: Mapping[str, Any], path: str
    ) -> Iterator[ResolvedTask]:
        """The tasks of one item of a group's list."""
        entries = self.index.entries
        if isinstance(item, str):
            name, merged = item, dict(overrides)
        elif isinstance(item, dict) and "group" in item:
            name = item["group"]
            if name in entries:
                extra = {key: value for key, value in item.items() if key != "group"}
                yield from self.reference(entries[name], {**overrides, **extra}, path)
            else:
                yield from self.group(f"{group}::{name}", item, overrides, path)
            return
        elif isinstance(item, dict):
            if "task" not in item:
                raise BadGroup(f"an item of group {group!r} names neither a task nor a group")
            name, merged = item["task"], {**overrides, **item}
        else:
            raise BadGroup(
                f"an item of group {group!r} is neither a name nor a mapping: {item!r}", "TypeError"
            )
        if name in entries:
            yield from self.reference(entries[name], merged, path)
            return
        settings = {**merged, "task": f"{group}::{name}"}
        settings["metadata"] = dict(settings.get("metadata") or {})
        yield ResolvedTask(settings["task"], None, None, settings, frozenset(merged), path)

    def reference(self, entry: Entry, overrides: dict[str, Any], path: str) -> Iterator[ResolvedTask]:
        """The tasks that a registered name stands for, with overrides."""
        if entry.kind == GROUP:
            yield from self.group(str(entry.name), self.index.values(entry), overrides, path)
        elif entry.kind == TAG:
            for name in sorted(entry.tags):
                found = self.index.entries.get(name)
                if found is None:
                    raise BadGroup(f"tag {entry.name!r} names {name!r}, which is no task", "KeyError")
                yield resolve_task(self.index, found, {"task": name, **overrides}, path)
        else:
            yield resolve_task(self.index, entry, {"task": entry.name, **overrides}, path)
