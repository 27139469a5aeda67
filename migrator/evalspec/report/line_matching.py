"""Which lines of two texts are the same ones, in a time that grows with their size and no faster.

Lines that stand once on either side hold the texts together (as in patience diffs); between them the standard
library's matcher works on what is small enough for it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What the standard library's matcher is given at most: pairs of equal lines, times the lines of the shorter text.
_WORK = 2_000_000
#: How often what lies between anchors is searched for anchors of its own.
_DEPTH = 40


class Block(NamedTuple):
    """Lines `old_start..old_end` became lines `new_start..new_end`; `same` where they are equal. Ends exclusive."""

    same: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The texts from beginning to end as blocks that are the same and blocks that are not, in turn."""
    out: list[Block] = []
    for block in _blocks(old, new, 0, len(old), 0, len(new), 0):
        if block.old_start == block.old_end and block.new_start == block.new_end:
            continue
        if out and out[-1].same == block.same:
            block = Block(block.same, out[-1].old_start, block.old_end, out[-1].new_start, block.new_end)  # noqa: PLW2901
            out.pop()
        out.append(block)
    return out


def _blocks(
    old: Sequence[str], new: Sequence[str], old_at: int, old_end: int, new_at: int, new_end: int, depth: int
) -> Iterator[Block]:
    first = 0
    while (
        old_at + first < old_end and new_at + first < new_end and old[old_at + first] == new[new_at + first]
    ):
        first += 1
    yield Block(True, old_at, old_at + first, new_at, new_at + first)
    old_at, new_at = old_at + first, new_at + first
    last = 0
    while (
        old_end - last > old_at
        and new_end - last > new_at
        and old[old_end - last - 1] == new[new_end - last - 1]
    ):
        last += 1
    yield from _middle(old, new, old_at, old_end - last, new_at, new_end - last, depth)
    yield Block(True, old_end - last, old_end, new_end - last, new_end)


def _middle(
    old: Sequence[str], new: Sequence[str], old_at: int, old_end: int, new_at: int, new_end: int, depth: int
) -> Iterator[Block]:
    if old_at == old_end or new_at == new_end:
        yield Block(False, old_at, old_end, new_at, new_end)
    elif _work(old, new, old_at, old_end, new_at, new_end) <= _WORK:
        yield from _small(old, new, old_at, old_end, new_at, new_end)
    else:
        anchors = _anchors(old, new, old_at, old_end, new_at, new_end) if depth < _DEPTH else []
        if not anchors:
            yield Block(False, old_at, old_end, new_at, new_end)
            return
        for old_line, new_line in [*anchors, (old_end, new_end)]:
            yield from _blocks(old, new, old_at, old_line, new_at, new_line, depth + 1)
            old_at, new_at = old_line, new_line


def _work(
    old: Sequence[str], new: Sequence[str], old_at: int, old_end: int, new_at: int, new_end: int
) -> int:
    """How long the standard library's matcher may take: it looks at every pair of equal lines, over and over."""
    shorter = min(old_end - old_at, new_end - new_at)
    if shorter * shorter > _WORK:
        return _WORK + 1
    in_new: dict[str, int] = {}
    for at in range(new_at, new_end):
        in_new[new[at]] = in_new.get(new[at], 0) + 1
    return shorter * sum(in_new.get(old[at], 0) for at in range(old_at, old_end))


def _small(
    old: Sequence[str], new: Sequence[str], old_at: int, old_end: int, new_at: int, new_end: int
) -> Iterator[Block]:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old[old_at:old_end], new[new_at:new_end], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        yield Block(tag == "equal", old_at + i1, old_at + i2, new_at + j1, new_at + j2)


def _anchors(
    old: Sequence[str], new: Sequence[str], old_at: int, old_end: int, new_at: int, new_end: int
) -> list[tuple[int, int]]:
    """The longest run of lines, each once on either side, that come in the same order on both."""
    in_old, in_new = _single(old, old_at, old_end), _single(new, new_at, new_end)
    pairs = [(at, in_new[line]) for line, at in in_old.items() if line in in_new]
    ends: list[int] = []  # the smallest new line that a run of this length can end with
    tails: list[int] = []  # the pair it ends with
    before: list[int] = []  # the pair that comes before a pair in its run
    for index, (_, new_line) in enumerate(pairs):
        length = bisect_left(ends, new_line)
        before.append(tails[length - 1] if length else -1)
        ends[length : length + 1] = [new_line]
        tails[length : length + 1] = [index]
    run = []
    index = tails[-1] if tails else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _single(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    """Where each line is that occurs once, in order."""
    seen: dict[str, int] = {}
    for at in range(start, end):
        line = lines[at]
        seen[line] = -1 if line in seen else at
    return {line: at for line, at in seen.items() if at >= 0}
