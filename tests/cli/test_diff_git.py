"""`evalspec diff` between revisions, folders and the working tree: what changed, why, and how far it reaches."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.cli import Cli
from support.files import line

if TYPE_CHECKING:
    from pathlib import Path

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


def git(cli: Cli, *words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=cwd or cli.cwd, env=cli.env, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def commit(cli: Cli, message: str = "more") -> None:
    git(cli, "add", "-A")
    git(cli, "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture
def tree(cli: Cli) -> Path:
    """A repository with three tasks that share a base."""
    folder = cli.cwd / "tree"
    folder.mkdir()
    (folder / "base.yaml").write_text(BASE, encoding="utf-8")
    for name in "abc":
        (folder / f"{name}.yaml").write_text(f"include: base.yaml\ntask: demo_{name}\n", encoding="utf-8")
    git(cli, "init", "-q", "-b", "main")
    commit(cli)
    return folder


@pytest.fixture
def records(cli: Cli) -> Path:
    """A repository with two records."""
    path = cli.cwd / "tasks.jsonl"
    path.write_bytes(line("a") + line("b"))
    git(cli, "init", "-q", "-b", "main")
    commit(cli)
    return path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def compared(cli: Cli, *words: str, **more: Any) -> dict[str, Any]:
    found = cli("diff", "--format", "json", *words, **more).json()
    assert isinstance(found, dict)
    return found


def test_a_base_reaches_the_tasks_that_include_it(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Question: ", "Question\uff1a ")
    found = compared(cli)
    [group] = found["groups"]
    assert (group["class"], group["parts"], group["before"], group["after"]) == (
        "text",
        ["question"],
        ":",
        "\uff1a",
    )
    assert group["tasks"] == ["demo_a", "demo_b", "demo_c"]
    place = {"path": "tree/base.yaml", "line": 5}
    assert group["cause"] == {"kind": "include", "before": place, "after": place, "detail": "doc_to_text"}
    assert (group["characters"], group["bytes"], group["rows"]) == (0, 2, 3)
    assert found["summary"] == {"text": 3}
    assert found["versions"] == {"silent": ["demo_a", "demo_b", "demo_c"], "moved": []}
    said = cli("diff").out
    assert "text: 3 tasks, 3 rows (plain, plain with 2 shots), in the question\n" in said
    assert "U+FF1A FULLWIDTH COLON" in said
    assert "3 tasks changed with the same version of their own" in said


def test_a_moved_version_is_not_silent(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think hard.")
    edit(tree / "base.yaml", "version: 1.0", "version: 2.0")
    found = compared(cli, "HEAD")
    assert [group["class"] for group in found["groups"]] == ["system"]
    assert found["versions"] == {"silent": [], "moved": ["demo_a", "demo_b", "demo_c"]}


def test_it_says_whether_scores_compare(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think!")
    edit(tree / "base.yaml", "version: 1.0", "version: 2.0")
    out = cli("diff", "HEAD").out
    assert "\n3 tasks changed with another version of their own: demo_a, demo_b, demo_c\n" in out
    assert "same version" not in out
    page = cli("diff", "HEAD", "--format", "markdown").out
    assert "\nChanged with another version of their own: `demo_a`" in page
    git(cli, "checkout", "-q", ".")
    edit(tree / "a.yaml", "demo_a", "demo_z")
    assert "renamed: 1 task, scores can still be compared\n" in cli("diff", "HEAD").out


def test_nothing_changed(cli: Cli, tree: Path) -> None:
    (tree / "sub").mkdir()
    (tree / "a.yaml").rename(tree / "sub" / "a.yaml")
    edit(tree / "sub" / "a.yaml", "include: base", "include: ../base")
    code, out, _ = cli("diff", "--exit-code")
    assert (code, out.splitlines()[-1]) == (0, "no prompt changes")


def test_exit_codes(cli: Cli, tree: Path) -> None:
    edit(tree / "a.yaml", "demo_a", "demo_z")
    assert cli("diff", "--exit-code").code == 1
    assert cli("diff").code == 0
    assert "demo_z" in cli("diff", "--stat").out or "renamed" in cli("diff", "--stat").out


def test_a_task_with_another_name_is_no_new_one(cli: Cli, tree: Path) -> None:
    edit(tree / "a.yaml", "demo_a", "demo_z")
    [group] = compared(cli)["groups"]
    assert (group["class"], group["before"], group["after"]) == ("renamed", "demo_a", "demo_z")
    assert group["comparable"] is True


def test_a_scored_delimiter_is_seen_where_the_text_is_the_same(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "metadata:", 'target_delimiter: ""\nmetadata:')
    [group] = compared(cli)["groups"]
    assert (group["class"], group["parts"], group["before"], group["after"]) == (
        "delimiter",
        ["continuation", "join"],
        " ",
        "",
    )
    assert group["cause"]["detail"] == "target_delimiter"
    assert (group["cause"]["before"], group["cause"]["after"]["line"]) == (None, 8)


def test_a_function_that_was_not_run_may_change_prompts(cli: Cli, tree: Path) -> None:
    (tree / "utils.py").write_text("def text(doc):\n    return doc['q']\n", encoding="utf-8")
    edit(tree / "c.yaml", "task:", "doc_to_text: !function utils.text\ntask:")
    commit(cli)
    edit(tree / "utils.py", "doc['q']", "doc['q'].strip()")
    found = compared(cli, "HEAD")
    assert found["groups"] == []
    [unknown] = found["unknown"]
    assert (unknown["task"], unknown["prompts"]) == ("demo_c", 1)
    assert unknown["cause"]["kind"] == "function"
    assert cli("diff", "HEAD", "--exit-code").code == 1
    assert "unknown: 1 task may change 1 prompt" in cli("diff", "HEAD").out


def test_a_file_that_cannot_be_read_any_more_is_no_removed_task(cli: Cli, tree: Path) -> None:
    edit(tree / "a.yaml", "task:", "bad: [\ntask:")
    edit(tree / "b.yaml", "base.yaml", "elsewhere.yaml")
    found = compared(cli)
    assert (found["groups"], found["notes"]) == ([], [])
    assert [(each["task"], each["prompts"]) for each in found["unknown"]] == [("demo_a", 1), ("demo_b", 1)]
    assert all("cannot be read on the new side" in each["reason"] for each in found["unknown"])
    commit(cli)
    back = compared(cli, "HEAD..HEAD~1")
    assert [each["task"] for each in back["unknown"]] == ["demo_a", "demo_b"]
    (tree / "c.yaml").write_text("task: [", encoding="utf-8")
    same = compared(cli, "HEAD..HEAD")
    assert same["unknown"] == []
    assert same["notes"] == [
        "not compared, as it cannot be read and is the same on both sides: tree/a.yaml, tree/b.yaml"
    ]


def test_a_file_that_neither_side_can_read_may_have_changed(cli: Cli, tree: Path) -> None:
    edit(tree / "a.yaml", "base.yaml", "elsewhere.yaml")
    commit(cli)
    edit(tree / "a.yaml", "task:", "description: other\ntask:")
    found = compared(cli, "HEAD")
    assert [(each["task"], each["prompts"]) for each in found["unknown"]] == [("tree/a.yaml", 0)]
    assert "either side" in found["unknown"][0]["reason"]
    assert cli("diff", "HEAD", "--exit-code").code == 1


def test_a_record_that_is_invalid_now_is_unknown(cli: Cli, records: Path) -> None:
    text = records.read_text(encoding="utf-8")
    records.write_text(text.replace('"exact_match"', '"made_up"', 1), encoding="utf-8")
    found = compared(cli)
    assert found["groups"] == []
    [unknown] = found["unknown"]
    assert (unknown["task"], unknown["prompts"]) == ("a", 1)
    assert cli("diff", "--exit-code").code == 1


def test_rows_are_those_of_each_side(cli: Cli, tree: Path) -> None:
    """The files that a task names, and the project's fixtures, are read where the side is, whatever is asked for."""
    names = "dataset_path: json\ndataset_kwargs: {data_files: {test: data/rows.jsonl}}\n"
    edit(tree / "base.yaml", "dataset_path: made/up\n", names)
    fixed = cli.cwd / "fixtures" / "lm-eval" / "rows" / "demo_b"
    rows = cli.cwd / "data" / "rows.jsonl"
    for path in (rows, fixed / "test.jsonl"):
        path.parent.mkdir(parents=True)
        path.write_text('{"question": "one", "choices": ["x", "y"], "answer": 0}\n', encoding="utf-8")
    (cli.cwd / "pyproject.toml").write_text("[tool.evalspec]\n", encoding="utf-8")
    commit(cli)
    assert compared(cli, "HEAD", "tree")["groups"] == []
    edit(rows, "one", "one  more")
    [group] = compared(cli, "HEAD", "tree")["groups"]
    assert (group["class"], group["tasks"], group["rows"]) == ("text", ["demo_a", "demo_c"], 2)
    assert (group["before"], group["after"]) == ("", "  more")
    assert group["cause"]["kind"] == "row"
    edit(rows, "one  more", "one")
    edit(fixed / "test.jsonl", '"answer": 0', '"answer": 1')
    told = compared(cli, "HEAD", "tree")["groups"]
    assert [(group["class"], group["tasks"], group["cause"]["kind"]) for group in told] == [
        ("target", ["demo_b"], "row"),
        ("text", ["demo_b"], "row"),  # where the row is an example
    ]


