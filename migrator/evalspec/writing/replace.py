"""A run: files prepared beside the old ones, then put in their places all together (design.md, "Migrations").

    with Run(folder) as run:
        seen = identify(path)                 # before it is read
        with run.prepare(path, seen=seen) as out:
            out.write(…)
        run.commit()

At any instant each file has its old bytes or its new ones, whatever ends the process or the machine:

1. The name of a temp is in the journal before the temp exists. Temps lie beside their files.
2. `commit` looks whether the files are still those that were read, brings the temps to the disk (all in one go,
   which takes half the time, and none that was thrown away), gives each old file a second name, and writes `go`,
   with all names, into the journal.
3. It replaces the files one by one, writes `end`, and takes the second names and the journal away. Where the system
   can, a file and its temp swap names: what stood there is at the temp's name then, and goes back if it is not the
   file that was read. So no change by another program is lost, whenever it comes.

A run that stops before `go` never happened; after it, it can be finished or taken back (`recover`).
`atomic="run"` takes everything back if one file is refused, also after `go`; with `atomic="file"` the others go on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from evalspec.errors import WriteError, visible
from evalspec.writing import _os
from evalspec.writing.backup import Backups
from evalspec.writing.guard import Guard
from evalspec.writing.journal import Head, Holder, Journal, is_inside
from evalspec.writing.names import temp_name
from evalspec.writing.outcome import PartlyWritten, Refusal, Written
from evalspec.writing.placing import changed, look_again, put_in_place
from evalspec.writing.recovery import Recovery, settle
from evalspec.writing.signals import held
from evalspec.writing.temp import Identity, PendingFile, Target, check

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from evalspec.writing._os import AnyPath
    from evalspec.writing.guard import OnWait
    from evalspec.writing.journal import Atomic, Stamp


class Run:
    """One run that writes files below a folder.

    Args:
        folder: where the guard and the journal are: the project's folder or, with no project, the targets' own
            (see `run_folder`).
        atomic: `file`: each file is replaced or not by itself; `run`: all are or none is.
        wait: seconds to wait for another run to end.
        on_wait: called once, with its `Holder` (None where unknown), if there is a wait.
        backup: a folder for copies of the old files; nothing in it is overwritten.

    Raises:
        GuardHeld: on entry, another run holds the folder.
        WriteError: on entry, the folder cannot be written, or a run that did not end there cannot be finished.

    Attributes:
        recovered: on entry a run that did not end is finished first; this says what was done.
        unsettled: why leftovers of this run could not be taken away, if so; `recover` will.
    """

    def __init__(
        self,
        folder: AnyPath,
        *,
        atomic: Atomic = "file",
        wait: float = 10.0,
        on_wait: OnWait | None = None,
        backup: AnyPath | None = None,
    ) -> None:
        self._named = os.path.abspath(folder)
        self.folder = os.path.realpath(folder)
        self.atomic = atomic
        self.recovered = Recovery("nothing", self.folder)
        self.unsettled: WriteError | None = None
        self._wait = wait
        self._on_wait = on_wait
        self._backups = Backups(os.path.abspath(backup)) if backup is not None else None
        self._guard = Guard(self.folder)
        self._journal: Journal | None = None
        self._token = os.urandom(8).hex()
        self._targets: dict[str, Target] = {}
        self._count = 0
        self._parts: dict[int, int] = {}
        self._files: dict[int, PendingFile] = {}
        self._durable = False
        self._complete = False

    # ---------------------------------------------------------------- from start to end

    def __enter__(self) -> Self:
        self._guard.acquire(self._wait, self._on_wait)
        try:
            with held():
                self.recovered = settle(self.folder, undo=False)
                head = Head(self._token, Holder(os.getpid(), _host()), self.atomic)
                self._journal = Journal.create(self.folder, head)
        except OSError as error:
            self._close()
            raise _os.refusal(self.folder, error, doing="writing its journal") from error
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with held():
                self._close()
        finally:
            if error is not None and self.unsettled is not None:
                error.add_note(f"leftovers stay until `evalspec recover`: {self.unsettled}")
        if error is None and self.unsettled is not None:
            raise self.unsettled

    def _close(self) -> None:
        """Take back what was not committed, and everything of the run's own; let the guard go."""
        try:
            for file in self._files.values():
                file.abandon()
            if self._journal is not None:
                self._journal.close()
                try:
                    settle(self.folder, undo=not self._complete)
                    if self._backups is not None and not self._complete:
                        self._backups.withdraw()
                except WriteError as error:
                    self.unsettled = error
                except OSError as error:
                    self.unsettled = _os.refusal(self.folder, error)
        finally:
            self._journal = None
            self._guard.release()

    # ---------------------------------------------------------------- preparing

    def announce(self, paths: Iterable[AnyPath]) -> None:
        """Write into the journal, at once, the files that may be replaced. `prepare` does it for one that is not.

        Raises:
            WriteError: a path is not below the run's folder, or the journal cannot be written.
        """
        self._announce([os.fspath(path) for path in paths])

    def prepare(self, path: AnyPath, *, seen: Identity | None = None, new: bool = False) -> PendingFile:
        """A temp for the bytes to be of a file, symlinks followed.

        Args:
            path: the file.
            seen: its identity before it was read; now, if it will be read after this.
            new: there is no such file yet.

        Raises:
            WriteError: it cannot be replaced, or is not the file that was seen any more, or is prepared already.
        """
        [target] = self._announce([os.fspath(path)])
        if target.number in self._files:
            other = self._files[target.number].target.given
            raise WriteError(
                target.given,
                f"it is the same file as {visible(other)}, which this run writes",
                fix="name it once",
            )
        now = check(target, new=new)
        if now is None and not target.real.startswith(os.path.join(self.folder, "")):
            raise WriteError(target.given, "a new file cannot be made outside of the run's folder", fix="")
        if seen is not None and now != seen:
            raise changed(target, "somebody changed it while it was being read")
        temp = self._beside(target, "new")
        self._files[target.number] = file = PendingFile(target, temp, now, self._on_end)
        return file

    def part(self, path: AnyPath) -> Path:
        """A new, empty part file beside `path` for a worker to write to (`open_part`); gone after the run."""
        from pathlib import Path

        [target] = self._announce([os.fspath(path)])
        number = self._parts.get(target.number, 0)
        part = self._beside(target, f"part{number}")
        try:
            self._log.append("part", target.number, number)
            self._parts[target.number] = number + 1
            _os.close(_os.create(part))
        except OSError as error:
            raise _os.refusal(target.given, error) from error
        return Path(part)

    def discard(self, path: AnyPath) -> None:
        """Throw away what was prepared for a file, finished or not: it stays as it is."""
        real = os.path.realpath(path)
        target = self._targets.get(real)
        if target is not None and target.number in self._files:
            self._files[target.number].discard()

    # ---------------------------------------------------------------- committing

    def commit(self) -> Written:
        """Put every prepared file in its place. SIGINT and SIGTERM wait until that is done.

        Raises:
            PartlyWritten: with `atomic="file"`, some files were refused; the others have their new bytes.
            WriteError: nothing was replaced, or everything was taken back.
        """
        files = list(self._files.values())
        if open_ones := [file.target.given for file in files if not file.finished]:
            raise ValueError(f"not finished yet: {', '.join(open_ones)}")
        refused: dict[int, WriteError] = {}
        for file in files:
            with Refusal(self.atomic, file, refused):
                look_again(file)
                file.sync()
        files = [file for file in files if file.target.number not in refused]
        copies = self._back_up(files, self._backups) if self._backups is not None else {}
        with held():
            if files:
                files = self._switch(files, refused)
            self._complete = True
            self._close()
        written = Written(
            tuple(file.target.given for file in files),
            tuple(refused.values()),
            tuple((f.target.given, copies[f.target.number]) for f in files if f.target.number in copies),
        )
        if refused:
            raise PartlyWritten(written)
        return written

    def _switch(self, files: list[PendingFile], refused: dict[int, WriteError]) -> list[PendingFile]:
        """Steps 2 and 3 of this module's page; returns the files that were replaced."""
        log = self._log
        folders = sorted({os.path.dirname(file.target.real) for file in files})
        for file in files:
            if file.seen is not None:
                with Refusal(self.atomic, file, refused):
                    _os.keep(file.target.real, self._beside(file.target, "old"))
        chosen = [file for file in files if file.target.number not in refused]
        try:
            for folder in folders:
                _os.sync_folder(folder)
            log.append("go", [file.target.number for file in chosen])
            log.sync()
        except OSError as error:
            raise _os.refusal(self.folder, error, doing="writing its journal") from error
        placed = []
        for file in chosen:
            with Refusal(self.atomic, file, refused):
                try:
                    look_again(file)
                    put_in_place(file, self._beside(file.target, "old"))
                except (OSError, WriteError):
                    self._note_refused(file)
                    raise
                placed.append(file)
        with suppress(OSError):  # every file is in place, and without this line the journal says so as well
            for folder in folders:
                _os.sync_folder(folder)
            log.append("end")
        return placed

    def _note_refused(self, file: PendingFile) -> None:
        """Tell the journal of a file that stays; where it cannot be told, a recovery looks at the file's stamp."""
        if self.atomic == "run":
            with suppress(OSError):
                self._log.append("undo")
        with suppress(OSError):
            if not file.has_displaced():  # what is another's is not to be dropped: a recovery puts it back
                self._log.append("drop", file.target.number)

    def _back_up(self, files: list[PendingFile], backups: Backups) -> dict[int, str]:
        copies = {}
        named = self.folder
        try:
            for file in files:
                named = file.target.given
                if file.seen is not None:
                    copies[file.target.number] = backups.take(file.target.real, file.target.path)
            backups.sync()
        except OSError as error:
            where = visible(backups.folder)
            raise _os.refusal(named, error, doing=f"its backup in {where}") from error
        return copies

    # ---------------------------------------------------------------- the pieces

    @property
    def _log(self) -> Journal:
        if self._journal is None:
            raise ValueError("the run is not at work: it has not begun, or is over")
        return self._journal

    def _announce(self, paths: list[str]) -> list[Target]:
        log = self._log
        targets = []
        fresh = []
        for path in paths:
            real = os.path.realpath(path)
            target = self._targets.get(real)
            if target is None:
                target = Target(self._count, path, real, self._relative(path, real))
                self._count += 1
                self._targets[real] = target
                fresh.append(target)
            targets.append(target)
        if fresh:
            try:
                log.extend([("file", target.number, target.path) for target in fresh])
                log.sync()
                if not self._durable:
                    _os.sync_folder(self.folder)
                    self._durable = True
            except OSError as error:
                raise _os.refusal(self.folder, error, doing="writing its journal") from error
        return targets

    def _relative(self, path: str, real: str) -> str:
        """A target's path for the journal: below the run's folder, by itself or through a symlink that is."""
        given = os.path.abspath(path)
        link = os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given))
        for candidate, folder in ((real, self.folder), (link, self.folder), (given, self._named)):
            prefix = os.path.join(folder, "")
            if candidate.startswith(prefix):
                relative = candidate.removeprefix(prefix).replace(os.sep, "/")
                if is_inside(relative):
                    return relative
        raise WriteError(
            path,
            f"it is not below {visible(self.folder)}",
            fix="run in a folder that holds every file to be written",
        )

    def _beside(self, target: Target, kind: str) -> str:
        return os.path.join(os.path.dirname(target.real), temp_name(self._token, target.number, kind))

    def _on_end(self, file: PendingFile, stamp: Stamp | None) -> None:
        """A pending file was finished (into the journal with it) or thrown away (its temp with it)."""
        index = file.target.number
        try:
            if stamp is not None:
                old = file.seen.stamp if file.seen is not None else (None, None)
                self._log.append("ready", index, *stamp, *old)
            else:
                del self._files[index]
                _os.remove(file.temp)
        except OSError as error:
            raise _os.refusal(file.target.given, error) from error


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "this machine")
