"""Several processes find what one finds, and a worker's end, however it comes, is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evalspec.errors import BadTasks, EvalspecError, Finding, UnknownVersion, WorkerLost, WriteError
from evalspec.project import Project
from evalspec.tasks import Reading, sharing, validate, validate_path, validate_paths
from evalspec.tasks.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def record(number: int, **more: Any) -> dict[str, Any]:
    task = {
        "task_id": f"t{number}",
        "category": "arithmetic",
        "prompt": f"What is {number} + 1 — in words?",
        "targets": [str(number + 1)],
        "metric_name": "exact_match",
        "post_process": "none",
    }
    return task | more


def lines(count: int, bad: dict[int, bytes]) -> bytes:
    good = (json.dumps(record(number)).encode() for number in range(count))
    return b"\n".join(bad.get(number, line) for number, line in enumerate(good)) + b"\n"


@pytest.fixture
def reading() -> Reading:
    project = Project.find()
    return Reading(project.families, project.unmarked())


@pytest.fixture
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "LEAST_SHARE", 2000)
    monkeypatch.setattr(sharing, "_BATCH_BYTES", 4000)


CASES = {
    "all sound": lines(200, {}),
    "blank lines, CRLF, no final line end": lines(150, {3: b"", 77: b" \t", 100: b"\r"}).rstrip(b"\n"),
    "bad lines in every range": lines(200, {0: b"{", 60: b"[1]", 120: b'{"task_id": 1}', 199: b"\xff"}),
    "ids that stand twice, far apart": lines(200, {190: json.dumps(record(3)).encode()}),
    "ids that stand twice in one range": lines(200, {4: json.dumps(record(3)).encode()}),
    "mixed versions": lines(200, {150: json.dumps(record(150, spec_version=7)).encode()}),
    "one very long line": lines(100, {50: json.dumps(record(50, metadata={"x": "y" * 9000})).encode()}),
    "a long line that is refused": lines(
        100, {50: json.dumps(record(50, metadata={"x": "y" * 30000})).encode()}
    ),
}


@pytest.mark.usefixtures("small_shares")
@pytest.mark.parametrize("all_errors", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_ranges_of_a_file_give_the_report_of_the_file(
    tmp_path: Path, reading: Reading, name: str, all_errors: bool
) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(CASES[name])
    reading = reading._replace(all_errors=all_errors, max_line=20000)
    told: list[int] = []
    for jobs in (2, 3, 8):
        told.clear()
        assert len(sharing.shares([str(path)], jobs)[0].ranges) == jobs
        reports = validate_paths([str(path)], reading, jobs=jobs, advance=told.append)
        assert reports == [validate_path(str(path), reading)]
        assert sum(told) >= path.stat().st_size


@pytest.mark.usefixtures("small_shares")
def test_files_of_every_kind_keep_their_order(tmp_path: Path, reading: Reading) -> None:
    paths = []
    for number in range(100):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(lines(number % 7, {2: b"{"}))
        paths.append(str(path))
    large = tmp_path / "large.jsonl"
    large.write_bytes(lines(200, {}))
    yaml = tmp_path / "one.yaml"
    yaml.write_text(json.dumps(record(1)))
    paths[50:50] = [str(large), str(yaml)]
    assert validate_paths(paths, reading, jobs=3) == [validate_path(path, reading) for path in paths]


@pytest.mark.usefixtures("small_shares")
def test_a_file_that_is_missing_is_told_in_its_turn(tmp_path: Path, reading: Reading) -> None:
    files = [tmp_path / f"{number}.jsonl" for number in range(100)]
    for path in files:
        path.write_bytes(lines(3, {}))
    files[60].unlink()
    paths = [str(path) for path in files]
    with pytest.raises(WriteError) as caught:
        validate_paths(paths, reading, jobs=2)
    assert caught.value.path == paths[60]


def test_little_work_starts_no_worker(
    tmp_path: Path, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "validate_shared", None)
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(lines(10, {}))
    [report] = validate_paths([str(path)] * 10, reading, jobs=8)[:1]
    assert report.valid == 10


# ── Workers ──────────────────────────────────────────────────────────────────────────────────────────────────


def twice(factor: int, piece: int, tell: Callable[[int], object]) -> int:
    tell(piece)
    return factor * piece


def fail(piece: BaseException | int, tell: Callable[[int], object]) -> int:
    del tell
    if isinstance(piece, BaseException):
        raise piece
    return piece


def die(piece: int, tell: Callable[[int], object]) -> int:
    del tell
    if piece == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


@pytest.fixture(params=[True, False], ids=["forked", "fresh"])
def fork(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    # A fresh interpreter finds this module's functions as those of a module it can import.
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    for function in (twice, fail, die):
        monkeypatch.setattr(function, "__module__", "test_parallel")
    monkeypatch.setitem(sys.modules, "test_parallel", sys.modules[__name__])
    return bool(request.param)


def test_results_come_in_the_order_of_the_pieces(fork: bool) -> None:
    told: list[int] = []
    with Workers(partial(twice, 2), range(9), 3, advance=told.append, fork=fork) as workers:
        assert [workers.result() for _ in range(9)] == [2 * number for number in range(9)]
        with pytest.raises(IndexError):
            workers.result()
    assert sum(told) == sum(range(9))


def test_an_error_comes_through_whole_and_in_its_turn(fork: bool) -> None:
    finding = Finding("r", "error", "p", 1, 1, None, None, "m", "t", "f")
    errors: list[EvalspecError] = [
        UnknownVersion("v9", ["v1", "v2"]),
        WriteError("a.jsonl", "the disk is full", fix="free some space"),
        BadTasks("two errors", [finding, finding]),
    ]
    errors[0].add_note("a note")
    with Workers(fail, [0, *errors, 4], 4, fork=fork) as workers:
        assert workers.result() == 0
        for error in errors:
            with pytest.raises(type(error)) as caught:
                workers.result()
            assert (caught.value.args, vars(caught.value)) == (error.args, vars(error))
        assert workers.result() == 4


def test_a_fault_comes_with_its_story(fork: bool) -> None:
    with (
        Workers(fail, [ZeroDivisionError("at last")], 1, fork=fork) as workers,
        pytest.raises(RuntimeError, match=r"(?s)in fail.*ZeroDivisionError: at last"),
    ):
        workers.result()


def test_a_piece_that_cannot_be_made_is_an_error_in_its_turn(fork: bool) -> None:
    def pieces() -> Iterator[int]:
        yield 1
        raise WriteError("b.jsonl", "it is gone")

    with Workers(partial(twice, 2), pieces(), 2, fork=fork) as workers:
        assert workers.result() == 2
        with pytest.raises(WriteError, match="gone"):
            workers.result()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_worker_is_told(fork: bool) -> None:
    with Workers(die, range(3), 2, fork=fork) as workers:
        assert workers.result() == 0
        with pytest.raises(WorkerLost):
            workers.result()


ORPHANS = r"""
import os, signal, sys, time
from evalspec.tasks.workers import Workers

def work(piece, tell):
    os.write(1, b"%d\n" % os.getpid())  # at once, as the other one writes as well
    while True:
        time.sleep(0.01)
        tell(0)

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background job would ignore
with Workers(work, range(2), 2, fork=True) as workers:
    workers.result()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_worker_outlives_its_parent(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        assert parent.stdout is not None
        try:
            children = [int(parent.stdout.readline()) for _ in range(2)]
            parent.send_signal(number)
            parent.wait(60)
        finally:
            parent.kill()
    deadline = time.monotonic() + 60  # a busy machine lets them end late
    while any(map(_is_alive, children)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(_is_alive, children))


def _is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
