"""Show what migrating would change in prompts and outputs. Nothing is written.

Every record is rendered under each version on its way. A prompt that changes is shown at its first difference, white
space visible; outputs are compared on the fixtures' sample generations.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
diff --from v1 --to v3 tasks/
diff --to head tasks.jsonl --exit-code
diff --from acme@v1 --to acme@v2 --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument(
        "--from", dest="from_", metavar="VERSION", help="the version of records that carry no marker"
    )
    parser.add_argument(
        "--to", required=True, metavar="VERSION", help="v3, family@v3, head, or +1 for the next one"
    )
    parser.add_argument("--exit-code", action="store_true", help="exit 1 if anything changes, or may")
    parser.add_argument(
        "--allow-bad-tasks", action="store_true", help="leave invalid records out instead of refusing"
    )
    _common.add_format(parser)
    _common.add_jobs(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print, and return the exit code."""
    project = _common.find_project(args)
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project, args.from_)
    from evalspec.diff import diff_versions
    from evalspec.migrate import load_history
    from evalspec.migrate.target import resolve_target
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.report import Console, plain
    from evalspec.report.version_diff import version_diff_data, version_diff_text

    history = load_history(project.families)
    upgrades = Upgrades(project.families, history, resolve_target(args.to, project, history, paths, reading))
    with _common.progress(args, "comparing", paths) as advance:
        diff = diff_versions(
            paths,
            upgrades,
            reading,
            allow_bad=args.allow_bad_tasks,
            jobs=args.jobs or _common.cores(),
            advance=advance,
        )
    if args.format == "json":
        _common.write_output(args, _common.dumps(version_diff_data(diff, project.families)))
    else:
        paint = plain if args.output else Console(sys.stdout).paint
        text = _common.findings_text(args, diff.outcome.bad, 20)
        _common.write_output(args, text + version_diff_text(diff, project.families, paint=paint))
    return 1 if args.exit_code and not diff.is_empty else 0
