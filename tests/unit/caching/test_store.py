"""What is kept of comparisons: found again whole or not at all, whoever else writes, cuts or deletes there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from support.comparisons import COMPARISONS, a_comparison, a_group

from evalspec.caching import store
from evalspec.caching.store import Cache, key_of
from evalspec.diff import Comparison
from evalspec.diff.kept import comparison_of


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != ".gitignore")


@given(COMPARISONS)
def test_a_comparison_is_found_as_it_was(tmp_path_factory: pytest.TempPathFactory, made: Comparison) -> None:
    kept = Cache(str(tmp_path_factory.mktemp("cache")))
    kept.put("key", made, comparison_of)
    found = kept.get("key", comparison_of)
    assert found in (made, None)  # no file can hold half a surrogate pair
    assert found is None or found.to_dict() == made.to_dict()


def test_a_usual_comparison_is_kept(tmp_path: Path) -> None:
    made = a_comparison(a_group(), a_group("a", "b"), silent=("a",), notes=("a note",))
    kept = Cache(str(tmp_path))
    kept.put("key", made, comparison_of)
    assert kept.get("key", comparison_of) == made


def test_it_ignores_itself_and_may_be_deleted(tmp_path: Path) -> None:
    folder = tmp_path / ".evalspec_cache"
    kept = Cache(str(folder))
    assert kept.get("a", str) is None
    kept.put("a", "one", str)
    kept.put("b", "two", str)
    assert (folder / ".gitignore").read_text(encoding="ascii") == "*\n"
    assert (kept.get("a", str), kept.get("b", str), kept.get("c", str)) == ("one", "two", None)
    for path in entries(folder):
        path.unlink()
    assert kept.get("a", str) is None
    kept.put("a", "one", str)
    assert kept.get("a", str) == "one"


def test_what_is_damaged_or_foreign_is_not_there(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path))
    kept.put("a", "one", str)
    [path] = entries(tmp_path)
    whole = path.read_bytes()
    kept.put("b", "two", str)
    [other] = [each for each in entries(tmp_path) if each != path]
    for data in (b"", whole[:-1], whole + b"x", b"x" + whole, whole[:-1] + b"?", other.read_bytes()):
        path.write_bytes(data)
        assert kept.get("a", str) is None
    path.write_bytes(whole)
    assert kept.get("a", comparison_of) is None  # of another form
    path.unlink()
    path.mkdir()
    assert kept.get("a", str) is None
    kept.put("a", "one", str)  # cannot be written, and that is no error
    assert kept.get("b", str) == "two"


def test_nothing_is_kept_that_would_come_back_as_something_else(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path))
    for value in (float("nan"), 1 << 70, object(), (1, 2)):
        kept.put("a", value, lambda data: data)
        assert entries(tmp_path) == [] if tmp_path.exists() else True


def test_it_is_bounded_and_what_is_used_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_BOUND", 10_000)
    kept = Cache(str(tmp_path))
    for number in range(40):
        kept.put(str(number), f"{number}{'x' * 1000}", str)
        for path in entries(tmp_path):  # a clock of files may be coarse
            about = path.stat()
            os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns - 1_000_000_000))
        assert kept.get("0", str) is not None
    assert sum(path.stat().st_size for path in entries(tmp_path)) <= 10_000
    assert kept.get("39", str) is not None
    assert kept.get("5", str) is None
    monkeypatch.setattr(store, "_LARGEST", 100)
    kept.put("large", "x" * 200, str)
    assert kept.get("large", str) is None


def test_a_key_has_the_tool_in_it() -> None:
    assert key_of("a", 1) == key_of("a", 1)
    assert key_of("a", 1) != key_of("a", 2)
    assert key_of("a") != repr(("a",))
