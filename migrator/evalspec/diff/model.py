"""What a comparison found, as data: every printer shows this and nothing else.

A change that many tasks share is one `Group`: the same edit (row values replaced by their columns' names) with the same
cause. Identical bytes make no group; a task that could not be rendered on one side is `unknown`, never unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalspec.errors import Place

#: The version of the JSON form; a field's meaning never changes under one number.
JSON_VERSION = 1

#: What a change is, in the order in which groups are shown: what changes the score's meaning first.
ChangeClass = Literal[
    "target",
    "choices",
    "shots",
    "text",
    "delimiter",
    "whitespace",
    "system",
    "stop",
    "generation",
    "post_process",
    "metric",
    "new",
    "removed",
    "renamed",
]
CLASSES: tuple[ChangeClass, ...] = get_args(ChangeClass)

#: Where a change comes from.
CauseKind = Literal[
    "task_file", "include", "function", "row", "chat_template", "assembly", "schema_version", "view"
]


class Cause(NamedTuple):
    """Where a change comes from, on both sides.

    Attributes:
        kind: what was changed.
        before: its place on the old side; None where it is not there.
        after: its place on the new side; None where it is not there.
        detail: the key, function, column or version that was changed.
    """

    kind: CauseKind
    before: Place | None = None
    after: Place | None = None
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The cause as JSON."""
        return {
            "kind": self.kind,
            "before": _place(self.before),
            "after": _place(self.after),
            "detail": self.detail,
        }


