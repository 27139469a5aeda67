"""Stop a run, or its recovery, at one system call after the other, and see that nothing is lost.

A program of its own, because it forks thousands of children and a small process forks faster:

    python -m crash.matrix (runs | recoveries | errors | signals | meddlers) SCENE (file | run) STEP FOLDER

prints what it counted as JSON. An assertion that fails ends it with a traceback that names the instant.
"""

from __future__ import annotations

import json
import sys
import threading  # noqa: F401 -- so that no child has to import it
from pathlib import Path

from crash.scenes import SCENES, Scene, State
from crash.system import STOPPED, Instant, in_child, instants
from crash.trouble import errors, meddlers, signals

from evalspec.writing import pending, recover

AFTERWARDS = ("finish", "undo", "run again")
COLUMNS = ("instants", "stops", "all old", "mixed", "all new", "finished", "undone", "dropped")


def stop(scene: Scene, folder: Path, atomic: str, instant: Instant) -> tuple[int, int]:
    """Run the scene, stopped at an instant; how many files are old and how many new then."""
    ending = in_child(scene.runner(folder, atomic), instant, **scene.always)
    assert ending.status == (STOPPED if instant.how == "exit" else -9), (instant, ending)
    state = State(scene, folder)
    assert state.only_ours(), (instant, state.strays())
    return state.count()


def make_whole(scene: Scene, folder: Path, atomic: str, afterwards: str, instant: Instant) -> str:
    """Recover in one of three ways, and see that the run is whole then; how that went."""
    went: str
    if afterwards == "run again":
        ending = in_child(scene.runner(folder, atomic), **scene.always)
        assert ending.status == 0, (instant, ending)
        went = ending.result
    else:
        result = recover(folder, undo=afterwards == "undo")
        assert result.kept == (), (instant, result)
        went = result.outcome
    state = State(scene, folder)
    old, new = state.count()
    assert state.strays() == [], (instant, afterwards)
    assert pending(folder) is None
    assert old == 0 or new == 0, (instant, afterwards, "the run is half done after its recovery")
    if afterwards == "run again":
        assert old == 0, instant
    elif went in {"undone", "dropped"}:
        assert new == 0, instant
    elif went in {"finished", "ended"}:
        assert old == 0, instant
    assert recover(folder).outcome == "nothing"
    return went


def matrix(scene: Scene, atomic: str, base: Path, step: int) -> dict[str, int]:
    """Stop a run at every `step`th instant."""
    folder = scene.lay(base)
    whole = in_child(scene.runner(folder, atomic), **scene.always)
    assert whole.status == 0, whole
    assert State(scene, folder).count()[0] == 0
    assert State(scene, folder).strays() == []
    counts = dict.fromkeys(COLUMNS, 0)
    every = instants(whole.calls, ("exit", "kill"))
    counts["instants"] = len(every) // 2
    for number, instant in enumerate(every):
        for way, afterwards in enumerate(AFTERWARDS):
            if step > 1 and (number + way) % step:
                continue
            scene.reset(folder)
            old, new = stop(scene, folder, atomic, instant)
            counts["stops"] += 1
            counts["all old" if not new else "all new" if not old else "mixed"] += 1
            went = make_whole(scene, folder, atomic, afterwards, instant)
            counts["finished"] += went in {"finished", "ended"}
            counts["undone"] += went == "undone"
            counts["dropped"] += went in {"dropped", "nothing"}
    return counts


def twice(scene: Scene, atomic: str, base: Path, step: int) -> dict[str, int]:
    """Stop a run, then stop its recovery at each instant, then recover again."""
    folder = scene.lay(base)
    whole = in_child(scene.runner(folder, atomic), **scene.always)
    counts = dict.fromkeys(COLUMNS, 0)
    first_stops = instants(whole.calls, ("kill",))[::step]
    counts["instants"] = len(first_stops)
    for first in first_stops:
        for undo in (False, True):
            scene.reset(folder)
            stop(scene, folder, atomic, first)
            if pending(folder) is None:
                continue
            calls = recovering(scene, folder, first, undo=undo, instant=None)
            for second in instants(calls, ("exit",)):
                scene.reset(folder)
                stop(scene, folder, atomic, first)
                recovering(scene, folder, first, undo=undo, instant=second)
                old, new = State(scene, folder).count()
                counts["stops"] += 1
                counts["all old" if not new else "all new" if not old else "mixed"] += 1
                went = make_whole(scene, folder, atomic, "finish", second)
                counts["finished"] += went in {"finished", "ended"}
                counts["undone"] += went == "undone"
                counts["dropped"] += went in {"dropped", "nothing"}
    return counts


def recovering(
    scene: Scene, folder: Path, first: Instant, *, undo: bool, instant: Instant | None
) -> tuple[str, ...]:
    ending = in_child(lambda: recover(folder, undo=undo).outcome, instant, **scene.always)
    assert ending.status == (0 if instant is None else STOPPED), (first, instant, ending)
    return ending.calls


if __name__ == "__main__":
    what, name, atomic, step, base = sys.argv[1:]
    work = {"runs": matrix, "recoveries": twice, "errors": errors, "signals": signals, "meddlers": meddlers}[
        what
    ]
    print(json.dumps(work(SCENES[name], atomic, Path(base), int(step))))
