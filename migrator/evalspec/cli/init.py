"""Make a spec project: a family of schema versions of your own, with its fixtures, its lock, and what CI runs.

The family branches off our head, written out in full, so that it is yours to change; files of ours are upgraded to it.
With --fresh it begins with a small contract that has nothing to do with ours.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from evalspec.errors import visible

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
init --name acme
init acme-evals --name acme
init --fresh --name tiny
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="where (this folder)")
    parser.add_argument("--name", metavar="NAME", help="the name of the family (the folder's)")
    parser.add_argument("--fresh", action="store_true", help="begin with a small contract of your own")


def run(args: argparse.Namespace) -> int:
    """Make the project."""
    from evalspec.draft import new_project

    name = args.name or os.path.basename(os.path.abspath(args.folder)).lower().replace("-", "_")
    written = new_project(args.folder, name, fresh=args.fresh)
    if args.verbose:
        sys.stdout.write("".join(f"{visible(os.path.join(args.folder, path))}\n" for path in written))
    where = "" if args.folder == "." else f" in {visible(args.folder)}"
    sys.stdout.write(
        f"{name}@v1 is made and released{where}: {len(written)} files\n"
        "next:\n"
        f"  evalspec check                       says what the project lacks\n"
        f"  evalspec migrate --to {name}@v1 FILE…   upgrades task files to it\n"
        '  evalspec revision -m "…"             drafts the next version\n'
    )
    return 0
