"""The guard: one run at a time in a folder, and none that a dead process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from evalspec.errors import GuardHeld, WriteError
from evalspec.writing import Guard, Holder, Run, pending, recover

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import sys, time
from evalspec.writing import Run
with Run(sys.argv[1]) as run:
    with run.prepare(sys.argv[1] + "/a.jsonl") as out:
        out.write(b"new")
    print("holding", flush=True)
    time.sleep(float(sys.argv[2]))
    run.commit()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_bytes(b"old")
    return tmp_path


@pytest.fixture(params=["on the folder", "on a file"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of lock: on a file is for file systems that lock no folders."""
    if request.param == "on a file":
        monkeypatch.setattr(Guard, "_lock_folder", refuse)
    return str(request.param)


def refuse(_guard: Guard) -> bool:
    raise OSError(9, "this file system locks no folders")


def holding(folder: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(folder), str(seconds)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "holding\n"
    return child


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    child = holding(folder, 60)
    yield child
    child.kill()
    child.communicate()


def test_a_second_run_waits_tells_once_and_gives_up(folder: Path, holder: subprocess.Popen[str]) -> None:
    told: list[Holder | None] = []
    started = time.monotonic()
    with pytest.raises(GuardHeld) as caught, Run(folder, wait=1.0, on_wait=told.append):
        pass
    assert 1.0 <= time.monotonic() - started < 5.0
    host = os.uname().nodename
    assert told == [Holder(holder.pid, host)]
    assert (caught.value.pid, caught.value.host) == (holder.pid, host)
    assert caught.value.exit_code == 75
    assert str(holder.pid) in str(caught.value)
    assert host in str(caught.value)


def test_ten_seconds_are_the_default(folder: Path) -> None:
    assert Run(folder)._wait == 10.0


def test_a_second_run_goes_on_when_the_first_ends(folder: Path) -> None:
    child = holding(folder, 0.5)
    told: list[Holder | None] = []
    with Run(folder, wait=20, on_wait=told.append) as run:
        assert run.recovered.outcome == "nothing"
        assert (folder / "a.jsonl").read_bytes() == b"new"
    child.communicate()
    assert len(told) <= 1


def test_recover_waits_too(folder: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(GuardHeld) as caught:
        recover(folder, wait=0.1)
    assert caught.value.pid == holder.pid
    found = pending(folder)
    assert found is not None
    assert found.live
    assert found.holder == Holder(holder.pid, os.uname().nodename)
    assert "at work" in found.sentence


def test_one_left_by_a_dead_process_does_not_block(folder: Path, holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    found = pending(folder)
    assert found is not None
    assert not found.live
    assert f"`evalspec recover {folder}` tidies up" in found.sentence
    started = time.monotonic()
    with Run(folder) as run:
        assert run.recovered.outcome == "dropped"
        assert run.recovered.dropped == ("a.jsonl",)
        assert run.recovered.holder == found.holder
    assert time.monotonic() - started < 5
    assert [path.name for path in folder.iterdir()] == ["a.jsonl"]


def test_a_stopped_process_goes_on_holding(folder: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGSTOP)
    with pytest.raises(GuardHeld), Run(folder, wait=0.1):
        pass
    holder.send_signal(signal.SIGCONT)


@pytest.mark.usefixtures("kind")
def test_one_at_a_time_also_within_a_process(folder: Path) -> None:
    with Run(folder):
        with pytest.raises(GuardHeld) as caught, Run(folder, wait=0.1):
            pass
        assert caught.value.pid == os.getpid()
    with Run(folder, wait=0):
        pass
    assert [path.name for path in folder.iterdir()] == ["a.jsonl"]


def test_a_lock_file_that_was_unlinked_guards_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opened the file before its holder unlinked it must not believe that it has the guard."""
    monkeypatch.setattr(Guard, "_lock_folder", refuse)
    first, second = Guard(str(folder)), Guard(str(folder))
    assert first.try_acquire()
    real_open = os.open

    def late(path: str, *args: int) -> int:
        fd = real_open(path, *args)
        if first._fd >= 0 and str(path).endswith(".evalspec-guard"):
            first.release()
        return fd

    monkeypatch.setattr(os, "open", late)
    assert not second.try_acquire()
    assert second.try_acquire()
    third = Guard(str(folder))
    assert not third.try_acquire()
    second.release()
    assert [path.name for path in folder.iterdir()] == ["a.jsonl"]


@pytest.mark.usefixtures("kind")
def test_no_two_of_many_processes_hold_it_together(folder: Path) -> None:
    """Eight processes add to a file, read and written with a pause between; not one addition may be lost."""
    count = folder / "count"
    count.write_text("0")
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for _ in range(5):
                    guard = Guard(str(folder))
                    guard.acquire(60)
                    before = int(count.read_text())
                    time.sleep(0.001)
                    count.write_text(str(before + 1))
                    guard.release()
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    assert count.read_text() == "40"


def test_a_forked_worker_does_not_hold_what_its_killed_parent_held(folder: Path) -> None:
    reader, writer = os.pipe()
    parent = os.fork()
    if parent == 0:
        try:
            guard = Guard(str(folder))
            guard.acquire(10)
            worker = os.fork()
            if worker == 0:
                time.sleep(30)
                os._exit(0)
            os.write(writer, str(worker).encode())
            time.sleep(30)
        finally:
            os._exit(1)
    worker = int(os.read(reader, 20))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    try:
        mine = Guard(str(folder))
        mine.acquire(2)
        mine.release()
    finally:
        os.kill(worker, signal.SIGKILL)
        os.close(reader)
        os.close(writer)


def test_pending_costs_nothing_where_there_is_nothing(folder: Path) -> None:
    code = (
        "import sys; from evalspec.writing import pending; assert pending(sys.argv[1]) is None;"
        "print([n for n in sys.modules if n.startswith('evalspec.writing.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['evalspec.writing.names', 'evalspec.writing.pending_run']"


def test_a_folder_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_guard: Guard) -> bool:
        raise PermissionError(13, "no")

    monkeypatch.setattr(Guard, "_lock_folder", denied)
    with pytest.raises(WriteError, match="taking its guard: you may not write here"), Run(folder):
        pass
