"""A second `evalspec check` or `diff` prints what was kept of the first, and never what is no longer so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cli import Cli
from support.projects import commit, git

BASE = """\
dataset_path: made/up
output_type: generate_until
test_split: test
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
metadata:
  version: 1.0
"""
CONFIG = """\
spec = "acme"
requires = "acme@v1"
tasks = ["tasks", "harness"]
rows = "data/rows"
default_branch = "main"
[views.plain]
[views.chat]
chat = "chat.jinja"
"""
ROW = '{"question": "2 + 2?", "answer": "4"}\n'


def replace(old: str, new: str, *names: str) -> Callable[[Path], None]:
    """An edit of files that turns a text into another one, and back the next time."""

    def edit(folder: Path) -> None:
        for name in names:
            path = folder / name
            text = path.read_text(encoding="utf-8")
            path.write_text(
                text.replace(old, new) if old in text else text.replace(new, old), encoding="utf-8"
            )

    return edit


def toggle(name: str, text: str) -> Callable[[Path], None]:
    """An edit that writes a file, and removes it the next time."""

    def edit(folder: Path) -> None:
        path = folder / name
        if path.exists():
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return edit


def same_size(folder: Path) -> None:
    """An edit that leaves a file's size and time as they were."""
    path = folder / "harness/a.yaml"
    about = path.stat()
    data = path.read_bytes()
    path.write_bytes(
        data.replace(b"demo_a", b"demo_A") if b"demo_a" in data else data.replace(b"demo_A", b"demo_a")
    )
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def another_target(folder: Path) -> None:
    """A link in the place of the include leads elsewhere."""
    link = folder / "harness/_base.yaml"
    others = ["_base_1.yaml", "_base_2.yaml"]
    for other in others:
        if not (folder / "harness" / other).exists():
            shutil.copyfile(folder / "harness/_base.yaml", folder / "harness" / other)
    path = folder / "harness/_base_2.yaml"
    path.write_text(path.read_text().replace("Answer:", "Answer: "), encoding="utf-8")
    before = str(link.readlink()) if link.is_symlink() else ""
    link.unlink()
    link.symlink_to(others[before == others[0]])


