"""A progress bar: on a terminal, for long work, gone when it is done."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading

import pytest

from evalspec.cli._progress import Progress


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal:
    """A real terminal, and what was drawn on it."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        self.stream = os.fdopen(slave, "w")

    def drawn(self) -> str:
        self.stream.close()
        out = b""
        try:
            while piece := os.read(self.master, 65536):
                out += piece
        except OSError:  # the other end is closed: how Linux ends it
            pass
        os.close(self.master)
        return out.decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def test_long_work_shows_a_bar_and_takes_it_away(terminal: Terminal) -> None:
    clock = Clock()
    threads = threading.active_count()
    with Progress("validating", 1_000_000, stream=terminal.stream, clock=clock) as progress:
        progress.advance(250_000)
        clock.now = 1
        progress.advance(250_000)
        assert threading.active_count() == threads
        clock.now = 1.05
        progress.advance(100_000)
        clock.now = 2
        progress.advance(400_000)
    progress.close()
    progress.advance(1)
    drawn = terminal.drawn()
    assert "validating" in drawn
    assert "0.5/1.0 MB" in drawn
    assert "0.6/1.0" not in drawn
    assert "1.0/1.0 MB" in drawn
    assert drawn.endswith("\x1b[2K")


def test_short_work_shows_nothing(terminal: Terminal) -> None:
    with Progress("validating", 10, stream=terminal.stream, clock=Clock()) as progress:
        progress.advance(10)
    assert terminal.drawn() == ""


def test_work_of_unknown_size(terminal: Terminal) -> None:
    with Progress("[bold]x", stream=terminal.stream, delay=0) as progress:
        progress.advance(5)
    assert "[bold]x" in terminal.drawn()


@pytest.mark.parametrize("why", ["quiet", "dumb"])
def test_nobody_who_asked_for_none_gets_one(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    with Progress("x", 10, stream=terminal.stream, enabled=why != "quiet", delay=0) as progress:
        progress.advance(10)
    assert terminal.drawn() == ""


def test_an_error_takes_the_bar_away_too(terminal: Terminal) -> None:
    def work() -> None:
        with Progress("x", 10, stream=terminal.stream, delay=0) as progress:
            progress.advance(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert "\x1b[?25h" in terminal.drawn()  # the cursor is back


def test_nothing_in_a_pipe_and_rich_is_not_even_imported() -> None:
    stream = io.StringIO()
    with Progress("x", 10, stream=stream, delay=0) as progress:
        progress.advance(10)
    assert stream.getvalue() == ""
    code = (
        "import sys; from evalspec.cli._progress import Progress\n"
        "with Progress('x', 10, delay=0) as p: p.advance(10)\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