class Example(NamedTuple):
    """One prompt of a group, whole.

    Attributes:
        task: the task.
        row: the row, from 0; None for an inline task.
        view: the view it was rendered under.
        before: what was shown on the old side; None where there was nothing.
        after: what is shown on the new side; None where there is nothing.
        of: the sample generation that both are outputs of, where a post-process rule changed.
    """

    task: str
    row: int | None
    view: str
    before: str | None
    after: str | None
    of: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The example as JSON."""
        return self._asdict()


class Group(NamedTuple):
    """One edit, and all it reaches.

    Attributes:
        change: what kind of change it is.
        parts: the kinds of prompt parts it appears in (or `request`, `target`, … where it is none of the prompt's).
        cause: where it comes from.
        before: the old piece of text, row values as `⟨column⟩`; empty where the piece is new.
        after: the new one.
        left: a little of the text in front of the edit, the same on both sides.
        right: a little of the text behind it.
        tasks: the ids of the tasks it reaches, in order.
        rows: how many rows of them, over all views.
        views: the names of the views in which it shows.
        example: one prompt in full.
        comparable: whether scores before and after can still be compared.
        beside: the same prompt as a chat, where the example is none, or the other way round; None where the views of
            the comparison have not both.
    """

    change: ChangeClass
    parts: tuple[str, ...]
    cause: Cause
    before: str
    after: str
    left: str
    right: str
    tasks: tuple[str, ...]
    rows: int
    views: tuple[str, ...]
    example: Example
    comparable: bool = False
    beside: Example | None = None

    @property
    def characters(self) -> int:
        """How many code points more the new piece has."""
        return len(self.after) - len(self.before)

    @property
    def bytes(self) -> int:
        """How many bytes more the new piece has, in UTF-8."""
        return len(self.after.encode("utf-8", "surrogatepass")) - len(
            self.before.encode("utf-8", "surrogatepass")
        )

    def to_dict(self) -> dict[str, Any]:
        """The group as JSON."""
        return {
            "class": self.change,
            "parts": list(self.parts),
            "cause": self.cause.to_dict(),
            "before": self.before,
            "after": self.after,
            "left": self.left,
            "right": self.right,
            "characters": self.characters,
            "bytes": self.bytes,
            "tasks": list(self.tasks),
            "rows": self.rows,
            "views": list(self.views),
            "comparable": self.comparable,
            "example": self.example.to_dict(),
            "beside": self.beside and self.beside.to_dict(),
        }


class Moved(NamedTuple):
    """A task whose text moved between fields or files, with the same prompt in the end."""

    task: str
    before: str
    after: str


class Unknown(NamedTuple):
    """A task that could not be rendered on one side, so may have changed.

    Attributes:
        task: its id; of a file that cannot be read, its path.
        reason: why it is unknown.
        cause: what was changed that it depends on, where that is known.
        prompts: how many prompts it may change.
        source: the unified diff of the functions that were changed and not run.
    """

    task: str
    reason: str
    cause: Cause | None = None
    prompts: int = 0
    source: str = ""


class UnknownGroup(NamedTuple):
    """Tasks that may have changed for one reason and by one cause, and how many prompts that may change.

    `cause` is that of the first; in the tasks' own files it is another place for each. `source` is the diff of the
    functions that were not run.
    """

    reason: str
    cause: Cause | None
    tasks: tuple[str, ...]
    prompts: int
    source: str = ""


class RecordChange(NamedTuple):
    """A record whose values changed: the paths (`root['metric_name']`) with the old and the new value."""

    task: str
    place: Place | None
    changes: tuple[tuple[str, Any, Any], ...]


class VersionMove(NamedTuple):
    """A task whose own version moved: the version as text on each side, None where it has none, and its place."""

    task: str
    before: str | None
    after: str | None
    place: Place


class Compared(NamedTuple):
    """What was compared.

    Attributes:
        base: the old side, as a person would name it (`1a2b3c4 (merge-base with main)`, `v1`, a folder).
        head: the new side.
        files: how many files were looked at.
        tasks: how many tasks were rendered on either side.
        prompts: how many pairs of prompts were compared.
    """

    base: str
    head: str
    files: int
    tasks: int
    prompts: int = 0


class Comparison(NamedTuple):
    """Everything a comparison found.

    Attributes:
        compared: what was compared.
        groups: the changes, in the order in which they are shown.
        moved: tasks whose text moved with the same result.
        unknown: tasks that may have changed.
        records: what changed in the records themselves.
        silent: tasks whose prompts changed and whose own version did not.
        versioned: tasks whose own version moved.
        versions: the same, each with its versions.
        notes: what the reader should know (a branch without a base, rows that are placeholders).
    """

    compared: Compared
    groups: tuple[Group, ...] = ()
    moved: tuple[Moved, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    records: tuple[RecordChange, ...] = ()
    silent: tuple[str, ...] = ()
    versioned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    versions: tuple[VersionMove, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True where nothing changed for a model, and nothing may have."""
        return not (self.groups or self.unknown)

    @property
    def summary(self) -> Mapping[ChangeClass, int]:
        """How many tasks there are of each class of change, in the order of the classes."""
        found = {
            name: {task for group in self.groups if group.change == name for task in group.tasks}
            for name in CLASSES
        }
        return {name: len(tasks) for name, tasks in found.items() if tasks}

    @property
    def unknown_groups(self) -> tuple[UnknownGroup, ...]:
        """The tasks that may have changed, those of one reason and cause together, in the order they were found."""
        found: dict[tuple[object, ...], list[Unknown]] = {}
        for each in self.unknown:
            cause = each.cause
            key = cause and (
                cause.kind,
                cause.detail,
                *((cause.before, cause.after) * (cause.kind == "include")),
            )
            found.setdefault((each.reason, key, each.source), []).append(each)
        return tuple(
            UnknownGroup(
                same[0].reason,
                same[0].cause,
                tuple(each.task for each in same),
                sum(each.prompts for each in same),
                same[0].source,
            )
            for same in found.values()
        )

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON (`evalspec diff --format json`)."""
        return {
            "version": JSON_VERSION,
            "compared": self.compared._asdict(),
            "summary": dict(self.summary),
            "groups": [group.to_dict() for group in self.groups],
            "moved": [{"task": each.task, "from": each.before, "to": each.after} for each in self.moved],
            "unknown": [
                {
                    "task": each.task,
                    "reason": each.reason,
                    "cause": each.cause.to_dict() if each.cause else None,
                    "prompts": each.prompts,
                    "source": each.source,
                }
                for each in self.unknown
            ],
            "records": [
                {
                    "task": each.task,
                    **(_place(each.place) or {"path": None, "line": None}),
                    "changes": [list(change) for change in each.changes],
                }
                for each in self.records
            ],
            "versions": {"silent": list(self.silent), "moved": list(self.versioned)},
            "notes": list(self.notes),
        }


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"path": place.path, "line": place.line}
