"""A run: what it writes, what it keeps, what it refuses, and what it leaves (nothing)."""

from __future__ import annotations

import os
import signal
import stat
import zlib
from typing import TYPE_CHECKING

import pytest

from evalspec.errors import WriteError
from evalspec.writing import PartlyWritten, Run, identify, is_ours, open_part, pending, run_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.jsonl").write_bytes(f"old {name}\n".encode())
    return folder


def rewrite(run: Run, *paths: Path, data: bytes = b"new\n") -> None:
    for path in paths:
        with run.prepare(path, seen=identify(path)) as out:
            out.write(data)


def test_nothing_changes_before_commit_and_nothing_is_left_after_it(project: Path) -> None:
    with Run(project) as run:
        rewrite(run, project / "a.jsonl", project / "b.jsonl")
        assert (project / "a.jsonl").read_bytes() == b"old a\n"
        assert [name for name in names(project) if is_ours(name)] != []
        written = run.commit()
    assert written.paths == (str(project / "a.jsonl"), str(project / "b.jsonl"))
    assert written.refused == ()
    assert [(project / name).read_bytes() for name in names(project)] == [b"new\n", b"new\n", b"old c\n"]
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


@pytest.mark.parametrize("atomic", ["file", "run"])
def test_without_commit_nothing_happened(project: Path, atomic: str) -> None:
    with Run(project, atomic=atomic) as run:  # type: ignore[arg-type]
        rewrite(run, project / "a.jsonl")
    assert (project / "a.jsonl").read_bytes() == b"old a\n"
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_an_exception_takes_everything_back(project: Path) -> None:
    with pytest.raises(ZeroDivisionError), Run(project) as run:  # noqa: PT012 -- it is raised within
        rewrite(run, project / "a.jsonl")
        run.part(project / "b.jsonl")
        with run.prepare(project / "c.jsonl") as out:
            out.write(b"half")
            raise ZeroDivisionError
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert (project / "c.jsonl").read_bytes() == b"old c\n"


def test_every_name_is_in_the_journal_before_its_file_exists(project: Path) -> None:
    seen = []
    with Run(project) as run:
        run.announce([project / "a.jsonl", project / "b.jsonl"])
        seen.append((project / ".evalspec-journal").read_text())
        assert [name for name in names(project) if is_ours(name)] == [".evalspec-journal"]
        rewrite(run, project / "a.jsonl")
    assert '"a.jsonl"' in seen[0]
    assert '"b.jsonl"' in seen[0]


