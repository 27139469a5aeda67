"""Show the schema versions, newest first, and the migrations between them with their promises."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    import argparse

    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.schema.family import Families

EXAMPLES = """
history
history --verbose
history v1..v3
history --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments; `--verbose` lists the operations too."""
    parser.add_argument(
        "range", nargs="?", default="", metavar="A..B", help="only the way from version A to version B (head)"
    )
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print the history."""
    from evalspec.migrate import load_history
    from evalspec.report import Console, plain
    from evalspec.report.history_graph import history_data, history_text

    families = _common.find_project(args).families
    history = load_history(families)
    way = _way(args.range, families, history) if args.range else None
    if args.format == "json":
        _common.write_output(args, _common.dumps({"versions": history_data(history, families, way)}))
    else:
        paint = plain if args.output else Console(sys.stdout).paint
        _common.write_output(args, history_text(history, families, way, verbose=args.verbose, paint=paint))
    return 0


def _way(given: str, families: Families, history: History[Migration]) -> frozenset[str]:
    """The versions from A to B.

    Raises:
        UnknownVersion: there is no such version.
        UsageError: no way leads from one to the other.
    """
    start, dots, end = given.partition("..")
    if not dots:
        raise UsageError(
            f"a way goes from one version to another, not {visible(given)}", fix="history v1..v3"
        )
    ids = [
        "@".join(families.resolve(name)) if name not in ("", "head") else history.head(families.default)
        for name in (start, end)
    ]
    return frozenset([ids[0], *(step.id for step in history.path(*ids))])
