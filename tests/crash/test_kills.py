"""`evalspec migrate` killed at random instants: 200 kills over 500 files in `make crash`, a few in `make test`."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from crash.table import Table

TESTS = Path(__file__).parent.parent
ORDER = ["before it began", "preparing files", "replacing files", "tidying up", "after its end"]


def kills(count: int, files: int, base: Path) -> list[dict[str, Any]]:
    """Two programs at a time, each with half of the kills."""

    def work(seed: int) -> list[dict[str, Any]]:
        folder = base / str(seed)
        command = [
            sys.executable,
            "-m",
            "crash.kills",
            str((count + 1) // 2),
            str(files),
            str(folder),
            str(seed),
        ]
        done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    with ThreadPoolExecutor(2) as pool:
        return [one for found in pool.map(work, (1, 2)) for one in found]


def show(found: list[dict[str, Any]], files: int) -> None:
    columns = (
        "killed while",
        "kills",
        "files old",
        "files new",
        "lost",
        "recover",
        "recover --undo",
        "migrate again",
    )
    table = Table(f"{len(found)} kills (SIGKILL) of `evalspec migrate` over {files} files", columns)
    for where in ORDER:
        here = [one for one in found if one["where"] == where]
        if not here:
            continue
        ends = []
        for way in ("recover", "recover --undo", "migrate"):
            alls = [one["all"] for one in here if one["way"] == way]
            ends.append(
                ", ".join(f"{alls.count(end)} all {end}" for end in ("old", "new") if end in alls) or "-"
            )
        old, new = (f"{min(one[k] for one in here)}..{max(one[k] for one in here)}" for k in ("old", "new"))
        table.row(where, len(here), old, new, 0, *ends)
    table.show()


@pytest.mark.crash
def test_two_hundred_random_kills(tmp_path: Path) -> None:
    found = kills(200, 500, tmp_path)
    show(found, 500)
    assert len(found) == 200
    mixed = [one for one in found if one["old"] and one["new"]]
    assert mixed, "no kill came between two replacements"


def test_a_few_random_kills(tmp_path: Path) -> None:
    found = kills(12, 40, tmp_path)
    show(found, 40)
    assert {one["where"] for one in found} & {"preparing files", "replacing files"}
    for one in found:
        if one["way"] == "recover --undo" and one["where"] in {"preparing files", "replacing files"}:
            assert one["all"] == "old", one
        if one["way"] == "recover" and one["where"] == "replacing files":
            assert one["all"] == "new", one


@pytest.mark.parametrize(
    ("kind", "status", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")]
)
def test_an_interrupted_migration_leaves_nothing(kind: str, status: int, word: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "crash.kills", kind, "60", str(tmp_path / "tasks")]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["status"] == status, found
    assert word in found["told"]
    assert found["strays"] == []
    assert found["old"] == 60
