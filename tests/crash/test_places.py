"""Real places that cannot be written: a full disk, read-only folders and files, mounts. No double is in between.

They need an unprivileged user, or root's leave to mount; where neither is to be had the test is skipped and says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from crash.scenes import JSONL_OLD, Scene, State
from crash.system import in_child

from evalspec.errors import WriteError
from evalspec.writing import Run, pending, recover

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = os.geteuid() == 0
NOBODY = 65534
SCENE = Scene("places", {"a.jsonl": JSONL_OLD, "sub/b.jsonl": JSONL_OLD, "z.jsonl": JSONL_OLD})
ATOMIC = ("file", "run")


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that `nobody` can reach: pytest's own are closed to other users."""
    base = Path(tempfile.mkdtemp(prefix="evalspec-test-"))
    base.chmod(0o755)
    yield base
    for folder, _, _ in os.walk(base):
        Path(folder).chmod(0o755)
    shutil.rmtree(base)


def give(base: Path, user: int) -> None:
    if ROOT:
        for path in [base, *base.rglob("*")]:
            os.chown(path, user, user, follow_symlinks=False)


def as_nobody(scene: Scene, folder: Path, atomic: str) -> tuple[int, tuple[str, str, str]]:
    ending = in_child(scene.runner(folder, atomic), user=NOBODY if ROOT else None)
    assert ending.error is not None, ending
    return ending.status, ending.error


def unchanged(scene: Scene, folder: Path) -> None:
    assert State(scene, folder).count() == (3, 0)
    assert State(scene, folder).strays() == []
    assert pending(folder) is None


@pytest.mark.parametrize("atomic", ATOMIC)
def test_a_read_only_folder(open_place: Path, atomic: str) -> None:
    folder = SCENE.lay(open_place)
    give(open_place, NOBODY)
    folder.chmod(0o555)
    status, (kind, sentence, fix) = as_nobody(SCENE, folder, atomic)
    assert (status, kind) == (1, "WriteError")
    assert "you may not write here" in sentence
    assert "leave to write" in fix
    unchanged(SCENE, folder)


@pytest.mark.parametrize("atomic", ATOMIC)
def test_a_read_only_folder_below(open_place: Path, atomic: str) -> None:
    folder = SCENE.lay(open_place)
    give(open_place, NOBODY)
    (folder / "sub").chmod(0o555)
    status, (kind, sentence, fix) = as_nobody(SCENE, folder, atomic)
    assert (status, kind) == (1, "WriteError")
    assert "sub/b.jsonl: you may not write here" in sentence
    assert str(folder / "sub") in fix
    unchanged(SCENE, folder)


@pytest.mark.parametrize("user", ["nobody", "root"])
def test_a_read_only_file(open_place: Path, user: str) -> None:
    if user == "root" and not ROOT:
        pytest.skip("NOT TESTED: this is not root")
    folder = SCENE.lay(open_place)
    give(open_place, NOBODY)
    (folder / "z.jsonl").chmod(0o440)
    ending = in_child(SCENE.runner(folder, "file"), user=NOBODY if user == "nobody" and ROOT else None)
    assert ending.status == 1
    assert ending.error is not None
    assert "z.jsonl: it is read-only" in ending.error[1]
    assert ending.error[2].startswith("chmod u+w ")
    (folder / "z.jsonl").chmod(0o640)
    unchanged(SCENE, folder)


@pytest.mark.skipif(not ROOT, reason="NOT TESTED: only root can make another user's files")
def test_another_users_file_in_a_sticky_folder(open_place: Path) -> None:
    """In /tmp nobody may replace another's file, be it writable or not, nor remove a second name of it."""
    folder = SCENE.lay(open_place)
    give(open_place, NOBODY)
    os.chown(folder, 0, 0)
    folder.chmod(0o1777)
    os.chown(folder / "z.jsonl", 1, 1)
    (folder / "z.jsonl").chmod(0o666)
    status, (_, sentence, _) = as_nobody(SCENE, folder, "run")
    assert status == 1
    assert "z.jsonl: it is another user's, in a sticky folder" in sentence
    (folder / "z.jsonl").chmod(0o640)
    unchanged(SCENE, folder)


def mounted(*options: str) -> None:
    done = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"NOT TESTED: nothing can be mounted here: {done.stderr.strip()}")


@pytest.mark.skipif(
    not ROOT or not shutil.which("mount"), reason="NOT TESTED: only root can mount a small disk"
)
@pytest.mark.parametrize("atomic", ATOMIC)
def test_a_disk_that_is_full(tmp_path: Path, atomic: str) -> None:
    """A real file system of a few pages, filled to every degree: the run fits or is refused, and leaves nothing."""
    small = tmp_path / "small"
    small.mkdir()
    scene = Scene("full", {"a.jsonl": JSONL_OLD * 3, "sub/b.jsonl": JSONL_OLD * 3, "z.jsonl": JSONL_OLD})
    mounted("-t", "tmpfs", "-o", "size=128k", "tmpfs", str(small))
    try:
        folder = scene.lay(small)
        ends = []
        for size in range(0, 120_000, 4096):
            scene.reset(folder)
            filler = small / "filler"
            try:
                filler.write_bytes(b"0" * size)
            except OSError:
                break
            ending = in_child(scene.runner(folder, atomic))
            filler.unlink()
            ends.append(ending.status)
            state = State(scene, folder)
            assert state.count() == ((0, 3) if ending.status == 0 else (3, 0)), ending
            assert state.strays() == []
            if ending.status:
                assert ending.error is not None
                assert "the disk is full" in ending.error[1]
                assert "free some space" in ending.error[2]
        assert set(ends) == {0, 1}, ends
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.skipif(not ROOT or not shutil.which("mount"), reason="NOT TESTED: only root can mount")
@pytest.mark.parametrize("atomic", ATOMIC)
def test_a_file_that_is_mounted_by_itself(tmp_path: Path, atomic: str) -> None:
    """As containers do it: such a file can be written but not replaced (EBUSY), and that shows only at the very end."""
    folder = SCENE.lay(tmp_path)
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(JSONL_OLD)
    outside.chmod(0o640)
    mounted("--bind", str(outside), str(folder / "sub" / "b.jsonl"))
    try:
        with Run(folder, atomic=atomic) as run:  # type: ignore[arg-type]
            for name in SCENE.files:
                with run.prepare(folder / name) as out:
                    out.write(b"x")
            with pytest.raises(
                WriteError, match=r"sub/b\.jsonl: it is (in use by the system|on another file system)"
            ):
                run.commit()
        assert (folder / "sub" / "b.jsonl").read_bytes() == JSONL_OLD
        others = [(folder / name).read_bytes() for name in ("a.jsonl", "z.jsonl")]
        assert others == ([b"x", b"x"] if atomic == "file" else [JSONL_OLD, JSONL_OLD])
        assert sorted(path.name for path in (folder / "sub").iterdir()) == ["b.jsonl"]
        assert recover(folder).outcome == "nothing"
    finally:
        subprocess.run(["umount", str(folder / "sub" / "b.jsonl")], check=True)
