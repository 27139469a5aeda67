"""`evalspec recover`: a run that was killed is finished or taken back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import Cli
from support.files import line

#: Writes "new" to a file and dies where the first file would be replaced, or where one is prepared.
KILLED = """
import os, sys
from evalspec.writing import Run, _rename

def die(*_):
    os._exit(9)

path, when, folder = sys.argv[1:]
with Run(folder) as run:
    with run.prepare(path) as out:
        out.write(b"new\\n")
    if when == "preparing":
        die()
    os.replace = _rename.exchange = die
    run.commit()
"""


def kill_a_run(cli: Cli, path: Path, when: str = "go", folder: Path | None = None) -> None:
    path.write_bytes(b"old\n")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, path, when, folder or path.parent], env=cli.env, check=False
    )
    assert done.returncode == 9
    assert path.read_bytes() == b"old\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_pending_is_fine_and_said(cli: Cli) -> None:
    for arguments in ((), ("--undo",), (cli.cwd,)):
        assert cli("recover", *arguments) == (0, f"nothing to recover: no run is pending in {cli.cwd}\n", "")
    assert names(cli.cwd) == []


def test_a_killed_run_is_finished(cli: Cli) -> None:
    path = cli.cwd / "t.jsonl"
    kill_a_run(cli, path)
    code, out, _ = cli("recover")
    assert code == 0
    assert out == f"the run in {cli.cwd} is finished: every file has its new bytes\n    new: t.jsonl\n"
    assert path.read_bytes() == b"new\n"
    assert names(cli.cwd) == ["t.jsonl"]
    assert cli("recover").out.startswith("nothing to recover")


def test_a_killed_run_is_taken_back(cli: Cli) -> None:
    path = cli.cwd / "t.jsonl"
    kill_a_run(cli, path)
    code, out, _ = cli("recover", "--undo", path)
    assert code == 0
    assert "is taken back: every file has its old bytes" in out
    assert path.read_bytes() == b"old\n"
    assert names(cli.cwd) == ["t.jsonl"]


def test_a_run_that_replaced_nothing_is_tidied_up(cli: Cli) -> None:
    path = cli.cwd / "t.jsonl"
    kill_a_run(cli, path, "preparing")
    (said,) = cli("recover", "--format", "json").json()["runs"]
    assert (said["outcome"], said["folder"], said["placed"]) == ("dropped", str(cli.cwd), [])
    assert path.read_bytes() == b"old\n"
    assert names(cli.cwd) == ["t.jsonl"]


def test_the_journal_of_a_project_is_found_from_a_folder_in_it(cli: Cli) -> None:
    (cli.cwd / "evalspec.toml").touch()
    (cli.cwd / "tasks").mkdir()
    path = cli.cwd / "tasks" / "t.jsonl"
    kill_a_run(cli, path, folder=cli.cwd)
    assert cli("recover", "tasks").code == 0
    assert path.read_bytes() == b"new\n"
    assert names(cli.cwd / "tasks") == ["t.jsonl"]


def test_runs_below_are_found_where_there_is_none_above(cli: Cli) -> None:
    for name in ("a", "b"):
        (cli.cwd / name).mkdir()
        kill_a_run(cli, cli.cwd / name / "t.jsonl")
    code, out, _ = cli("recover", "--undo")
    assert code == 0
    assert f"the run in {cli.cwd / 'a'} is taken back" in out
    assert f"the run in {cli.cwd / 'b'} is taken back" in out
    assert names(cli.cwd / "a") == names(cli.cwd / "b") == ["t.jsonl"]


@pytest.mark.parametrize(
    "command",
    [
        ("validate",),
        ("render",),
        ("current",),
        ("check", "--require", "v3"),
        ("migrate", "--to", "v3", "--diff"),
        ("diff", "--to", "v3"),
        ("tasks",),
        ("task", "a"),
        ("task", "--prompt", "a"),
    ],
    ids=" ".join,
)
def test_a_command_that_reads_says_what_to_do_from_wherever_it_is_called(
    cli: Cli, command: tuple[str, ...]
) -> None:
    (cli.cwd / "sub").mkdir()
    path, below = cli.cwd / "t.jsonl", cli.cwd / "sub" / "u.jsonl"
    kill_a_run(cli, path)
    path.write_bytes(line())
    below.write_bytes(line("b"))
    for named in (path, below, cli.cwd, cli.cwd / "sub"):
        said = cli(*command, named).err
        assert said.count(f"`evalspec recover {cli.cwd}` finishes it") == 1, said
    assert "recover" not in cli(*command, "--quiet", path).err


def test_the_command_that_is_told_can_be_pasted(cli: Cli) -> None:
    folder = cli.cwd / "our tasks"
    folder.mkdir()
    kill_a_run(cli, folder / "t.jsonl")
    (folder / "t.jsonl").write_bytes(line())
    assert f"`evalspec recover '{folder}'` finishes it" in cli("validate", folder).err


def test_a_folder_that_was_named_is_recovered_by_the_next_run_over_it(cli: Cli) -> None:
    """The run's place follows from what was named: that the only file lies deeper changes nothing."""
    (cli.cwd / "tasks" / "deep").mkdir(parents=True)
    path = cli.cwd / "tasks" / "deep" / "t.jsonl"
    for named in ("tasks", "tasks/**/*.jsonl"):
        kill_a_run(cli, path, "preparing", folder=cli.cwd / "tasks")
        path.write_bytes(line())
        assert "an earlier run here had not ended" in cli("migrate", "--to", "v3", named).out
        assert names(cli.cwd / "tasks") == ["deep"]
        assert names(cli.cwd / "tasks" / "deep") == ["t.jsonl"]


def test_a_folder_that_is_not_there_is_misuse(cli: Cli) -> None:
    code, out, err = cli("recover", "nowhere")
    assert (code, out) == (2, "")
    assert "no such file or folder: nowhere" in err
