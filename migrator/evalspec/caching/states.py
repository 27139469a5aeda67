"""What a path is now, as a short text: equal texts mean that whoever reads there finds the same.

A file is told by what `stat` says of it, as git's index tells it: size, times of content and of inode, inode, mode. One
that was changed less than `_RESTED` before could change again within the same tick of the clock, so it is told by its
bytes until it has rested ("racily clean" in git's words).
"""

from __future__ import annotations

import os
from hashlib import blake2b
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Nanoseconds: file systems with the coarsest clocks count two seconds as one.
_RESTED = 3_000_000_000
#: What tools write beside what they read, and nothing that is found depends on.
_NO_ENTRY = frozenset(["__pycache__", ".evalspec_cache"])
#: A path where nothing is.
MISSING = "-"

#: The functions of the system, whatever a recorder has put in their place.
_stat, _lstat, _scandir, _open = os.stat, os.lstat, os.scandir, open


def content(path: str, now: int) -> str:
    """What a reader of a file depends on; `now` is the time in nanoseconds."""
    try:
        about = _stat(path)
    except (OSError, ValueError):
        return MISSING
    return _of_file(path, about, now)


def existence(path: str, now: int) -> str:
    """What somebody depends on who asks whether a path is there, and what kind of thing it is, or how large."""
    return content(path, now)


def link(path: str, now: int) -> str:
    """What somebody depends on who follows a path: whether it is a link, and where to."""
    try:
        about = _lstat(path)
        if S_ISLNK(about.st_mode):
            return f"link {os.readlink(path)}"
    except (OSError, ValueError):
        return MISSING
    return _of_file(path, about, now)


def listing(path: str, now: int) -> str:  # noqa: ARG001 - the shape of every state
    """What somebody depends on who lists a folder: the names in it, and which of them are folders."""
    try:
        with _scandir(path) as entries:
            names = [
                f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                for entry in entries
                if entry.name not in _NO_ENTRY
            ]
    except (OSError, ValueError):
        return MISSING
    return "names " + _digest("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))


def _of_file(path: str, about: os.stat_result, now: int) -> str:
    if S_ISDIR(about.st_mode):
        return f"folder {about.st_dev} {about.st_ino}"
    if not S_ISREG(about.st_mode):
        return f"special {about.st_mode} {about.st_rdev}"
    if now - max(about.st_mtime_ns, about.st_ctime_ns) < _RESTED:
        return _by_bytes(path)
    return told(about)


def told(about: os.stat_result) -> str:
    """A file that has rested, by what `stat` says of it."""
    return f"{about.st_size} {about.st_mtime_ns} {about.st_ctime_ns} {about.st_ino} {about.st_mode}"


def _by_bytes(path: str) -> str:
    try:
        with _open(path, "rb") as file:
            return "bytes " + _digest(file.read())
    except OSError:
        return MISSING


def is_still(state: str, kind: str, path: str, now: int) -> bool:
    """Whether a path is in a state that it was in."""
    if state.startswith("bytes "):
        return _by_bytes(path) == state
    return STATES[kind](path, now) == state


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


#: How each kind of dependence is told.
STATES: dict[str, Callable[[str, int], str]] = {
    "content": content,
    "existence": existence,
    "link": link,
    "listing": listing,
}
