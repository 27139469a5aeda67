"""Print one task: its resolved configuration, each value with the place it comes from; or one prompt as a page.

With `--prompt` the first row's prompt is shown, its parts with their origins, white space visible; `--limit N` shows
the first N rows.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from evalspec.cli import _common, _lines, _trees, _views

if TYPE_CHECKING:
    import argparse

    from evalspec.project import Project
    from evalspec.prompts.lines import Line
    from evalspec.prompts.lm_eval import ResolvedValue

EXAMPLES = """
task arc_easy lm_eval/tasks
task arc_easy lm_eval/tasks --prompt --shots 2 --chat chatml
task arith_001 tasks.jsonl --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("name", metavar="NAME", help="the task")
    _common.add_paths(parser)
    parser.add_argument("--prompt", action="store_true", help="its prompt as a page, instead of its settings")
    _views.add_views(parser)
    _views.add_rows(parser)
    _common.add_format(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Find, print, and return the exit code."""
    project = _trees.find_project(args)
    if args.prompt:
        return _prompt(args, project)
    values = _values(args, project)
    if args.format == "json":
        from evalspec.prompts.lm_eval.listing import resolved_json

        said = {"task": args.name, "values": [resolved_json(value) for value in values]}
        _common.write_output(args, _common.dumps(said))
    else:
        from evalspec.report.prompt_page import settings_page

        _common.write_output(args, settings_page(values))
    return 0


def _values(args: argparse.Namespace, project: Project) -> list[ResolvedValue]:
    """The task's settings.

    Raises:
        UsageError: there is no such task.
    """
    paths = _trees.paths_of(args, project)
    if paths is not None:
        from evalspec.prompts.lm_eval.open_tree import one_task

        return one_task(_trees.open_trees(args, paths), args.name)
    from evalspec.prompts.record_values import values_of_task
    from evalspec.tasks import open_tasks

    selection = _common.select_files(args, project)
    reading = _common.reading_of(args, project)
    found = [file.path for file in selection.files]
    _common.warn_pending(args, project, found)
    with open_tasks(found, reading, allow_bad=True) as files:
        return values_of_task(files, args.name)


def _prompt(args: argparse.Namespace, project: Project) -> int:
    from evalspec.cli import render
    from evalspec.prompts.tokens import token_teller
    from evalspec.prompts.view_config import views_of

    more = {"task": [args.name], "jobs": 1, "cache_key": False, "null": False}
    more |= {"write_out": True, "allow_bad_tasks": True}
    for key, value in more.items():
        setattr(args, key, value)
    views = views_of(project, args.view, _views.flags_of(args))
    views = tuple(view if view.limit is not None else replace(view, limit=1) for view in views)
    told = _lines.Told(args)
    with ExitStack() as stack:
        made = render.rendered(args, project, views, stack, token_teller(views))
        lines: list[Line] = list(told.each(made))
    if args.format == "json":
        _common.write_output(args, "".join(_common.dumps(line.data) for line in lines))
    else:
        from evalspec.report.prompt_page import prompt_page

        _common.write_output(args, "\n".join(prompt_page(line.data) for line in lines))
    return 1 if told.failed else 0
