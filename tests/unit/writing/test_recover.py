"""Recovery: finishing, undoing, and what it does not let a stranger's journal do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.errors import WriteError
from evalspec.writing import Run, is_ours, pending, pending_above, pending_below, recover
from evalspec.writing.journal import parse

if TYPE_CHECKING:
    from pathlib import Path

#: A run over a.jsonl, b.jsonl and c.jsonl that ends itself at the Nth replacement (or at another call).
STOPPED = """
import os, sys
from evalspec.writing import _os, _rename, Run
folder, atomic, name, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
class Stopping:
    def __getattr__(self, wanted):
        if {"exchange": "replace"}.get(wanted, wanted) == name:
            global count
            if count == 0:
                os._exit(42)
            count -= 1
        return getattr(os if hasattr(os, wanted) else _rename, wanted)
with Run(folder, atomic=atomic) as run:
    for letter in "abc":
        with run.prepare(f"{folder}/{letter}.jsonl") as out:
            out.write(f"new {letter}".encode())
    _os.os = _os.renaming = Stopping()
    run.commit()
"""

A, B, C = "a.jsonl", "b.jsonl", "c.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    here = tmp_path / "project"
    here.mkdir()
    for letter in "abc":
        (here / f"{letter}.jsonl").write_bytes(f"old {letter}".encode())
        os.utime(here / f"{letter}.jsonl", (1e9, 1e9))
    return here


def stop(folder: Path, atomic: str = "file", at: str = "replace", after: int = 1) -> None:
    """Let a run end itself at a system call of its commit, by default with one of three files replaced."""
    command = [sys.executable, "-c", STOPPED, str(folder), atomic, at, str(after)]
    assert subprocess.run(command, check=False).returncode == 42


def texts(folder: Path) -> list[str]:
    return [(folder / name).read_text() for name in (A, B, C) if (folder / name).exists()]


def strays(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if is_ours(path.name)]


def test_nothing_to_recover_is_fine_and_makes_nothing(folder: Path) -> None:
    assert pending(folder) is None
    assert recover(folder).outcome == "nothing"
    assert recover(folder, undo=True).outcome == "nothing"
    assert strays(folder) == []


@pytest.mark.parametrize("atomic", ["file", "run"])
def test_finish(folder: Path, atomic: str) -> None:
    stop(folder, atomic)
    assert texts(folder) == ["new a", "old b", "old c"]
    found = pending(folder)
    assert found is not None
    assert (found.live, found.state, found.files) == (False, "go", 3)
    assert f"`evalspec recover {folder}` finishes it" in found.sentence
    result = recover(folder)
    assert (result.outcome, result.placed, result.holder) == ("finished", (B, C), found.holder)
    assert texts(folder) == ["new a", "new b", "new c"]
    assert strays(folder) == []
    assert pending(folder) is None


@pytest.mark.parametrize("atomic", ["file", "run"])
def test_undo(folder: Path, atomic: str) -> None:
    before = [(folder / name).stat() for name in (A, B, C)]
    stop(folder, atomic)
    result = recover(folder, undo=True)
    assert (result.outcome, result.undone, result.dropped) == ("undone", (A,), (B, C))
    assert texts(folder) == ["old a", "old b", "old c"]
    after = [(folder / name).stat() for name in (A, B, C)]
    assert [(s.st_ino, s.st_mtime_ns, s.st_nlink) for s in after] == [
        (s.st_ino, s.st_mtime_ns, s.st_nlink) for s in before
    ]
    assert strays(folder) == []


def test_a_run_that_ended_and_did_not_tidy_up_cannot_be_undone(folder: Path) -> None:
    stop(folder, at="unlink", after=0)
    assert texts(folder) == ["new a", "new b", "new c"]
    found = pending(folder)
    assert found is not None
    assert found.state == "end"
    assert recover(folder, undo=True).outcome == "ended"
    assert texts(folder) == ["new a", "new b", "new c"]
    assert strays(folder) == []


def test_what_was_not_all_ready_is_dropped(folder: Path) -> None:
    stop(folder, at="link", after=1)
    found = pending(folder)
    assert found is not None
    assert found.state == "preparing"
    result = recover(folder)
    assert (result.outcome, result.dropped) == ("dropped", (A, B, C))
    assert texts(folder) == ["old a", "old b", "old c"]
    assert strays(folder) == []


def test_a_later_run_finishes_first_and_says_so(folder: Path) -> None:
    stop(folder)
    with Run(folder) as run:
        assert run.recovered.outcome == "finished"
        assert run.recovered.placed == (B, C)
        assert texts(folder) == ["new a", "new b", "new c"]
    assert texts(folder) == ["new a", "new b", "new c"]
    assert strays(folder) == []


def test_a_journal_with_a_torn_last_line(folder: Path) -> None:
    stop(folder)
    with (folder / ".evalspec-journal").open("ab") as journal:
        journal.write(b'0123abcd ["en')
    assert recover(folder, undo=True).outcome == "undone"
    assert texts(folder) == ["old a", "old b", "old c"]


@pytest.mark.parametrize("undo", [False, True])
def test_a_torn_line_is_cut_off_before_another_is_written(
    folder: Path, undo: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a recovery that is stopped in its turn leaves a journal that nobody can read."""
    from evalspec.writing import _os

    def stuck(path: str) -> bool:
        raise OSError(5, "Input/output error", path)

    stop(folder)
    with (folder / ".evalspec-journal").open("ab") as journal:
        journal.write(b'0123abcd ["en')
    with monkeypatch.context() as patch:
        patch.setattr(_os, "remove", stuck)
        with pytest.raises(WriteError, match="the disk reported an error") as caught:
            recover(folder, undo=undo)
        assert "`evalspec recover`" in caught.value.fix
    assert recover(folder).outcome == ("undone" if undo else "ended")
    assert texts(folder) == (["old a", "old b", "old c"] if undo else ["new a", "new b", "new c"])
    assert strays(folder) == []


