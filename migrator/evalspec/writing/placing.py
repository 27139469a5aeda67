"""The instant at which a file is replaced: by its temp, and only if it is the file that was read.

Where the system can, the two swap names in one step. What stood there is at the temp's name then, and goes back if it
is another file, or one that somebody wrote to: no change is lost, whenever it comes. Elsewhere the file is looked at
just before.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from evalspec.errors import WriteError
from evalspec.writing import _os

if TYPE_CHECKING:
    from evalspec.writing.temp import PendingFile, Target


def changed(target: Target, what: str) -> WriteError:
    """The refusal to write over what somebody else wrote."""
    return WriteError(
        target.given, f"{what}; it was left as it is", fix="run again, on the file as it is now"
    )


def look_again(file: PendingFile) -> None:
    """Refuse a file that is not the one that was read any more.

    Raises:
        WriteError: it is not, or cannot be looked at.
    """
    if what := file.changed():
        raise changed(file.target, what)


def put_in_place(file: PendingFile, old: str) -> None:
    """Replace a file by its temp, unless it is not the one that was read: that one stays, or goes back.

    Args:
        file: the file and its temp.
        old: a second name of the file that was read.

    Raises:
        OSError, WriteError: it was not replaced.
    """
    if file.seen is None:
        _place_new(file)
        return
    try:
        swapped = _os.swap(file.temp, file.target.real)
    except FileNotFoundError as error:
        raise changed(file.target, "it was taken away while it was being replaced") from error
    if swapped:
        _look_at_swapped(file)
    else:
        _os.replace(file.temp, file.target.real)
        _look_behind(file, old)


def _place_new(file: PendingFile) -> None:
    try:
        placed = _os.place(file.temp, file.target.real)
    except FileExistsError as error:
        raise changed(file.target, "somebody made it meanwhile") from error
    if not placed:
        _os.replace(file.temp, file.target.real)


def _look_at_swapped(file: PendingFile) -> None:
    try:
        displaced = file.has_displaced()
    except OSError:
        _os.swap(file.temp, file.target.real)
        raise
    if displaced:
        _os.swap(file.temp, file.target.real)
        if (
            file.has_displaced()
        ):  # the new bytes were replaced in their turn: the latest file is the one to stay
            _os.swap(file.temp, file.target.real)
        raise changed(file.target, "somebody changed it while it was being replaced")


def _look_behind(file: PendingFile, old: str) -> None:
    """Put a file back that somebody wrote to in the instant between the last look at it and its replacement.

    One that somebody *replaced* in that instant, which is some microseconds long, is not seen.
    """
    found = None
    with suppress(OSError):
        found = _os.link_status(old)
    if file.seen is None or found is None or (found.st_size, found.st_mtime_ns) == file.seen.stamp:
        return
    _os.replace(old, file.target.real)
    raise changed(file.target, "somebody changed it while it was being replaced")
