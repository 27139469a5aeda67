"""Tasks of the harness's own catalogue, on made-up rows: every context and request equal to the byte."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import environment
from compare import Table, ask, bare, catalogue, compare, job_for, why_unknown

from evalspec.prompts.chat import BUILT_IN
from evalspec.prompts.sandbox import Sandbox


def run(harness: Path, folder: Path, count: int, seed: int) -> Table:
    """Compare `count` tasks drawn over all folders of the catalogue: folders in turn, so that small ones count too."""
    found = catalogue(environment.tasks(harness))
    by_folder: dict[str, list[str]] = {}
    rnd = random.Random(seed)
    for name in sorted(found):
        by_folder.setdefault(str(Path(found[name]["path"]).parent), []).append(name)
    for names in by_folder.values():
        rnd.shuffle(names)
    folders = sorted(by_folder)
    rnd.shuffle(folders)
    table, jobs, settings = Table(), [], {}
    chats, sandbox = list(BUILT_IN.values()), Sandbox()
    while len(jobs) < count and any(by_folder.values()):
        for where in folders:
            if not by_folder[where] or len(jobs) >= count:
                continue
            name = by_folder[where].pop()
            why = why_unknown(found[name]["settings"])
            if why is not None:
                table.unknown[why] = table.unknown.get(why, 0) + 1
                continue
            job = job_for(name, found[name], chats[len(jobs) % len(chats)], sandbox)
            if job is not None:
                jobs.append(job)
                settings[name] = bare(found[name]["settings"])
    answers = ask(harness, jobs, folder)
    for job in jobs:
        compare(job, settings[job["name"]], answers[job["name"]], table)
    return table


def test_a_sample_of_the_catalogue_is_equal(harness: Path, tmp_path: Path) -> None:
    table = run(harness, tmp_path, 300, seed=1)
    assert table.tasks == 300
    assert not table.different, table.text()
    assert table.equal == table.rows > 15_000


@pytest.mark.conformance
def test_the_catalogue_is_equal(harness: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = run(harness, tmp_path, 2400, seed=2)
    with capsys.disabled():
        print(f"\ncatalogue of lm-eval 0.4.13\n{table.text()}")
    assert table.tasks >= 2000
    assert not table.different, table.text()
