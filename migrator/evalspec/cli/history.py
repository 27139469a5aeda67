"""Show the schema versions, newest first, and the migrations between them with their promises."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
history
history --verbose
history --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments; `--verbose` lists the operations too."""
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print the history."""
    from evalspec.migrate import load_history
    from evalspec.report import Console, plain
    from evalspec.report.history_graph import history_data, history_text

    families = _common.find_project(args).families
    history = load_history(families)
    if args.format == "json":
        _common.write_output(args, _common.dumps({"versions": history_data(history, families)}))
    else:
        paint = plain if args.output else Console(sys.stdout).paint
        _common.write_output(args, history_text(history, families, verbose=args.verbose, paint=paint))
    return 0
