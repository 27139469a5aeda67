"""`evalspec completion`: what shells offer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.cli import Cli

from evalspec.cli import COMMANDS

CASES = [
    (["h"], ["heads", "history"]),
    (["validate", "--fo"], ["--format"]),
    (["validate", "--format", ""], ["github", "gitlab", "json", "junit", "sarif", "text"]),
    (["migrate", "--prove", "n"], ["needed"]),
    (["schema", ""], ["export"]),
    (["completion", "z"], ["zsh"]),
]


def script(cli: Cli, shell: str) -> Path:
    path = cli.cwd / f"evalspec.{shell}"
    assert cli("completion", shell, "--output", path)[:2] == (0, "")
    return path


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell} here")


@needs("bash")
@pytest.mark.parametrize(("words", "offered"), CASES)
def test_bash_offers(cli: Cli, words: list[str], offered: list[str]) -> None:
    code = f"""
        . {script(cli, "bash")}
        COMP_WORDS=(evalspec "$@") COMP_CWORD=$#
        _evalspec
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", code, "bash", *words], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == offered
    assert done.stderr == ""


@needs("fish")
@pytest.mark.parametrize(("words", "offered"), CASES)
def test_fish_offers(cli: Cli, words: list[str], offered: list[str]) -> None:
    code = f"source {script(cli, 'fish')}; complete -C 'evalspec {' '.join(words)}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code], capture_output=True, text=True, check=True, env=cli.env
    )
    assert sorted(line.split("\t")[0] for line in done.stdout.splitlines()) == offered


@needs("zsh")
def test_zsh_can_read_it(cli: Cli) -> None:
    subprocess.run(["zsh", "-n", script(cli, "zsh")], check=True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_in_it(cli: Cli, shell: str) -> None:
    text = script(cli, shell).read_text()
    assert all(command in text for command in COMMANDS)
    assert "--allow-bad-tasks" in text or "-l allow-bad-tasks" in text


def test_another_shell_is_misuse_with_a_suggestion(cli: Cli) -> None:
    code, _, err = cli("completion", "fsh")
    assert code == 2
    assert "did you mean 'fish'?" in err
