"""One file on its way to be replaced: the temp that is being written beside it."""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import WriteError, visible
from evalspec.writing import _os
from evalspec.writing.journal import Stamp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from evalspec.writing._os import AnyPath

_BUFFER = 1 << 16


class Identity(NamedTuple):
    """What tells whether a file is still the one that was read, without reading it again.

    Attributes:
        device: the file system's number.
        inode: the file's number there: another one was put in its place if it differs.
        size: bytes.
        mtime_ns: time of the last change, nanoseconds since 1970.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.size, self.mtime_ns)


def identify(source: AnyPath | int) -> Identity:
    """The identity of a file, by its path (symlinks followed) or open descriptor. Take it before reading.

    Raises:
        WriteError: the file is not there, or cannot be looked at.
    """
    try:
        found = _os.status(source if isinstance(source, int) else os.fspath(source))
    except OSError as error:
        raise _os.refusal("the open file" if isinstance(source, int) else os.fspath(source), error) from error
    return _identity(found)


def _identity(found: os.stat_result) -> Identity:
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class Target(NamedTuple):
    """A file that a run may replace.

    Attributes:
        number: its number in the journal.
        given: its path as the caller named it, for messages.
        real: where its bytes are, symlinks followed.
        path: relative to the run's folder, as it is in the journal.
    """

    number: int
    given: str
    real: str
    path: str


def check(target: Target, *, new: bool) -> Identity | None:
    """Whether a target may be replaced, before anything is made: its identity, or None where `new` and not there.

    Raises:
        WriteError: it is no regular file, or it is read-only, or it is not there (with `new`: it is).
    """
    try:
        found = _os.status(target.real)
        locked_in = _os.is_locked_in(found, os.path.dirname(target.real))
    except FileNotFoundError:
        if new:
            return None
        leads = os.path.islink(target.given)
        raise WriteError(
            target.given, "its symlink leads to nothing" if leads else "it is not there", fix="check the path"
        ) from None
    except OSError as error:
        raise _os.refusal(target.given, error) from error
    if new:
        raise WriteError(target.given, "it is there already", fix="move it away, or choose another name")
    if not _os.is_regular(found):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file (a FIFO, a device or a socket)"
        raise WriteError(target.given, f"it is {kind}", fix="name a file")
    # Replacing needs leave for the folder only; but who made a file read-only does not expect it to change.
    # (To root every file looks writable, hence the look at the mode itself.)
    if not found.st_mode & 0o222 or not os.access(target.real, os.W_OK):
        raise WriteError(target.given, "it is read-only", fix=f"chmod u+w {visible(target.given)}")
    if locked_in:
        raise WriteError(
            target.given,
            "it is another user's, in a sticky folder where only its owner may replace it",
            fix="copy it to a folder of your own, and run there",
        )
    return _identity(found)


class PendingFile:
    """The bytes to be of one file, in a temp beside it. Made by `Run.prepare`.

    As a context manager it is finished at the end of the block, and thrown away if the block raises.

    Attributes:
        target: the file it is for.
        temp: the temp's path.
        seen: the file as it was before it was read; None for a file that is new.
        stamp: the finished temp; None until then.
    """

    __slots__ = (
        "_buffer",
        "_closed",
        "_crc",
        "_discarded",
        "_fd",
        "_on_end",
        "_write_behind",
        "seen",
        "stamp",
        "target",
        "temp",
    )

    def __init__(
        self,
        target: Target,
        temp: str,
        seen: Identity | None,
        on_end: Callable[[PendingFile, Stamp | None], None],
    ) -> None:
        self.target = target
        self.temp = temp
        self.seen = seen
        self.stamp: Stamp | None = None
        self._buffer = bytearray()
        self._crc: int | None = None
        self._on_end = on_end
        self._closed = False
        self._discarded = False
        self._fd = -1
        self._write_behind = _os.WriteBehind()
        try:
            # A new file gets the mode that any program's new file gets; another's temp is nobody else's to read.
            self._fd = _os.create(temp, 0o666 if seen is None else 0o600)
        except OSError as error:
            raise _os.refusal(target.given, error) from error

    @property
    def path(self) -> Path:
        """The temp, for a worker process to write to (see `open_part`)."""
        from pathlib import Path

        return Path(self.temp)

    @property
    def finished(self) -> bool:
        """Whether all bytes are written."""
        return self.stamp is not None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Add bytes at the end (behind those that a worker wrote)."""
        self._must_be_open()
        if len(self._buffer) + len(data) < _BUFFER:
            self._buffer += data
            return
        self._flush()
        self._put(data)

    def copy_from(self, source: AnyPath, start: int = 0) -> int:
        """Add the bytes of another file, a worker's part or not, at the end.

        Args:
            source: the file. More may be written to it meanwhile: then it is copied from again.
            start: its first byte to copy.

        Returns:
            Where in the file the copying ended.
        """
        self._must_be_open()
        self._flush()
        try:
            fd = _os.open_to_read(os.fspath(source))
            try:
                _os.move_to(fd, start)
                before = _os.to_end(self._fd)
                _os.transfer(fd, self._fd)
                copied = _os.to_end(self._fd) - before
                _os.begin_to_sync(self._fd, before, copied)
                return start + copied
            finally:
                _os.close(fd)
        except OSError as error:
            raise _os.refusal(self.target.given, error) from error

    def expect(self, crc: int) -> None:
        """Say what was read, as `zlib.crc32` of all of it: it is compared again before the file is replaced.

        Without this a change is seen by the file's number, size and time, which miss one that a program makes within
        the clock's tick (some milliseconds) and that leaves the size as it is.
        """
        self._crc = crc

    def finish(self) -> None:
        """No more bytes: give the temp the file's mode and owner. `Run.commit` brings it to the disk."""
        if self.stamp is not None:
            return
        self._must_be_open()
        self._flush()
        try:
            if self.seen is not None:
                _os.keep_metadata(self._fd, _os.status(self.target.real), self.target.real)
            stamp = _identity(_os.status(self._fd)).stamp
        except OSError as error:
            raise _os.refusal(self.target.given, error) from error
        self._close()
        self._on_end(self, stamp)
        self.stamp = stamp

    def discard(self) -> None:
        """Throw the temp away: the file stays as it is."""
        if self._discarded:
            return
        self._discarded = True
        self.stamp = None
        self.abandon()
        self._on_end(self, None)

    def abandon(self) -> None:
        """Let go of the temp, which its run takes away."""
        fd, self._fd = self._fd, -1
        self._closed = True
        if fd >= 0:
            with suppress(OSError):
                _os.close(fd)

    def sync(self) -> None:
        """Bring the finished temp to the disk."""
        try:
            _os.sync_path(self.temp)
        except OSError as error:
            raise _os.refusal(self.target.given, error) from error

    def changed(self) -> str:
        """What somebody else did to the file since it was read; empty if nothing."""
        try:
            now = _identity(_os.status(self.target.real))
        except FileNotFoundError:
            return "" if self.seen is None else "it was taken away while it was being read"
        except OSError as error:
            raise _os.refusal(self.target.given, error) from error
        if self.seen is None:
            return "somebody made it meanwhile"
        if now == self.seen and (self._crc is None or self._crc == _crc_of(self.target)):
            return ""
        return "somebody changed it while it was being read"

    def has_displaced(self) -> bool:
        """Whether somebody else's file is at the temp's name: neither the temp nor the file that was read.

        Raises:
            OSError: it cannot be looked at.
        """
        found = _os.link_status(self.temp)
        return found is not None and _identity(found) != self.seen and _identity(found).stamp != self.stamp

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._give_up()
        elif not self._closed:
            try:
                self.finish()
            except BaseException:
                self._give_up()
                raise

    def _give_up(self) -> None:
        with suppress(WriteError):  # what cannot be taken away now, the run takes away at its end
            self.discard()

    def _must_be_open(self) -> None:
        if self._closed:
            raise ValueError(f"{self.target.given}: it is finished or thrown away already")

    def _flush(self) -> None:
        if self._buffer:
            self._put(self._buffer)
            self._buffer = bytearray()

    def _put(self, data: bytes | bytearray | memoryview) -> None:
        try:
            _os.to_end(self._fd)
            _os.write(self._fd, data)
            self._write_behind.wrote(self._fd, len(data))
        except OSError as error:
            raise _os.refusal(self.target.given, error) from error

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        self._closed = True
        self._buffer = bytearray()
        if fd >= 0:
            try:
                _os.close(fd)
            except OSError as error:  # a network file system may tell of a full disk only now
                raise _os.refusal(self.target.given, error) from error


def _crc_of(target: Target) -> int:
    try:
        fd = _os.open_to_read(target.real)
        try:
            crc = 0
            while data := _os.read(fd):
                crc = zlib.crc32(data, crc)
        finally:
            _os.close(fd)
    except OSError as error:
        raise _os.refusal(target.given, error) from error
    return crc
