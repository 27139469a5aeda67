"""Tasks drawn at random over all forms of all fields: the harness and we agree on each context, request and error."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import random_tasks
from compare import Table, ask, compare

from evalspec.prompts.chat import BUILT_IN


def run(harness: Path, folder: Path, count: int, seed: int) -> Table:
    rnd = random.Random(seed)
    chats = list(BUILT_IN.values())
    table, jobs = Table(), []
    for number in range(count):
        settings, splits = random_tasks.task(rnd, f"task_{number}")
        cases = [random_tasks.case(rnd, chats) for _ in range(6)]
        jobs.append({"name": f"task_{number}", "settings": settings, "splits": splits, "cases": cases})
    answers = ask(harness, jobs, folder)
    for job in jobs:
        compare(job, job["settings"], answers[job["name"]], table)
    return table


def test_random_tasks_are_equal(harness: Path, tmp_path: Path) -> None:
    table = run(harness, tmp_path, 150, seed=3)
    assert not table.different, table.text()
    assert table.equal == table.rows > 1000


@pytest.mark.conformance
def test_many_random_tasks_are_equal(
    harness: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = run(harness, tmp_path, 3000, seed=4)
    with capsys.disabled():
        print(f"\nrandom tasks\n{table.text()}")
    assert not table.different, table.text()
