"""Scratch repositories with a small project of task files in them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from support.cli import clean_environment
from support.sound import sound


def git(folder: Path, *words: str) -> str:
    """Run git as somebody."""
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=folder, env=clean_environment(), check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def commit(folder: Path, message: str = "more") -> None:
    """Commit all there is."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def write_task(folder: Path, at: str, **fields: object) -> Path:
    """`tasks/sums.jsonl`, with one sound record at a version."""
    path = folder / "tasks" / "sums.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(sound(at, "arithmetic") | fields) + "\n", encoding="utf-8")
    return path


def make_project(folder: Path, *, requires: str, at: str) -> Path:
    """A repository with one commit: a configuration that requires a version, and one task file at a version."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evalspec.toml").write_text(f'spec = "evalspec"\nrequires = "{requires}"\ntasks = ["tasks"]\n')
    write_task(folder, at)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder
