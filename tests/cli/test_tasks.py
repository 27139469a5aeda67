"""`evalspec tasks`: what a tree or a task file holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import ROOT, Cli


@pytest.fixture
def tree(cli: Cli) -> Path:
    folder = cli.cwd / "tree"
    folder.mkdir()
    (folder / "a.yaml").write_text("task: a\ntag: letters\nmetadata: {version: 1.5}\ndataset_path: x\n")
    (folder / "b.yaml").write_text("task: b\ntag: [letters]\ndataset_path: x\n")
    (folder / "g.yaml").write_text("group: g\ntask: [a, {task: b, num_fewshot: 2}]\n")
    (folder / "c.yaml").write_text("task: a\ndataset_path: y\n")
    return folder


def test_a_tree_is_listed_with_versions_and_files(cli: Cli, tree: Path) -> None:
    code, out, err = cli("tasks", tree.name)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["kind", "name", "version", "file"],
        ["group", "g", "N/A", "tree/g.yaml"],
        ["tag", "letters", "-", "2", "tasks"],
        ["task", "a", "1.5", "tree/a.yaml"],
        ["task", "b", "Yaml", "tree/b.yaml"],
    ]
    assert "1 file in no index" in err
    assert "skipped tree/c.yaml:1: the name 'a' is taken by tree/a.yaml" in cli("tasks", tree.name, "-v").err


def test_the_list_as_json(cli: Cli, tree: Path) -> None:
    said = cli("tasks", tree, "--spec", "lm-eval@0.4.13", "--format", "json").json()
    assert [(each["kind"], each["name"], each["tasks"]) for each in said["names"][:2]] == [
        ("group", "g", ["a", "b"]),
        ("tag", "letters", ["a", "b"]),
    ]
    assert [each["rule"] for each in said["skipped"]] == ["duplicate_task_id"]


def test_task_files_are_listed_too(cli: Cli) -> None:
    path = ROOT / "fixtures" / "evalspec" / "v3" / "templates.yaml"
    said = cli("tasks", path, "--format", "json").json()["names"]
    assert {"template task"} == {each["kind"] for each in said}
    assert {"opposites", "tides_letters"} <= {each["name"] for each in said}
    assert {each["schema"] for each in said} == {"v3"}
