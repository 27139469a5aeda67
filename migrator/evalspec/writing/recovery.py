"""What is done about a run that did not end: finish it, or take it back.

A run that is interrupted, refused or fails tidies up through the same code, so there is one way back and it is the
tested one. Everything here may itself be stopped at any instant and be started again.

What the states of a journal mean to it:

    preparing   nothing was replaced: temps are taken away
    go          every temp was finished: those still there are put in place, or, with `undo`, the old files are
    undo        the old files are put back, also if nobody asks for it this time: some temps may be gone
    end         every file is in place: what is left over is taken away

A file and its temp may have swapped names: then the old file is at the temp's name, or, if the run was stopped just
there, a file that somebody put there after the run's last look, which goes back to its place.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalspec.errors import WriteError, visible
from evalspec.writing import _os, journal
from evalspec.writing.guard import Guard
from evalspec.writing.journal import Entry, Holder, Log, Stamp
from evalspec.writing.names import JOURNAL, PREFIX, temp_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.writing.guard import OnWait

Outcome = Literal["nothing", "finished", "undone", "dropped", "ended"]


class Recovery(NamedTuple):
    """What a recovery did. Paths are relative to the folder.

    Attributes:
        outcome: `nothing` was pending; the run was `finished` or `undone`; it was `dropped`, for it had not come
            to replacing files; it had `ended`, and only its leftovers were taken away.
        folder: where the journal lay.
        placed: files that have their new bytes since this recovery.
        undone: files that have their old bytes again since this recovery.
        dropped: files whose temp was taken away, finished or not; they have their old bytes, as before.
        kept: files somebody changed since, with the reason; they are as that person left them.
        holder: who the run was, if it is known.
    """

    outcome: Outcome
    folder: str
    placed: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    holder: Holder | None = None


def recover(
    folder: str | os.PathLike[str],
    *,
    undo: bool = False,
    wait: float = 10.0,
    on_wait: OnWait | None = None,
) -> Recovery:
    """Finish the run that did not end in `folder`, or with `undo` take it back. Nothing pending is fine.

    Raises:
        GuardHeld: a run is at work there.
        WriteError: files were changed since so that the run can be neither finished nor undone without losing
            something (nothing was touched then), the journal cannot be read, or the system refused.
    """
    where = os.path.realpath(folder)
    if _os.link_status(os.path.join(where, JOURNAL)) is None:
        return Recovery("nothing", where)
    guard = Guard(where)
    guard.acquire(wait, on_wait)
    try:
        return settle(where, undo=undo)
    finally:
        guard.release()


def settle(folder: str, *, undo: bool) -> Recovery:
    """As `recover`, for one who holds the guard of `folder` (a real path) already."""
    try:
        log = journal.read(folder)
        if log is None:
            return Recovery("nothing", folder)
        if log.head is None:
            _os.remove(os.path.join(folder, JOURNAL))
            return Recovery("nothing", folder)
        return _Settlement(folder, log, log.head).run(undo=undo)
    except OSError as error:
        path = error.filename if isinstance(error.filename, str) else folder
        refused = _os.refusal(path, error, doing="recovering the run that did not end")
        raise WriteError(path, refused.reason, fix="remove the cause, then run `evalspec recover`") from error


class _File(NamedTuple):
    """One file of a journal and what is found at its place now.

    `swapped` says what is at the name `new` of a file that swapped names with its temp (which `has_new` does not
    count): the `old` file, or an `other` one.
    """

    entry: Entry
    real: str
    new: str
    old: str
    found: Stamp | None
    has_new: bool
    has_old: bool
    inside: bool
    swapped: Literal["", "old", "other"] = ""

    @property
    def alien(self) -> bool:
        """It says that a run made it outside of the folder, which none does: not ours to make or to take away."""
        return self.entry.old is None and not self.inside

    @property
    def placed(self) -> bool:
        """The new bytes are in place, and nobody changed them since."""
        return not self.has_new and self.found == self.entry.new

    @property
    def intact(self) -> bool:
        """The old file is in place (or, for a new file, none), and nobody changed it since."""
        return self.found == self.entry.old


class _Settlement:
    """One recovery at work."""

    def __init__(self, folder: str, log: Log, head: journal.Head) -> None:
        self.folder = folder
        self.log = log
        self.head = head
        self.folders: set[str] = set()

    def run(self, *, undo: bool) -> Recovery:
        files = {index: self._look(index, entry) for index, entry in self.log.entries.items()}
        if self.log.state != "preparing":
            files |= {index: self._after_swap(files[index]) for index in self.log.chosen}
        chosen = {index: file for index, file in files.items() if index in self.log.chosen}
        rest = [file for index, file in files.items() if index not in self.log.chosen]
        result = Recovery("nothing", self.folder, holder=self.head.holder)
        match self.log.state:
            case "go" if not undo:
                result = self._finish(list(chosen.values()), result)
            case "go" | "undo":
                result = self._undo(list(chosen.values()), result)
            case "end":
                result = result._replace(outcome="ended")
            case "preparing":
                result = result._replace(outcome="dropped")
        dropped = [file.entry.path for file in rest if self._drop(file)]
        # By now every file that was chosen has its bytes; what is kept of others is no longer needed.
        for file in chosen.values():
            self._drop(file)
        self._drop_parts(files)
        for folder in sorted(self.folders):
            _os.sync_folder(folder)
        _os.remove(os.path.join(self.folder, JOURNAL))
        return result._replace(dropped=(*result.dropped, *dropped))

    # ---------------------------------------------------------------- finish

    def _finish(self, files: list[_File], result: Recovery) -> Recovery:
        waiting = [file for file in files if file.has_new]
        stuck = dict(self._unfinishable(files))
        if stuck and self.head.atomic == "run":
            raise self._conflict(stuck, "finished", "evalspec recover --undo")
        placed = []
        for file in waiting:
            if file.entry.path not in stuck:
                _os.replace(file.new, file.real)
                self.folders.add(os.path.dirname(file.real))
                placed.append(file.entry.path)
        self._note("end")
        kept = tuple(sorted(stuck.items()))
        return result._replace(outcome="finished", placed=tuple(placed), kept=kept)

    def _unfinishable(self, files: list[_File]) -> Iterator[tuple[str, str]]:
        for file in files:
            if file.alien:
                yield file.entry.path, "it lies outside of the folder, where no run makes files"
            elif file.swapped == "other":
                yield file.entry.path, "it was changed while the run replaced it"
            elif file.has_new and self._stamp(file.new) != file.entry.new:
                yield file.entry.path, "its finished temp was changed"
            elif file.has_new and not file.intact:
                yield file.entry.path, "it was changed after the run read it"
            elif not file.has_new and file.intact and file.entry.old != file.entry.new:
                yield file.entry.path, "its finished temp is gone"

    # ---------------------------------------------------------------- undo

    def _undo(self, files: list[_File], result: Recovery) -> Recovery:
        stuck = dict(self._not_undoable(files))
        if stuck:
            raise self._conflict(stuck, "undone", "evalspec recover")
        self._note("undo")
        undone = []
        for file in files:
            if file.has_new or file.swapped == "other":
                continue  # it was never replaced, or another's goes back: `_drop` tidies up
            if file.entry.old is None and file.placed:
                _os.remove(file.real)
                undone.append(file.entry.path)
            elif file.has_old and not file.intact:
                _os.replace(file.old, file.real)
                undone.append(file.entry.path)
            self.folders.add(os.path.dirname(file.real))
        unplaced = [file.entry.path for file in files if file.has_new]
        return result._replace(outcome="undone", undone=tuple(undone), dropped=tuple(unplaced))

    def _not_undoable(self, files: list[_File]) -> Iterator[tuple[str, str]]:
        for file in files:
            if file.alien:
                yield file.entry.path, "it lies outside of the folder, where no run makes files"
            if file.alien or file.has_new or file.intact or file.swapped == "other":
                continue
            if self.log.state == "undo" and not file.has_old and not file.placed:
                continue  # an earlier undo put it back, and somebody went on from there
            if not file.placed:
                yield file.entry.path, "it was changed after the run replaced it"
            elif file.entry.old is not None and not file.has_old:
                yield file.entry.path, "its old bytes are no longer kept"

    # ---------------------------------------------------------------- the pieces

    def _note(self, state: str) -> None:
        """Write a state into the journal, on the disk: a later recovery goes on from there."""
        if self.log.state == state:
            return
        for folder in sorted(self.folders):
            _os.sync_folder(folder)
        log = journal.Journal.reopen(self.folder, self.log)
        try:
            log.append(state)
            log.sync()
        finally:
            log.close()

    def _look(self, index: int, entry: Entry) -> _File:
        real = os.path.realpath(os.path.join(self.folder, *entry.path.split("/")))
        beside = os.path.dirname(real)
        new, old = (os.path.join(beside, temp_name(self.head.token, index, kind)) for kind in ("new", "old"))
        target = _os.link_status(real)
        found = Stamp(target.st_size, target.st_mtime_ns) if target is not None else None
        inside = real.startswith(os.path.join(self.folder, ""))
        has_new, has_old = (self._is_own(path, inside, target) for path in (new, old))
        return _File(entry, real, new, old, found, has_new, has_old, inside)

    def _is_own(self, path: str, inside: bool, target: os.stat_result | None) -> bool:
        """Whether a temp lies at `path` that is a run's own, and not something put there for us to move.

        A clone may bring a journal, and a symlink that leads out of the folder; it cannot bring a temp to where
        the symlink leads. Somebody else with leave to write there could, but not in this user's name.
        """
        found = _os.link_status(path)
        if found is None or not _os.is_regular(found):
            return False
        if inside and not _os.anyone_may_write(os.path.dirname(path)):
            return True
        return _os.is_of_this_user(found) or (target is not None and found.st_uid == target.st_uid)

    def _after_swap(self, file: _File) -> _File:
        """The file, if it swapped names with its temp: as one whose temp is gone."""
        if not file.has_new or (at_new := self._stamp(file.new)) == file.entry.new:
            return file
        if at_new == file.entry.old:
            return file._replace(has_new=False, swapped="old")
        if file.found == file.entry.new:
            return file._replace(has_new=False, swapped="other")
        return file

    @staticmethod
    def _stamp(path: str) -> Stamp | None:
        found = _os.link_status(path)
        return Stamp(found.st_size, found.st_mtime_ns) if found is not None else None

    def _drop(self, file: _File) -> bool:
        """Take a file's temps away (and put back what is somebody else's); whether a `new` one was among them."""
        gone = False
        if file.swapped == "other":
            _os.replace(file.new, file.real)
        if file.has_old:
            _os.remove(file.old)
        if file.has_new:
            gone = _os.remove(file.new)
        elif file.swapped == "old":
            _os.remove(file.new)
        if file.has_old or file.has_new or file.swapped:
            self.folders.add(os.path.dirname(file.real))
        return gone

    def _drop_parts(self, files: dict[int, _File]) -> None:
        for index, file in files.items():
            beside = os.path.dirname(file.real)
            for number in range(file.entry.parts):
                path = os.path.join(beside, temp_name(self.head.token, index, f"part{number}"))
                if self._is_own(path, file.inside, None) and _os.remove(path):
                    self.folders.add(beside)

    def _conflict(self, stuck: dict[str, str], wanted: str, other: str) -> WriteError:
        path, reason = next(iter(sorted(stuck.items())))
        more = f" (and {len(stuck) - 1} more)" if len(stuck) > 1 else ""
        token = self.head.token
        return WriteError(
            path,
            f"{reason}{more}, so the run that did not end in {visible(self.folder)} cannot be {wanted}; "
            "nothing was touched",
            fix=f"`{other}`, or put the file back as it was; if neither will do, the bytes are beside it in "
            f"{PREFIX}{token}-N.old (before the run) and .new (after it): keep what you need, delete the rest "
            f"and {JOURNAL}",
        )
