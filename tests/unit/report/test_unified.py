"""Unified diffs: exact, safe to print, and quick whatever the texts are."""

from __future__ import annotations

import re
import subprocess
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.report import unified, unified_by_line
from evalspec.report.console import coloured
from evalspec.report.line_matching import blocks


def applied(diff: str, old: list[str]) -> list[str]:
    """What a diff makes of lines with their ends: every count and context line in it must be right."""
    out: list[str] = []
    at = 0
    lines = iter(re.findall(r".*\n|.+", diff))
    assert [next(lines)[:4], next(lines)[:4]] == ["--- ", "+++ "]
    rest = list(lines)
    index = 0
    while index < len(rest):
        header = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n", rest[index])
        assert header, rest[index]
        first, old_count, new_first, new_count = (1 if n is None else int(n) for n in header.groups())
        start = first - 1 if old_count else first
        assert start >= at
        out += old[at:start]
        at = start
        assert (new_first - 1 if new_count else new_first) == len(out)
        index += 1
        while index < len(rest) and not rest[index].startswith("@@"):
            sign, body = rest[index][0], rest[index][1:]
            index += 1
            if index < len(rest) and rest[index].startswith("\\"):
                body = body[:-1]
                index += 1
            if sign in " -":
                assert old[at] == body
                at += 1
                old_count -= 1
            if sign in " +":
                out.append(body)
                new_count -= 1
        assert old_count == new_count == 0
    return out + old[at:]


def split(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def test_a_diff_as_it_is_printed() -> None:
    old = "".join(f"{n}\n" for n in range(1, 30))
    new = old.replace("7\n", "seven\n", 1).replace("25\n", "", 1)
    assert unified(old, new, "d/a.yaml") == (
        "--- a/d/a.yaml\n+++ b/d/a.yaml\n"
        "@@ -4,7 +4,7 @@\n 4\n 5\n 6\n-7\n+seven\n 8\n 9\n 10\n"
        "@@ -22,7 +22,6 @@\n 22\n 23\n 24\n-25\n 26\n 27\n 28\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        (b"a", b"a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        (b"a\n", b"a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"),
        (b"", b"a\n", "@@ -0,0 +1 @@\n+a\n"),
        (b"a\n", b"", "@@ -1 +0,0 @@\n-a\n"),
        (b"a\r\n", b"a\n", "@@ -1 +1 @@\n-a\\r\n+a\n"),
        (b"\xff\t\x1b[0m\n", b"\xe2\x80\xae\n", "@@ -1 +1 @@\n-\\xff\t\\x1b[0m\n+\\u{202E}\n"),
        ("a\u2028b\x0cc\n", "a\n", "@@ -1 +1 @@\n-a\\u{2028}b\\x0cc\n+a\n"),
    ],
)
def test_what_does_not_show_is_shown(old: bytes | str, new: bytes | str, body: str) -> None:
    assert unified(old, new, "/a") == f"--- a/a\n+++ b/a\n{body}"


def test_the_same_bytes_are_no_diff() -> None:
    assert unified(b"a\xff", b"a\xff", "a") == ""
    assert list(unified_by_line([(b"a\n", b"a\n")] * 9, "a")) == []


def test_the_name_is_escaped_too() -> None:
    assert unified("a", "b", "\x1b]0;x\n").startswith("--- a/\\x1b]0;x\\n\n")


def test_colours_only_if_asked() -> None:
    assert "\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n" in unified("a\n", "b\n", "x", paint=coloured)
    assert "\x1b[32m+b\x1b[0m\n" in "".join(unified_by_line([(b"a\n", b"b\n")], "x", paint=coloured))


_TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "-\n"]), max_size=25).map("".join)
_ENDS = st.sampled_from(["", "x"])


@given(_TEXTS, _ENDS, _TEXTS, _ENDS, st.integers(0, 4))
def test_a_diff_makes_the_new_text_of_the_old(
    old: str, old_end: str, new: str, new_end: str, context: int
) -> None:
    old, new = old + old_end, new + new_end
    diff = unified(old, new, "f", context=context)
    assert ("".join(applied(diff, split(old))) if diff else old) == new
    assert bool(diff) == (old != new)


_PAIRS = st.lists(
    st.tuples(st.sampled_from([b"a\n", b"b\n", b""]), st.sampled_from([b"a\n", b"b\n", b""])), max_size=40
)


@given(_PAIRS, st.integers(0, 4))
def test_a_diff_by_line_does_too(pairs: list[tuple[bytes, bytes]], context: int) -> None:
    pairs = [pair for pair in pairs if any(pair)]
    old = [line.decode() for line, _ in pairs if line]
    new = [line.decode() for _, line in pairs if line]
    diff = "".join(unified_by_line(pairs, "f", context=context))
    assert (applied(diff, old) if diff else old) == new


def test_by_line_a_line_stands_above_what_it_became() -> None:
    pairs = [(b"0\n", b"0\n"), (b"1\n", b"one\n"), (b"2\n", b"two\n"), (b"3", b"three")]
    end = "\n\\ No newline at end of file\n"
    assert "".join(unified_by_line(pairs, "f")) == (
        f"--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n 0\n-1\n+one\n-2\n+two\n-3{end}+three{end}"
    )


def test_git_applies_it(tmp_path: Path) -> None:
    old = "".join(f"{n}\té\n" for n in range(50)) + "end"
    new = old.replace("7\t", "x\t").replace("3\té\n", "") + "\nmore"
    by_line = [(line, line.replace(b"9", b"nine")) for line in new.encode().splitlines(keepends=True)]
    (tmp_path / "f").write_bytes(old.encode())
    for diff in (unified(old, new, "f"), "".join(unified_by_line(by_line, "f"))):
        subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff.encode(), check=True)
    assert (tmp_path / "f").read_bytes() == b"".join(line for _, line in by_line)


def test_a_hunk_of_any_size_is_no_trouble() -> None:
    line = b"x" * 1000
    pieces = unified_by_line(((line + b"1\n", line + b"2\n") for _ in range(20_000)), "f")
    assert next(pieces) == "--- a/f\n+++ b/f\n"
    assert next(pieces) == "@@ -1,20000 +1,20000 @@\n"
    assert max(len(piece) for piece in islice(pieces, 50)) <= 64 * 1024


def test_large_texts_that_change_everywhere_are_matched_by_their_single_lines() -> None:
    old = [part for n in range(20_000) for part in (f"- task_id: t{n}\n", "  category: mcq\n", "\n")]
    new = [
        part
        for n in range(20_000)
        for part in (f"- task_id: t{n}\n", "  category: mcq\n", "  version: 1\n", "\n")
    ]
    assert applied(unified("".join(old), "".join(new), "f"), old) == new
    found = blocks(old, new)
    assert sum(block.new_end - block.new_start for block in found if not block.same) == 20_000


def test_large_texts_with_nothing_to_hold_on_to() -> None:
    for size in (300, 3000):
        old, new = ["a\n", "b\n"] * size, ["b\n", "b\n", "a\n"] * size
        assert applied(unified("".join(old), "".join(new), "f"), old) == new
    shuffled = [f"{n * 7919 % 10007}\n" for n in range(10_007)]
    ordered = [f"{n}\n" for n in range(10_007)]
    assert applied(unified("".join(shuffled), "".join(ordered), "f"), shuffled) == ordered
