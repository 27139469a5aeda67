"""List the tasks, groups and tags that files hold, each with its version and its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.cli import _common, _trees
from evalspec.errors import counted, visible

if TYPE_CHECKING:
    import argparse

    from evalspec.project import Project

EXAMPLES = """
tasks lm_eval/tasks --spec lm-eval@0.4.13
tasks tasks/ --format json
"""

_COLUMNS = ("kind", "name", "version", "file")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    _common.add_format(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Read and print; what cannot be read is no failure of a list."""
    project = _trees.find_project(args)
    paths = _trees.paths_of(args, project)
    if paths is None:
        listed, skipped = _of_files(args, project), []
    else:
        from evalspec.prompts.lm_eval.listing import listed_names

        tree = _trees.open_trees(args, paths)
        listed = listed_names(tree)
        skipped = [
            {"path": path, "line": each.line, "rule": each.rule, "reason": each.reason}
            for path, each in tree.skipped()
        ]
    if args.format == "json":
        _common.write_output(args, _common.dumps({"names": listed, "skipped": skipped}))
    else:
        _common.write_output(args, _table(listed))
    return 0


def _of_files(args: argparse.Namespace, project: Project) -> list[dict[str, Any]]:
    """The valid records of task files of our own contract."""
    selection = _common.select_files(args, project)
    reading = _common.reading_of(args, project)
    from evalspec.prompts.records import is_template
    from evalspec.tasks import open_tasks

    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    with open_tasks(paths, reading, allow_bad=True) as files:
        return [
            {
                "kind": "template task" if is_template(value, schema) else "task",
                "name": value["task_id"],
                "version": value.get("version"),
                "path": file.path,
                "line": record.line,
                "schema": project.families.short(schema.id),
                "tasks": None,
            }
            for file in files
            for record, schema, value in file.valid()
        ]


def _table(listed: list[dict[str, Any]]) -> str:
    rows = [_COLUMNS, *map(_row, listed)]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    return "".join(
        "  ".join([f"{row[at]:<{widths[at]}}" for at in range(3)] + [row[3]]).rstrip() + "\n" for row in rows
    )


def _row(said: dict[str, Any]) -> tuple[str, str, str, str]:
    version = "-" if said["version"] is None else str(said["version"])
    if said["path"] is None:
        place = counted(len(said["tasks"] or ()), "task")
    else:
        place = f"{said['path']}:{said['line']}" if said["line"] else str(said["path"])
    return said["kind"], visible(str(said["name"])), visible(version), visible(place)
