"""Draft the project's next schema version, its migration, and the fixtures that `evalspec check` will ask for.

The draft changes nothing but the marker. Change the schema, say in the migration what changed, and add the fixtures;
`check` tells what is missing. `evalspec lock` then releases the version.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _lock
from evalspec.errors import visible

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
revision -m "add metric chrf"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("-m", "--message", required=True, metavar="TEXT", help="what the version is about")


def run(args: argparse.Namespace) -> int:
    """Draft."""
    from evalspec.draft import draft_revision

    project, _ = _lock.project_of(args)
    written = draft_revision(project, args.message)
    sys.stdout.write("".join(f"{visible(path)}\n" for path in written))
    return 0
