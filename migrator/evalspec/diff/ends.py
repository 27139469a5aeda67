"""What two texts begin and end with alike, by bisection: comparing slices is what Python does fastest."""

from __future__ import annotations

from typing import NamedTuple


class Ends(NamedTuple):
    """Two texts, taken apart where they differ.

    Attributes:
        left: what both begin with.
        old: what the first one has behind it.
        new: what the second one has there.
        right: what both end with.
    """

    left: str
    old: str
    new: str
    right: str


def ends_of(one: str, two: str) -> Ends:
    """Both texts' shared beginning, what differs, and their shared end; the beginning is as long as can be."""
    start = _shared_start(one, two)
    end = _shared_end(one, two, start)
    return Ends(one[:start], one[start : len(one) - end], two[start : len(two) - end], one[len(one) - end :])


def _shared_start(one: str, two: str) -> int:
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_end(one: str, two: str, start: int) -> int:
    """How many code points both end with, none of them before `start`."""
    low, high = 0, min(len(one), len(two)) - start
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == two[len(two) - middle : len(two) - low]:
            low = middle
        else:
            high = middle - 1
    return low
