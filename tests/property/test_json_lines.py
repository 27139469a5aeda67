"""The reader of lines gives the lines of the file, whatever the chunks, limits and ranges."""

from __future__ import annotations

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evalspec.formats.lines import LongLine, copy_span, read_lines

pieces = [b"\n", b"\n", b"a", b"bc", b"\r", "\u2028".encode(), b"\x00\x85"]
contents = st.lists(st.sampled_from(pieces), max_size=30).map(b"".join)


def lines_of(data: bytes) -> list[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line, by splitting the whole."""
    found, offset = [], 0
    parts = data.split(b"\n")
    for number, part in enumerate(parts, 1):
        line = part + b"\n" if number < len(parts) else part
        if line:
            found.append((number, offset, line))
        offset += len(line)
    return found


@given(contents, st.integers(1, 12), st.integers(0, 12), st.lists(st.integers(0, 40), max_size=4))
def test_lines_are_the_files_lines(data: bytes, chunk_size: int, max_line: int, cuts: list[int]) -> None:
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    everything = lines_of(data)
    got = []
    for start, end in pairwise(edges):
        number = next((number for number, offset, _ in everything if offset >= start), 1)
        source = io.BytesIO(data)
        for part in read_lines(source, chunk_size=chunk_size, max_line=max_line, start=start, end=end):
            assert start <= part.offset < end
            if isinstance(part, LongLine):
                target = io.BytesIO()
                copy_span(source, target, part.offset, part.length)
                line = target.getvalue()
                assert len(line.removesuffix(b"\n")) > max_line
                assert part.ended == line.endswith(b"\n")
                got.append((number, part.offset, line))
                number += 1
            else:
                inner = lines_of(part.data)
                assert all(len(line.removesuffix(b"\n")) <= max_line for _, _, line in inner)
                got += [(number - 1 + n, part.offset + offset, line) for n, offset, line in inner]
                number += len(inner)
    assert got == everything