def test_a_run_is_found_from_above_and_from_below(folder: Path) -> None:
    (folder / "deep" / "er").mkdir(parents=True)
    assert pending_above([folder / "deep" / "er" / "d.jsonl"]) == []
    assert pending_below(folder.parent) == []
    stop(folder)
    found = pending(str(folder))
    assert pending_above([folder / "deep" / "er" / "d.jsonl", folder / "deep", folder / A]) == [found]
    assert pending_above([folder.parent / "a.jsonl"]) == []
    assert pending_below(str(folder.parent)) == [found]
    assert pending_below(folder / "deep") == []


def test_an_empty_journal(folder: Path) -> None:
    (folder / ".evalspec-journal").touch()
    assert pending(folder) is not None
    assert recover(folder).outcome == "nothing"
    assert strays(folder) == []


# -------------------------------------------------------------------------------- files changed since


def test_finishing_keeps_a_file_that_was_changed_since(folder: Path) -> None:
    stop(folder)
    (folder / B).write_text("mine b")
    result = recover(folder)
    assert result.outcome == "finished"
    assert result.placed == (C,)
    assert result.kept == ((B, "it was changed after the run read it"),)
    assert texts(folder) == ["new a", "mine b", "new c"]
    assert strays(folder) == []


def test_finishing_all_or_none_refuses_a_file_that_was_changed_since(folder: Path) -> None:
    stop(folder, "run")
    (folder / B).write_text("mine b")
    before = sorted(strays(folder))
    with pytest.raises(WriteError, match="changed after the run read it") as caught:
        recover(folder)
    assert "evalspec recover --undo" in caught.value.fix
    with pytest.raises(WriteError, match="changed after the run read it"), Run(folder):
        pass
    assert texts(folder) == ["new a", "mine b", "old c"]
    assert sorted(strays(folder)) == before
    assert recover(folder, undo=True).outcome == "undone"
    assert texts(folder) == ["old a", "mine b", "old c"]
    assert strays(folder) == []


