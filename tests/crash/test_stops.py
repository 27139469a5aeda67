"""A process that is stopped at any system call leaves each file old or new, and `recover` makes the run whole.

For each scene, both kinds of atomicity, each system call that changes something, both sides of it (and the middle of
a write), ended by `os._exit` and by SIGKILL, and then: finished, undone, or run again. A part of it in `make test`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from crash.scenes import SCENES
from crash.table import Table

COLUMNS = (
    "scene",
    "atomic",
    "instants",
    "stops",
    "all old",
    "mixed",
    "all new",
    "finished",
    "undone",
    "dropped",
)
TESTS = Path(__file__).parent.parent


def run_matrix(what: str, names: list[str], step: int, place: Path | None) -> Table:
    """Run scenes two at a time, in `place` or, for speed, in memory; their counts as a table."""
    told = "" if what == "runs" else ", its recovery stopped"
    table = Table(
        f"Stopped at {'every' if step == 1 else f'one in {step} of the'} system calls{told}", COLUMNS
    )
    jobs = [(name, atomic) for name in names for atomic in ("file", "run")]

    def work(job: tuple[str, str]) -> dict[str, int]:
        with tempfile.TemporaryDirectory(dir=place) as base:
            command = [sys.executable, "-m", "crash.matrix", what, *job, str(step), base]
            done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{job}: {done.stderr[-3000:]}"
        counts: dict[str, int] = json.loads(done.stdout)
        return counts

    with ThreadPoolExecutor(2) as pool:
        for job, counts in zip(jobs, pool.map(work, jobs), strict=True):
            assert counts["stops"] > 0
            table.row(*job, *counts.values())
    table.show()
    return table


def in_memory() -> Path | None:
    """A folder in memory, where there is one: what survives a process does not depend on the disk."""
    memory = Path("/dev/shm")  # noqa: S108 -- the folders made in it have names of their own
    return memory if memory.is_dir() else None


@pytest.mark.crash
def test_every_instant_of_a_run(tmp_path: Path) -> None:
    run_matrix("runs", list(SCENES), 1, tmp_path)


@pytest.mark.crash
def test_every_instant_of_a_recovery() -> None:
    run_matrix("recoveries", list(SCENES), 3, in_memory())


def test_some_instants_of_a_run() -> None:
    table = run_matrix("runs", list(SCENES), 7, in_memory())
    assert sum(int(str(row[COLUMNS.index("mixed")])) for row in table.rows) > 0, (
        "no stop between two replacements"
    )
    for outcome in ("finished", "undone", "dropped"):
        assert all(row[COLUMNS.index(outcome)] for row in table.rows), outcome


def test_some_instants_of_a_recovery() -> None:
    run_matrix("recoveries", ["many files", "symlinks"], 20, in_memory())