def test_the_order_on_the_disk(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temps, second names and the journal are on the disk before the first file is replaced."""
    from evalspec.writing import _os, _rename

    trace: list[tuple[str, str]] = []
    opened: dict[int, str] = {}

    class Traced:
        def __getattr__(self, name: str) -> object:
            real = getattr(os if hasattr(os, name) else _rename, name)
            if name == "open":

                def open_(path: str, *args: int) -> int:
                    fd: int = real(path, *args)
                    opened[fd] = path
                    return fd

                return open_
            if name == "fsync":
                return lambda fd: (trace.append(("fsync", opened[fd])), real(fd))
            if name in {"replace", "exchange", "link", "unlink"}:
                return lambda *args: (trace.append((name, args[-1])), real(*args))
            return real

    monkeypatch.setattr(_os, "os", Traced())
    monkeypatch.setattr(_os, "renaming", Traced())
    with Run(project) as run:
        rewrite(run, project / "a.jsonl", project / "b.jsonl")
        run.commit()
    as_one = {"exchange": "replace"}
    what = [(as_one.get(call, call), path.rsplit("/")[-1].split("-")[-1]) for call, path in trace]
    first_replace = next(number for number, (call, _) in enumerate(what) if call == "replace")
    before = what[:first_replace]
    assert before[-1] == ("fsync", "journal"), "`go` is on the disk"
    assert before[-2] == ("fsync", "project"), "so are the names of the temps and of the old files"
    assert {("fsync", "0.new"), ("fsync", "1.new"), ("link", "0.old"), ("link", "1.old")} <= set(before[:-2])
    after = what[first_replace:]
    assert after[:3] == [("replace", "a.jsonl"), ("replace", "b.jsonl"), ("fsync", "project")]
    assert all(call != "unlink" for call, _ in what[: first_replace + 3]), "old bytes are kept until then"


def test_mode_and_owner_are_kept(project: Path) -> None:
    path = project / "a.jsonl"
    path.chmod(0o664)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65533)
    before = path.stat()
    with Run(project) as run:
        rewrite(run, path)
        run.commit()
    after = path.stat()
    assert stat.S_IMODE(after.st_mode) == 0o664
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


def test_extended_attributes_are_kept(project: Path) -> None:
    path = project / "a.jsonl"
    try:
        os.setxattr(path, "user.evalspec.test", b"kept")
    except (AttributeError, OSError):
        pytest.skip("no extended attributes on this file system")
    with Run(project) as run:
        rewrite(run, path)
        run.commit()
    assert os.getxattr(path, "user.evalspec.test") == b"kept"


def test_a_temp_is_nobody_elses_to_read(project: Path) -> None:
    (project / "a.jsonl").chmod(0o600)
    with Run(project) as run, run.prepare(project / "a.jsonl") as out:
        out.write(b"secret")
        assert stat.S_IMODE(out.path.stat().st_mode) == 0o600


def test_symlinks_are_followed_and_stay(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "d.jsonl").write_bytes(b"old d\n")
    (elsewhere / "deep" / "e.jsonl").write_bytes(b"old e\n")
    (project / "d.jsonl").symlink_to(elsewhere / "d.jsonl")
    (project / "linked").symlink_to("../elsewhere/deep")
    with Run(project) as run:
        rewrite(run, project / "d.jsonl", project / "linked" / "e.jsonl")
        run.commit()
    assert (project / "d.jsonl").is_symlink()
    assert (elsewhere / "d.jsonl").read_bytes() == b"new\n"
    assert (elsewhere / "deep" / "e.jsonl").read_bytes() == b"new\n"
    assert names(elsewhere) == ["d.jsonl", "deep"]
    assert names(elsewhere / "deep") == ["e.jsonl"]


def test_two_names_of_one_file_are_refused(project: Path) -> None:
    (project / "again.jsonl").symlink_to("a.jsonl")
    with Run(project) as run:
        rewrite(run, project / "a.jsonl")
        with pytest.raises(WriteError, match=r"the same file as .*a\.jsonl") as caught:
            run.prepare(project / "again.jsonl")
        assert caught.value.fix == "name it once"
        run.commit()
    assert (project / "a.jsonl").read_bytes() == b"new\n"


def test_large_and_small_writes_and_parts_come_in_order(project: Path) -> None:
    path = project / "a.jsonl"
    with Run(project) as run:
        with run.prepare(path) as out:
            with open_part(out.path) as worker:
                worker.write(b"0" * 300_000)
            out.write(b"1" * 10)
            out.write(b"2" * 1_000_000)
            part = run.part(path)
            with open_part(part) as worker:
                worker.write(b"3" * 5)
            out.copy_from(part)
            out.write(memoryview(b"4"))
        run.commit()
    assert path.read_bytes() == b"0" * 300_000 + b"1" * 10 + b"2" * 1_000_000 + b"33333" + b"4"
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_short_writes_go_on_until_the_last_byte(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalspec.writing import _os

    class Short:
        def __getattr__(self, name: str) -> object:
            if name == "write":
                return lambda fd, data: os.write(fd, data[:7])
            return getattr(os, name)

    monkeypatch.setattr(_os, "os", Short())
    with Run(project) as run:
        rewrite(run, project / "a.jsonl", data=b"0123456789" * 100)
        run.commit()
    assert (project / "a.jsonl").read_bytes() == b"0123456789" * 100
    monkeypatch.undo()
    write_file(project / "b.jsonl", b"0123456789" * 300_000)
    assert (project / "b.jsonl").read_bytes() == b"0123456789" * 300_000
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_a_part_is_not_made_by_a_worker_that_outlived_its_run(project: Path) -> None:
    with Run(project) as run:
        part = run.part(project / "a.jsonl")
    with pytest.raises(FileNotFoundError):
        open_part(part)


def test_what_is_thrown_away_stays_as_it_is(project: Path) -> None:
    with Run(project) as run:
        rewrite(run, project / "a.jsonl", project / "b.jsonl")
        run.discard(project / "a.jsonl")
        rewrite(run, project / "a.jsonl", data=b"second try\n")
        run.discard(project / "b.jsonl")
        with run.prepare(project / "c.jsonl") as out:
            out.discard()
        run.commit()
    assert (project / "a.jsonl").read_bytes() == b"second try\n"
    assert (project / "b.jsonl").read_bytes() == b"old b\n"
    assert (project / "c.jsonl").read_bytes() == b"old c\n"
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_a_new_file(project: Path) -> None:
    with Run(project) as run:
        with run.prepare(project / "made.md", new=True) as out:
            out.write(b"made")
        run.commit()
    assert (project / "made.md").read_bytes() == b"made"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((project / "made.md").stat().st_mode) == 0o666 & ~umask
    with Run(project) as run, pytest.raises(WriteError, match="there already"):
        run.prepare(project / "made.md", new=True)


def test_write_file(tmp_path: Path) -> None:
    path = tmp_path / "evalspec.lock"
    write_file(path, b"one")
    write_file(path, b"two")
    assert path.read_bytes() == b"two"
    with pytest.raises(WriteError, match="there already"):
        write_file(path, b"three", new=True)
    with pytest.raises(WriteError, match="not there"):
        write_file(tmp_path / "other", b"x", new=False)
    assert names(tmp_path) == ["evalspec.lock"]


# -------------------------------------------------------------------------------- backups


def test_backups_restore_the_files(project: Path, tmp_path: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "d.yaml").write_bytes(b"old d\r\n")
    (project / "a.jsonl").chmod(0o600)
    os.utime(project / "a.jsonl", ns=(10**18, 10**18 + 7))
    kept = tmp_path / "kept"
    with Run(project, backup=kept) as run:
        rewrite(run, project / "a.jsonl", project / "sub" / "d.yaml")
        written = run.commit()
    assert dict(written.backups) == {
        str(project / "a.jsonl"): str(kept / "a.jsonl"),
        str(project / "sub" / "d.yaml"): str(kept / "sub" / "d.yaml"),
    }
    for path, copy in written.backups:
        os.replace(copy, path)  # noqa: PTH105 -- as a user would: mv
    assert (project / "a.jsonl").read_bytes() == b"old a\n"
    assert (project / "sub" / "d.yaml").read_bytes() == b"old d\r\n"
    assert stat.S_IMODE((project / "a.jsonl").stat().st_mode) == 0o600
    assert (project / "a.jsonl").stat().st_mtime_ns == 10**18 + 7


def test_a_backup_is_never_overwritten_and_goes_if_nothing_is_replaced(project: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "sub").mkdir(parents=True)
    (kept / "b.jsonl").write_bytes(b"precious")
    with Run(project, backup=kept) as run:
        rewrite(run, project / "a.jsonl", project / "b.jsonl")
        with pytest.raises(WriteError, match=r"its backup in .*kept: something is at that name"):
            run.commit()
    assert (kept / "b.jsonl").read_bytes() == b"precious"
    assert names(kept) == ["b.jsonl", "sub"]
    assert (project / "a.jsonl").read_bytes() == b"old a\n"


# -------------------------------------------------------------------------------- refusals


def hard_cases(folder: Path) -> dict[str, tuple[str, str]]:
    """Paths that cannot be written, each with the sentence and the next step that it gets."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "dangling.jsonl").symlink_to("nowhere")
    (folder / "round.jsonl").symlink_to("round.jsonl")
    (folder / "read_only.jsonl").write_bytes(b"x")
    (folder / "read_only.jsonl").chmod(0o444)
    return {
        "folder": ("it is a folder", "name a file"),
        "fifo.jsonl": ("it is no regular file", "name a file"),
        "missing.jsonl": ("it is not there", "check the path"),
        "dangling.jsonl": ("its symlink leads to nothing", "check the path"),
        "round.jsonl": ("its symlinks lead in a circle", "point the symlink at a file"),
        "read_only.jsonl": ("it is read-only", "chmod u+w"),
        "a.jsonl/below": ("a part of its path is no folder", "check the path"),
        "../outside.jsonl": ("it is not below", "run in a folder that holds every file"),
    }


def test_hard_cases_are_refused_with_a_next_step(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_bytes(b"x")
    cases = hard_cases(project)
    before = names(project)
    with Run(project) as run:
        for name, (reason, fix) in cases.items():
            with pytest.raises(WriteError) as caught:
                run.prepare(project / name)
            assert reason in str(caught.value), name
            assert fix in caught.value.fix, name
            assert caught.value.exit_code == 1
        rewrite(run, project / "a.jsonl")
        run.commit()
    assert (project / "a.jsonl").read_bytes() == b"new\n"
    assert names(project) == before


def test_what_is_told_of_a_path_is_escaped(project: Path) -> None:
    with Run(project) as run, pytest.raises(WriteError) as caught:
        run.prepare(project / "evil\x1b[31m\u202e.jsonl")
    assert "\x1b" not in str(caught.value)
    assert "\u202e" not in str(caught.value)


def test_a_run_in_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="not there"), Run(tmp_path / "missing"):
        pass
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteError, match="no folder"), Run(tmp_path / "file"):
        pass


