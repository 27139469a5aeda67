"""`evalspec check --watch`: the same check again and again."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from evalspec.cli import _trees

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def watch(args: argparse.Namespace) -> int:
    """Check in a process of its own, again whenever a file of the project or the paths changes, until interrupted."""
    import subprocess
    import time

    words = [word for word in sys.argv[1:] if word != "--watch"]
    project = _trees.find_project(args)
    folders = args.paths or [project.folder or os.curdir]
    seen = None
    while True:
        now = _stamps(folders)
        if now != seen:
            seen = now
            if sys.stdout.isatty():
                sys.stdout.write("\x1b[2J\x1b[H")
            sys.stdout.flush()
            command = [sys.executable, "-m", "evalspec", *words]
            code = subprocess.run(command, check=False).returncode  # noqa: S603 - the command that we are
            if code not in (0, 1):
                return code
            sys.stderr.write("watching; Ctrl-C ends it\n")
        time.sleep(0.5)


def _stamps(paths: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Size and time of every file below the paths that may be a task file or a part of a project."""
    found = {}
    for top in paths:
        walk = os.walk(top) if os.path.isdir(top) else [(os.path.dirname(top), [], [os.path.basename(top)])]
        for folder, folders, names in walk:
            folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
            for name in names:
                try:
                    status = os.stat(os.path.join(folder, name))
                except OSError:
                    continue
                found[os.path.join(folder, name)] = (status.st_size, status.st_mtime_ns)
    return found
