"""`evalspec check --staged` and `--changed`: which bytes are read, and what of them is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.projects import commit, git, make_project, write_task

BASE = """\
dataset_path: made/up
output_type: generate_until
test_split: test
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
"""
CONFIG = """\
spec = "evalspec"
requires = "v3"
tasks = ["tasks", "harness"]
select = ["contract", "literal_escape", "ignores"]
"""
ESCAPE = "description: 'Say\\nit.'"


@pytest.fixture
def project(cli: Cli) -> Path:
    """A project with records at v3 and a tree of the harness, on a branch of its own."""
    folder = make_project(cli.cwd / "project", requires="v3", at="v3")
    (folder / "evalspec.toml").write_text(CONFIG, encoding="utf-8")
    (folder / "harness").mkdir()
    (folder / "harness/_base.yaml").write_text(BASE, encoding="utf-8")
    for name in "ab":
        (folder / f"harness/{name}.yaml").write_text(
            f"include: _base.yaml\ntask: demo_{name}\n", encoding="utf-8"
        )
    commit(folder)
    git(folder, "checkout", "-q", "-b", "work")
    return folder


def found(cli: Cli, folder: Path, *words: str) -> list[tuple[str, str, int]]:
    result = cli("check", "--format", "json", *words, cwd=folder)
    assert result.code in (0, 1), result.err
    findings: list[dict[str, Any]] = json.loads(result.out)["findings"]
    for each in findings:
        assert "/evalspec-" not in json.dumps(each)  # no temporary folder shows
    return [(each["rule"], each["path"], each["line"]) for each in findings]


def test_records_are_read_from_the_index(cli: Cli, project: Path) -> None:
    write_task(project, "v2")
    git(project, "add", "-A")
    write_task(project, "v3")
    behind = [("version_behind", "tasks/sums.jsonl", 1)]
    assert found(cli, project, "--staged") == behind
    assert found(cli, project) == []
    result = cli("check", "--staged", cwd=project)
    assert "fix: evalspec migrate --to v3 tasks/sums.jsonl\n" in result.out
    git(project, "add", "-A")
    write_task(project, "v2")
    assert found(cli, project, "--staged") == []
    assert found(cli, project) == behind
    assert found(cli, project / "tasks") == [("version_behind", "sums.jsonl", 1)]
    git(project, "add", "-A")
    write_task(project, "v3")
    assert found(cli, project / "tasks", "--staged") == [("version_behind", "sums.jsonl", 1)]


def test_trees_are_read_from_the_index(cli: Cli, project: Path) -> None:
    path = project / "harness/b.yaml"
    sound = path.read_text()
    path.write_text(f"{sound}{ESCAPE}\n")
    git(project, "add", "-A")
    path.write_text(sound)
    escape = [("literal_escape", "harness/b.yaml", 3)]
    assert found(cli, project, "--staged") == escape
    assert found(cli, project, "--staged", "harness") == escape
    assert found(cli, project) == []
    assert "harness: " in cli("check", "--staged", cwd=project).err
    git(project, "add", "-A")
    path.write_text(f"{sound}{ESCAPE}\n")
    assert found(cli, project, "--staged") == []
    assert found(cli, project) == escape


def test_a_file_that_is_only_in_one_of_the_two(cli: Cli, project: Path) -> None:
    new = project / "harness/c.yaml"
    new.write_text(f"include: _base.yaml\ntask: demo_c\n{ESCAPE}\n")
    assert found(cli, project, "--staged") == []
    git(project, "add", "-A")
    new.unlink()
    assert found(cli, project, "--staged") == [("literal_escape", "harness/c.yaml", 3)]
    assert found(cli, project) == []


def test_comments_that_ignore_count_as_they_are_staged(cli: Cli, project: Path) -> None:
    path = project / "harness/b.yaml"
    sound = path.read_text()
    path.write_text(f"{sound}{ESCAPE}  # evalspec: ignore[literal_escape] as it was published\n")
    git(project, "add", "-A")
    path.write_text(f"{sound}{ESCAPE}\n")
    assert found(cli, project, "--staged") == []
    assert found(cli, project) == [("literal_escape", "harness/b.yaml", 3)]


def test_what_is_staged_is_not_mended(cli: Cli, project: Path) -> None:
    code, out, err = cli("check", "--staged", "--fix", cwd=project)
    assert (code, out) == (2, "")
    assert "leave --staged out" in err


def test_only_what_a_change_reaches_is_told(cli: Cli, project: Path) -> None:
    (project / "harness/a.yaml").write_text(f"include: _base.yaml\ntask: demo_a\n{ESCAPE}\n")
    commit(project)
    path = project / "harness/_base.yaml"
    whole = found(cli, project, "--base", "HEAD")
    assert whole == [("literal_escape", "harness/a.yaml", 3)]
    assert found(cli, project, "--base", "HEAD", "--changed") == []
    (project / "harness/b.yaml").write_text(f"include: _base.yaml\ntask: demo_b\n{ESCAPE}\n")
    assert found(cli, project, "--base", "HEAD", "--changed") == [("literal_escape", "harness/b.yaml", 3)]
    git(project, "checkout", "-q", ".")
    path.write_text(f"{BASE}{ESCAPE}\n")
    assert found(cli, project, "--base", "HEAD", "--changed") == [("literal_escape", "harness/_base.yaml", 6)]


@pytest.mark.parametrize("select", ["", "select = ['lint']\n"])
def test_changed_tells_a_part_of_what_is_told_of_all(cli: Cli, project: Path, select: str) -> None:
    config = (project / "evalspec.toml").read_text()
    (project / "evalspec.toml").write_text(config.split("select")[0] + select)
    (project / "harness/a.yaml").write_text("include: _base.yaml\ntask: demo_a\ndescription: 'Say\\nit. '\n")
    (project / "harness/c.yaml").write_text(
        "include: _base.yaml\ntask: demo_c\ndoc_to_text: 'Q: {{quesion}} '\n"
    )
    every = cli("check", "--format", "json", cwd=project).json()["findings"]
    part = cli("check", "--format", "json", "--changed", cwd=project).json()["findings"]
    mine = ("harness/a.yaml", "harness/c.yaml")
    assert part
    assert [each for each in every if each["path"] in mine] == [each for each in part if each["path"] in mine]
