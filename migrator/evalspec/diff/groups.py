"""Equal edits put together: what a comparison found, as groups, none lost and none counted twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from evalspec.diff.model import CLASSES, Group

if TYPE_CHECKING:
    from collections.abc import Hashable

    from evalspec.diff.edits import Edit
    from evalspec.diff.model import Cause, Example


class _Reach(NamedTuple):
    """An edit and what it reaches."""

    edit: Edit
    cause: Cause
    example: Example
    tasks: dict[str, None]
    rows: set[tuple[str, Hashable]]
    views: dict[str, None]
    parts: dict[str, None]
    chat: bool
    beside: list[Example]


class Groups:
    """Collects edits."""

    def __init__(self) -> None:
        self._reached: dict[Hashable, _Reach] = {}

    def add(self, edit: Edit, cause: Cause, example: Example, *, chat: bool = False) -> None:
        """Note an edit in the prompt that the example shows, as a chat or not.

        The same edit with the same cause is one group. A cause in the task's own file is the same in all of them:
        the group shows the first one's place.
        """
        whole = edit.parts == ("task",)
        places: Hashable = (cause.before, cause.after) if cause.kind == "include" else None
        if whole:  # new or removed tasks of a folder, which has many files or one with many
            places = tuple(place and os.path.dirname(place.path) for place in (cause.before, cause.after))
        key = (edit.change, edit.before, edit.after, cause.kind, cause.detail, places)
        reach = self._reached.get(key)
        if reach is None:
            reach = self._reached[key] = _Reach(edit, cause, example, {}, set(), {}, {}, chat, [])
        if chat != reach.chat and not reach.beside and example[:2] == reach.example[:2]:
            reach.beside.append(example)
        reach.tasks[example.task] = None
        if not whole:
            reach.rows.add((example.task, example.row))
        reach.views[example.view] = None
        reach.parts.update(dict.fromkeys(edit.parts))

    def sorted(self) -> tuple[Group, ...]:
        """The groups: by the order of the classes, the widest first."""
        groups = [
            Group(
                reach.edit.change,
                tuple(reach.parts),
                reach.cause,
                reach.edit.before,
                reach.edit.after,
                reach.edit.left,
                reach.edit.right,
                tuple(reach.tasks),
                len(reach.rows),
                tuple(reach.views),
                reach.example,
                comparable=reach.edit.change == "renamed",
                beside=next(iter(reach.beside), None),
            )
            for reach in self._reached.values()
        ]
        return tuple(sorted(groups, key=lambda group: (CLASSES.index(group.change), -len(group.tasks))))
