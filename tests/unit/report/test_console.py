"""When there are colours, and that no text stops a report."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from evalspec.report import Console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "asked", "environ", "color"),
    [
        (True, None, {}, True),
        (False, None, {}, False),
        (True, None, {"NO_COLOR": "1"}, False),
        (True, None, {"NO_COLOR": ""}, True),
        (True, None, {"TERM": "dumb"}, False),
        (False, None, {"FORCE_COLOR": "1"}, True),
        (False, None, {"FORCE_COLOR": "0"}, False),
        (True, None, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (False, None, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (False, True, {"NO_COLOR": "1"}, True),
        (True, False, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours(terminal: bool, asked: bool | None, environ: dict[str, str], color: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    console = Console(stream, asked, environ=environ)
    console.line("x", "error")
    console.line("y")
    assert console.color is color
    assert stream.getvalue() == ("\x1b[31mx\x1b[0m\ny\n" if color else "x\ny\n")


@pytest.mark.parametrize(
    ("encoding", "written"), [("ascii", b"a\\u2026\\ud800\n"), ("utf-8", b"a\xe2\x80\xa6\\ud800\n")]
)
def test_what_an_encoding_lacks_is_escaped(encoding: str, written: bytes) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    Console(stream, environ={}).line("a…\ud800")
    stream.flush()
    assert raw.getvalue() == written


def test_a_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    stream.close()
    assert not Console(stream, environ={}).is_terminal


def test_there_is_no_rich_in_a_pipe_and_it_is_never_imported_there() -> None:
    code = (
        "import sys; from evalspec.report import Console, finding_text; c = Console(sys.stdout); c.line('x', 'error');"
        " assert c.rich() is None; heavy = {'rich', 'deepdiff', 'difflib', 'json'} & set(sys.modules); print(heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "x\nset()\n"


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a real terminal."""
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def test_on_a_terminal_rich_writes_to_the_same_stream_and_leaves_text_alone(
    terminal: tuple[int, int],
) -> None:
    with open(terminal[1], "w", closefd=False) as stream:
        console = Console(stream, environ={"TERM": "xterm"})
        assert console.is_terminal
        assert console.width > 0
        rich = console.rich()
        assert rich is not None
        assert console.rich() is rich
        rich.print("[bold]x[/bold] :smile: 12")
    assert os.read(terminal[0], 100) == b"[bold]x[/bold] :smile: 12\r\n"
