"""Which task ids of a file may stand twice: eight bytes an id, exact in the end.

Ids go in by their hash. Two equal hashes are only a suspicion: the file is read a second time, and the ids behind the
suspected hashes are compared exactly. So a file of any length costs eight bytes an id, and no false alarm.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Ids are kept in this many buckets, by the top bits of their hash, so that looking for twins needs little room.
_BUCKETS = 256
#: So many ids are kept as they are, to be compared at once.
_FEW = 4096


class IdHashes:
    """The 64-bit hashes of many ids. Hashes are the same in every process, so several readers can pool theirs.

    The first ids are kept as they are: of a small file's none need be hashed.
    """

    def __init__(self) -> None:
        self._few: list[str] = []
        self._buckets: list[array[int]] = []
        self._adders: list[Callable[[int], None]] = []

    def add(self, ids: Iterable[str]) -> None:
        """Take in the ids of valid records."""
        if self._buckets:
            self._hash(ids)
            return
        self._few += ids
        if len(self._few) > _FEW:
            self._hash(())

    def suspects(self) -> frozenset[int]:
        """The hashes that came more than once."""
        if not self._buckets and len(set(self._few)) == len(self._few):
            return frozenset()
        self._hash(())
        found: list[int] = []
        for bucket in self._buckets:
            if len(set(bucket)) != len(bucket):
                seen: set[int] = set()
                found += [value for value in bucket if value in seen or seen.add(value)]  # type: ignore[func-returns-value]
        return frozenset(found)

    def dump(self) -> bytes:
        """All hashes, for `merge` in another process."""
        self._hash(())
        counts = array("Q", map(len, self._buckets))
        return b"".join(bucket.tobytes() for bucket in (counts, *self._buckets))

    def merge(self, dumped: bytes) -> None:
        """Take in what another reader dumped."""
        self._hash(())
        width = array("Q").itemsize
        place = width * _BUCKETS
        counts = array("Q")
        counts.frombytes(dumped[:place])
        for bucket, count in zip(self._buckets, counts, strict=True):
            bucket.frombytes(dumped[place : place + width * count])
            place += width * count

    def _hash(self, ids: Iterable[str]) -> None:
        """Put the hashes of these ids, and of those kept so far, into their buckets."""
        from xxhash import xxh3_64_intdigest

        if not self._buckets:
            self._buckets = [array("Q") for _ in range(_BUCKETS)]
            self._adders = [bucket.append for bucket in self._buckets]
        if self._few:
            ids, self._few = [*self._few, *ids], []
        adders = self._adders
        for value in map(xxh3_64_intdigest, map(str.encode, ids)):
            adders[value >> 56](value)


class Twins:
    """Second reading: finds the ids that really stand twice among the suspected ones."""

    def __init__(self, suspects: frozenset[int]) -> None:
        from xxhash import xxh3_64_intdigest

        self._hash = xxh3_64_intdigest
        self._suspects = suspects
        self._first: dict[str, int] = {}

    def may_hold(self, ids: Iterable[str]) -> bool:
        """True where one of the ids has a suspected hash."""
        return not self._suspects.isdisjoint(map(self._hash, map(str.encode, ids)))

    def first_line(self, task_id: str, line: int) -> int | None:
        """The line on which this id came before, or None and the id counts as seen on `line`."""
        if self._hash(task_id.encode()) not in self._suspects:
            return None
        first = self._first.setdefault(task_id, line)
        return None if first == line else first
