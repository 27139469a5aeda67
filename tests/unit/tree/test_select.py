"""Which task files are meant: files, folders, patterns, defaults (design.md, "Command line")."""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalspec.errors import UsageError, WriteError
from evalspec.tree import Selected, Selection, select

TASK = '{"task_id": "a", "category": "arithmetic", "prompt": "1 + 1 =", "targets": ["2"]}\n'
ROW = '{"question": "1 + 1", "answer": "2"}\n'
YAML_TASK = "# ours\n- task_id: a\n  category: arithmetic\n"


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def put(name: str, text: str = TASK) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(selection: Selection) -> list[str]:
    return [item.path for item in selection.files]


def reasons(selection: Selection) -> dict[str, str]:
    return dict(selection.skipped)


# ------------------------------------------------------------------------------------------------ named files


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.jsonl", "- yaml: in disguise", "jsonl"),
        ("a.NDJSON", "", "jsonl"),
        ("a.yaml", "{}", "yaml"),
        ("a.yml", "", "yaml"),
        ("a.txt", ' \n{"task_id": "a"}', "jsonl"),
        ("a.json", "[1]", "jsonl"),
        ("a", "task_id: a", "yaml"),
        ("bom", "\ufeff{}", "jsonl"),
        ("empty", "", "yaml"),
        (".hidden.jsonl", ROW, "jsonl"),
    ],
)
def test_a_named_file_is_read_whatever_it_is_called_and_holds(name: str, text: str, form: str) -> None:
    put(name, text)
    assert select([name]).files == (Selected(name, form, compressed=False, named=True),)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "form"), [("a.jsonl.gz", "jsonl"), ("a.yml.gz", "yaml"), ("a.gz", "jsonl")])
def test_gz_is_put_aside(name: str, form: str) -> None:
    Path(name).write_bytes(gzip.compress(TASK.encode()))
    assert select([name]).files == (Selected(name, form, compressed=True, named=True),)  # type: ignore[arg-type]


def test_standard_input_has_no_format_yet() -> None:
    assert select(["-", "-"]).files == (Selected("-", None, compressed=False, named=True),)


def test_paths_keep_their_order_and_their_spelling() -> None:
    put("b.jsonl")
    put("d/a.jsonl")
    assert names(select(["./b.jsonl", "d//a.jsonl"])) == ["./b.jsonl", "d//a.jsonl"]


def test_a_file_reached_twice_counts_once_by_its_first_name() -> None:
    put("d/a.jsonl")
    Path("link.jsonl").symlink_to("d/a.jsonl")
    assert names(select(["link.jsonl", "d", "./d/a.jsonl"])) == ["link.jsonl"]
    assert names(select(["d", "link.jsonl"])) == ["d/a.jsonl"]


def test_a_file_that_is_found_and_named_is_read_whatever_it_holds() -> None:
    put("d/rows.jsonl", ROW)
    selection = select(["d", "d/rows.jsonl"])
    assert [(item.path, item.named) for item in selection.files] == [("d/rows.jsonl", True)]
    assert not selection.skipped


def test_names_can_be_opened_from_here_when_paths_are_relative_to_another_folder() -> None:
    put("p/d/a.jsonl")
    put("p/b.jsonl")
    assert names(select(["d", "*.jsonl"], cwd="p")) == ["p/d/a.jsonl", "p/b.jsonl"]
    assert names(select([], cwd="p")) == ["p/b.jsonl", "p/d/a.jsonl"]


# ------------------------------------------------------------------------------------------------ what is not there


@pytest.mark.parametrize(
    ("path", "fix"),
    [
        ("data/task.jsonl", "did you mean 'tasks.jsonl' in data?"),
        ("dato/tasks.jsonl", "did you mean 'data'?"),
        ("data/zzz", "name a file or a folder"),
        ("data/tasks.jsonl/x", "name a file or a folder"),
        ("", "name a file or a folder"),
        ("a\0b", "name a file or a folder"),
        ("x" * 5000, "name a file or a folder"),
    ],
)
def test_a_missing_path_is_a_usage_error_with_the_nearest_name(path: str, fix: str) -> None:
    put("data/tasks.jsonl")
    with pytest.raises(UsageError, match="no such file or folder") as caught:
        select([path])
    assert caught.value.fix == fix
    assert caught.value.exit_code == 2


