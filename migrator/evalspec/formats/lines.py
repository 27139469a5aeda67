r"""Files as chunks of whole lines, in constant memory; where they come from, and gzip.

Lines end at `\n` and nowhere else (design.md, "Bytes"). A line longer than the limit is passed over without being
held: its place is reported, and `copy_span` copies it for a writer that keeps bad records.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

from evalspec.errors import WriteError

if TYPE_CHECKING:
    import gzip
    from collections.abc import Iterator

#: Bytes read at once: large enough to be quick, small enough to stay in the processor's cache.
CHUNK_SIZE = 64 * 1024
#: The longest line that is read, in bytes without its line end.
MAX_LINE = 16 * 1024 * 1024
#: What is kept in memory of a source that cannot be read twice; the rest goes to a temporary file.
_SPOOL = 8 * 1024 * 1024

GZIP_SUFFIX = ".gz"


class Chunk(NamedTuple):
    """Whole lines that follow one another. Who cuts them apart numbers them: to count them alone takes a while.

    Attributes:
        offset: where it begins in the file, in bytes.
        data: the lines; it ends with a line end unless the file does not.
    """

    offset: int
    data: bytes


class LongLine(NamedTuple):
    """A line that is longer than the limit and was passed over (`line_too_long`).

    Attributes:
        offset: where it begins in the file, in bytes.
        length: its length in bytes, with its line end.
        ended: whether it has a line end; only a file's last line may not.
    """

    offset: int
    length: int
    ended: bool


def read_lines(
    stream: BinaryIO,
    *,
    chunk_size: int = CHUNK_SIZE,
    max_line: int = MAX_LINE,
    start: int = 0,
    end: int | None = None,
) -> Iterator[Chunk | LongLine]:
    """Read whole lines, about `chunk_size` bytes at a time.

    With `start` and `end`, the lines that begin in that range of bytes: ranges that share a file out share out its
    lines, each to exactly one.

    Args:
        stream: read from where it stands, or with a `start` from there, in which case it must be seekable.
        chunk_size: bytes to read at once.
        max_line: the longest line to hold, in bytes without its line end.
        start: the first byte where a line may begin.
        end: the byte behind the last where a line may begin; None for the end of the file.
    """
    size = max(1, min(chunk_size, max_line + 1))
    limit = sys.maxsize if end is None else end
    offset, pending = _first_start(stream, start, size) if start else (0, b"")
    held: list[bytes] = []  # the beginning of a line whose end has not been read
    length = 0
    while offset < limit:
        block = pending or stream.read(size)
        pending = b""
        if not block:
            if held:
                yield Chunk(offset, b"".join(held))
            return
        first = block.find(b"\n") + 1
        if length + (first - 1 if first else len(block)) > max_line:
            beyond, ended, pending = _pass_over(stream, block, size)
            yield LongLine(offset, length + beyond, ended)
            offset += length + beyond
            held, length = [], 0
            continue
        if not first:
            held.append(block)
            length += len(block)
            continue
        cut = block.rfind(b"\n") + 1
        data = b"".join((*held, memoryview(block)[:cut]))
        if offset + len(data) >= limit:
            yield Chunk(offset, data[: data.find(b"\n", max(limit - 1 - offset, 0)) + 1])
            return
        yield Chunk(offset, data)
        offset += len(data)
        held = [block[cut:]] if cut < len(block) else []
        length = len(block) - cut


def copy_span(stream: BinaryIO, target: IO[bytes], offset: int, length: int) -> None:
    """Copy bytes of a seekable stream, a `LongLine`'s say, and leave the stream where it stands."""
    position = stream.tell()
    try:
        stream.seek(offset)
        while length > 0:
            block = stream.read(min(length, CHUNK_SIZE))
            if not block:
                break
            target.write(block)
            length -= len(block)
    finally:
        stream.seek(position)


@contextmanager
def open_source(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for `read_lines`: plain, `.gz`, or `-` for standard input; always seekable.

    What cannot be read twice (a pipe) is copied aside first, in memory while it is small. A `.gz` file is
    read as its contents; it cannot be shared out in ranges without being read from its beginning each time.

    Raises:
        WriteError: the file cannot be opened or, from a read, is no whole gzip file.
    """
    name = os.fspath(path)
    if name == "-":
        with _seekable(cast("BinaryIO", sys.stdin.buffer)) as stream:
            yield stream
        return
    try:
        file = cast("BinaryIO", open(name, "rb", buffering=0))  # noqa: SIM115 - closed below; no pathlib at start
    except OSError as error:
        raise WriteError(name, error.strerror or str(error), fix="name a file that can be read") from error
    with file, _seekable(file) as stream:
        if name.endswith(GZIP_SUFFIX):
            yield cast("BinaryIO", _Unzipped(name, stream))
        else:
            yield stream


def gzip_writer(target: IO[bytes]) -> gzip.GzipFile:
    """A file whose bytes go to `target` compressed: the same bytes every time, with no date and no name in them.

    Closing it writes the trailer and leaves `target` open.
    """
    import gzip

    return gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0, compresslevel=6)


class _Unzipped:
    """The contents of a gzip file; what is wrong with it is told as an `EvalspecError`."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        import gzip

        self._name = name
        self._file = gzip.GzipFile(fileobj=stream, mode="rb")

    def read(self, size: int = -1) -> bytes:
        from zlib import error as zlib_error

        try:
            return self._file.read(size)
        except (EOFError, zlib_error) as error:
            raise self._broken(error) from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise self._broken(error) from error

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def _broken(self, error: Exception) -> WriteError:
        return WriteError(self._name, f"not a whole gzip file ({error})", fix="compress it again with gzip")


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """`stream`, or where it cannot be read twice, a copy of what it holds."""
    if stream.seekable():
        yield stream
        return
    from tempfile import SpooledTemporaryFile

    with SpooledTemporaryFile(max_size=_SPOOL) as copy:
        while block := stream.read(CHUNK_SIZE):
            copy.write(block)
        copy.seek(0)
        yield cast("BinaryIO", copy)


def _first_start(stream: BinaryIO, start: int, size: int) -> tuple[int, bytes]:
    """Where the first line at or behind `start` begins, and what has been read of it."""
    offset = start - 1
    stream.seek(offset)
    while block := stream.read(size):
        cut = block.find(b"\n") + 1
        if cut:
            return offset + cut, block[cut:]
        offset += len(block)
    return sys.maxsize, b""


def _pass_over(stream: BinaryIO, block: bytes, size: int) -> tuple[int, bool, bytes]:
    """Read to the line's end: how many bytes from `block` on, whether a line end came, and what follows it."""
    length = 0
    while block:
        cut = block.find(b"\n") + 1
        if cut:
            return length + cut, True, block[cut:]
        length += len(block)
        block = stream.read(size)
    return length, False, b""
