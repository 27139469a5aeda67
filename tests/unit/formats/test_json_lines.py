"""Files as chunks of whole lines: limits, ranges, sources, gzip."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import tracemalloc
from typing import TYPE_CHECKING, BinaryIO

import pytest

from evalspec.errors import WriteError
from evalspec.formats.lines import (
    CHUNK_SIZE,
    Chunk,
    LongLine,
    copy_span,
    gzip_writer,
    open_source,
    read_lines,
)

if TYPE_CHECKING:
    from pathlib import Path


def read(data: bytes, **options: int) -> list[Chunk | LongLine]:
    return list(read_lines(io.BytesIO(data), **options))


def test_chunks_are_whole_lines() -> None:
    data = b"one\ntwo\r\n\nfour"
    assert read(data) == [Chunk(0, b"one\ntwo\r\n\n"), Chunk(10, b"four")]
    assert read(data, chunk_size=5) == [
        Chunk(0, b"one\n"),
        Chunk(4, b"two\r\n\n"),
        Chunk(10, b"four"),
    ]
    assert read(b"") == []
    assert read(b"\n") == [Chunk(0, b"\n")]
    assert read(b"a") == [Chunk(0, b"a")]


def test_nothing_but_a_newline_ends_a_line() -> None:
    data = "a\r b\u2028c\u0085d\x0be\x0cf\x1cg".encode()
    assert read(data + b"\n", chunk_size=3) == [Chunk(0, data + b"\n")]


def test_a_long_line_is_passed_over_and_its_place_is_told() -> None:
    data = b"ab\n" + b"x" * 10 + b"\n" + b"cde\n" + b"y" * 5
    assert read(data, max_line=4) == [
        Chunk(0, b"ab\n"),
        LongLine(3, 11, ended=True),
        Chunk(14, b"cde\n"),
        LongLine(18, 5, ended=False),
    ]
    assert read(b"1234\n12345\n", max_line=4) == [Chunk(0, b"1234\n"), LongLine(5, 6, ended=True)]
    assert read(b"12345\n6\n", chunk_size=3, max_line=4) == [
        LongLine(0, 6, ended=True),
        Chunk(6, b"6\n"),
    ]
    assert read(b"\n\na", max_line=0) == [
        Chunk(0, b"\n"),
        Chunk(1, b"\n"),
        LongLine(2, 1, ended=False),
    ]


def test_a_copying_reader_loses_nothing() -> None:
    data = b"a\n" + b"x" * 1000 + b"\nb\n" + b"y" * 999
    source, target = io.BytesIO(data), io.BytesIO()
    for part in read_lines(source, chunk_size=7, max_line=20):
        if isinstance(part, LongLine):
            copy_span(source, target, part.offset, part.length)
        else:
            target.write(part.data)
    assert target.getvalue() == data


@pytest.mark.parametrize("data", [b"one\ntwo\nthree\nfour\n", b"one\n\n\n", b"\n\n", b"no end"])
def test_two_ranges_share_a_file_out(data: bytes) -> None:
    for middle in range(len(data) + 1):
        first = read(data, end=middle)
        second = read(data, start=middle)
        lines = [part.data for part in (*first, *second) if isinstance(part, Chunk)]
        assert b"".join(lines) == data
        assert all(part.offset < middle for part in first)
        assert all(part.offset >= middle for part in second)


def test_a_range_holds_the_lines_that_begin_in_it() -> None:
    data = b"one\ntwo\nthree\n"
    assert read(data, start=4, end=4) == []
    assert read(data, start=4, end=5) == [Chunk(4, b"two\n")]
    assert read(data, start=1, end=4) == []
    assert read(data, start=999) == []


def test_memory_does_not_grow_with_the_file_or_a_line() -> None:
    class Endless(io.RawIOBase):
        """A long stretch without a line end, then a line."""

        left = 512

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            return b"x" * min(size, CHUNK_SIZE) if self.left > 0 else b"\n{}\n" if self.left == 0 else b""

    tracemalloc.start()
    try:
        parts = list(read_lines(Endless(), max_line=1024 * 1024))  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert parts == [
        LongLine(0, 511 * CHUNK_SIZE + 1, ended=True),
        Chunk(511 * CHUNK_SIZE + 1, b"{}\n"),
    ]
    assert peak < 4 * 1024 * 1024


def test_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"a\r\nb")
    with open_source(path) as stream:
        assert list(read_lines(stream)) == [Chunk(0, b"a\r\n"), Chunk(3, b"b")]
        assert stream.seekable()
    assert stream.closed


def test_a_gzip_file_is_read_as_its_contents(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    data = b"".join(b'{"n": %d}\n' % number for number in range(50_000))
    path.write_bytes(gzip.compress(data[:1000]) + gzip.compress(data[1000:]))
    with open_source(str(path)) as stream:
        parts = [part for part in read_lines(stream) if isinstance(part, Chunk)]
        assert b"".join(part.data for part in parts) == data
        target = io.BytesIO()
        copy_span(stream, target, 10, 20)
        assert target.getvalue() == data[10:30]
        assert stream.seekable()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'{"a": 1}\n', id="no gzip at all"),
        pytest.param(gzip.compress(b"x" * 5000)[:-12], id="cut short"),
        pytest.param(gzip.compress(b"x") + b"junk", id="more behind it"),
        pytest.param(gzip.compress(os.urandom(500))[:200] + bytes(300), id="broken inside"),
    ],
)
def test_a_broken_gzip_file_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(WriteError, match="not a whole gzip file") as caught, open_source(path) as stream:
        list(read_lines(stream))
    assert caught.value.path == str(path)
    assert caught.value.fix


def test_gzip_is_written_the_same_every_time(tmp_path: Path) -> None:
    written = []
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        path = tmp_path / name
        with path.open("wb") as target:
            with gzip_writer(target) as packed:
                packed.write(b"a\nb\n")
            assert not target.closed
        written.append(path.read_bytes())
        assert gzip.decompress(path.read_bytes()) == b"a\nb\n"
    assert written[0] == written[1]
    assert b"one" not in written[0]
    assert written[0][3:8] == bytes(5)  # no flags (so no name) and no date


def test_a_pipe_is_copied_aside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    data = b"line\n" * 3_000_000  # more than is kept in memory
    writer = threading.Thread(target=fifo.write_bytes, args=(data,))
    writer.start()
    with open_source(fifo) as stream:
        writer.join()
        assert stream.seekable()
        assert b"".join(part.data for part in read_lines(stream) if isinstance(part, Chunk)) == data

    read_end, write_end = os.pipe()
    os.write(write_end, b"a\nb\n")
    os.close(write_end)
    with os.fdopen(read_end) as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        with open_source("-") as stream:
            assert list(read_lines(stream, start=2)) == [Chunk(2, b"b\n")]


def test_standard_input_from_a_file_is_read_in_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"a\nb\n")
    with path.open() as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        with open_source("-") as stream:
            assert stream is standard_input.buffer
            assert list(read_lines(stream)) == [Chunk(0, b"a\nb\n")]


@pytest.mark.parametrize("make", ["missing", "folder"])
def test_what_cannot_be_opened_is_told(tmp_path: Path, make: str) -> None:
    path = tmp_path / make
    if make == "folder":
        path.mkdir()
    with pytest.raises(WriteError) as caught, open_source(path):
        pass
    assert caught.value.path == str(path)
    assert caught.value.exit_code == 1


def test_a_stream_that_gives_less_than_asked_is_read_to_its_end() -> None:
    class Drip(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(1 if size else 0)

    stream: BinaryIO = Drip(b"ab\ncd\n\ne")
    data = [part.data for part in read_lines(stream) if isinstance(part, Chunk)]
    assert data == [b"ab\n", b"cd\n", b"\n", b"e"]
