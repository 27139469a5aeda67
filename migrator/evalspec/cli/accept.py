"""Record in evalspec.lock that the changed prompts of tasks were looked at, and why they may change.

A prompt that changes while its task's version stays fails `evalspec check`, unless its fingerprints are in the lock.
The record is of the prompts as they are now: changed once more, they have to be looked at once more. A project that
keeps changelog fragments (a folder `changelog.d`) gets one.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common, _lock
from evalspec.errors import UsageError, counted, visible

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
accept arith_001 --reason "a space before the answer was one too many"
accept 'belebele_*' --reason "full-width colons, as in the paper"
"""

#: The folder of changelog fragments, as towncrier has it.
_FRAGMENTS = "changelog.d"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="ids of tasks, or patterns")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why their prompts may change")
    parser.add_argument("--no-fragment", action="store_true", help="write no changelog fragment")


def run(args: argparse.Namespace) -> int:
    """Write the record."""
    from fnmatch import fnmatch

    from evalspec.check.lock import NAME, Key, lock_text, read_lock

    reason = " ".join(args.reason.split())
    if not reason:
        raise UsageError("a reason has to say something", fix='--reason "…"')
    project, folder = _lock.project_of(args)
    lock = read_lock(folder)
    prints = _lock.prints_of_tasks(project)
    lines = dict(lock.lines)
    tasks: list[str] = []
    for wanted in args.tasks:
        found = [wanted] if wanted in prints else [task for task in prints if fnmatch(task, wanted)]
        if not found:
            raise UsageError(f"no task {visible(wanted)!r}", fix="`evalspec tasks` lists the tasks")
        tasks += found
    tasks = list(dict.fromkeys(tasks))
    for task in tasks:
        lines[Key("accepted", task)] = (*prints[task], reason)
    path = os.path.relpath(os.path.join(folder, NAME))
    _common.write_to(path, lock_text(lines))
    sys.stdout.write(f"{path}: {counted(len(tasks), 'task')} accepted\n")
    fragments = os.path.join(folder, _FRAGMENTS)
    if os.path.isdir(fragments) and not args.no_fragment:
        name = (
            "+prompts-" + "".join(char if char.isalnum() else "-" for char in tasks[0])[:40] + ".changed.md"
        )
        some = ", ".join(tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
        fragment = os.path.relpath(os.path.join(fragments, name))
        _common.write_to(fragment, f"Prompts changed with no new version of {some}: {reason}\n")
        sys.stdout.write(f"{fragment}: written\n")
    return 0
