"""The files of a tree of tasks, by their path in it: names and bytes, wherever they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

_IGNORED = frozenset(["__pycache__", ".ipynb_checkpoints"])
_NEVER = frozenset([".git", ".hg", ".svn", "node_modules"])


class Files(Protocol):
    """A tree of files. Paths are relative to its root, with `/` between folders."""

    def names(self) -> list[str]:
        """Every file's path, in any order."""

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is none."""


@runtime_checkable
class Kept(Protocol):
    """Files whose bytes have a name: what is made of them is made once, for every tree that has them."""

    def kept_of(self, name: str) -> tuple[dict[tuple[str, str], Any] | None, str]:
        """What was made of files, by the name of their bytes and by their folder; and that name for a file."""


class FolderFiles:
    """A folder on disk. Links are followed for files, and never lead out of the folder."""

    def __init__(self, root: str) -> None:
        import os

        self.root = os.path.realpath(root)
        self._plain: frozenset[str] = frozenset()

    def names(self) -> list[str]:
        """Every file's path under the folder."""
        import os

        out: list[str] = []
        links: set[str] = set()
        start = len(self.root.rstrip("/")) + 1
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _NEVER:
                        waiting.append(entry.path)
                else:
                    out.append(entry.path[start:])
                    if entry.is_symlink():
                        links.add(out[-1])
        self._plain = frozenset(out) - links
        return out

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is none, or it is not in the folder."""
        import os

        path = f"{self.root}/{name}"
        try:
            if name not in self._plain and not os.path.realpath(path).startswith(self.root.rstrip("/") + "/"):
                return None
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            try:
                pieces = []
                while piece := os.read(handle, 1 << 16):
                    pieces.append(piece)
            finally:
                os.close(handle)
        except OSError:
            return None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class MemoryFiles:
    """Files held in memory: of a git revision, or of a test."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def names(self) -> list[str]:
        """Every file's path."""
        return list(self.files)

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is none."""
        return self.files.get(name)


class FilesBelow:
    """Part of other files: those below a folder of theirs, by their paths in it.

    Args:
        files: all of them.
        root: the folder, from their root; empty for all. Includes may reach all that is below it.
        parts: the files, and folders, that are in the index, from the files' root.
    """

    def __init__(self, files: Files, root: str, parts: Sequence[str]) -> None:
        self._files = files
        self._kept = files if isinstance(files, Kept) else None
        self._above = f"{root}/" if root else ""
        self._parts = tuple(f"{part}/" if part else "" for part in parts)

    def names(self) -> list[str]:
        """The files of the parts."""
        start = len(self._above)
        return [name[start:] for name in self._files.names() if f"{name}/".startswith(self._parts)]

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is none below the folder."""
        return None if name.startswith("../") else self._files.read(self._above + name)

    def kept_of(self, name: str) -> tuple[dict[tuple[str, str], Any] | None, str]:
        """See `Kept`; nothing is kept where the files that this is part of keep nothing."""
        return self._kept.kept_of(self._above + name) if self._kept is not None else (None, "")


def yaml_names(names: list[str]) -> list[str]:
    """The files that are indexed: those that end in `.yaml`, sorted by path, none in a cache folder."""
    found = [name for name in names if name.endswith(".yaml") and _IGNORED.isdisjoint(name.split("/"))]
    return sorted(found)
