"""What holds for every command: help with examples, suggestions for what is misspelt, no stray writes."""

from __future__ import annotations

import shlex

import pytest
from support.cli import ROOT, Cli

from evalspec.cli import COMMANDS
from evalspec.cli._run import build_parser, load_command


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_a_sentence_and_examples_that_parse(cli: Cli, command: str) -> None:
    code, out, err = cli(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: evalspec {command} ")
    assert "\nexamples:\n  evalspec " in out
    module = load_command(command)
    lines = module.EXAMPLES.strip().splitlines()
    assert len(lines) >= 2
    for line in lines:
        words = shlex.split(line.partition("evalspec ")[2] if "| evalspec " in line else line)
        for mark in ("|", ">", ">>", "<"):
            words = words[: words.index(mark)] if mark in words else words
        assert words[0] == command
        build_parser(command, module).parse_args(words[1:])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelt_flag_is_misuse_with_a_suggestion(cli: Cli, command: str) -> None:
    code, out, err = cli(command, "--quite", "x")
    assert (code, out) == (2, "")
    assert "did you mean '--quiet'?" in err or "--help` shows what it takes" in err


def test_a_misspelt_command_is_misuse_with_a_suggestion(cli: Cli) -> None:
    code, out, err = cli("validat")
    assert (code, out) == (2, "")
    assert "did you mean 'validate'?" in err


@pytest.mark.parametrize("command", ["validate", "render", "check", "current", "diff"])
def test_what_only_reads_makes_no_file(cli: Cli, command: str) -> None:
    more = {"check": ["--require", "v1"], "diff": ["--to", "v3"]}.get(command, [])
    path = cli.cwd / "t.jsonl"
    path.write_bytes((ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl").read_bytes())
    assert cli(command, path, *more).code == 0
    assert [entry.name for entry in cli.cwd.iterdir()] == ["t.jsonl"]


@pytest.mark.parametrize("command", ["render", "check", "current", "diff"])
def test_a_missing_path_and_a_folder_without_tasks_are_misuse(cli: Cli, command: str) -> None:
    more = {"check": ["--require", "v1"], "diff": ["--to", "v3"]}.get(command, [])
    code, _, err = cli(command, "nowhere.jsonl", *more)
    assert code == 2
    assert "no such file or folder: nowhere.jsonl" in err
    assert cli(command, ".", *more).code == 2


def test_paths_may_stand_before_and_behind_flags(cli: Cli) -> None:
    good = (ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl").read_bytes()
    for name in ("a.jsonl", "b.jsonl", "-c.jsonl"):
        (cli.cwd / name).write_bytes(good)
    shown = cli("current", "a.jsonl", "--quiet", "b.jsonl").out
    assert shown == cli("current", "a.jsonl", "b.jsonl").out
    assert "b.jsonl" in shown
    behind_dashes = cli("current", "a.jsonl", "--quiet", "b.jsonl", "--", "-c.jsonl")
    assert behind_dashes.out.splitlines()[-1] == "-c.jsonl: v1"
    assert cli("task", "arith_001", "--prompt", "a.jsonl").code == 0
    wrong = cli("current", "a.jsonl", "--quiet", "b.jsonl", "--nothing")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--nothing" in wrong.err
