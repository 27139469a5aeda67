"""Copies of the files that a run is about to replace, in a folder of their own."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from evalspec.writing import _os
from evalspec.writing.names import BACKUP


class Backups:
    """The backups of one run: taken before anything is replaced, withdrawn if nothing is.

    A backup has its file's path relative to the run's folder, and its bytes, mode, owner and times; copying it back
    restores the file. It is whole as soon as it has its name. Nothing that is in the folder already is overwritten,
    but a backup that a run before this one took of the same file, unchanged since, will do.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._files: list[str] = []
        self._folders: list[str] = []

    def take(self, real: str, path: str) -> str:
        """Copy the file `real`, whose path in the run's folder is `path`, and return where the copy is.

        Raises:
            OSError: something is there already, or the system refused.
        """
        to = os.path.join(self.folder, *path.split("/"))
        beside = os.path.dirname(to)
        above = beside
        missing = []
        while above and not os.path.isdir(above):
            missing.append(above)
            above = os.path.dirname(above)
        self._folders += reversed(missing)
        _os.make_folder(beside)
        there, now = _os.link_status(to), _os.status(real)
        if there is not None:
            if (there.st_size, there.st_mtime_ns) != (now.st_size, now.st_mtime_ns):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), to)
            return to
        temp = os.path.join(beside, BACKUP)
        _os.remove(temp)  # a killed run's
        try:
            _os.copy(real, temp)
            self._files.append(to)
            _os.replace(temp, to)
        except OSError:
            with suppress(OSError):
                _os.remove(temp)
            raise
        return to

    def sync(self) -> None:
        """Bring the names of the backups to the disk."""
        for folder in sorted({os.path.dirname(path) for path in self._files} | set(self._folders)):
            _os.sync_folder(folder)

    def withdraw(self) -> None:
        """Take the backups away again, and the folders made for them as far as they are empty."""
        while self._files:
            _os.remove(self._files[-1])
            self._files.pop()
        while self._folders:
            try:
                os.rmdir(self._folders.pop())
            except OSError:  # somebody put a file there, or it was never made
                continue
