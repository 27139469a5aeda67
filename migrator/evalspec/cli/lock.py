"""Write the project's schema versions and migrations into evalspec.lock: they are released, and never change again.

With `lock_prompts = true` in the configuration, a line for the prompts of every task goes in, too. A line that the base
has is not changed: what is released stays. CI only reads the lock; `evalspec lock --check` says whether it is complete.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common, _lock
from evalspec.errors import counted

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
lock
lock --check
lock --base origin/main
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--base", metavar="REV", help="a revision (where the branch left the default branch)")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 where something is not locked"
    )
    parser.add_argument("--output", metavar="FILE", help="write the lock to another file")


def run(args: argparse.Namespace) -> int:
    """Make the lock, and write it."""
    from evalspec.check.lock import NAME, lock_text, read_lock
    from evalspec.check.released import current_lines, refuse_changes

    project, folder = _lock.project_of(args)
    lock, base = read_lock(folder), _lock.base_lock_of(args, project)
    lines = current_lines(project)
    refuse_changes(base, lines)
    lines |= {key: words for key, words in lock.lines.items() if key.kind == "accepted"}
    if project.config.lock_prompts:
        lines |= _lock.prompt_lines(project)
    text = lock_text(lines)
    path = os.path.relpath(os.path.join(folder, NAME))
    new = [key for key in lines if key not in lock.lines]
    changed = [key for key in lines if key in lock.lines and lines[key] != lock.lines[key]]
    gone = [key for key in lock.lines if key not in lines]
    if args.check:
        for word, keys in (("not locked", new), ("locked as it was", changed), ("locked, and gone", gone)):
            for key in keys:
                sys.stdout.write(f"{key.kind} {key.name} is {word}\n")
        return int(bool(new or changed or gone))
    if new or changed or gone or args.output:
        _common.write_to(args.output or path, text)
    told = f"{counted(len(new), 'line')} new, {len(changed)} changed, {len(gone)} gone"
    sys.stdout.write(f"{args.output or path}: {counted(len(lines), 'line')}, {told}\n")
    return 0
