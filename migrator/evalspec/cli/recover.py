"""Finish a run that was killed, or with --undo take it back. Where nothing is pending, nothing is done.

The journal of a run lies in the project's folder or, with no project, in the folder of the files it wrote.
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
        "path", nargs="?", metavar="PATH", help="the folder (default: the project's, else the current one)"
    )
    parser.add_argument("--undo", action="store_true", help="put the old files back")
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Recover and say what was done."""
    from evalspec.writing import recover

    done = recover(_folder(args), undo=args.undo)
    if args.format == "json":
        _common.write_output(args, _common.dumps(_data(done)))
    else:
        _common.write_output(args, _text(done))
    return 0


def _folder(args: argparse.Namespace) -> str:
    """Where the journal is: in the folder that was named, or that holds the file; else in the project's above it."""
    from evalspec.project import Project
    from evalspec.writing import pending

    named = args.path or os.curdir
    if not os.path.exists(named):
        raise UsageError(f"no such file or folder: {visible(named)}", fix="name the folder of the run")
    folder = named if os.path.isdir(named) else os.path.dirname(os.path.abspath(named))
    if pending(folder) is not None:
        return folder
    return Project.find(folder, config=args.config).folder or folder


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
