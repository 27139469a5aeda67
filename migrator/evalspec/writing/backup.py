"""Copies of the files that a run is about to replace, in a folder of their own."""

from __future__ import annotations

import os

from evalspec.writing import _os


class Backups:
    """The backups of one run: taken before anything is replaced, withdrawn if nothing is.

    A backup has its file's path relative to the run's folder, and its bytes, mode, owner and times; copying it back
    restores the file. Nothing that is in the folder already is overwritten.
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
        if _os.link_status(to) is not None:
            raise FileExistsError(17, os.strerror(17), to)
        self._files.append(to)
        _os.copy(real, to)
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
