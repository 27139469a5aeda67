"""Patterns that the shell has not expanded."""

from __future__ import annotations

import glob
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.tree.patterns import expand, is_pattern, matches_any

FILES = (
    "a.jsonl",
    "b.yaml",
    "sub/a.jsonl",
    "sub/c[1].jsonl",
    "sub/deep/a.jsonl",
    ".hid/a.jsonl",
    "sub/.h.jsonl",
)


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.jsonl", ["a.jsonl"]),
        ("*", ["a.jsonl", "b.yaml", "sub"]),
        ("*/*.jsonl", ["sub/a.jsonl", "sub/c[1].jsonl"]),
        ("**/*.jsonl", ["a.jsonl", "sub/a.jsonl", "sub/c[1].jsonl", "sub/deep/a.jsonl"]),
        ("**/**/a.jsonl", ["a.jsonl", "sub/a.jsonl", "sub/deep/a.jsonl"]),
        ("**/deep/**/*.jsonl", ["sub/deep/a.jsonl"]),
        ("./sub/*.jsonl", ["sub/a.jsonl", "sub/c[1].jsonl"]),
        ("sub/**", ["sub"]),
        ("**", ["."]),
        ("su?/[a-b].jsonl", ["sub/a.jsonl"]),
        ("su?/[!b]*", ["sub/a.jsonl", "sub/c[1].jsonl", "sub/deep"]),
        ("sub/*[[]1].jsonl", ["sub/c[1].jsonl"]),
        ("sub/c[1", []),
        (".h*/*.jsonl", [".hid/a.jsonl"]),
        ("*/.h*", ["sub/.h.jsonl"]),
        ("[]b]*", ["b.yaml"]),
        ("a.jsonl/*", []),
        ("nothing/*", []),
        ("[z-a]*", []),
    ],
)
def test_a_pattern_gives_names_in_order(pattern: str, names: list[str]) -> None:
    assert expand(pattern) == names


def test_an_absolute_pattern_gives_absolute_names(tmp_path: Path) -> None:
    assert expand(f"{tmp_path}/*.jsonl") == [f"{tmp_path}/a.jsonl"]


def test_two_stars_run_in_no_circle() -> None:
    Path("sub/loop").symlink_to("..")
    assert expand("**/a.jsonl") == ["a.jsonl", "sub/a.jsonl", "sub/deep/a.jsonl"]
    assert "sub/loop/a.jsonl" in expand("sub/*/a.jsonl")


_STEP = st.text("abc*?[]!-.", min_size=1, max_size=5).filter(lambda step: step not in (".", "..", "**"))


@given(st.lists(_STEP, min_size=1, max_size=3).map("/".join))
def test_one_star_means_what_it_means_to_python(pattern: str) -> None:
    if is_pattern(pattern) and "**" not in pattern and not pattern.startswith("-"):
        assert expand(pattern) == sorted(glob.glob(pattern))  # noqa: PTH207 - names are compared, as text


@given(st.text("ab*?[]!-^./", max_size=12), st.text("ab/.\n", max_size=12))
def test_any_pattern_can_be_asked(pattern: str, name: str) -> None:
    assert matches_any(name, [pattern]) in (True, False)
