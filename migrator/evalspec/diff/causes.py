"""Where a change comes from: the setting, function, row, chat template or schema version that was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.diff.model import Cause
from evalspec.diff.side_task import Function
from evalspec.diff.side_tasks import SCORING
from evalspec.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalspec.diff.model import CauseKind
    from evalspec.diff.side_task import SideTask
    from evalspec.prompts.view import View

#: Fields of a record that tell of it and are in no prompt.
_ABOUT = frozenset(["spec_version", "version", "metadata"])


class ViewPair(NamedTuple):
    """A view on both sides.

    Attributes:
        before: how the old side is shown.
        after: how the new side is shown.
        cause: where the views' difference comes from; None where they are one.
    """

    before: View
    after: View
    cause: Cause | None = None

    @property
    def name(self) -> str:
        """What the pair is called in reports."""
        names = self.before.name, self.after.name
        return names[0] if names[0] == names[1] else " → ".join(names)


class Pair:
    """A task on both sides.

    Attributes:
        old: the task on the old side.
        new: the task on the new side.
        changed: the settings that differ, in order.
    """

    def __init__(self, old: SideTask, new: SideTask) -> None:
        self.old = old
        self.new = new
        keys = {**old.settings, **new.settings}
        self.changed = [key for key in keys if self._value(old, key) != self._value(new, key)]

    @property
    def name(self) -> str:
        """The task's id."""
        return self.new.name

    @property
    def is_made_of_else(self) -> bool:
        """Whether anything that a prompt or the scoring is made of differs; the order of settings does not count."""
        tasks = self.old, self.new
        return bool(self.changed) or len({(each.schema, each.rows, _here(each)) for each in tasks}) > 1

    @property
    def is_doubtful(self) -> bool:
        """Whether a side has another schema version than the one that renders its record, so a change may hide."""
        return self.is_made_of_else and (self.old.is_doubtful or self.new.is_doubtful)

    @property
    def moved(self) -> list[str]:
        """The settings that differ and could have changed a prompt."""
        return [key for key in self.changed if key not in SCORING and key not in _ABOUT]

    def cause(self, *keys: str, view: ViewPair | None = None) -> Cause:
        """Where an edit comes from: the setting that its text is of, if that was changed; else the most likely.

        Args:
            keys: the settings that the edited text is of, the likeliest last.
            view: how it was shown.
        """
        own = [key for key in keys if key and _top(key) in self.changed]
        if not own and view is not None and view.cause is not None:
            return view.cause
        prompting = [key for key in self.changed if key not in SCORING] or self.changed
        found = own[-1] if own else min(prompting, default="")
        if not found:
            if self.old.schema != self.new.schema:
                versions = f"{self.old.schema} → {self.new.schema}"
                return Cause("schema_version", place_of(self.old), place_of(self.new), versions)
            return self.row_cause()
        places = self.old.place_of(found), self.new.place_of(found)
        tasks = self.old, self.new
        if any(_functions(task.settings.get(_top(found))) for task in tasks):
            return Cause("function", *places, found)
        elsewhere = any(
            place is not None and place.path != task.path for place, task in zip(places, tasks, strict=True)
        )
        return Cause("include" if elsewhere else "task_file", *places, found)

    def function_cause(self) -> Cause:
        """The changed function that a prompt could not be rendered for; else the most likely change."""
        key = next(
            (
                key
                for key in self.changed
                if any(_functions(task.settings.get(key)) for task in (self.old, self.new))
            ),
            "",
        )
        return self.cause(key, key)

    def version_place(self) -> Place:
        """Where the task's own version stands on the new side, else the task."""
        found = (self.new.place_of(key) for key in ("version", "metadata.version", "metadata"))
        return next(filter(None, found), place_of(self.new))

    def row_cause(self, column: str = "") -> Cause:
        """A row that was changed, or its column."""
        return Cause("row", place_of(self.old), place_of(self.new), column)

    def assembly_cause(self) -> Cause:
        """The schema versions, which are not the same as syntax trees."""
        places = [each.modules and Place(each.modules.path, 1) for each in (self.old, self.new)]
        return Cause("assembly", places[0], places[1], self.new.schema)

    def function_files(self) -> tuple[list[str], list[str]]:
        """The files of the functions that differ, on each side."""
        keys = self.changed
        old, new = (
            [each.file for key in keys for each in _functions(task.settings.get(key)) if each.file]
            for task in (self.old, self.new)
        )
        return list(dict.fromkeys(old)), list(dict.fromkeys(new))

    @staticmethod
    def _value(task: SideTask, key: str) -> str:
        return repr(task.settings[key]) if key in task.settings else ""


def place_of(task: SideTask) -> Place:
    """Where a task begins."""
    return Place(task.path, task.line, 1)


def whole_cause(
    task: SideTask, *, before: bool = True, after: bool = True, kind: CauseKind = "task_file"
) -> Cause:
    """A task as a whole, on the sides where it is."""
    place = place_of(task)
    return Cause(kind, place if before else None, place if after else None)


def _here(task: SideTask) -> str:
    return task.modules.here if task.modules is not None else ""


def _top(key: str) -> str:
    return key.split(".", maxsplit=1)[0].split("[", maxsplit=1)[0]


def _functions(value: Any) -> list[Function]:
    """The functions in a setting."""
    if isinstance(value, Function):
        return [value]
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    return [each for item in inner for each in _functions(item)]
