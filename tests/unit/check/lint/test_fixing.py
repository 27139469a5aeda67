"""What `--fix` does to bytes: what says the same twice goes, and not one byte more."""

from __future__ import annotations

import pytest

from evalspec.check.lint.fixing import mended

BOTH = ("byte_order_mark", "duplicate_key")

TABLE = [
    ("\ufefftask: t\n", "task: t\n", ("byte_order_mark",)),
    ("a: 1\n# of b\nb: 2\na: 1\n", "# of b\nb: 2\na: 1\n", ("duplicate_key",)),
    (
        "# head\n\na: 1\nb: 2  # b\na: 1  # again\n",
        "# head\n\nb: 2  # b\na: 1  # again\n",
        ("duplicate_key",),
    ),
    ("m:\n  x: 1\n  y: 2\n  x: 1\nz: 0\n", "m:\n  y: 2\n  x: 1\nz: 0\n", ("duplicate_key",)),
    ("a: [1, 2]\na:\n  - 1\n  - 2\n", "a:\n  - 1\n  - 2\n", ("duplicate_key",)),
    ("a: x\na: 'x'\na: \"x\"\n", 'a: "x"\n', ("duplicate_key",)),
    ("\ufeffa: 1\r\na: 1\r\n", "a: 1\r\n", BOTH),
    # Somebody must say which is meant.
    ("a: 1\nb: 2\na: 3\n", "a: 1\nb: 2\na: 3\n", ()),
    ("a: 1\na: 1.0\na: '1'\n", None, ()),
    # What is not in lines of its own stays.
    ("m: {a: 1, a: 1}\n", "m: {a: 1, a: 1}\n", ()),
    ("- a: 1\n  a: 1\n", "- a: 1\n  a: 1\n", ()),
    ("task: [\n", "task: [\n", ()),
]


@pytest.mark.parametrize(("before", "after", "done"), TABLE)
def test_mended(before: str, after: str | None, done: tuple[str, ...]) -> None:
    new, rules = mended(before.encode(), BOTH)
    if after is not None:
        assert new.decode() == after
        assert rules == done
    assert mended(new, BOTH) == (new, ())


def test_only_what_was_found_is_mended() -> None:
    data = b"\xef\xbb\xbfa: 1\na: 1\n"
    assert mended(data, ["byte_order_mark"]) == (b"a: 1\na: 1\n", ("byte_order_mark",))
    assert mended(data, []) == (data, ())
