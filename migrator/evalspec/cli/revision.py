"""Draft the project's next schema version, its migration, and the fixtures that `evalspec check` will ask for.

The draft changes nothing but the marker. Change the schema, let --autogenerate say in the migration what changed, and
add the fixtures; `check` tells what is missing. `evalspec lock` then releases the version.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _lock
from evalspec.errors import UsageError, counted, visible

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
revision -m "add metric chrf"
revision --autogenerate
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("-m", "--message", metavar="TEXT", help="what the version is about")
    parser.add_argument(
        "--autogenerate",
        action="store_true",
        help="add to the draft's migration what its schema says and it does not",
    )


def run(args: argparse.Namespace) -> int:
    """Draft."""
    from evalspec.draft import complete_migration, draft_revision

    project, _ = _lock.project_of(args)
    if bool(args.message) == args.autogenerate:
        raise UsageError(
            "a revision is drafted with a message, or the draft that there is completed",
            fix='revision -m "add metric chrf", then revision --autogenerate',
        )
    if args.autogenerate:
        done = complete_migration(project)
        sys.stdout.write("".join(f"{visible(operation)}\n" for operation in done.operations))
        count = counted(len(done.operations), "operation")
        sys.stdout.write(f"{visible(done.path)}: {count} added\n")
        return 0
    written = draft_revision(project, args.message)
    sys.stdout.write("".join(f"{visible(path)}\n" for path in written))
    return 0
