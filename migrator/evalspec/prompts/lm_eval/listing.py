"""The names of a tree, each with what it stands for, its file and its version, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.prompts.lm_eval.index import GROUP, TAG

if TYPE_CHECKING:
    from evalspec.prompts.lm_eval.index import Entry
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.prompts.lm_eval.places import ResolvedValue

#: What the harness shows where `metadata` has no version (lm_eval.md, "Finding and loading YAML").
_NO_VERSION, _NO_GROUP_VERSION = "Yaml", "N/A"


def listed_names(tree: Tree) -> list[dict[str, Any]]:
    """Every task, group and tag: groups first, then tags, then tasks, each by name."""
    order = {GROUP: 0, TAG: 1}
    entries = sorted(tree.index.entries.values(), key=lambda each: (order.get(each.kind, 2), str(each.name)))
    return [_listed(tree, entry) for entry in entries]


def _listed(tree: Tree, entry: Entry) -> dict[str, Any]:
    tasks: list[str] | None = None
    version: Any = None
    if entry.kind == TAG:
        tasks = sorted(map(str, entry.tags))
    else:
        values = tree.index.values(entry)
        metadata = values.get("metadata")
        missing = _NO_GROUP_VERSION if entry.kind == GROUP else _NO_VERSION
        version = metadata.get("version", missing) if isinstance(metadata, dict) else missing
        members = values.get("task")
        if entry.kind == GROUP and isinstance(members, list):
            tasks = [_member(each) for each in members]
    return {
        "kind": entry.kind,
        "name": str(entry.name),
        "version": version if version is None or isinstance(version, int | float | str) else str(version),
        "path": tree.path_of(entry.root, entry.path) if entry.path else None,
        "line": None,
        "schema": None if entry.kind == TAG else "lm-eval@0.4.13",
        "tasks": tasks,
    }


def _member(item: Any) -> str:
    """A member of a group by its name."""
    if isinstance(item, dict):
        return str(item.get("group", item.get("task")))
    return str(item)


def resolved_json(value: ResolvedValue) -> dict[str, Any]:
    """A setting with its origin, as JSON."""
    place = value.place
    return {
        "key": value.key,
        "value": plain_value(value.value),
        "path": place.path if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "origin": value.origin or None,
    }


def plain_value(value: Any) -> Any:
    """A setting as JSON: functions by their name, whatever JSON lacks as text."""
    from evalspec.prompts.problems import FunctionRef

    if isinstance(value, FunctionRef):
        return f"!function {value.spec}"
    if isinstance(value, dict):
        return {str(key): plain_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