def test_records_by_their_fields(cli: Cli, records: Path) -> None:
    text = records.read_text(encoding="utf-8")
    records.write_text(text.replace('"exact_match"', '"f1"', 1), encoding="utf-8")
    found = compared(cli)
    [group] = found["groups"]
    assert (group["class"], group["tasks"], group["cause"]["detail"]) == ("metric", ["a"], "metric_name")
    assert [json.loads(group[side])[0]["name"] for side in ("before", "after")] == ["exact_match", "f1"]
    assert found["records"][0]["changes"] == [["root['metric_name']", "exact_match", "f1"]]


def test_new_and_removed_records(cli: Cli, records: Path) -> None:
    records.write_bytes(line("a") + line("c", prompt="Another one:"))
    found = compared(cli)
    assert found["summary"] == {"new": 1, "removed": 1}
    assert [group["tasks"] for group in found["groups"]] == [["c"], ["b"]]


def test_staged_and_revisions(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think!")
    git(cli, "add", "-A")
    edit(tree / "base.yaml", "Think!", "Think?")
    assert compared(cli, "--staged")["groups"][0]["after"] == "!"
    assert compared(cli)["groups"][0]["after"] == "?"
    git(cli, "commit", "-q", "-m", "staged")
    [group] = compared(cli, "HEAD~1..HEAD")["groups"]
    assert (group["before"], group["after"]) == (".", "!")
    said = cli("diff", "HEAD~1..HEAD", "--", "tree")
    assert said.out.startswith("3 files, 3 tasks: HEAD (")


def test_a_branch_is_compared_with_where_it_left(cli: Cli, tree: Path) -> None:
    git(cli, "checkout", "-q", "-b", "work")
    edit(tree / "base.yaml", "Think.", "Think!")
    commit(cli)
    git(cli, "checkout", "-q", "main")
    edit(tree / "base.yaml", "Answer:", "A:")
    commit(cli)
    git(cli, "checkout", "-q", "work")
    found = compared(cli)
    assert [(group["before"], group["after"]) for group in found["groups"]] == [(".", "!")]
    assert found["compared"]["base"].endswith("where this branch left main")


def test_a_branch_without_a_commit_is_compared_with_where_it_begins(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think hard.")
    commit(cli)
    git(cli, "checkout", "-q", "-b", "work")
    assert compared(cli)["groups"] == []
    assert "where this branch left main" in compared(cli)["compared"]["base"]
    git(cli, "checkout", "-q", "main")
    assert len(compared(cli)["groups"]) == 1


def test_a_bare_repository_and_a_worktree(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think!")
    commit(cli)
    git(cli, "clone", "-q", "--bare", ".", "bare.git")
    bare = cli.cwd / "bare.git"
    assert compared(cli, "HEAD~1..HEAD", cwd=bare)["summary"] == {"system": 3}
    assert "bare repository" in cli("diff", cwd=bare).err
    git(cli, "worktree", "add", "-q", "other", "HEAD~1")
    assert compared(cli, "main", cwd=cli.cwd / "other")["groups"][0]["after"] == "."


def test_a_submodule_is_compared_in_itself(cli: Cli, tree: Path) -> None:
    outer = cli.cwd.parent / "outer"
    outer.mkdir()
    git(cli, "init", "-q", "-b", "main", cwd=outer)
    git(cli, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tree.parent), "sub", cwd=outer)
    git(cli, "commit", "-q", "-m", "more", cwd=outer)
    edit(outer / "sub" / "tree" / "base.yaml", "Think.", "Think!")
    [group] = json.loads(cli("diff", "HEAD", "--format", "json", cwd=outer / "sub").out)["groups"]
    assert group["tasks"] == ["demo_a", "demo_b", "demo_c"]
    for path in ("sub", "sub/tree"):
        refused = cli("diff", "HEAD", "--", path, cwd=outer)
        assert (refused.code, refused.out) == (2, "")
        assert "cd sub" in refused.err


def test_two_folders_are_compared_without_what_that_does_not_take(cli: Cli, tree: Path) -> None:
    shutil.copytree(tree, cli.cwd / "other")
    edit(cli.cwd / "other" / "base.yaml", "Think.", "Think!")
    loud = Cli(cli.cwd, command=(sys.executable, "-X", "importtime", "-m", "evalspec"))
    result = loud("diff", "--no-index", "tree", "other", "--no-cache")
    assert "Think" in result.out
    loaded = {line.rpartition("|")[2].strip() for line in result.err.splitlines()}
    assert not {"git", "deepdiff", "rich", "pydantic"} & loaded


def test_a_shallow_clone_says_what_to_add(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think!")
    commit(cli)
    git(cli, "clone", "-q", "--depth", "1", cli.cwd.as_uri(), "shallow")
    code, _, err = cli("diff", cwd=cli.cwd / "shallow")
    assert code == 2
    assert "fetch-depth: 0" in err


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "no commit 'nowhere'"),
        (("HEAD", "nowhere"), "nowhere is on neither side"),
        (("--no-index", "a"), "--no-index compares two"),
        (("--from", "v1"), "--from goes with --to"),
        (("HEAD..HEAD", "--staged"), "two revisions"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_misuse(cli: Cli, words: tuple[str, ...], said: str) -> None:
    code, out, err = cli("diff", *words)
    assert (code, out) == (2, "")
    assert said in err


def test_outside_of_git(cli: Cli) -> None:
    code, _, err = cli("diff")
    assert code == 2
    assert "--no-index A B" in err


def test_two_folders(cli: Cli, tree: Path) -> None:
    other = cli.cwd / "other"
    other.mkdir()
    for path in tree.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    assert compared(cli, "--no-index", "tree", "other")["groups"] == []
    edit(other / "b.yaml", "task:", "description: ''\ntask:")
    there = compared(cli, "--no-index", "tree", "other")
    back = compared(cli, "--no-index", "other", "tree")
    assert [(group["before"], group["after"]) for group in there["groups"]] == [
        (group["after"], group["before"]) for group in back["groups"]
    ]
    assert [group["tasks"] for group in there["groups"]] == [["demo_b"]]
    assert cli("diff", "--no-index", "tree/a.yaml", "other/a.yaml").code == 0
    assert cli("diff", "--no-index", "tree", "other/a.yaml").code == 2


def test_hostile_text_is_escaped(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think.\\e[31m\\u202e")
    said = cli("diff").out
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\\x1b" in said


def test_a_version_that_moves_alone_is_told_and_nothing_else(cli: Cli, records: Path) -> None:
    records.write_bytes(line("a", metadata={"version": 1}) + line("b"))
    commit(cli)
    records.write_bytes(line("a", metadata={"version": 2}) + line("b"))
    found = compared(cli)
    assert (found["groups"], found["moved"], found["unknown"]) == ([], [], [])
    assert found["versions"] == {"silent": [], "moved": ["a"]}


@pytest.mark.usefixtures("records")
def test_a_migration_keeps_prompts_and_is_told_as_moved(cli: Cli) -> None:
    assert cli("migrate", "--to", "v3", "tasks.jsonl").code == 0
    found = compared(cli)
    assert found["groups"] == []
    assert [each["task"] for each in found["moved"]] == ["a", "b"]
    assert [each["task"] for each in found["records"]] == ["a", "b"]


def test_a_rule_that_does_something_else_in_a_later_version(cli: Cli, records: Path) -> None:
    records.write_bytes(line("m", base="mcq", post_process="extract_letter"))
    commit(cli)
    assert cli("migrate", "--to", "v3", "tasks.jsonl").code == 0
    [group] = compared(cli, "HEAD")["groups"]
    assert (group["class"], group["before"], group["after"]) == (
        "post_process", "extract_letter of v1", "extract_letter of v3",
    )  # fmt: skip


def test_what_shows_only_with_examples_is_seen_in_a_task_without(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "metadata:", 'fewshot_delimiter: "\\n"\nmetadata:')
    [group] = compared(cli)["groups"]
    assert (group["class"], group["before"], group["after"]) == ("delimiter", "\n", "")
    assert (group["views"], group["tasks"]) == (["plain with 2 shots"], ["demo_a", "demo_b", "demo_c"])
    commit(cli)
    edit(tree / "base.yaml", "metadata:", "num_fewshot: 0\nmetadata:")  # firm, whatever is asked for
    [group] = compared(cli, "HEAD")["groups"]
    assert (group["class"], group["before"], group["after"]) == ("shots", "rows 0, 1", "no examples")
    assert group["cause"]["detail"] == "num_fewshot"
    edit(tree / "base.yaml", "num_fewshot: 0", "num_fewshot: 3")
    [group] = compared(cli, "HEAD")["groups"]  # once, though it would show with 2 examples, too
    assert (group["class"], group["before"], group["after"]) == ("shots", "no examples", "rows 0, 1, 2")
    edit(tree / "base.yaml", "num_fewshot: 3", "num_fewshot: 0")
    commit(cli)
    edit(tree / "base.yaml", 'fewshot_delimiter: "\\n"', 'fewshot_delimiter: "---"')
    assert compared(cli, "HEAD")["groups"] == []


def test_a_pool_of_one_row_is_shown_too(cli: Cli, tree: Path) -> None:
    (cli.cwd / "evalspec.toml").write_text(
        'spec = "lm-eval"\ntasks = ["tree"]\nrows = "rows"\n', encoding="utf-8"
    )
    edit(tree / "base.yaml", "test_split: test\n", "test_split: test\nfewshot_split: dev\n")
    folder = cli.cwd / "rows" / "demo_a"
    folder.mkdir(parents=True)
    for split in ("test", "dev"):
        row = {"question": split, "choices": ["x", "y"], "answer": 0}
        (folder / f"{split}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    commit(cli)
    edit(folder / "dev.jsonl", '"dev"', '"other"')
    [group] = compared(cli, "HEAD")["groups"]
    assert (group["tasks"], group["views"], group["before"]) == (["demo_a"], ["plain with 1 shot"], "dev")


def test_an_edit_of_two_settings_is_two_edits(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think hard.")
    edit(tree / "base.yaml", "Question: ", "Q: ")
    groups = compared(cli, "--shots", "0")["groups"]
    assert {(*group["parts"], group["cause"]["detail"], group["after"]) for group in groups} == {
        ("system", "description", " hard"),
        ("question", "doc_to_text", ""),
    }


def test_what_git_ignores_is_not_there(cli: Cli, tree: Path) -> None:
    (cli.cwd / ".gitignore").write_text("scratch/\n*.tmp.yaml\n", encoding="utf-8")
    commit(cli)
    (tree / "scratch").mkdir()
    (tree / "scratch" / "d.yaml").write_text("include: ../base.yaml\ntask: demo_d\n", encoding="utf-8")
    (tree / "e.tmp.yaml").write_text("include: base.yaml\ntask: demo_e\n", encoding="utf-8")
    assert compared(cli)["groups"] == []
    (tree / "f.yaml").write_text("include: base.yaml\ntask: demo_f\n", encoding="utf-8")
    assert [group["tasks"] for group in compared(cli)["groups"]] == [["demo_f"]]


def test_revisions_and_paths_are_told_apart_as_git_does(cli: Cli, tree: Path) -> None:
    git(cli, "tag", "old")
    edit(tree / "base.yaml", "Think.", "Think hard.")
    commit(cli)
    assert compared(cli, "old")["compared"]["base"].startswith("old (")
    assert len(compared(cli, "old", "--", "tree")["groups"]) == 1
    assert compared(cli, "old", "--", "tree/a.yaml")["groups"][0]["tasks"] == ["demo_a"]
    (cli.cwd / "old").write_text("no task\n", encoding="utf-8")
    code, _, err = cli("diff", "old")
    assert (code, "is a path and a revision" in err) == (2, True)
    assert len(compared(cli, "old", "--")["groups"]) == 1
    assert compared(cli, "--", "tree")["compared"]["base"].endswith("the commit before HEAD")
    assert cli("diff", "old", "HEAD", "--", "tree").code == 2


VIEWS = """\
[views.plain]
[views.chat]
chat = "chat.jinja"
"""
CHAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture
def chat(cli: Cli, tree: Path) -> Path:
    """The repository with two views, one under a chat template."""
    (cli.cwd / "evalspec.toml").write_text(VIEWS, encoding="utf-8")
    (cli.cwd / "chat.jinja").write_text(CHAT, encoding="utf-8")
    commit(cli)
    return tree


def test_every_configured_view_is_compared(cli: Cli, chat: Path) -> None:
    edit(chat / "base.yaml", "Think.", "Think hard.")
    [group] = compared(cli, "HEAD")["groups"]
    assert [view for view in group["views"] if "shots" not in view] == ["plain", "chat"]
    assert compared(cli, "HEAD", "--view", "chat", "--shots", "0")["groups"][0]["views"] == ["chat"]


def test_a_prompt_is_shown_as_a_chat_beside(cli: Cli, chat: Path) -> None:
    edit(chat / "base.yaml", "Think.", "Think hard.")
    [group] = compared(cli, "HEAD")["groups"]
    example, beside = group["example"], group["beside"]
    assert (example["view"], beside["view"]) == ("plain", "chat")
    assert (example["task"], example["row"]) == (beside["task"], beside["row"])
    assert beside["after"].startswith("<")
    assert not example["after"].startswith("<")
    out = cli("diff", "HEAD").out
    assert "  for example demo_a, row 0, plain:\n" in out
    assert "  the same as chat:\n" in out
    assert "<summary>The same in another view</summary>" in cli("diff", "HEAD", "--format", "markdown").out
    assert compared(cli, "HEAD", "--view", "plain")["groups"][0]["beside"] is None


def test_a_tokenizer_shows_its_cuts(cli: Cli, tree: Path) -> None:
    pytest.importorskip("tokenizers")
    from support.tokenizers import write_tokenizer

    path = write_tokenizer(cli.cwd / "tokenizer.json")
    edit(tree / "base.yaml", "Think.", "Think hard.")
    out = cli("diff", "HEAD", "--tokenizer", path).out
    assert "│ a token ends here" in out
    before, after = re.findall(r"(\d+) tokens? before, (\d+) after", out)[0]
    assert int(after) > int(before) > 1
    assert out.count("│") > 2
    assert "│" not in cli("diff", "HEAD").out
    refused = cli("diff", "HEAD", "--tokenizer", path, "--format", "json")
    assert (refused.code, refused.out) == (2, "")


@pytest.mark.usefixtures("chat")
def test_a_chat_template_reaches_every_task(cli: Cli) -> None:
    (cli.cwd / "chat.jinja").write_text(CHAT.replace("<{{ m.role }}>", "[{{ m.role }}]"), encoding="utf-8")
    groups = compared(cli, "HEAD", "--shots", "0", "--view", "chat")["groups"]
    assert groups
    for group in groups:
        place = {"path": "chat.jinja", "line": 1}
        assert group["cause"] == {"kind": "chat_template", "before": place, "after": place, "detail": "chat"}
        assert group["tasks"] == ["demo_a", "demo_b", "demo_c"]
    assert compared(cli, "HEAD", "--view", "plain")["groups"] == []


@pytest.mark.usefixtures("chat")
def test_two_views_of_the_same_files(cli: Cli) -> None:
    found = compared(cli, "--view", "plain", "--against", "chat", "--shots", "0", "tree")
    assert {group["cause"]["kind"] for group in found["groups"]} == {"view"}
    assert {view for group in found["groups"] for view in group["views"]} == {"plain → chat"}
    assert compared(cli, "--view", "plain", "--against", "plain", "tree")["groups"] == []
    assert cli("diff", "--view", "plain", "--against", "chat", "--against", "plain", "tree").code == 2


def test_a_changed_function_shows_its_source(cli: Cli, tree: Path) -> None:
    (tree / "utils.py").write_text("def text(doc):\n    return doc['q']\n", encoding="utf-8")
    edit(tree / "base.yaml", '"Question: {{question}}\\nAnswer:"', "!function utils.text")
    commit(cli)
    edit(tree / "utils.py", "doc['q']", "doc['q'].strip()")
    unknown = compared(cli, "HEAD")["unknown"]
    assert [each["task"] for each in unknown] == ["demo_a", "demo_b", "demo_c"]
    [source] = {each["source"] for each in unknown}
    assert source == (
        "--- tree/utils.py\n+++ tree/utils.py\n@@ -1,2 +1,2 @@\n def text(doc):\n"
        "-    return doc['q']\n+    return doc['q'].strip()\n"
    )
    said = cli("diff", "HEAD").out
    assert said.count("+    return doc['q'].strip()") == 1


def test_a_changed_rule_shows_what_it_makes_of_a_sample(cli: Cli, records: Path) -> None:
    text = records.read_text(encoding="utf-8")
    assert '"strip_whitespace"' in text
    records.write_text(text.replace('"strip_whitespace"', '"extract_first_line"', 1), encoding="utf-8")
    [group] = compared(cli, "HEAD")["groups"]
    assert group["class"] == "post_process"
    example = group["example"]
    assert example["of"] is not None
    assert example["before"] != example["after"]


@pytest.fixture
def acme(cli: Cli, root: Path) -> Path:
    """A repository that is a project with schema versions of its own."""
    shutil.copytree(root / "examples" / "acme", cli.cwd, dirs_exist_ok=True)
    git(cli, "init", "-q", "-b", "main")
    commit(cli)
    return cli.cwd / "schemas" / "acme" / "v1.py"


def test_records_under_a_schema_version_that_was_changed_are_unknown(cli: Cli, acme: Path) -> None:
    """Code from git's objects is never run: what the old version made of a record is not known."""
    edit(acme, '"""White space gone at both ends."""', '"""White space gone, at both ends."""')
    found = compared(cli, "HEAD", "--", "tasks")
    assert (found["unknown"], found["groups"], found["compared"]["tasks"]) == ([], [], 4)
    edit(acme, 'FromField("fewshot_delimiter", "\\n\\n")', 'FromField("fewshot_delimiter", "\\n")')
    found = compared(cli, "HEAD", "--", "tasks")
    assert found["groups"] == []
    assert len(found["unknown"]) == 4
    first = found["unknown"][0]
    place = {"path": "schemas/acme/v1.py", "line": 1}
    assert first["cause"] == {"kind": "assembly", "before": place, "after": place, "detail": "acme@v1"}
    assert first["prompts"] >= 1
    assert "has another acme@v1 than the working tree" in first["reason"]
    assert cli("diff", "HEAD", "--exit-code").code == 1
    commit(cli)
    assert compared(cli, "HEAD", "--", "tasks")["unknown"] == []
    # Two revisions that have the same version, which is not the working tree's: what did not change did not change.
    commit(cli, "no change")
    edit(acme, 'FromField("fewshot_delimiter", "\\n")', 'FromField("fewshot_delimiter", "")')
    assert compared(cli, "HEAD~1..HEAD", "--", "tasks")["unknown"] == []
    assert len(compared(cli, "HEAD~2..HEAD", "--", "tasks")["unknown"]) == 4


def test_a_schema_version_counts_with_those_that_it_imports(cli: Cli, acme: Path) -> None:
    assert cli("migrate", "--to", "acme@v2", "tasks").code == 0
    commit(cli)
    edit(acme, "return text.strip()", "return text.lstrip()")
    assert len(compared(cli, "HEAD", "--", "tasks")["unknown"]) == 4


def kept(cli: Cli) -> list[str]:
    folder = cli.cwd / ".evalspec_cache"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.usefixtures("chat")
def test_what_revisions_were_compared_is_kept(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think!")
    assert len(compared(cli, "HEAD")["groups"]) > 0
    assert len(kept(cli)) == 2  # what was printed, beside the file that has it ignored
    commit(cli)
    assert len(compared(cli, "HEAD~1..HEAD", "--no-cache")["groups"]) > 0
    assert len(kept(cli)) == 2
    first = compared(cli, "HEAD~1..HEAD")
    names = kept(cli)
    assert len(names) == 4  # and the comparison, too
    assert git(cli, "status", "--porcelain") == ""
    assert compared(cli, "HEAD~1..HEAD") == first
    assert kept(cli) == names
    # All that counts makes another entry: views, paths, the folder, another content.
    for more in (("--view", "plain"), ("--shots", "3"), ("--", "tree/a.yaml"), ("--system", "Be brief.")):
        words = ("HEAD~1..HEAD", *more) if more[0] == "--" else (*more, "HEAD~1..HEAD")
        before = len(kept(cli))
        assert compared(cli, *words) == compared(cli, "--no-cache", *words)
        assert len(kept(cli)) == before + 2
    (cli.cwd / "chat.jinja").write_text(CHAT.replace("<", "["), encoding="utf-8")
    commit(cli)
    found = compared(cli, "HEAD~2..HEAD~1")
    assert found["groups"] == first["groups"]
    assert {group["cause"]["kind"] for group in compared(cli, "HEAD~1..HEAD")["groups"]} == {"chat_template"}
    for path in (cli.cwd / ".evalspec_cache").iterdir():
        path.write_bytes(b"damaged")
    assert compared(cli, "HEAD~2..HEAD~1") == found


def test_a_cache_that_came_with_a_checkout_is_not_used(cli: Cli, tree: Path) -> None:
    edit(tree / "base.yaml", "Think.", "Think!")
    commit(cli)
    compared(cli, "HEAD~1..HEAD")
    git(cli, "add", "-f", ".evalspec_cache")
    git(cli, "commit", "-q", "-m", "a stranger's results")
    for path in (cli.cwd / ".evalspec_cache").iterdir():
        path.unlink()
    assert len(compared(cli, "HEAD~2..HEAD~1")["groups"]) == 1
    assert len(kept(cli)) == 2  # what was printed, but no comparison


def test_records_depend_on_the_code_in_the_working_tree(cli: Cli, acme: Path) -> None:
    edit(cli.cwd / "tasks" / "weights.jsonl", "A crate", "One crate")
    commit(cli)
    assert len(compared(cli, "HEAD~1..HEAD", "--", "tasks")["groups"]) == 1
    edit(acme, 'FromField("fewshot_delimiter", "\\n\\n")', 'FromField("fewshot_delimiter", "\\n")')
    found = compared(cli, "HEAD~1..HEAD", "--", "tasks")
    assert (found["groups"], len(found["unknown"])) == ([], 1)
