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

STOPS = ("instants", "stops", "all old", "mixed", "all new", "finished", "undone", "dropped")
#: What `crash.matrix` counts, and what it does at each instant.
KINDS = {
    "runs": (STOPS, "A run is ended (os._exit, SIGKILL) at"),
    "recoveries": (STOPS, "A run is ended, and then its recovery too, at"),
    "errors": (
        ("errors", "went on", "refused, all old", "partly", "refused, all new", "left a journal"),
        "An error (ENOSPC, EACCES, EXDEV, EIO, EINTR, …), once or for good, from",
    ),
    "signals": (("signals", "all old", "all new"), "SIGINT or SIGTERM before"),
    "meddlers": (
        ("changes", "refused", "done before", "done after", "in the gap"),
        "Somebody else changes a file before",
    ),
}
TESTS = Path(__file__).parent.parent


def run_matrix(what: str, names: list[str], step: int, place: Path | None) -> Table:
    """Run scenes two at a time, in `place` or, for speed, in memory; their counts as a table."""
    counted, title = KINDS[what]
    which = "every system call" if step == 1 else f"one in {step} system calls"
    table = Table(f"{title} {which}", ("scene", "atomic", *counted))
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
            assert next(iter(counts.values())) > 0
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
@pytest.mark.parametrize("what", ["errors", "signals", "meddlers"])
def test_every_trouble(what: str, tmp_path: Path) -> None:
    run_matrix(what, list(SCENES), 1, tmp_path)


@pytest.mark.crash
def test_every_instant_of_a_recovery() -> None:
    run_matrix("recoveries", list(SCENES), 2, in_memory())


def test_some_instants_of_a_run() -> None:
    table = run_matrix("runs", list(SCENES), 17, in_memory())
    assert total(table, "mixed") > 0, "no stop between two replacements"
    assert all(total(table, outcome) for outcome in ("finished", "undone", "dropped"))


def test_some_instants_of_a_recovery() -> None:
    run_matrix("recoveries", ["many files"], 37, in_memory())


@pytest.mark.parametrize(("what", "step"), [("errors", 29), ("signals", 13), ("meddlers", 13)])
def test_some_troubles(what: str, step: int) -> None:
    table = run_matrix(what, ["many files", "symlinks"], step, in_memory())
    assert total(table, {"errors": "went on", "signals": "all new", "meddlers": "refused"}[what])


def total(table: Table, column: str) -> int:
    return sum(int(str(row[table.columns.index(column)])) for row in table.rows)
