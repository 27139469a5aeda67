"""Finish a run that was killed, or with --undo take it back. Where nothing is pending, nothing is done.

The journal of a run lies in the project's folder or, with no project, in the folder of the files it wrote. It is looked
for in PATH, then above it, then below it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    import argparse

    from evalspec.writing import Recovery

EXAMPLES = """
recover
recover tasks/
recover --undo tasks/
"""

_SENTENCES = {
    "nothing": "nothing to recover: no run is pending in {}",
    "finished": "the run in {} is finished: every file has its new bytes",
    "undone": "the run in {} is taken back: every file has its old bytes",
    "dropped": "the run in {} had not replaced a file yet: its leftovers are gone, every file is as it was",
    "ended": "the run in {} had ended: its leftovers are gone, every file has its new bytes",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="the folder, or a file (default: the current folder)"
    )
    parser.add_argument("--undo", action="store_true", help="put the old files back")
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Recover and say what was done."""
    from evalspec.writing import recover

    done = [recover(folder, undo=args.undo) for folder in _folders(args)]
    if args.format == "json":
        _common.write_output(args, _common.dumps({"runs": [_data(each) for each in done]}))
    else:
        _common.write_output(args, "".join(map(_text, done)))
    return 0


def _folders(args: argparse.Namespace) -> list[str]:
    """Where journals are: in the folder that was named or that holds the file, else in one above it, else below it."""
    from evalspec.project import Project
    from evalspec.writing import pending, pending_above, pending_below

    named = args.path or os.curdir
    if not os.path.exists(named):
        raise UsageError(f"no such file or folder: {visible(named)}", fix="name the folder of the run")
    folder = os.path.realpath(named if os.path.isdir(named) else os.path.dirname(os.path.abspath(named)))
    project = Project.find(folder, config=args.config).folder
    for place in (folder, project):
        if place is not None and pending(place) is not None:
            return [place]
    above = [run.folder for run in pending_above([folder])]
    return [max(above, key=len)] if above else [run.folder for run in pending_below(folder)] or [folder]


def _text(done: Recovery) -> str:
    lines = [_SENTENCES[done.outcome].format(visible(done.folder))]
    lines += [f"    new: {visible(path)}" for path in done.placed]
    lines += [f"    old: {visible(path)}" for path in done.undone]
    lines += [f"    kept as it is: {visible(path)}: {reason}" for path, reason in done.kept]
    return "".join(f"{line}\n" for line in lines)


def _data(done: Recovery) -> dict[str, object]:
    return {
        "outcome": done.outcome,
        "folder": done.folder,
        "placed": list(done.placed),
        "undone": list(done.undone),
        "dropped": list(done.dropped),
        "kept": [{"path": path, "reason": reason} for path, reason in done.kept],
    }
