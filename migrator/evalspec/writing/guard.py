"""The guard: one run at a time writes in a folder.

It is an advisory lock (`flock`) on the folder itself, so nothing lies on the disk that could be left behind, and the
kernel gives it back when its holder ends, however that happens. Where a folder cannot be locked (Windows, some
network file systems) a file `.evalspec-guard` in it is locked instead; it is unlinked before it is let go, and whoever
gets the lock looks whether the file it locked is still the one that is there.

Who holds it is read from the first line of the holder's journal.
"""

from __future__ import annotations

import errno
import os
import sys
import time
import weakref
from typing import TYPE_CHECKING

from evalspec.errors import GuardHeld, WriteError, visible
from evalspec.writing import _os, journal
from evalspec.writing.names import GUARD

if TYPE_CHECKING:
    from collections.abc import Callable

    OnWait = Callable[[journal.Holder | None], object]

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_POLL = 0.05
#: Seconds before anybody is told of the wait: `pending` looks at a guard for less than that.
_PATIENCE = 0.2
_NO_FOLDER_LOCKS = frozenset(
    [errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOLCK, errno.EISDIR]
)


class Guard:
    """The guard of one folder, taken by `acquire` and let go by `release` or by the end of the process."""

    __slots__ = ("__weakref__", "_fd", "_file", "_watched", "folder")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._fd = -1
        self._file = False
        self._watched = False

    def acquire(self, wait: float, on_wait: OnWait | None = None) -> None:
        """Take the guard.

        Args:
            wait: seconds to wait for another holder.
            on_wait: called once, with the holder where it is known, when there is a wait.

        Raises:
            GuardHeld: somebody still held it after `wait` seconds.
            WriteError: the folder cannot be read, or is none.
        """
        started = time.monotonic()
        told = on_wait is None
        while not self.try_acquire():
            waited = time.monotonic() - started
            if waited >= wait:
                who = holder(self.folder)
                raise GuardHeld(self.folder, who.pid if who else None, visible(who.host) if who else None)
            if not told and on_wait is not None and waited >= min(_PATIENCE, wait / 2):
                told = True
                on_wait(holder(self.folder))
            time.sleep(min(_POLL, wait - waited))
        if not self._watched and hasattr(os, "register_at_fork"):
            # A worker that is forked from here must not go on holding what a killed parent held.
            this = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _forget(this))
            self._watched = True

    def try_acquire(self) -> bool:
        """Take the guard if nobody holds it; whether that was so."""
        try:
            return self._lock_folder()
        except OSError as error:
            if error.errno not in _NO_FOLDER_LOCKS:
                raise _os.refusal(self.folder, error, doing="taking its guard") from error
        try:
            return self._lock_file()
        except OSError as error:
            raise _os.refusal(self.folder, error, doing="taking its guard") from error

    def release(self) -> None:
        """Let the guard go; nothing of it is left."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        if not self._file:
            os.close(fd)
            return
        path = os.path.join(self.folder, GUARD)
        if (
            sys.platform == "win32"
        ):  # an open file cannot be unlinked there, and one that another opened stays
            os.close(fd)
            try:
                os.unlink(path)
            except OSError:
                return
        else:
            try:
                _os.remove(path)
            finally:
                os.close(fd)

    def forget(self) -> None:
        """In a forked child: close what was inherited. The parent goes on holding the guard."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _lock_folder(self) -> bool:
        if sys.platform == "win32":
            raise OSError(errno.ENOTSUP, "no folder can be locked")
        fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            locked = _lock(fd)
        except BaseException:
            os.close(fd)
            raise
        if not locked:
            os.close(fd)
            return False
        self._fd, self._file = fd, False
        return True

    def _lock_file(self) -> bool:
        path = os.path.join(self.folder, GUARD)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        fd = os.open(path, flags, 0o666)
        try:
            held = _lock(fd)
            there = _os.link_status(path) if held else None
            # Its last holder may have unlinked it after we opened it: then what we locked guards nothing.
            if there is None or (there.st_dev, there.st_ino) != (os.fstat(fd).st_dev, os.fstat(fd).st_ino):
                os.close(fd)
                return False
        except BaseException:
            os.close(fd)
            raise
        self._fd, self._file = fd, True
        return True


def _lock(fd: int) -> bool:
    """Lock an open file for this process alone, without waiting; whether that succeeded."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _forget(this: weakref.ref[Guard]) -> None:
    guard = this()
    if guard is not None:
        guard.forget()


def holder(folder: str) -> journal.Holder | None:
    """Who wrote the journal in `folder`; None where that cannot be told."""
    try:
        log = journal.read(folder)
    except (WriteError, OSError):
        return None
    return log.head.holder if log is not None and log.head is not None else None
