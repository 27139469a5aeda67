"""Small things around a run: its folder, a worker's side of it, and the run of a single file."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from evalspec.writing import _os
from evalspec.writing.replace import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import IO, Self

    from evalspec.writing._os import AnyPath

_P = ParamSpec("_P")
_R = TypeVar("_R")


def open_part(path: AnyPath) -> IO[bytes]:
    """A part file (or the temp of a pending file), open for a worker to write to; it must be there already.

    A worker that outlives its killed parent so fails here instead of making a file that nobody would take away.
    """
    return open(path, "r+b", buffering=1 << 16)


class PartWriter:
    """A worker's part file, as `open_part` opens it, that tells a failing write as the `WriteError` of its file.

    Args:
        part: the part file.
        path: the file that it is a part of.
        stays: the part is the temp itself, whose bytes are not copied elsewhere.
    """

    def __init__(self, part: AnyPath, path: str, *, stays: bool = False) -> None:
        self._path = path
        self._write_behind = _os.WriteBehind() if stays else None
        self._part = self._telling(open_part, part)

    def write(self, data: bytes) -> None:
        """Add bytes at the end.

        Raises:
            WriteError: the system refused.
        """
        self._telling(self._part.write, data)
        if self._write_behind:
            self._write_behind.wrote(self._part.fileno(), len(data))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        if details[1] is None:
            self._telling(self._part.close)
            return
        with suppress(OSError):
            self._part.close()

    def _telling(self, call: Callable[_P, _R], *args: _P.args, **options: _P.kwargs) -> _R:
        try:
            return call(*args, **options)
        except OSError as error:
            raise _os.refusal(self._path, error) from error


def run_folder(paths: Iterable[AnyPath], project: AnyPath | None = None) -> str:
    """The folder for a run over these files: the project's if all are below it, else the nearest that holds them.

    A path that is a folder counts itself. Give what the user named, not the files found there: a later run over the
    same folder then has the same guard, and finds the journal of this one, whatever files have come or gone.
    """
    named = [os.path.abspath(path) for path in paths]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in named]
    if project is not None:
        root = os.path.abspath(project)
        if all(os.path.join(folder, "").startswith(os.path.join(root, "")) for folder in folders):
            return root
        folders.append(root)
    return os.path.commonpath(folders) if folders else os.getcwd()


def write_file(path: AnyPath, data: bytes, *, new: bool | None = None, wait: float = 10.0) -> None:
    """Write one whole file as a run of its own, the guard of its folder held: old bytes or new, nothing between.

    Args:
        path: the file.
        data: its bytes.
        new: it must (`True`) or must not (`False`) be missing; None: either is fine.
        wait: seconds to wait for another run in the folder.

    Raises:
        GuardHeld: another run is at work in that folder.
        WriteError: the file was not written; what was there is intact.
    """
    if new is None:
        new = not os.path.exists(path)
    with Run(os.path.dirname(os.path.realpath(path)), wait=wait) as run:
        with run.prepare(path, new=new) as out:
            out.write(data)
        run.commit()