def by_somebody(path: Path) -> dict[str, Callable[[], object]]:
    def replaced() -> None:
        path.with_suffix(".swap").write_bytes(b"old a\n")
        path.with_suffix(".swap").replace(path)

    return {
        "written": lambda: path.write_bytes(b"mine, longer\n"),
        "replaced, same bytes": replaced,
        "touched": lambda: os.utime(path, (1, 1)),
        "taken away": path.unlink,
    }


@pytest.mark.parametrize("what", ["written", "replaced, same bytes", "touched", "taken away"])
@pytest.mark.parametrize("atomic", ["file", "run"])
def test_a_file_that_somebody_changed_meanwhile(project: Path, what: str, atomic: str) -> None:
    path = project / "a.jsonl"
    with Run(project, atomic=atomic) as run:  # type: ignore[arg-type]
        rewrite(run, path, project / "b.jsonl")
        by_somebody(path)[what]()
        theirs = path.read_bytes() if path.exists() else None
        with pytest.raises(WriteError, match="it was left as it is") as caught:
            run.commit()
    assert (path.read_bytes() if path.exists() else None) == theirs
    assert "run again" in caught.value.fix
    assert set(names(project)) <= {"a.jsonl", "b.jsonl", "c.jsonl"}
    if atomic == "run":
        assert (project / "b.jsonl").read_bytes() == b"old b\n"
    else:
        assert isinstance(caught.value, PartlyWritten)
        assert caught.value.written.paths == (str(project / "b.jsonl"),)
        assert [error.path for error in caught.value.written.refused] == [str(path)]
        assert (project / "b.jsonl").read_bytes() == b"new\n"