def test_undoing_refuses_a_new_file_that_was_changed_since(folder: Path) -> None:
    stop(folder)
    (folder / A).write_text("mine, of new a")
    before = sorted(strays(folder))
    with pytest.raises(WriteError, match="changed after the run replaced it") as caught:
        recover(folder, undo=True)
    assert "evalspec recover" in caught.value.fix
    assert ".old" in caught.value.fix
    assert texts(folder) == ["mine, of new a", "old b", "old c"]
    assert sorted(strays(folder)) == before
    assert recover(folder).outcome == "finished"
    assert texts(folder) == ["mine, of new a", "new b", "new c"]
    assert strays(folder) == []


@pytest.mark.parametrize("atomic", ["file", "run"])
def test_a_lost_temp(folder: Path, atomic: str) -> None:
    """`git clean` may take temps away."""
    stop(folder, atomic)
    for path in folder.glob(".evalspec-*-1.new"):
        path.unlink()
    if atomic == "run":
        with pytest.raises(WriteError, match="its finished temp is gone"):
            recover(folder)
        assert recover(folder, undo=True).outcome == "undone"
        assert texts(folder) == ["old a", "old b", "old c"]
    else:
        assert recover(folder).kept == ((B, "its finished temp is gone"),)
        assert texts(folder) == ["new a", "old b", "new c"]
    assert strays(folder) == []


def test_a_temp_that_somebody_changed_is_not_put_in_place(folder: Path) -> None:
    stop(folder)
    for path in folder.glob(".evalspec-*-1.new"):
        path.write_bytes(b"half a file")
    assert recover(folder).kept == ((B, "its finished temp was changed"),)
    assert texts(folder) == ["new a", "old b", "new c"]
    assert strays(folder) == []


# -------------------------------------------------------------------------------- strangers' journals

TOKEN = "0123456789abcdef"  # noqa: S105 -- of a run
HEAD = ["run", 1, TOKEN, 1, "host", "file"]


