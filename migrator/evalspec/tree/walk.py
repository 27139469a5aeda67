"""The files of a folder and of the folders below it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import WriteError
from evalspec.tree.patterns import NEVER, unreadable_folder
from evalspec.tree.sniff import format_of

if TYPE_CHECKING:
    from collections.abc import Callable

HIDDEN = "hidden"
DEAD_LINK = "a link that leads nowhere"


class Skipped(NamedTuple):
    """A file that has a task file's suffix and was left out, and why."""

    path: str
    reason: str


class Found(NamedTuple):
    """A candidate: its name as it is shown and opened, and its absolute path with every link resolved."""

    path: str
    real: str


def walk(folder: str, skipped: list[Skipped]) -> list[Found]:
    """The files below a folder that have a task file's suffix, sorted by name.

    Hidden names are left out. A link to a folder is followed once everything that lies here for real is known, and
    only where it leads to something new: never in a circle, and never up to what holds the folder itself.

    Args:
        folder: its name; the files' names begin with it, unless it is the current folder.
        skipped: what is left out is added here.

    Raises:
        WriteError: a folder cannot be read, or a FIFO, a socket or a device has a task file's name.
    """
    top = os.path.realpath(folder)
    prefix = "" if folder == os.curdir else os.path.join(folder, "")
    seen = {top}
    waiting = [(prefix, top)]
    links: list[tuple[str, str]] = []
    found: list[Found] = []
    while waiting or links:
        if not waiting:
            name, target = links.pop(0)
            if target in seen or f"{top}/".startswith(f"{target.rstrip('/')}/"):
                continue
            seen.add(target)
            waiting.append((name, target))
        prefix, real = waiting.pop()
        for entry in _entries(prefix, real):
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                inner = os.path.join(real, entry.name)
                if not entry.name.startswith(".") and entry.name not in NEVER and inner not in seen:
                    seen.add(inner)
                    waiting.append((path + "/", inner))
            elif entry.is_symlink() and os.path.isdir(entry.path):
                if not entry.name.startswith("."):
                    links.append((path + "/", os.path.realpath(entry.path)))
            elif format_of(entry.name) is not None:
                reason = _reason(entry, path)
                if reason is not None:
                    skipped.append(Skipped(path, reason))
                elif entry.is_symlink():
                    found.append(Found(path, os.path.realpath(entry.path)))
                else:
                    found.append(Found(path, os.path.join(real, entry.name)))
        links.sort()
    return sorted(found)


def refuse_special(path: str, mode: int) -> None:
    """Refuse what is no regular file, by its name: opening a FIFO would wait for its other end.

    Raises:
        WriteError: always, unless the mode is that of a regular file.
    """
    kinds: tuple[tuple[Callable[[int], bool], str], ...] = (
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    if stat.S_ISREG(mode):
        return
    kind = next((name for test, name in kinds if test(mode)), "no regular file")
    raise WriteError(path, f"{kind}, not a file", fix="name a file, or give its text on standard input: `-`")


def _entries(prefix: str, real: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(real) as entries:
            return list(entries)
    except OSError as error:
        raise unreadable_folder(prefix or os.curdir, error) from error


def _reason(entry: os.DirEntry[str], path: str) -> str | None:
    """Why a file with a task file's suffix is no candidate; None where it is one."""
    if entry.name.startswith("."):
        return HIDDEN
    if entry.is_file(follow_symlinks=False):
        return None
    try:
        mode = os.stat(entry.path).st_mode
    except OSError:
        return DEAD_LINK
    refuse_special(path, mode)
    return None