def base_moves(folder: Path) -> None:
    """The branch is committed, and the default branch moves there."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "more")
    git(folder, "branch", "-f", "main", "HEAD")


def staged(folder: Path) -> None:
    git(folder, "add", "-A")


EDITS: dict[str, Callable[[Path], None]] = {
    "a task file": replace("2 parcels", "3 parcels", "tasks/example.jsonl"),
    "a task of the harness": replace("task: demo_b\n", "task: demo_b\ndescription: 'Say\\nit'\n", "harness/b.yaml"),
    "an include": replace("Question:", "Question: ", "harness/_base.yaml"),
    "a helper": toggle("harness/code.py", "def text(doc):\n    return doc['question']\n"),
    "a row": toggle("data/rows/demo_a/test.jsonl", ROW),
    "rows of another shape": toggle("data/rows/demo_b/test.jsonl", '{"query": "?"}\n'),
    "the configuration": replace("requires = ", 'ignore = ["templates"]\nrequires = ', "evalspec.toml"),
    "an ignored path": toggle(".gitignore", "harness/new/\n"),
    "a file in a folder that was empty": toggle("harness/new/c.yaml", "include: ../_base.yaml\ntask: demo_c\n"),
    "a schema version": replace("def lower(", "def lower_(", "schemas/acme/v1.py"),
    "a fixture": replace('"task_id"', '"taskid"', "fixtures/acme/v1/tasks.jsonl"),
    "a migration": toggle("migrations/acme/v2.py", "revision = 'v2'\ndown_revision = 'v9'\n"),
    "the lock": replace("s1:sha256:", "s1:sha256:0", "evalspec.lock"),
    "the baseline": replace("[", "#[", "old.txt"),
    "the same size and time": same_size,
    "a chat template that a view names": replace("content }}", "content }}!", "chat.jinja"),
    "a file in an ignored folder": toggle("build/x/d.yaml", "task: demo_d\n"),
    "a folder that is ignored no more": toggle(".git/info/exclude", "build/\n"),
    "where a link leads": another_target,
    "where the base is": base_moves,
    "what is staged": staged,
}  # fmt: skip


def make(folder: Path) -> Cli:
    cli = Cli(folder)
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    assert cli("init", "--name", "acme").code == 0
    (folder / "evalspec.toml").write_text(CONFIG, encoding="utf-8")
    harness = folder / "harness"
    (harness / "new").mkdir(parents=True)
    (folder / "data").mkdir()
    (harness / "_base.yaml").write_text(BASE, encoding="utf-8")
    for name in "ab":
        (harness / f"{name}.yaml").write_text(f"include: _base.yaml\ntask: demo_{name}\n", encoding="utf-8")
    (harness / "coded.yaml").write_text(
        "include: _base.yaml\ntask: coded\ndoc_to_text: !function code.text\n", encoding="utf-8"
    )
    (folder / "chat.jinja").write_text("{{ messages[-1].content }}", encoding="utf-8")
    assert cli("baseline", "--output", "old.txt").code == 0
    commit(folder)
    git(folder, "checkout", "-q", "-b", "work")
    return cli


def agrees(cli: Cli, *words: str) -> None:
    """A check that may use what was kept says what one says that may not."""
    assert cli("check", *words) == cli("check", *words, "--no-cache")


def compares_alike(cli: Cli) -> None:
    """The same of a comparison."""
    assert cli("diff") == cli("diff", "--no-cache")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return make(tmp_path_factory.mktemp("again") / "project")


@pytest.mark.parametrize("name", EDITS)
def test_after_an_edit_it_says_what_is_so_now(project: Cli, name: str) -> None:
    words = ("--baseline", "old.txt")
    agrees(project, *words)
    project("diff")
    EDITS[name](project.cwd)
    agrees(project, *words)
    compares_alike(project)
    if name not in ("where the base is", "what is staged", "where a link leads"):
        EDITS[name](project.cwd)  # back


@pytest.mark.slow
@settings(max_examples=8)
@given(
    st.lists(st.sampled_from(sorted(EDITS)), min_size=3, max_size=8),
    st.sampled_from(["", "--staged", "--changed"]),
)
def test_after_any_edits_it_says_what_is_so_now(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], word: str
) -> None:
    cli = make(tmp_path_factory.mktemp("again") / "project")
    for name in names:
        EDITS[name](cli.cwd)
        agrees(cli, *filter(None, [word]))
        compares_alike(cli)


def test_what_was_kept_is_used_and_is_quick(tmp_path: Path) -> None:
    cli = make(tmp_path / "project")
    before = cli("check")
    [*_] = (cli.cwd / ".evalspec_cache").iterdir()
    told = Cli(cli.cwd, command=(sys.executable, "-X", "importtime", "-m", "evalspec"))
    again = told("check")
    assert (again.code, again.out) == (before.code, before.out)
    assert "evalspec.caching.replay" in again.err
    assert "argparse" not in again.err  # no more is loaded than it takes to see that nothing has changed
    assert "argparse" in told("check", "--no-cache").err
    assert ".evalspec_cache" not in git(cli.cwd, "status", "--short")


@pytest.mark.parametrize("when", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}])
def test_each_way_to_print_has_its_own(tmp_path: Path, when: dict[str, str]) -> None:
    cli = make(tmp_path / "project")
    (cli.cwd / "harness/b.yaml").write_text("task: demo_b\n", encoding="utf-8")
    cli("check")
    assert cli("check", env=when) == cli("check", "--no-cache", env=when)


def test_files_that_rested_are_told_without_reading_them(tmp_path: Path) -> None:
    cli = make(tmp_path / "project")
    long_ago = time.time() - 3600
    for path in cli.cwd.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    agrees(cli)
    EDITS["the same size and time"](cli.cwd)
    agrees(cli)


def test_no_cache_keeps_nothing_and_a_link_is_not_followed(tmp_path: Path) -> None:
    cli = make(tmp_path / "project")
    shutil.rmtree(cli.cwd / ".evalspec_cache", ignore_errors=True)
    cli("check", "--no-cache")
    assert not (cli.cwd / ".evalspec_cache").exists()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (cli.cwd / ".evalspec_cache").symlink_to(elsewhere)
    cli("check")
    assert not list(elsewhere.iterdir())


def test_outside_of_a_project_it_is_kept_with_the_users_caches(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "work"
    folder.mkdir()
    (folder / "a.yaml").write_text("task: a\ndoc_to_text: x\noutput_type: generate_until\n", encoding="utf-8")
    cli = Cli(folder, env=Cli(folder).env | {"XDG_CACHE_HOME": str(home)})
    agrees(cli, ".")
    assert [path.name for path in folder.iterdir()] == ["a.yaml"]
    assert list((home / "evalspec").iterdir())
    (folder / "b.yaml").write_text("task: a\n", encoding="utf-8")
    agrees(cli, ".")


def test_what_another_machine_kept_says_nothing(tmp_path: Path) -> None:
    """A pull request could bring a cache that says that all is well."""
    cli = make(tmp_path / "project")
    users = {"XDG_CACHE_HOME": str(tmp_path / "users")}
    cli("check", env=users)
    loud = Cli(cli.cwd, command=(sys.executable, "-X", "importtime", "-m", "evalspec"))
    assert "argparse" not in loud("check", env=users).err
    secret = tmp_path / "users" / "evalspec" / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    for other in (bytes(32), b"", secret.read_bytes()[:-1]):
        secret.write_bytes(other)
        secret.chmod(0o600)
        assert "argparse" in loud("check", env=users).err


def test_whoever_reads_may_go_away(tmp_path: Path) -> None:
    cli = make(tmp_path / "project")
    for number in range(600):  # more than a pipe takes
        (cli.cwd / f"harness/n{number}.yaml").write_text(
            f"include: _base.yaml\ntask: n{number}\ndescription: 'Say\\nit'\n", encoding="utf-8"
        )
    assert cli("check").code == 1
    for _ in range(2):
        with subprocess.Popen(
            [*cli.command, "check"], cwd=cli.cwd, env=cli.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            child.stdout.read(10)
            child.stdout.close()
            said = child.stderr.read()
        assert child.returncode == 141
        assert b"Traceback" not in said
        assert b"BrokenPipe" not in said


def test_a_file_that_was_not_read_counts_in_a_working_tree(tmp_path: Path) -> None:
    """Of a file that is as it was staged git says so, and it is never opened."""
    tree = tmp_path / "tree"
    (tree / "new").mkdir(parents=True)
    (tree / "_base.yaml").write_text(BASE, encoding="utf-8")
    for name in "abc":
        (tree / f"{name}.yaml").write_text(f"include: _base.yaml\ntask: demo_{name}\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("build/\n", encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    cli = Cli(tmp_path)
    for path, text in (
        ("tree/b.yaml", "include: _base.yaml\ntask: demo_b\ndescription: Think.\n"),
        ("tree/new/d.yaml", "include: ../_base.yaml\ntask: demo_d\n"),
        ("tree/new/e.yaml", "include: ../_base.yaml\ntask: demo_e\n"),
        ("build/f.yaml", "task: demo_f\n"),
        ("tree/_base.yaml", BASE.replace("Question", "Q")),
    ):
        before = cli("diff", "HEAD")
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
        after = cli("diff", "HEAD")
        assert after == cli("diff", "HEAD", "--no-cache")
        assert (after == before) == path.startswith("build/")
