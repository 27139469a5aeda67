"""The hooks of `.pre-commit-hooks.yaml`, run by the real pre-commit from a local clone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from support.cli import clean_environment
from support.projects import commit, git, make_project
from support.registry import run_with_registry

#: What pre-commit builds a hook's environment from.
SOURCE = ("pyproject.toml", "README.md", "LICENSE", "migrator", "schemas", "migrations", "fixtures",
          ".pre-commit-hooks.yaml", ".gitignore")  # fmt: skip
PRE_COMMIT = (sys.executable, "-m", "pre_commit")


class Hooks(NamedTuple):
    """pre-commit with a hook environment that is built.

    Attributes:
        config: the text of a `.pre-commit-config.yaml` that uses both hooks.
        home: where pre-commit keeps the environment.
    """

    config: str
    home: Path

    def run(self, repository: Path, hook: str) -> tuple[int, str]:
        done = subprocess.run(
            [*PRE_COMMIT, "run", hook, "--all-files", "--color=never"],
            cwd=repository, env=clean_environment(PRE_COMMIT_HOME=str(self.home)),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def hooks(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Hooks:
    """A clone of this checkout as it is, uncommitted changes too, and an environment built from it."""
    folder = tmp_path_factory.mktemp("pre-commit")
    clone = folder / "clone"
    clone.mkdir()
    for name in SOURCE:
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, clone / name)
    git(clone, "init", "-q")
    commit(clone)
    revision = git(clone, "rev-parse", "HEAD").strip()
    config = (
        f"repos:\n  - repo: {clone}\n    rev: {revision}\n"
        "    hooks:\n      - id: evalspec-check\n      - id: evalspec-migrate\n"
    )
    project = make_project(folder / "project", requires="v3", at="v3")
    (project / ".pre-commit-config.yaml").write_text(config)
    hooks = Hooks(config, folder / "home")
    run_with_registry(*PRE_COMMIT, "install-hooks", cwd=project, env={"PRE_COMMIT_HOME": str(hooks.home)})
    return hooks


def test_check_refuses_and_migrate_mends(hooks: Hooks, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", requires="v3", at="v1")
    (project / ".pre-commit-config.yaml").write_text(hooks.config)
    commit(project)

    code, out = hooks.run(project, "evalspec-check")
    assert code == 1
    assert "tasks/sums.jsonl:1:1" in out
    assert "version_behind 1 record is at v1; v3 is required" in out

    code, out = hooks.run(project, "evalspec-migrate")
    assert code == 1
    assert "files were modified by this hook" in out
    assert "1 record to v3" in out

    commit(project)
    assert hooks.run(project, "evalspec-migrate")[0] == 0
    code, out = hooks.run(project, "evalspec-check")
    assert code == 0, out


def test_a_commit_of_other_files_runs_nothing(hooks: Hooks, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", requires="v3", at="v1")
    (project / ".pre-commit-config.yaml").write_text(hooks.config)
    commit(project)
    (project / "notes.txt").write_text("nothing to check\n")
    git(project, "add", "notes.txt")
    done = subprocess.run(
        [*PRE_COMMIT, "run", "--color=never"],
        cwd=project, env=clean_environment(PRE_COMMIT_HOME=str(hooks.home)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("(no files to check)Skipped") == 2