def line(*fields: object) -> bytes:
    body = json.dumps(fields, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def plant(folder: Path, *lines: object) -> None:
    (folder / ".evalspec-journal").write_bytes(b"".join(line(*fields) for fields in lines))  # type: ignore[misc]


PATHS = [
    "/etc/passwd",
    "../victim",
    "a/../../victim",
    "./a",
    "a//b",
    "",
    ".",
    "..",
    "a/..",
    "a\0b",
    ".evalspec-journal",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_leads_out_is_refused(folder: Path, path: str) -> None:
    victim = folder.parent / "victim"
    victim.write_bytes(b"precious")
    (folder.parent / f".evalspec-{TOKEN}-0.new").write_bytes(b"evil")
    plant(folder, HEAD, ["file", 0, path], ["ready", 0, 4, 0, None, None], ["go", [0]])
    for undo in (False, True):
        with pytest.raises(WriteError, match="cannot be read as the journal of a run: its line 2"):
            recover(folder, undo=undo)
    found = pending(folder)
    assert found is not None
    assert found.state is None
    assert "cannot be read" in found.sentence
    assert victim.read_bytes() == b"precious"
    assert (folder.parent / f".evalspec-{TOKEN}-0.new").exists()


BAD_LINES: list[list[object]] = [
    ["run", 2, TOKEN, 1, "host", "file"],
    ["run", 1, "../../../../etc", 1, "host", "file"],
    ["run", 1, TOKEN, 1, "host", "each"],
    ["run", 1, TOKEN, 0, "host", "file"],
    ["file", 0, "a.jsonl"],
]


@pytest.mark.parametrize("head", BAD_LINES)
def test_a_first_line_that_no_run_writes(head: list[object]) -> None:
    with pytest.raises(WriteError, match="its line 1 is not what a run of this version writes"):
        parse(line(*head))


BAD_SECOND: list[list[object]] = [
    HEAD,
    ["file", 1, "a"],
    ["file", "0", "a"],
    ["part", 0, 0],
    ["ready", 0, 1, 1, None, None],
    ["go", [0]],
    ["go", "0"],
    ["drop", 0],
    ["undo"],
    ["end"],
    ["go"],
    ["what"],
    [],
]


@pytest.mark.parametrize("second", BAD_SECOND)
def test_a_second_line_that_no_run_writes(second: list[object]) -> None:
    with pytest.raises(WriteError, match="its line 2 is not what"):
        parse(line(*HEAD) + line(*second))


def test_a_damaged_line_with_whole_ones_after_it() -> None:
    data = line(*HEAD) + line("file", 0, "a").replace(b'"a"', b'"b"')
    assert parse(data).entries == {}
    with pytest.raises(WriteError, match="its line 2 is damaged"):
        parse(data + line("file", 0, "a"))


def test_a_symlink_out_of_the_folder_moves_nothing_that_is_not_ours(folder: Path) -> None:
    """A clone can bring a journal, a temp and a symlink; not a temp to where the symlink leads."""
    home = folder.parent / "home"
    home.mkdir()
    (home / ".bashrc").write_bytes(b"precious")
    size, mtime = (home / ".bashrc").stat().st_size, (home / ".bashrc").stat().st_mtime_ns
    (folder / "link").symlink_to(home / ".bashrc")
    (folder / "also").symlink_to(home)
    for name in (f".evalspec-{TOKEN}-0.new", f".evalspec-{TOKEN}-0.old", f".evalspec-{TOKEN}-1.new"):
        (folder / name).write_bytes(b"evil")
    plant(
        folder,
        HEAD,
        ["file", 0, "link"],
        ["file", 1, "also/.bashrc"],
        ["ready", 0, 4, 0, size, mtime],
        ["ready", 1, size, mtime, None, None],
        ["go", [0]],
    )
    result = recover(folder)
    assert result.placed == ()
    assert (home / ".bashrc").read_bytes() == b"precious"
    assert [path.name for path in home.iterdir()] == [".bashrc"]


def test_undoing_a_new_file_does_not_delete_through_a_symlink(folder: Path) -> None:
    """The most that a journal may claim: 'I made this file', with its right size and time."""
    victim = folder.parent / "victim"
    victim.write_bytes(b"precious")
    found = victim.stat()
    (folder / "link").symlink_to(victim)
    plant(
        folder,
        HEAD,
        ["file", 0, "link"],
        ["ready", 0, found.st_size, found.st_mtime_ns, None, None],
        ["go", [0]],
    )
    with pytest.raises(WriteError, match="outside of the folder"):
        recover(folder, undo=True)
    assert victim.read_bytes() == b"precious"


def test_a_journal_that_is_no_file(folder: Path) -> None:
    (folder / ".evalspec-journal").symlink_to("a.jsonl")
    with pytest.raises(WriteError, match="no regular file"):
        recover(folder)
    with pytest.raises(WriteError, match="no regular file"), Run(folder):
        pass
    assert texts(folder) == ["old a", "old b", "old c"]
    (folder / ".evalspec-journal").unlink()
    os.mkfifo(folder / ".evalspec-journal")
    with pytest.raises(WriteError, match="no regular file"):
        recover(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away: NOT TESTED")
def test_another_users_journal_in_a_folder_for_everybody(folder: Path) -> None:
    """In /tmp anybody can plant a journal, and a temp, beside this user's file."""
    stop(folder)
    folder.chmod(0o1777)
    os.chown(folder / ".evalspec-journal", 65534, 65534)
    with pytest.raises(WriteError, match="another user put it"):
        recover(folder)
    os.chown(folder / ".evalspec-journal", 0, 0)
    for path in folder.glob(".evalspec-*-1.new"):
        os.chown(path, 65534, 65534)
    result = recover(folder)
    assert result.placed == (C,)
    assert result.kept == ((B, "its finished temp is gone"),)
    assert texts(folder) == ["new a", "old b", "new c"]


journal_lines = st.lists(
    st.one_of(
        st.just(HEAD),
        st.tuples(st.just("file"), st.integers(0, 3), st.sampled_from(["a", "b/c", "../d", "/e"])).map(list),
        st.tuples(st.just("part"), st.integers(0, 3), st.integers(0, 2)).map(list),
        st.tuples(
            st.just("ready"), st.integers(0, 3), st.integers(), st.integers(), st.none(), st.none()
        ).map(list),
        st.tuples(st.just("go"), st.lists(st.integers(0, 3), max_size=3)).map(list),
        st.tuples(st.just("drop"), st.integers(0, 3)).map(list),
        st.sampled_from([["undo"], ["end"]]),
        st.lists(
            st.one_of(st.none(), st.booleans(), st.floats(), st.text(), st.lists(st.integers())), max_size=4
        ),
    ),
    max_size=8,
)


@given(journal_lines, st.binary(max_size=40))
def test_any_journal_is_read_or_refused(lines: list[list[object]], tail: bytes) -> None:
    data = b"".join(line(*fields) for fields in lines)
    try:
        log = parse(data + tail)
    except WriteError:
        return
    assert log.length <= len(data) + len(tail)
    assert all(index in log.entries for index in log.chosen)
    assert all(not entry.path.startswith(("/", "..")) for entry in log.entries.values())


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert parse(data.replace(b"\n", b"")).head is None


def stop_behind_a_swap(folder: Path, atomic: str, *, somebody: bool) -> None:
    """Let a run end itself when a.jsonl has swapped names with its temp; perhaps somebody replaced it just before."""
    act = """
    def swap(source, target):
        if SOMEBODY:
            open(folder + "/theirs", "w").write("theirs")
            os.replace(folder + "/theirs", target)
        if not renaming(source, target):
            os._exit(43)
        os._exit(42)
    renaming, _os.swap = _os.swap, swap
""".replace("SOMEBODY", str(somebody))
    code = STOPPED.replace("    _os.os = _os.renaming = Stopping()\n", act.lstrip("\n"))
    assert code != STOPPED
    command = [sys.executable, "-c", code, str(folder), atomic, "none", "0"]
    status = subprocess.run(command, check=False).returncode
    if status == 43:
        pytest.skip("names cannot be swapped on this file system")
    assert status == 42


@pytest.mark.parametrize("atomic", ["file", "run"])
@pytest.mark.parametrize("undo", [False, True])
def test_a_run_that_stopped_behind_a_swap(folder: Path, atomic: str, undo: bool) -> None:
    stop_behind_a_swap(folder, atomic, somebody=False)
    assert texts(folder) == ["new a", "old b", "old c"]
    recover(folder, undo=undo)
    assert texts(folder) == (["old a", "old b", "old c"] if undo else ["new a", "new b", "new c"])
    assert strays(folder) == []


@pytest.mark.parametrize("atomic", ["file", "run"])
def test_what_somebody_put_there_goes_back_when_the_run_is_undone(folder: Path, atomic: str) -> None:
    stop_behind_a_swap(folder, atomic, somebody=True)
    recover(folder, undo=True)
    assert texts(folder) == ["theirs", "old b", "old c"]
    assert strays(folder) == []


def test_what_somebody_put_there_goes_back_when_the_run_is_finished(folder: Path) -> None:
    stop_behind_a_swap(folder, "file", somebody=True)
    done = recover(folder)
    assert done.kept == ((A, "it was changed while the run replaced it"),)
    assert texts(folder) == ["theirs", "new b", "new c"]
    assert strays(folder) == []


def test_all_or_none_is_not_finished_over_what_somebody_put_there(folder: Path) -> None:
    stop_behind_a_swap(folder, "run", somebody=True)
    with pytest.raises(WriteError, match="it was changed while the run replaced it"):
        recover(folder)
    recover(folder, undo=True)
    assert texts(folder) == ["theirs", "old b", "old c"]
