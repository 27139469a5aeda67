"""The journal of a run: what it is about to do, written down before it does it.

`.evalspec-journal` lies in the run's folder while the run lasts. A line is a checksum (CRC-32, eight hex digits), a
blank, and a JSON list in ASCII; lines are only ever appended:

    ["run", 1, TOKEN, PID, HOST, ATOMIC]      the first: who runs, and what its files are called
    ["file", INDEX, PATH]                     temps for PATH may exist from now on
    ["part", INDEX, NUMBER]                   so may one more part file of a worker
    ["ready", INDEX, NEW SIZE, NEW MTIME, OLD SIZE, OLD MTIME]    its temp is finished
    ["go", [INDEX, …]]                        all are on the disk: from here a run is finished, not dropped
    ["drop", INDEX]                           this one was refused after all; its old bytes stay
    ["undo"]                                  from here the run is taken back, whatever was meant before
    ["end"]                                   every file is in place; what was kept of the old ones may go

A temp lies beside the file it is for and is named after the run's token and the file's index, so the journal never
holds a temp's path. A journal is a stranger's file too (it may come with a clone): paths are relative and without
`..`, names are built here and not read, and `recover` looks at what it is about to touch.
"""

from __future__ import annotations

import errno
import os
import zlib
from typing import Literal, NamedTuple, cast

from evalspec.errors import WriteError
from evalspec.writing import _os
from evalspec.writing.names import JOURNAL, PREFIX, is_ours

_FORMAT = 1
_LARGEST = 1 << 26

Atomic = Literal["file", "run"]
State = Literal["preparing", "go", "undo", "end"]


class Stamp(NamedTuple):
    """What tells one state of a file from another without reading it: bytes, and nanoseconds since 1970."""

    size: int
    mtime_ns: int


class Holder(NamedTuple):
    """Who holds a guard, as it wrote into its journal."""

    pid: int
    host: str


class Head(NamedTuple):
    """The first line of a journal."""

    token: str
    holder: Holder
    atomic: Atomic


class Entry(NamedTuple):
    """What a journal says of one file.

    Attributes:
        path: relative to the journal's folder, `/` between parts.
        parts: the part files are numbered from 0 to below this.
        new: the finished temp; None as long as it is not finished.
        old: the file as it was; None where there was none.
    """

    path: str
    parts: int = 0
    new: Stamp | None = None
    old: Stamp | None = None


class Log(NamedTuple):
    """A whole journal, read.

    Attributes:
        head: None where the run ended before it had written even that.
        entries: by index.
        chosen: the indexes named by `go` and not dropped since.
        state: how far the run came.
        length: bytes up to the end of the last whole line; a torn line may follow.
    """

    head: Head | None
    entries: dict[int, Entry]
    chosen: frozenset[int]
    state: State
    length: int


