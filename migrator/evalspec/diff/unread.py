"""What cannot be read on a side of a comparison: it may have changed, so it is unknown and never unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.diff.causes import whole_cause
from evalspec.diff.model import Cause, Unknown
from evalspec.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.diff.side_tasks import SideTasks
    from evalspec.prompts.view import View


def unread_of(old: SideTasks, new: SideTasks, views: Sequence[View]) -> Iterator[Unknown]:
    """Every task and file that one side or both cannot read, if it is not the same on both."""
    told: set[str] = set()
    for side, other, word in ((old, new, "new"), (new, old, "old")):
        unreadable = [
            (name, reason)
            for name in side.tasks
            if name not in other.tasks and (reason := other.cannot_read(side.tasks[name]))
        ]
        counts = dict.fromkeys((name for name, _ in unreadable), 0)
        for line in side.prompts(counts, views):
            counts[line["task"]] += 1
        for name, reason in unreadable:
            task = side.tasks[name]
            told |= {name, task.path}
            cause = whole_cause(task, before=side is old, after=side is new)
            yield Unknown(name, f"it cannot be read on the {word} side: {reason}", cause, counts[name])
    for reasons in ((old.broken, new.broken), (old.unread, new.unread)):
        for name in dict.fromkeys((*reasons[0], *reasons[1])):
            found = reasons[0].get(name), reasons[1].get(name)
            paths = old.path_of(name), new.path_of(name)
            if name in told or _is_the_same(old, new, paths, found):
                continue
            sides = "either side" if all(found) else f"the {'old' if found[0] else 'new'} side"
            cause = Cause(
                "task_file", Place(paths[0]) if found[0] else None, Place(paths[1]) if found[1] else None
            )
            yield Unknown(name, f"it cannot be read on {sides}: {found[1] or found[0]}", cause)


def same_unread(old: SideTasks, new: SideTasks) -> list[str]:
    """Tasks and files that neither side can read, and that are the same bytes on both."""
    return [
        name
        for before, after in ((old.broken, new.broken), (old.unread, new.unread))
        for name in before
        if name in after
        and _is_the_same(old, new, (old.path_of(name), new.path_of(name)), (before[name], after[name]))
    ]


def _is_the_same(
    old: SideTasks, new: SideTasks, paths: tuple[str, str], reasons: tuple[str | None, str | None]
) -> bool:
    """Whether both sides fail to read the same bytes for the same reason."""
    return reasons[0] == reasons[1] and old.bytes_of(paths[0]) == new.bytes_of(paths[1])
