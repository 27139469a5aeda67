"""`evalspec log`: the commits in which the prompts of one task changed, however its files were moved about."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.files import line

BASE = """\
dataset_path: made/up
output_type: multiple_choice
test_split: test
description: "Think.\\n"
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_choice: "{{choices}}"
doc_to_target: "{{answer}}"
metadata:
  version: 1.0
"""


def git(cli: Cli, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=cli.cwd, env=cli.env, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def commit(cli: Cli, message: str) -> None:
    git(cli, "add", "-A")
    git(cli, "commit", "-q", "--allow-empty", "-m", message)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def tree(cli: Cli) -> Path:
    """A repository with two tasks that share a base."""
    folder = cli.cwd / "tree"
    folder.mkdir()
    (folder / "base.yaml").write_text(BASE, encoding="utf-8")
    for name in "ab":
        (folder / f"{name}.yaml").write_text(f"include: base.yaml\ntask: demo_{name}\n", encoding="utf-8")
    git(cli, "init", "-q", "-b", "main")
    commit(cli, "begin")
    return folder


def history(cli: Cli, task: str, *words: str) -> dict[str, Any]:
    found = cli("log", task, "--format", "json", *words).json()
    assert isinstance(found, dict)
    return found


def subjects(found: dict[str, Any]) -> list[str]:
    return [change["subject"] for change in found["changes"]]


def test_each_commit_that_changed_prompts_newest_first(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Question: ", "Q: ")
    commit(cli, "shorten")
    edit(tree / "base.yaml", "metadata:", "# a remark\nmetadata:")
    commit(cli, "remark")
    (tree / "b.yaml").write_text("include: base.yaml\ntask: demo_b\ndescription: other\n", encoding="utf-8")
    commit(cli, "another task")
    edit(tree / "base.yaml", "Think.", "Think hard.")
    edit(tree / "base.yaml", "version: 1.0", "version: 2.0")
    commit(cli, "versioned")
    found = history(cli, "demo_a")
    assert subjects(found) == ["versioned", "shorten", "begin"]
    assert [change["silent"] for change in found["changes"]] == [False, True, False]
    assert [change["version"] for change in found["changes"]] == [
        {"before": 1.0, "after": 2.0},
        {"before": 1.0, "after": 1.0},
        {"before": None, "after": 1.0},
    ]
    assert [change["classes"] for change in found["changes"]] == [["system"], ["text"], ["new"]]
    [group] = found["changes"][1]["groups"]
    assert (group["before"], group["after"], group["tasks"]) == ("uestion", "", ["demo_a"])
    assert found["commits"] == 4
    assert found["changes"][0]["sha"] == git(cli, "rev-parse", "HEAD").strip()
    said = cli("log", "demo_a").out
    assert said.startswith("3 commits changed the prompts of demo_a (tree/a.yaml), of 4 that touched")
    assert "  version 1.0 → 2.0\n" in said
    assert "  version 1.0: silent\n" in said
    assert "  text, in the question, from doc_to_text: 7 characters, 7 bytes fewer\n" in said


def test_since_leaves_older_commits_out(cli: Cli, tree: Path) -> None:
    git(cli, "tag", "old")
    edit(tree / "base.yaml", "Think.", "Think!")
    commit(cli, "later")
    assert subjects(history(cli, "demo_a", "--since", "old")) == ["later"]
    assert cli("log", "demo_a", "--since", "nowhere").code == 2


def test_a_task_is_followed_by_its_name(cli: Cli, tree: Path) -> None:
    """Its file moved twice, once with a change, and its base moved too."""
    edit(tree / "base.yaml", "Think.", "Think!")
    commit(cli, "before the move")
    (cli.cwd / "more").mkdir()
    git(cli, "mv", "tree/a.yaml", "more/one.yaml")
    edit(cli.cwd / "more" / "one.yaml", "base.yaml", "../tree/base.yaml")
    commit(cli, "moved")
    git(cli, "mv", "tree/base.yaml", "tree/_base.yaml")
    git(cli, "mv", "more/one.yaml", "more/two.yaml")
    edit(tree / "b.yaml", "base.yaml", "_base.yaml")
    edit(cli.cwd / "more" / "two.yaml", "base.yaml", "_base.yaml")
    edit(tree / "_base.yaml", "Think!", "Think?")
    commit(cli, "moved and changed")
    found = history(cli, "demo_a")
    assert subjects(found) == ["moved and changed", "before the move", "begin"]
    assert found["changes"][0]["path"] == {"before": "more/one.yaml", "after": "more/two.yaml"}
    assert "  more/one.yaml → more/two.yaml\n" in cli("log", "demo_a").out


def test_functions_rows_and_views_are_part_of_it(cli: Cli, tree: Path) -> None:
    (cli.cwd / "evalspec.toml").write_text('[views.chat]\nchat = "chat.jinja"\n', encoding="utf-8")
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    (cli.cwd / "chat.jinja").write_text(template, encoding="utf-8")
    (tree / "more.py").write_text("WORD = 'x'\n", encoding="utf-8")
    (tree / "utils.py").write_text(
        "from more import WORD\n\n\ndef text(doc):\n    return WORD\n", encoding="utf-8"
    )
    edit(tree / "b.yaml", "task:", "doc_to_text: !function utils.text\ntask:")
    names = "dataset_path: json\ndataset_kwargs: {data_files: {test: data/rows.jsonl}}\n"
    edit(tree / "base.yaml", "dataset_path: made/up\n", names)
    (cli.cwd / "data").mkdir()
    rows = cli.cwd / "data" / "rows.jsonl"
    rows.write_text('{"question": "one", "choices": ["x", "y"], "answer": 0}\n', encoding="utf-8")
    commit(cli, "everything")
    edit(rows, '"one"', '"two"')
    commit(cli, "rows")
    edit(tree / "more.py", "'x'", "'y'")
    commit(cli, "function")
    (cli.cwd / "chat.jinja").write_text(template.replace("<", "["), encoding="utf-8")
    commit(cli, "template")
    fixed = cli.cwd / "fixtures" / "lm-eval" / "rows" / "demo_a"
    fixed.mkdir(parents=True)
    (fixed / "test.jsonl").write_text(
        rows.read_text(encoding="utf-8").replace("two", "three"), encoding="utf-8"
    )
    commit(cli, "fixtures")
    assert subjects(history(cli, "demo_a"))[:3] == ["fixtures", "template", "rows"]
    found = history(cli, "demo_b")
    assert subjects(found)[:2] == ["template", "function"]
    assert found["changes"][1]["unknown"][0]["cause"]["kind"] == "function"
    assert "unknown, may have changed:" in cli("log", "demo_b").out


def test_a_merge_counts_for_what_no_parent_has(cli: Cli, tree: Path) -> None:
    git(cli, "checkout", "-q", "-b", "work")
    edit(tree / "base.yaml", "Think.", "Think!")
    commit(cli, "on the branch")
    git(cli, "checkout", "-q", "main")
    edit(tree / "base.yaml", "version: 1.0", "version: 1.0\ntarget_delimiter: ''")
    commit(cli, "on main")
    git(cli, "merge", "-q", "-m", "merge", "work")
    assert sorted(subjects(history(cli, "demo_a"))) == ["begin", "on main", "on the branch"]
    git(cli, "checkout", "-q", "work")
    edit(tree / "base.yaml", "Think!", "Think?")
    commit(cli, "again")
    git(cli, "checkout", "-q", "main")
    git(cli, "merge", "-q", "--no-commit", "work")
    edit(tree / "base.yaml", "Question", "Ask")
    commit(cli, "a merge with more in it")
    assert subjects(history(cli, "demo_a"))[0] == "a merge with more in it"


def test_a_file_that_could_not_be_read_for_a_while(cli: Cli, tree: Path) -> None:
    edit(tree / "a.yaml", "task:", "bad: [\ntask:")
    commit(cli, "broken")
    edit(tree / "a.yaml", "bad: [\n", "")
    commit(cli, "mended")
    found = history(cli, "demo_a")
    assert subjects(found) == ["mended", "broken", "begin"]
    assert [bool(change["unknown"]) for change in found["changes"]] == [True, True, False]


def test_a_task_that_was_away(cli: Cli, tree: Path) -> None:
    content = (tree / "a.yaml").read_bytes()
    (tree / "a.yaml").unlink()
    commit(cli, "removed")
    (tree / "a.yaml").write_bytes(content)
    commit(cli, "back")
    found = history(cli, "demo_a")
    assert [(change["subject"], change["classes"]) for change in found["changes"]] == [
        ("back", ["new"]), ("removed", ["removed"]), ("begin", ["new"]),
    ]  # fmt: skip


def test_a_name_that_a_search_does_not_find(cli: Cli, tree: Path) -> None:
    (tree / "c.yaml").write_text('include: base.yaml\ntask: "demo\\x5fc"\n', encoding="utf-8")
    commit(cli, "escaped")
    assert subjects(history(cli, "demo_c")) == ["escaped"]


def test_records(cli: Cli) -> None:
    path = cli.cwd / "tasks.jsonl"
    path.write_bytes(line("a") + line("b"))
    git(cli, "init", "-q", "-b", "main")
    commit(cli, "begin")
    path.write_bytes(line("a") + line("b", prompt="Something else:"))
    commit(cli, "the other")
    path.write_bytes(line("a", prompt="Now this:", metadata={"version": 2}) + line("b"))
    commit(cli, "this one")
    git(cli, "mv", "tasks.jsonl", "all.jsonl")
    commit(cli, "moved")
    found = history(cli, "a")
    assert subjects(found) == ["this one", "begin"]
    assert found["path"] == "all.jsonl"
    assert found["changes"][0]["version"] == {"before": None, "after": 2}


@pytest.mark.usefixtures("tree")
def test_misuse(cli: Cli) -> None:
    code, out, err = cli("log", "demo_x")
    assert (code, out) == (2, "")
    assert "no task 'demo_x' in HEAD" in err
    assert cli("log", "demo_a", "elsewhere").code == 2
    assert cli("log", "demo_a", "tree/b.yaml").code == 2


def test_hostile_text_is_escaped(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think.\\e[31m")
    git(cli, "add", "-A")
    git(cli, "-c", "user.name=\x1b[31mred", "commit", "-q", "-m", "a \x1b[2J\u202e message")
    said = cli("log", "demo_a").out
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_what_was_looked_at_is_kept(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think!")
    git(cli, "mv", "tree/a.yaml", "tree/z.yaml")
    commit(cli, "moved")
    first = history(cli, "demo_a", "--no-cache")
    folder = cli.cwd / ".evalspec_cache"
    assert not folder.exists()
    assert history(cli, "demo_a") == first
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 5
    assert history(cli, "demo_a") == first
    assert sorted(path.name for path in folder.iterdir()) == names
    assert history(cli, "demo_a", "--shots", "1") != first
    assert history(cli, "demo_b") == history(cli, "demo_b", "--no-cache")
