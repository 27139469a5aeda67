"""An interrupt at any instant ends a command with its exit code, not with a crash."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.cli import clean_environment
from support.files import line

if TYPE_CHECKING:
    from pathlib import Path

#: Runs a command that gets a signal as the numbered import begins, counted from that of msgspec on.
INTERRUPTED_AT = """
import os, sys
from evalspec.cli import main

left = int(sys.argv.pop(1))
number = int(sys.argv.pop(1))
begun = False

def count(event, about):
    global left, begun
    if event == "import":
        begun = begun or about[0].startswith("msgspec")
        if begun:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), number)

sys.addaudithook(count)
sys.exit(main())
"""


#: Runs a command that gets SIGINT as code made from a string begins to run, as that of a named tuple does.
INTERRUPTED_IN_A_STRING = """
import os, sys
from evalspec.cli import main

left = int(sys.argv.pop(1))

def count(frame, event, _):
    global left
    if event == "call" and frame.f_code.co_filename == "<string>" and frame.f_code.co_name == "<module>":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 2)

sys.settrace(count)
sys.exit(main())
"""


def interrupted(tmp_path: Path, script: str, *arguments: int) -> tuple[int, str]:
    """The exit code and standard error of a migration in the midst of which the script sends a signal."""
    # As a module: a script that is a string or a file leaves by `SystemExit`, and Python does not look at its flag.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "interrupting.py").write_text(script)
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    path = tasks / "tasks.jsonl"
    path.write_bytes(line("a") + line("b"))
    command = [sys.executable, "-m", "interrupting", *map(str, arguments)]
    done = subprocess.run(
        [*command, "migrate", "--to", "v3", "--jobs", "1", path],
        env=clean_environment(PYTHONPATH=str(tmp_path / "bin")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert path.read_bytes() == line("a") + line("b")
    assert [each.name for each in tasks.iterdir()] == ["tasks.jsonl"]
    return done.returncode, done.stderr


@pytest.mark.parametrize(("number", "code"), [(2, 130), (15, 143)])
@pytest.mark.parametrize("instant", [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20])
def test_while_a_compiled_module_is_loaded(tmp_path: Path, instant: int, number: int, code: int) -> None:
    found, err = interrupted(tmp_path, INTERRUPTED_AT, instant, number)
    assert found == code, err
    assert err.endswith("every file is whole\n")


@pytest.mark.parametrize("instant", [1, 2, 3, 5])
def test_while_code_made_from_a_string_runs(tmp_path: Path, instant: int) -> None:
    assert interrupted(tmp_path, INTERRUPTED_IN_A_STRING, instant) == (
        130,
        "evalspec: interrupted; every file is whole\n",
    )
