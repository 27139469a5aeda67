"""What befalls a run besides its end: the system's errors, signals, and somebody else at the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crash.scenes import Scene, State, upgraded
from crash.system import Instant, in_child

from evalspec.writing import interruptible, pending, recover

if TYPE_CHECKING:
    from pathlib import Path

#: The errors that a call can end in.
ERRORS = {
    "open": ("ENOSPC", "EACCES", "EMFILE", "EROFS", "EINTR"),
    "write": ("ENOSPC", "EIO", "EDQUOT", "EINTR"),
    "fsync": ("EIO", "ENOSPC", "EINTR"),
    "replace": ("EACCES", "EXDEV", "EBUSY", "EINTR"),
    "exchange": ("EACCES", "EINVAL", "EBUSY", "EINTR"),
    "rename_new": ("EACCES", "EINVAL", "EEXIST", "EINTR"),
    "unlink": ("EACCES", "EINTR"),
    "link": ("EPERM", "EMLINK", "EXDEV", "ENOSPC", "EACCES", "EINTR"),
    "copy_file_range": ("ENOSPC", "EXDEV", "EINTR"),
    "ftruncate": ("EIO", "EINTR"),
    "fchmod": ("EPERM", "EACCES", "EINTR"),
    "utime": ("EACCES", "EINTR"),
    "makedirs": ("EACCES", "ENOSPC", "EINTR"),
    "stat": ("EACCES", "EINTR"),
    "lstat": ("EACCES", "EINTR"),
    "read": ("EIO", "EINTR"),
    "listxattr": ("ENOTSUP", "EINTR"),
}


def errors(scene: Scene, atomic: str, base: Path, step: int) -> dict[str, int]:
    """Let system calls fail: once, and for ever after. Whatever a run says then, no file is harmed."""
    folder = scene.lay(base)
    calls = in_child(scene.runner(folder, atomic), **scene.always).calls
    counts = dict.fromkeys(
        ("errors", "went on", "refused, all old", "partly", "refused, all new", "left a journal"), 0
    )
    every = [
        Instant(number, name, side, how + often)
        for number, name in enumerate(calls)
        for how in ERRORS.get(name, ())
        for often in (("",) if how == "EINTR" else ("", "*"))
        for side in (("before", "short") if name == "write" and how != "EINTR" else ("before",))
    ]
    for instant in every[::step]:
        scene.reset(folder)
        ending = in_child(scene.runner(folder, atomic), instant, **scene.always)
        counts["errors"] += 1
        state = State(scene, folder)
        old, new = state.count()
        left = pending(folder) is not None
        counts["left a journal"] += left
        assert left or state.strays() == [], (instant, ending, state.strays())
        assert state.only_ours(), (instant, state.strays())
        if ending.status == 0:
            counts["went on"] += 1
            assert old == 0, (instant, ending)
            assert not left
        else:
            assert ending.status == 1, (instant, ending)
            assert instant.how != "EINTR", (instant, ending)
            assert ending.error is not None
            kind, sentence, fix = ending.error
            assert kind in {"WriteError", "PartlyWritten"}, (instant, ending)
            assert sentence, instant
            assert fix, (instant, sentence)
            counts["partly" if old and new else "refused, all old" if old else "refused, all new"] += 1
            if atomic == "run" or kind == "WriteError":
                assert left or not (old and new), (instant, ending)
            if not instant.how.endswith("*"):
                # An error that goes away leaves something only where it befell the tidying up.
                assert not left or old == 0 or instant.name in {"open", "lstat", "stat", "read"}, (
                    instant,
                    ending,
                )
        recover(folder, undo=instant.call % 2 == 0)
        state = State(scene, folder)
        old, new = state.count()
        assert state.strays() == [], (instant, state.strays())
        assert atomic == "file" or not (old and new), instant
        assert in_child(scene.runner(folder, atomic), **scene.always).status == 0, instant
        assert State(scene, folder).count()[0] == 0, instant
    return counts


def signals(scene: Scene, atomic: str, base: Path, step: int) -> dict[str, int]:
    """Send SIGINT and SIGTERM before each call: nothing half-written, nothing stray, no journal, 130 or 143."""
    folder = scene.lay(base)
    run = scene.runner(folder, atomic)

    def guarded() -> object:
        with interruptible():
            return run()

    calls = in_child(guarded, **scene.always).calls
    counts = dict.fromkeys(("signals", "all old", "all new"), 0)
    for number, name in list(enumerate(calls))[::step]:
        for how, status in (("SIGINT", 130), ("SIGTERM", 143)):
            scene.reset(folder)
            instant = Instant(number, name, "before", how)
            ending = in_child(guarded, instant, **scene.always)
            assert ending.status == status, (instant, ending)
            state = State(scene, folder)
            old, new = state.count()
            assert not (old and new), (instant, "half of the files are new")
            assert state.strays() == [], (instant, state.strays())
            counts["signals"] += 1
            counts["all old" if old else "all new"] += 1
    return counts


def meddlers(scene: Scene, atomic: str, base: Path, step: int) -> dict[str, int]:
    """Let somebody change a file before each call: it is refused or was replaced before; no change is lost.

    Save one, and only where names cannot be swapped: a file that somebody *replaces* in the instant between the run's
    last look at it and its own replacing (or changes in any way, where the file system has no hard links either).
    """
    folder = scene.lay(base)
    victim = folder / [name for name in scene.targets() if name not in scene.untouched][-1]
    run = scene.runner(folder, atomic)
    calls = in_child(run, **scene.always).calls
    counts = dict.fromkeys(("changes", "refused", "done before", "done after", "in the gap"), 0)
    old = next(data for path, data in scene.files.items() if (folder / path).samefile(victim))
    for number, name in list(enumerate(calls))[::step]:
        for way in WAYS:
            scene.reset(folder)
            instant = Instant(number, name, "before", "meddle")
            ending = in_child(run, instant, act=lambda way=way: meddle(victim, way), **scene.always)  # type: ignore[misc]
            found = victim.read_bytes() if victim.exists() else None
            counts["changes"] += 1
            assert ending.status in {0, 1}, (instant, way, ending)
            state = State(scene, folder)
            if ending.status == 1 and atomic == "run":
                rest = [
                    data
                    for path, data in state.bytes.items()
                    if (folder / path).resolve() != victim.resolve()
                ]
                assert not any(data and b"spec_version" in data for data in rest), (instant, way)
            if found == changed(old, way) and ending.status == 1:
                counts["refused"] += 1
            elif found == changed(upgraded(old), way):
                counts["done after"] += 1
            elif way != "taken away" and found == upgraded(changed(old, way) or b""):
                counts["done before"] += 1
            else:
                counts["in the gap"] += 1
                gap = {"exchange", "replace"} if "exchange" in scene.always else set()
                assert name in gap, (instant, way, ending, "a change was lost")
                seen = way in {"changed in place", "made longer"} and "link" not in scene.always
                assert not seen, (instant, way, ending, "a change was lost")
            recover(folder)
            assert State(scene, folder).strays() == [], (instant, way)
    assert counts["refused"]
    return counts


WAYS = ("changed in place", "made longer", "replaced", "taken away")


def changed(data: bytes, way: str) -> bytes | None:
    """What somebody makes of a file."""
    match way:
        case "changed in place":
            return data[:10] + b"!" + data[11:]
        case "taken away":
            return None
        case _:
            return data + way.encode()


def meddle(victim: Path, way: str) -> None:
    """Be that somebody."""
    data = changed(victim.read_bytes(), way)
    if data is None:
        victim.resolve().unlink()
    elif way == "replaced":
        beside = victim.parent / "somebody's.swap"
        beside.write_bytes(data)
        beside.replace(victim.resolve())
    else:
        with victim.open("r+b") as file:
            file.write(data)
