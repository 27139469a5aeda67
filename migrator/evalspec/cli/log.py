"""Show the history of one task's prompts: each commit of HEAD's history in which they changed, newest first.

A change is told with its class and its smallest edit, and with the task's own version before and after: `silent` where
prompts changed and the version did not. A task is followed through renames of its files, by its name.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common, _views

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
log arc_easy
log arc_easy lm_eval/tasks --since v0.4.8
log arith_001 tasks.jsonl --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("name", metavar="TASK", help="the task")
    _common.add_paths(parser)
    parser.add_argument("--since", metavar="REV", help="leave out what this revision has in its own history")
    _common.add_no_cache(parser)
    _views.add_views(parser)
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Look through the history, print, and return the exit code."""
    from evalspec.cli._trees import find_project
    from evalspec.diff import Repository, Wanted, history_of

    project = find_project(args)
    wanted = Wanted(
        args.name,
        tuple(args.paths),
        args.since or "",
        args.spec or project.foreign or "",
        tuple(args.view),
        _views.flags_of(args),
        keep=not args.no_cache,
    )
    history = history_of(wanted, Repository(), project)
    if args.format == "json":
        _common.write_output(args, _common.dumps(history.to_dict()))
        return 0
    from evalspec.report import Console, plain
    from evalspec.report.log_text import log_text

    paint = plain if args.output else Console(sys.stdout).paint
    _common.write_output(args, log_text(history, paint=paint))
    return 0
