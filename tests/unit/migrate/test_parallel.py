"""Several processes write the bytes that one writes, and say what it says."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from evalspec.errors import EvalspecError, UsageError, WriteError
from evalspec.migrate import load_history
from evalspec.migrate import run as run_module
from evalspec.migrate.convert import Options
from evalspec.migrate.rendering import PromptChanged
from evalspec.migrate.run import Writing, migrate_paths
from evalspec.migrate.upgrade import Upgrades
from evalspec.project import Project
from evalspec.tasks import Reading, sharing, validate, workers
from evalspec.writing import open_part

if TYPE_CHECKING:
    from pathlib import Path

    from evalspec.migrate.outcome import Outcome


def record(number: int, **more: Any) -> dict[str, Any]:
    return {
        "task_id": f"t{number}",
        "category": "classification",
        "prompt": f"Is {number} – naïvely – odd?",
        "targets": ["yes"],
        "metric_name": "accuracy",
        "few_shot_examples": [{"prompt": "Is 4 odd?", "completion": "no"}],
        "post_process": "extract_letter" if number % 3 == 0 else "none",
    } | more


def lines(count: int, other: dict[int, bytes], separators: tuple[str, str] = (",", ":")) -> bytes:
    plain = (
        json.dumps(record(number), ensure_ascii=False, separators=separators).encode()
        for number in range(count)
    )
    return b"\n".join(other.get(number, line) for number, line in enumerate(plain)) + b"\n"


def encoded(number: int, **more: Any) -> bytes:
    return json.dumps(record(number, **more)).encode()


CASES = {
    "canonical": lines(200, {}),
    "spaced, no final line end": lines(200, {}, (", ", ": ")).rstrip(b"\n"),
    "blank lines and CRLF": lines(200, {7: b"", 80: b" ", 150: encoded(150) + b"\r"}),
    "bad lines": lines(200, {0: b"{", 90: b"[]", 199: encoded(3, category="?")}),
    "ids that stand twice": lines(200, {190: encoded(3), 191: encoded(4)}),
    "a long line that is refused": lines(200, {100: encoded(100, metadata={"x": "y" * 30000})}),
}


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "LEAST_SHARE", 2000)
    monkeypatch.setattr(sharing, "_BATCH_BYTES", 4000)


def migrate(
    path: Path, jobs: int, to: str = "evalspec@v3", options: Options | None = None, **writing: Any
) -> Outcome:
    project = Project.find()
    reading = Reading(project.families, project.unmarked(), max_line=20000)
    upgrades = Upgrades(project.families, load_history(project.families), to)
    return migrate_paths(
        [str(path)], upgrades, reading, Writing(str(path.parent), jobs=jobs, **writing), options
    )


def said(outcome: Outcome) -> dict[str, Any]:
    steps = {id_: step.counts() for id_, step in outcome.steps.items()}
    return {"files": [asdict(file) for file in outcome.files], "steps": steps}


@pytest.mark.parametrize("options", [Options(), Options(prove_all=True, want_ids=True, want_changes=True)])
@pytest.mark.parametrize("allow_bad", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_workers_write_what_one_process_writes(
    tmp_path: Path, name: str, allow_bad: bool, options: Options
) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(CASES[name])
    alone = migrate(path, 1, options=options, allow_bad=allow_bad)
    expected = path.read_bytes()
    for jobs in (2, 5):
        path.write_bytes(CASES[name])
        told: list[int] = []
        dry = migrate(path, jobs, options=options, allow_bad=allow_bad, dry_run=True)
        assert path.read_bytes() == CASES[name]
        outcome = migrate(path, jobs, options=options, allow_bad=allow_bad, advance=told.append)
        assert path.read_bytes() == expected
        assert said(outcome) == said(alone)
        assert said(dry)["steps"] == said(alone)["steps"]
        assert sum(told) >= len(CASES[name])
        assert os.listdir(tmp_path) == ["tasks.jsonl"]  # noqa: PTH208 - names are what is compared


def failure(path: Path, jobs: int, to: str = "evalspec@v3", **writing: Any) -> EvalspecError:
    before = path.read_bytes()
    with pytest.raises(EvalspecError) as caught:
        migrate(path, jobs, to, **writing)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    return caught.value


def test_an_error_of_a_worker_is_the_error_of_one_process(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(lines(200, {150: b'{"spec_version":3,"task_id":"later"}', 151: encoded(151)}))
    newer = tmp_path / "newer.jsonl"
    migrate(path, 1, allow_bad=True)
    path.rename(newer)
    alone, shared = failure(newer, 1, "evalspec@v2"), failure(newer, 4, "evalspec@v2")
    assert isinstance(shared, UsageError)
    assert (type(shared), shared.args, vars(shared)) == (type(alone), alone.args, vars(alone))


@pytest.fixture
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are copies of this process, and so meet a function that was replaced in it.

    Of itself a process with threads starts new interpreters, and a runner of tests may have some.
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("workers are forked on Linux only")
    monkeypatch.setattr(workers, "may_fork", lambda: True)


@pytest.mark.usefixtures("_forked")
def test_a_broken_promise_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalspec.migrate import convert
    from evalspec.migrate.rendering import Shown

    def show(record: Any, schema: Any) -> Shown:
        broken = record["task_id"] == "t150" and schema.version == "v2"
        return Shown("other" if broken else record["prompt"])

    monkeypatch.setattr(convert, "show", show)
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(CASES["canonical"])
    everything = Options(prove_all=True)
    errors = []
    for jobs in (1, 4):
        with pytest.raises(PromptChanged) as caught:
            migrate(path, jobs, options=everything)
        errors.append(caught.value)
    alone, shared = errors
    assert shared.findings == alone.findings
    assert shared.findings[0].line == 151
    assert shared.after == Shown("other")
    assert path.read_bytes() == CASES["canonical"]


@pytest.mark.usefixtures("_forked")
def test_a_part_that_cannot_be_written_is_told_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalspec.writing import convenience

    def full(part: Any) -> Any:
        opened = open_part(part)
        opened.close()
        return open("/dev/full", "wb", buffering=0)  # noqa: PTH123 - a disk that is full

    if not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("no /dev/full here")
    monkeypatch.setattr(convenience, "open_part", full)
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(CASES["canonical"])
    error = failure(path, 3)
    assert isinstance(error, WriteError)
    assert error.path == str(path)
    assert error.reason == "the disk is full"


def test_a_small_file_is_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(sharing, "ranges_of", None)
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(CASES["canonical"])
    assert migrate(path, 8).files[0].changed == 200
    assert run_module.is_much_work([str(path)]) is False