class Journal:
    """A journal that is being written."""

    __slots__ = ("_fd", "_length", "_torn", "path")

    def __init__(self, path: str, fd: int, length: int = 0) -> None:
        self.path = path
        self._fd = fd
        self._length = length
        self._torn = False

    @classmethod
    def create(cls, folder: str, head: Head) -> Journal:
        """A new journal in `folder`, with its first line. It is an error if one is there."""
        path = os.path.join(folder, JOURNAL)
        journal = cls(path, _os.create(path, 0o644))
        try:
            journal.append("run", _FORMAT, head.token, *head.holder, head.atomic)
        except OSError:
            journal.close()
            _os.remove(path)
            raise
        return journal

    @classmethod
    def reopen(cls, folder: str, log: Log) -> Journal:
        """The journal that `log` was read from, its torn last line cut off, to append to."""
        path = os.path.join(folder, JOURNAL)
        journal = cls(path, _os.open_to_append(path), log.length)
        try:
            _os.truncate(journal._fd, log.length)
        except OSError:
            journal.close()
            raise
        return journal

    def append(self, *fields: object) -> None:
        """One line more, in the system's hands when this returns: the end of this process cannot lose it."""
        self.extend([fields])

    def extend(self, lines: list[tuple[object, ...]]) -> None:
        """Several lines more, in one write. After an error there is none of them."""
        if self._torn:
            raise OSError(errno.EIO, os.strerror(errno.EIO), self.path)
        data = b"".join(map(_encode, lines))
        try:
            _os.write(self._fd, data)
        except BaseException:
            self._torn = True  # nothing may follow half a line …
            _os.truncate(self._fd, self._length)
            _os.to_end(self._fd)
            self._torn = False  # … unless that half is gone
            raise
        self._length += len(data)

    def sync(self) -> None:
        """Bring the journal to the disk: the end of the machine cannot lose it."""
        _os.sync(self._fd)

    def close(self) -> None:
        """Close it; it stays where it is."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            _os.close(fd)


def _encode(fields: tuple[object, ...]) -> bytes:
    import json

    body = json.dumps(fields, separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def read(folder: str) -> Log | None:
    """The journal in `folder`; None where there is none.

    Raises:
        WriteError: it is no journal of ours, or of this user's, or it is damaged before its last line.
    """
    path = os.path.join(folder, JOURNAL)
    found = _os.link_status(path)
    if found is None:
        return None
    if not _os.is_regular(found):
        raise _unreadable(path, "it is no regular file")
    if _os.anyone_may_write(folder) and not _os.is_of_this_user(found):
        raise _unreadable(path, "another user put it into a folder that everybody may write to")
    if found.st_size > _LARGEST:
        raise _unreadable(path, f"it is larger than {_LARGEST} bytes")
    try:
        fd = _os.open_to_read(path)
    except FileNotFoundError:
        return None  # its run ended just now
    try:
        data = b""
        while more := _os.read(fd):
            data += more
    finally:
        _os.close(fd)
    return parse(data, path)


def parse(data: bytes, path: str = JOURNAL) -> Log:
    """A journal's bytes, read.

    Raises:
        WriteError: a line is damaged and a whole one follows it, or a whole line says what no run writes.
    """
    lines = data.split(b"\n")
    bodies: list[list[object]] = []
    length = 0
    for line in lines[:-1]:
        body = _decode(line)
        if body is None:
            break
        bodies.append(body)
        length += len(line) + 1
    # A crash tears the end and nothing else: a whole line after a torn one means that someone wrote into it.
    if any(_decode(line) is not None for line in lines[len(bodies) + 1 :]):
        raise _unreadable(path, f"its line {len(bodies) + 1} is damaged")
    reader = _Reader()
    for number, body in enumerate(bodies, 1):
        try:
            reader.take(body)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            raise _unreadable(path, f"its line {number} is not what a run of this version writes") from None
    chosen = frozenset(reader.chosen - reader.dropped)
    return Log(reader.head, reader.entries, chosen, reader.state, length)


def _decode(line: bytes) -> list[object] | None:
    import json

    checksum, _, body = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(body):
        return None
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, list) else None


class _Reader:
    """Takes a journal's lines one by one, and believes none that a run would not have written."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.entries: dict[int, Entry] = {}
        self.chosen: set[int] = set()
        self.dropped: set[int] = set()
        self.state: State = "preparing"

    def take(self, fields: list[object]) -> None:
        match fields:
            case ["run", int(number), str(token), int(pid), str(host), "file" | "run" as atomic]:
                _must(self.head is None and number == _FORMAT and _is_token(token) and pid > 0)
                self.head = Head(token, Holder(pid, host), atomic)
                return
            case _:
                _must(self.head is not None)
        match fields:
            case ["file", int(index), str(path)]:
                _must(index == len(self.entries) and self.state == "preparing" and is_inside(path))
                self.entries[index] = Entry(path)
            case ["part", int(index), int(number)]:
                _must(number == self.entries[index].parts)
                self.entries[index] = self.entries[index]._replace(parts=number + 1)
            case ["ready", int(index), int(size), int(mtime), old_size, old_mtime]:
                old = Stamp(cast("int", old_size), cast("int", old_mtime)) if old_size is not None else None
                _must(old is None or all(type(value) is int for value in old))
                self.entries[index] = self.entries[index]._replace(new=Stamp(size, mtime), old=old)
            case ["go", list(indexes)]:
                _must(self.state == "preparing")
                _must(all(type(index) is int and self.entries[index].new is not None for index in indexes))
                self.state = "go"
                self.chosen = set(cast("list[int]", indexes))
            case ["drop", int(index)]:
                _must(index in self.chosen)
                self.dropped.add(index)
            case ["undo"]:
                _must(self.state in {"go", "undo"})
                self.state = "undo"
            case ["end"]:
                _must(self.state == "go")
                self.state = "end"
            case _:
                raise ValueError(fields)


def _must(condition: bool) -> None:
    if not condition:
        raise ValueError


def _is_token(text: str) -> bool:
    return len(text) == 16 and set(text) <= set("0123456789abcdef")


def is_inside(path: str) -> bool:
    """Whether a journal may name this path: relative, every part a plain name, none of them a run's own file."""
    parts = path.split("/")
    if os.sep != "/" and (os.sep in path or ":" in path):
        return False
    return "\0" not in path and not any(part in {"", ".", ".."} for part in parts) and not is_ours(parts[-1])


def _unreadable(path: str, reason: str) -> WriteError:
    return WriteError(
        path,
        f"it cannot be read as the journal of a run: {reason}",
        fix=f"look at the files {PREFIX}* beside your task files (.old: the bytes before the run, .new: after it), "
        "keep what you need, then delete them and the journal",
    )