def in_the_last_instant(
    monkeypatch: pytest.MonkeyPatch, path: Path, act: Callable[[], object], how: str
) -> None:
    """Let somebody act between the last look at a file and its replacement, by swapped names or without them."""
    from evalspec.writing import _os

    real = getattr(_os, how)

    def late(source: str, target: str) -> object:
        if target == str(path) and source.endswith(".new"):
            monkeypatch.setattr(_os, how, real)
            act()
        return real(source, target)

    if how == "replace":
        monkeypatch.setattr(_os, "swap", lambda *_: False)
    monkeypatch.setattr(_os, how, late)


@pytest.mark.parametrize(
    ("what", "how"),
    [
        ("written", "replace"),
        ("written", "swap"),
        ("touched", "swap"),
        ("replaced, same bytes", "swap"),
        ("taken away", "swap"),
    ],
)
@pytest.mark.parametrize("atomic", ["file", "run"])
def test_a_file_that_somebody_changed_in_the_last_instant(
    project: Path, atomic: str, what: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "b.jsonl"
    by_them: list[os.stat_result | None] = []

    def act() -> None:
        by_somebody(path)[what]()
        by_them.append(path.stat() if path.exists() else None)

    in_the_last_instant(monkeypatch, path, act, how)
    with Run(project, atomic=atomic) as run:  # type: ignore[arg-type]
        rewrite(run, project / "a.jsonl", path, project / "c.jsonl")
        with pytest.raises(WriteError, match="while it was being replaced"):
            run.commit()
    [theirs] = by_them
    if theirs is None:
        assert not path.exists()
    else:
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (theirs.st_ino, theirs.st_mtime_ns)
    others = [(project / name).read_bytes() for name in ("a.jsonl", "c.jsonl")]
    assert others == ([b"new\n", b"new\n"] if atomic == "file" else [b"old a\n", b"old c\n"])
    assert set(names(project)) <= {"a.jsonl", "b.jsonl", "c.jsonl"}


def test_a_new_file_that_somebody_made_in_the_last_instant(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "made.jsonl"
    in_the_last_instant(monkeypatch, path, lambda: path.write_bytes(b"mine\n"), "place")
    with Run(project) as run:
        with run.prepare(path, new=True) as out:
            out.write(b"new\n")
        with pytest.raises(WriteError, match="somebody made it meanwhile"):
            run.commit()
    assert path.read_bytes() == b"mine\n"
    assert "made.jsonl" in names(project)
    assert len(names(project)) == 4


def test_somebody_replaces_a_file_and_then_our_bytes_too(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their second file is the one to stay: it was put in the place of all that was there before."""
    from evalspec.writing import _os

    path = project / "a.jsonl"
    real = _os.swap
    calls = iter((b"their first\n", b"their second\n"))

    def late(source: str, target: str) -> bool:
        if data := next(calls, None):
            (project / "swap").write_bytes(data)
            (project / "swap").replace(path)
        return real(source, target)

    monkeypatch.setattr(_os, "swap", late)
    with Run(project) as run:
        rewrite(run, path)
        with pytest.raises(WriteError, match="while it was being replaced"):
            run.commit()
    assert path.read_bytes() == b"their second\n"
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_a_file_that_somebody_changed_before_it_was_prepared(project: Path) -> None:
    path = project / "a.jsonl"
    seen = identify(path)
    path.write_bytes(b"mine, longer\n")
    with Run(project) as run, pytest.raises(WriteError, match="changed it"):
        run.prepare(path, seen=seen)


def test_a_change_that_leaves_no_trace_is_seen_by_its_checksum(project: Path) -> None:
    path = project / "a.jsonl"
    os.utime(path, ns=(5, 5))
    with Run(project) as run:
        with run.prepare(path, seen=identify(path)) as out:
            out.write(b"new")
            out.expect(zlib.crc32(b"old a\n"))
        path.write_bytes(b"old A\n")
        os.utime(path, ns=(5, 5))
        with pytest.raises(WriteError, match="changed it"):
            run.commit()
    assert path.read_bytes() == b"old A\n"
    with Run(project) as run:
        with run.prepare(path) as out:
            out.write(b"new")
            out.expect(zlib.crc32(b"old A\n"))
        run.commit()
    assert path.read_bytes() == b"new"


def test_a_second_interrupt_waits_until_everything_is_tidied_up(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalspec.writing import _os

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    remove = _os.remove

    def interrupted(path: str) -> bool:
        signal.raise_signal(signal.SIGINT)
        return remove(path)

    try:
        with pytest.raises(KeyboardInterrupt), Run(project) as run:  # noqa: PT012 -- it is raised within
            rewrite(run, project / "a.jsonl", project / "b.jsonl")
            monkeypatch.setattr(_os, "remove", interrupted)
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_a_line_that_did_not_fit_into_the_journal_does_not_spoil_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full for a moment: the file of that moment is refused, the others go on."""
    from evalspec.writing import _os, journal

    write = _os.write

    def half(fd: int, data: bytes) -> None:
        if b'"ready",0' not in bytes(data):
            write(fd, data)
            return
        write(fd, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_os, "write", half)
    with Run(project) as run:
        with pytest.raises(WriteError, match="the disk is full"):
            rewrite(run, project / "a.jsonl")
        rewrite(run, project / "b.jsonl")
        log = journal.read(str(project))
        assert log is not None
        assert [entry.path for entry in log.entries.values() if entry.new] == ["b.jsonl"]
        run.commit()
    assert (project / "a.jsonl").read_bytes() == b"old a\n"
    assert (project / "b.jsonl").read_bytes() == b"new\n"
    assert names(project) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_misuse_is_told(project: Path) -> None:
    run = Run(project)
    with pytest.raises(ValueError, match="not at work"):
        run.prepare(project / "a.jsonl")
    with run:
        out = run.prepare(project / "a.jsonl")
        with pytest.raises(ValueError, match="not finished"):
            run.commit()
        out.finish()
        with pytest.raises(ValueError, match="finished or thrown away"):
            out.write(b"")
    assert (project / "a.jsonl").read_bytes() == b"old a\n"
    assert pending(project) is None


def test_the_folder_of_a_run(tmp_path: Path) -> None:
    inside = tmp_path / "project" / "tasks" / "a.jsonl"
    assert run_folder([inside], tmp_path / "project") == str(tmp_path / "project")
    assert run_folder([inside]) == str(tmp_path / "project" / "tasks")
    assert run_folder([inside, tmp_path / "other" / "b.jsonl"]) == str(tmp_path)
    assert run_folder([tmp_path / "other" / "b.jsonl"], tmp_path / "project") == str(tmp_path)
    assert run_folder([tmp_path / "projects" / "b.jsonl"], tmp_path / "project") == str(tmp_path)
    (tmp_path / "project" / "tasks").mkdir(parents=True)
    assert run_folder([tmp_path / "project"]) == str(tmp_path / "project")
    assert run_folder([tmp_path / "project" / "tasks", tmp_path / "project" / "b"]) == str(
        tmp_path / "project"
    )
    assert run_folder([tmp_path / "project"], tmp_path / "project") == str(tmp_path / "project")