def test_a_dead_link_that_is_named_says_where_it_leads() -> None:
    Path("a.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(UsageError, match=r"a\.jsonl is a link to gone\.jsonl, which is not there"):
        select(["a.jsonl"])


def test_what_a_path_holds_is_shown_escaped() -> None:
    with pytest.raises(UsageError, match=r"\\x1b\[31m"):
        select(["\x1b[31m.jsonl"])


def test_a_pattern_that_matches_nothing_is_a_usage_error() -> None:
    put("a.jsonl")
    with pytest.raises(UsageError, match=r"no file matches \*\.yaml"):
        select(["*.yaml"])


# ------------------------------------------------------------------------------------------------ folders


def test_a_folder_gives_its_task_files_and_counts_the_rest() -> None:
    for name in ("b.jsonl", "a.ndjson", "sub/deep/c.jsonl"):
        put(f"d/{name}")
    for name in ("d.yaml", "e.yml"):
        put(f"d/{name}", YAML_TASK)
    put("d/rows/a/test.jsonl", ROW)
    put("d/.hidden.jsonl")
    put("d/.hidden/a.jsonl")
    put("d/node_modules/a.jsonl")
    put("d/README.md")
    put("d/labels.json")
    Path("d/z.jsonl.gz").write_bytes(gzip.compress(TASK.encode()))
    selection = select(["d/"])
    found = ["d/a.ndjson", "d/b.jsonl", "d/d.yaml", "d/e.yml", "d/sub/deep/c.jsonl", "d/z.jsonl.gz"]
    assert names(selection) == found
    assert not any(item.named for item in selection.files)
    assert reasons(selection) == {"d/.hidden.jsonl": "hidden", "d/rows/a/test.jsonl": "no task records"}
    assert selection.chosen == "d/: 6 task files, 2 skipped (1 hidden, 1 no task records)"


def test_the_current_folder_is_named_by_nothing() -> None:
    put("d/a.jsonl")
    assert names(select(["."])) == ["d/a.jsonl"]
    assert names(select(["./"])) == ["d/a.jsonl"]
    assert names(select(["./d"])) == ["d/a.jsonl"]


def test_links_to_folders_are_followed_but_never_in_circles() -> None:
    put("real/a.jsonl")
    put("elsewhere/b.jsonl")
    put("above/c.jsonl")
    Path("real/self").symlink_to(".")
    Path("real/up").symlink_to("..")
    Path("real/root").symlink_to("/")
    Path("real/other").symlink_to("../elsewhere")
    Path("elsewhere/back").symlink_to("../real")
    Path("real/a_link_that_sorts_first").symlink_to("sub")
    put("real/sub/d.jsonl")
    assert names(select(["real"])) == ["real/a.jsonl", "real/other/b.jsonl", "real/sub/d.jsonl"]


def test_dead_and_circular_links_are_skipped_with_the_reason() -> None:
    put("d/a.jsonl")
    Path("d/b.jsonl").symlink_to("gone")
    Path("d/c.jsonl").symlink_to("c.jsonl")
    selection = select(["d"])
    assert names(selection) == ["d/a.jsonl"]
    assert reasons(selection) == dict.fromkeys(["d/b.jsonl", "d/c.jsonl"], "a link that leads nowhere")
    assert reasons(select(["d/*"])) == reasons(selection)


def test_a_folder_of_lm_eval_tasks_is_for_the_caller_to_ask_for() -> None:
    put("d/a.yaml", "task: arc_easy\ndataset_path: ai2_arc\n")
    put("d/b.jsonl")
    put("d/c.yaml", "jobs: {}\n")
    assert reasons(select(["d"])) == {"d/a.yaml": "tasks of lm-eval", "d/c.yaml": "no task records"}
    assert names(select(["d"], kind="lm-eval")) == ["d/a.yaml"]
    assert names(select(["d"], kind=None)) == ["d/a.yaml", "d/b.jsonl", "d/c.yaml"]


def test_a_file_that_cannot_be_unpacked_is_for_its_reader_to_tell() -> None:
    put("d/a.jsonl.gz", "no gzip")
    assert names(select(["d"])) == ["d/a.jsonl.gz"]


def test_ten_thousand_files() -> None:
    for folder in range(100):
        Path(f"d/{folder:03}").mkdir(parents=True)
        for file in range(100):
            Path(f"d/{folder:03}/{file:03}.jsonl").write_text(TASK if file % 2 else ROW)
    selection = select(["d"])
    assert len(selection.files) == len(selection.skipped) == 5000
    assert names(selection) == sorted(names(selection))


# ------------------------------------------------------------------------------------------------ what is refused


def test_a_fifo_is_refused_and_never_opened() -> None:
    os.mkfifo("pipe.jsonl")
    with pytest.raises(WriteError, match=r"pipe\.jsonl: a FIFO, not a file") as caught:
        select(["pipe.jsonl"])
    assert "`-`" in caught.value.fix
    with pytest.raises(WriteError, match="a FIFO"):
        select(["."])
    with pytest.raises(WriteError, match="a FIFO"):
        select(["*.jsonl"])
    put("d/a.jsonl")
    os.mkfifo("d/other")
    assert names(select(["d"])) == ["d/a.jsonl"]


def test_a_link_to_a_fifo_is_one() -> None:
    os.mkfifo("pipe")
    Path("d").mkdir()
    Path("d/a.jsonl").symlink_to("../pipe")
    for path in ("d", "d/a.jsonl"):
        with pytest.raises(WriteError, match=r"d/a\.jsonl: a FIFO"):
            select([path])


def test_sockets_and_devices_are_refused() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.yaml")
        for path in (".", "s.yaml"):
            with pytest.raises(WriteError, match="a socket"):
                select([path])
    with pytest.raises(WriteError, match="a device"):
        select(["/dev/null"])


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of somebody who may not read everything: the superuser may, so it steps down."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    if os.geteuid() != 0:
        yield folder
    else:
        os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(0)
    for locked in folder.rglob("locked*"):
        locked.chmod(0o700)
    shutil.rmtree(folder)


def test_a_folder_that_cannot_be_read_is_named(unprivileged: Path) -> None:
    put(f"{unprivileged}/d/locked/a.jsonl")
    (unprivileged / "d/locked").chmod(0)
    for path in (f"{unprivileged}/d", f"{unprivileged}/d/locked", f"{unprivileged}/d/*/*"):
        with pytest.raises(WriteError, match=r"d/locked/?: the folder cannot be read \(Permission denied\)"):
            select([path])
    with pytest.raises(WriteError, match=r"a\.jsonl: Permission denied"):
        select([f"{unprivileged}/d/locked/a.jsonl"])


def test_a_file_that_cannot_be_read_is_never_skipped_in_silence(unprivileged: Path) -> None:
    put(f"{unprivileged}/d/locked.jsonl").chmod(0)
    assert names(select([f"{unprivileged}/d"])) == [f"{unprivileged}/d/locked.jsonl"]


# ------------------------------------------------------------------------------------------------ git


def git(*words: str, cwd: str = ".") -> None:
    done = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run([*done, *words], cwd=cwd, check=True, capture_output=True)


def test_git_ignored_files_are_skipped_unless_they_are_tracked_or_named() -> None:
    git("init", "-q")
    put(".gitignore", "build/\n*.tmp.jsonl\n")
    put("d/.gitignore", "local.jsonl\n")
    for name in (
        "build/a.jsonl",
        "b.jsonl",
        "c.tmp.jsonl",
        "d/local.jsonl",
        "d/e.jsonl",
        "kept.tmp.jsonl",
        ":odd.jsonl",
    ):
        put(name)
    git("add", "-f", "kept.tmp.jsonl")
    ignored = ["build/a.jsonl", "c.tmp.jsonl", "d/local.jsonl"]
    kept = [":odd.jsonl", "b.jsonl", "d/e.jsonl", "kept.tmp.jsonl"]
    selection = select(["."])
    assert names(selection) == kept
    assert reasons(selection) == dict.fromkeys(ignored, "git-ignored")
    assert sorted(names(select(["**/*.jsonl"]))) == kept
    assert names(select(ignored)) == ignored
    assert reasons(select(["d"])) == {"d/local.jsonl": "git-ignored"}


def test_the_question_goes_to_the_innermost_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    git("init", "-q")
    put(".gitignore", "*.jsonl\n")
    put("inner/.gitignore", "a.jsonl\n")
    put("inner/a.jsonl")
    put("inner/b.jsonl")
    git("init", "-q", "inner")
    git("add", ".gitignore", cwd="inner")
    git("commit", "-qm", "x", cwd="inner")
    git("submodule", "add", "./inner", "inner")
    monkeypatch.setenv("GIT_DIR", str(Path(".git").resolve()))  # as a hook has it
    put("a.jsonl")
    selection = select(["."])
    assert names(selection) == ["inner/b.jsonl"]
    assert reasons(selection) == {"a.jsonl": "git-ignored", "inner/a.jsonl": "git-ignored"}
    assert not selection.notes


def test_links_out_of_a_repository_are_no_trouble() -> None:
    put("shared/a.jsonl")
    git("init", "-q", "repo")
    put("repo/.gitignore", "b.jsonl\n")
    put("repo/b.jsonl")
    Path("repo/link").symlink_to("../shared")
    selection = select(["repo"])
    assert names(selection) == ["repo/link/a.jsonl"]
    assert reasons(selection) == {"repo/b.jsonl": "git-ignored"}
    assert not selection.notes


def test_where_git_cannot_answer_nothing_is_skipped_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    put(".git/x", "no repository")
    put(".gitignore", "*\n")
    put("a.jsonl")
    selection = select(["."])
    assert names(selection) == ["a.jsonl"]
    assert len(selection.notes) == 1
    assert "not a git repository" in selection.notes[0]
    monkeypatch.setenv("PATH", "")
    selection = select(["."])
    assert names(selection) == ["a.jsonl"]
    assert "No such file" in selection.notes[0]


def test_a_repository_starts_no_program_of_its_own() -> None:
    git("init", "-q")
    put(".gitignore", "b.jsonl\n")
    put("a.jsonl")
    git("add", "a.jsonl")
    put("monitor", "#!/bin/sh\ntouch started\n").chmod(0o755)
    git("config", "core.fsmonitor", "./monitor")
    select(["."])
    assert not Path("started").exists()


# ------------------------------------------------------------------------------------------------ defaults, exclude


def test_no_path_means_the_projects_tasks_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    put("tasks/a.jsonl")
    put("tasks/rows.jsonl", ROW)
    put("more/b.yaml", YAML_TASK)
    put("c.jsonl")
    selection = select([], defaults=["tasks", "more/*.yaml"], folder=".")
    assert names(selection) == ["tasks/a.jsonl", "more/b.yaml"]
    assert selection.chosen == "the project's tasks: 2 task files, 1 skipped (1 no task records)"
    monkeypatch.chdir("more")
    selection = select([], defaults=["tasks", "more/*.yaml"], folder=str(Path("..").resolve()))
    assert names(selection) == ["../tasks/a.jsonl", "../more/b.yaml"]


def test_no_path_and_no_project_means_the_current_folder_and_says_so() -> None:
    put("a.jsonl")
    assert select([]) == ((Selected("a.jsonl", "jsonl", compressed=False, named=False),), (),
                          "the current folder: 1 task file", ())  # fmt: skip


def test_a_default_that_is_not_there_is_told_like_a_path() -> None:
    put("tasks/a.jsonl")
    with pytest.raises(UsageError, match=r"folder: task$") as caught:
        select([], defaults=["task"], folder=".")
    assert caught.value.fix == "did you mean 'tasks'?"


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("old", ["d/a.jsonl", "d/x.draft.jsonl"]),
        ("old/", ["d/a.jsonl", "d/x.draft.jsonl"]),
        ("*.draft.jsonl", ["d/a.jsonl", "d/old/b.jsonl", "old/c.jsonl"]),
        ("/old", ["d/a.jsonl", "d/old/b.jsonl", "d/x.draft.jsonl"]),
        ("old/**", ["d/a.jsonl", "d/old/b.jsonl", "d/x.draft.jsonl"]),
        ("d/**/*.jsonl", ["old/c.jsonl"]),
        ("**/old", ["d/a.jsonl", "d/x.draft.jsonl"]),
        ("?", ["old/c.jsonl"]),
        ("d/[!a]*", ["d/a.jsonl", "old/c.jsonl"]),
        ("ol", ["d/a.jsonl", "d/old/b.jsonl", "d/x.draft.jsonl", "old/c.jsonl"]),
    ],
)
def test_what_the_project_excludes(pattern: str, left: list[str]) -> None:
    for name in ("d/a.jsonl", "d/x.draft.jsonl", "d/old/b.jsonl", "old/c.jsonl"):
        put(name)
    selection = select(["."], exclude=[pattern])
    assert names(selection) == left
    assert set(reasons(selection).values()) <= {"excluded"}
    assert sorted(names(select(["**/*.jsonl"], exclude=[pattern]))) == left
    assert names(select(["d/old/b.jsonl"], exclude=[pattern])) == ["d/old/b.jsonl"]


def test_many_paths_are_told_in_few_words() -> None:
    for name in "abcde":
        put(f"{name}.jsonl")
    assert select([f"{name}.jsonl" for name in "abcde"]).chosen == (
        "a.jsonl, b.jsonl, c.jsonl and 2 more: 5 task files"
    )
