"""Is a run at work in a folder, or has one not ended there?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import WriteError, visible
from evalspec.writing.names import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalspec.writing.journal import Holder, State


class PendingRun(NamedTuple):
    """A journal that lies in a folder.

    Attributes:
        folder: the folder.
        live: its run is still at work, so there is nothing to recover.
        holder: who that is or was, if it is known.
        state: how far it came; None where its journal cannot be read.
        files: how many files it set out to replace.
    """

    folder: str
    live: bool
    holder: Holder | None
    state: State | None
    files: int

    @property
    def sentence(self) -> str:
        """What there is to say about it, and the next step."""
        import shlex

        who = f" (process {self.holder.pid} on {visible(self.holder.host)})" if self.holder else ""
        where = visible(self.folder)
        if self.live:
            return f"a run is at work in {where}{who}"
        recover = f"`evalspec recover {shlex.quote(where)}`"
        if self.state is None:
            return f"a run in {where} did not end, and its journal cannot be read: {recover} says why"
        ways = {
            "preparing": f"no file was replaced; {recover} tidies up",
            "go": f"{recover} finishes it, with --undo it takes it back",
            "undo": f"it was being taken back; {recover} goes on with that",
            "end": f"every file is in place; {recover} tidies up",
        }
        files = "1 file" if self.files == 1 else f"{self.files} files"
        return f"a run over {files} in {where} did not end{who}: {ways[self.state]}"


def pending_above(paths: Iterable[str | os.PathLike[str]]) -> list[PendingRun]:
    """The runs that may concern these files: pending in their folders or in one above, where a wider run had begun."""
    folders: set[str] = set()
    for path in paths:
        folder = os.path.abspath(path)
        if not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return [found for folder in sorted(folders) if (found := pending(folder)) is not None]


def pending_below(folder: str | os.PathLike[str]) -> list[PendingRun]:
    """The runs pending in a folder and in those below it, symlinks not followed."""
    found = [pending(place) for place, _, names in os.walk(folder) if JOURNAL in names]
    return sorted(one for one in found if one is not None)


def pending(folder: str | os.PathLike[str]) -> PendingRun | None:
    """The run that is at work in `folder` or did not end there; None (at the cost of one system call) without one."""
    where = os.fspath(folder)
    try:
        os.lstat(os.path.join(where, JOURNAL))
    except OSError:
        return None
    from evalspec.writing import journal
    from evalspec.writing.guard import Guard

    guard = Guard(where)
    try:
        live = not guard.try_acquire()
        guard.release()
        log = journal.read(where)
    except (WriteError, OSError):
        return PendingRun(where, live=False, holder=None, state=None, files=0)
    if log is None:
        return None
    who = log.head.holder if log.head is not None else None
    count = len(log.chosen) if log.state != "preparing" else len(log.entries)
    return PendingRun(where, live, who, log.state, count)
