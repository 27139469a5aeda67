"""Two sides of task files compared: which prompts changed, in what, where that comes from, and how far it reaches.

Tasks are paired by name, and only those that are made of something else are rendered: equal settings, functions and
rows give equal prompts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.diff.edits import Edit, edits_of, shown_value
from evalspec.diff.model import (
    CLASSES,
    Cause,
    Compared,
    Comparison,
    Example,
    Group,
    Moved,
    RecordChange,
    Unknown,
)
from evalspec.diff.side_tasks import SCORING, Function, SideTasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalspec.diff.model import ChangeClass
    from evalspec.diff.side_tasks import SideTask
    from evalspec.diff.sides import Side
    from evalspec.errors import Place
    from evalspec.project import Project
    from evalspec.prompts.view import View

_Line = dict[str, Any]

#: Fields of a record that tell of it and are in no prompt.
_ABOUT = frozenset(["spec_version", "version", "metadata"])


def compare(
    before: Side, after: Side, project: Project, views: Sequence[View], *, lm_eval: bool
) -> Comparison:
    """What changed for a model from one side to the other.

    Args:
        before: the old side.
        after: the new side.
        project: whose families and rows count.
        views: the views under which prompts are compared.
        lm_eval: the files are lm-eval YAML, not task files of ours.
    """
    with (
        SideTasks(before, project, lm_eval=lm_eval) as old,
        SideTasks(after, project, lm_eval=lm_eval) as new,
    ):
        return _Comparer(old, new, views).comparison()


class _Reach(NamedTuple):
    """What an edit reaches."""

    tasks: dict[str, None]
    rows: set[tuple[str, object]]
    views: dict[str, None]
    parts: dict[str, None]
    first: Edit
    example: Example
    cause: Cause


class _Comparer:
    """Compares the tasks of two sides, once."""

    def __init__(self, old: SideTasks, new: SideTasks, views: Sequence[View]) -> None:
        self.old = old
        self.new = new
        self.views = views
        self.reached: dict[object, _Reach] = {}
        self.unknown: dict[str, Unknown] = {}
        self.edited: set[str] = set()
        self.pairs = 0

    def comparison(self) -> Comparison:
        """Everything there is to tell."""
        shared = [name for name in self.old.tasks if name in self.new.tasks]
        renamed = dict(self._renamed())
        changed = [name for name in shared if self._is_made_of_else(name)]
        self._compare_prompts(changed)
        for name in changed:
            self._compare_scoring(name)
        for before, after in renamed.items():
            self._whole(after, "renamed", before, after)
        gone = [name for name in self.old.tasks if name not in self.new.tasks and name not in renamed]
        come = [
            name for name in self.new.tasks if name not in self.old.tasks and name not in renamed.values()
        ]
        gone = [name for name in gone if not self._is_unread(self.old, self.new, name)]
        come = [name for name in come if not self._is_unread(self.new, self.old, name)]
        self._come_and_gone(gone, come)
        versions = {name: (self.old.tasks[name].version, self.new.tasks[name].version) for name in shared}
        return Comparison(
            Compared(
                self.old.side.label,
                self.new.side.label,
                max(self.old.files, self.new.files),
                len({*self.old.tasks, *self.new.tasks}),
                self.pairs,
            ),
            groups=self._groups(),
            moved=tuple(self._moved(changed)),
            unknown=tuple(self.unknown.values()),
            records=tuple(self._records(changed)),
            silent=tuple(
                name for name in changed if name in self.edited and len(set(map(repr, versions[name]))) == 1
            ),
            versioned=tuple(name for name, (one, other) in versions.items() if repr(one) != repr(other)),
            notes=tuple(self._notes()),
        )

    # ── Which tasks ──────────────────────────────────────────────────────────────────────────────────────────

    def _is_made_of_else(self, name: str) -> bool:
        old, new = self.old.tasks[name], self.new.tasks[name]
        return repr(old.settings) != repr(new.settings) or old.schema != new.schema or old.rows != new.rows

    def _renamed(self) -> Iterator[tuple[str, str]]:
        """Tasks that are gone, each with one that came and is made of the same."""
        come: dict[str, list[str]] = defaultdict(list)
        for name, task in self.new.tasks.items():
            if name not in self.old.tasks:
                come[_content(task)].append(name)
        for name, task in self.old.tasks.items():
            if name not in self.new.tasks and come.get(_content(task)):
                yield name, come[_content(task)].pop(0)

    def _is_unread(self, readable: SideTasks, other: SideTasks, name: str) -> bool:
        """Whether a task is there on the other side, too, and cannot be read there; if so it is unknown."""
        task = readable.tasks[name]
        reason = other.broken.get(name) or other.unread.get(task.path)
        if reason is None:
            return False
        prompts = sum(1 for _ in readable.prompts([name], self.views))
        sides = (_place_of(task), None) if readable is self.old else (None, _place_of(task))
        cause = Cause("task_file", *sides)
        reason = f"it cannot be read on {'the new' if readable is self.old else 'the old'} side: {reason}"
        self.unknown[name] = Unknown(name, reason, cause, prompts)
        return True

    def _notes(self) -> Iterator[str]:
        """What could not be read on a side, and so was not compared."""
        for side, other in ((self.old, self.new), (self.new, self.old)):
            told = {other.tasks[name].path for name in self.unknown if name in other.tasks}
            found = [
                *(path for path in side.unread if path not in told),
                *(name for name in side.broken if name not in self.unknown),
            ]
            if found:
                more = f", … and {len(found) - 3:,} more" if len(found) > 3 else ""
                yield f"not compared, as it cannot be read in {side.side.label}: {', '.join(found[:3])}{more}"

    def _come_and_gone(self, gone: Sequence[str], come: Sequence[str]) -> None:
        for side, names, change in ((self.old, gone, "removed"), (self.new, come, "new")):
            lines = {
                line["task"]: line for line in side.prompts(names, self.views[:1]) if line["row"] in (None, 0)
            }
            for name in names:
                text = _text(lines.get(name))
                pair = (text, None) if change == "removed" else (None, text)
                self._whole(name, change, *pair)  # type: ignore[arg-type]

    def _whole(self, name: str, change: ChangeClass, before: str | None, after: str | None) -> None:
        """A change of a task as a whole; tasks of one file are one group."""
        task = self.new.tasks.get(name) or self.old.tasks[name]
        place = _place_of(task)
        cause = Cause("task_file", None if change == "new" else place, None if change == "removed" else place)
        edit = Edit(
            change,
            ("task",),
            before if change == "renamed" and before else "",
            after if change == "renamed" and after else "",
        )
        example = Example(name, None, self.views[0].name, before, after)
        key = (change, edit.before, edit.after, task.path)
        self._add(key, edit, cause, example, name, None)

    # ── Prompts ──────────────────────────────────────────────────────────────────────────────────────────────

    def _compare_prompts(self, names: Sequence[str]) -> None:
        lines: list[dict[object, _Line]] = []
        for side in (self.old, self.new):
            found: dict[object, _Line] = {}
            for line in side.prompts(names, self.views):
                found[line["task"], line["view"], line["row"]] = line
            lines.append(found)
        for key in dict.fromkeys([*lines[0], *lines[1]]):
            before, after = lines[0].get(key), lines[1].get(key)
            if before is not None and after is not None:
                self.pairs += 1
                self._compare_lines(before, after)
            else:
                one = before or after
                assert one is not None
                self._is_unknown(one["task"], "a row is there on one side only")

    def _compare_lines(self, before: _Line, after: _Line) -> None:
        name = before["task"]
        broken = [line for line in (before, after) if line["unknown"] is not None or line.get("error")]
        if broken:
            reasons = [
                line["unknown"] or f"{line['error']['type']}: {line['error']['message']}" for line in broken
            ]
            self._is_unknown(name, reasons[-1])
            return
        example = Example(name, after["row"], after["view"], _text(before), _text(after))
        for edit in edits_of(before, after):
            cause = (
                self._row_cause(name, edit.column)
                if edit.column
                else self._cause(name, edit.key, edit.new_key)
            )
            key = (edit.change, edit.before, edit.after, cause)
            self._add(key, edit, cause, example, name, after["row"])
            self.edited.add(name)

    def _is_unknown(self, name: str, reason: str) -> None:
        known = self.unknown.get(name)
        if known is not None:
            self.unknown[name] = known._replace(prompts=known.prompts + 1)
            return
        functions = [key for key in self._changed_keys(name) if _holds_function(self._value(name, key))]
        key = functions[0] if functions else ""
        cause = self._cause(name, key, key)
        self.unknown[name] = Unknown(name, reason, cause, prompts=1)

    def _compare_scoring(self, name: str) -> None:
        old, new = self.old.tasks[name].scoring, self.new.tasks[name].scoring
        for field, change in SCORING.items():
            if _meaning(old.get(field)) == _meaning(new.get(field)):
                continue
            pieces = _shown_scoring(old.get(field)), _shown_scoring(new.get(field))
            edit = Edit(change, (field,), *pieces)  # type: ignore[arg-type]
            cause = self._cause(name, field, field)
            example = Example(name, None, self.views[0].name, *pieces)
            self._add((change, *pieces, cause), edit, cause, example, name, None)
            self.edited.add(name)

    def _add(self, key: object, edit: Edit, cause: Cause, example: Example, name: str, row: object) -> None:
        reach = self.reached.get(key)
        if reach is None:
            reach = self.reached[key] = _Reach({}, set(), {}, {}, edit, example, cause)
        reach.tasks[name] = None
        if row is not None or edit.parts != ("task",):
            reach.rows.add((name, row))
        reach.views[example.view] = None
        reach.parts.update(dict.fromkeys(edit.parts))

    # ── Where it comes from ──────────────────────────────────────────────────────────────────────────────────

    def _changed_keys(self, name: str) -> list[str]:
        old, new = self.old.tasks[name].settings, self.new.tasks[name].settings
        return [key for key in {**old, **new} if repr(old.get(key)) != repr(new.get(key))]

    def _value(self, name: str, key: str) -> tuple[Any, Any]:
        return self.old.tasks[name].settings.get(key), self.new.tasks[name].settings.get(key)

    def _cause(self, name: str, key: str, new_key: str) -> Cause:
        """The setting that an edit comes from: the one its text is of, if that changed, else one that did."""
        old, new = self.old.tasks[name], self.new.tasks[name]
        changed = self._changed_keys(name)
        prompting = [each for each in changed if each not in SCORING] or changed
        own = [each for each in (key, new_key) if each and each.split(".")[0].split("[")[0] in changed]
        found = own[-1] if own else (prompting[0] if prompting else "")
        if not found:
            if old.schema != new.schema:
                return Cause("schema_version", _place_of(old), _place_of(new), f"{old.schema} → {new.schema}")
            return self._row_cause(name)
        places = old.place_of(found), new.place_of(found)
        top = found.split(".")[0].split("[")[0]
        if _holds_function(self._value(name, top)):
            return Cause("function", *places, found)
        paths = {
            place.path
            for place, task in zip(places, (old, new), strict=True)
            if place and place.path != task.path
        }
        return Cause("include" if paths else "task_file", *places, found)

    def _row_cause(self, name: str, column: str = "") -> Cause:
        return Cause("row", _place_of(self.old.tasks[name]), _place_of(self.new.tasks[name]), column)

    # ── The result ───────────────────────────────────────────────────────────────────────────────────────────

    def _groups(self) -> tuple[Group, ...]:
        groups = [
            Group(
                reach.first.change,
                tuple(reach.parts),
                reach.cause,
                reach.first.before,
                reach.first.after,
                reach.first.left,
                reach.first.right,
                tuple(reach.tasks),
                len(reach.rows),
                tuple(reach.views),
                reach.example,
                comparable=reach.first.change == "renamed",
            )
            for reach in _merged(self.reached.values())
        ]
        return tuple(sorted(groups, key=lambda group: (CLASSES.index(group.change), -len(group.tasks))))

    def _moved(self, names: Iterable[str]) -> Iterator[Moved]:
        for name in names:
            keys = [key for key in self._changed_keys(name) if key not in SCORING and key not in _ABOUT]
            if keys and name not in self.edited and name not in self.unknown:
                old, new = self.old.tasks[name].settings, self.new.tasks[name].settings
                yield Moved(
                    name,
                    ", ".join(key for key in keys if key in old) or "nowhere",
                    ", ".join(key for key in keys if key in new) or "nowhere",
                )

    def _records(self, names: Iterable[str]) -> Iterator[RecordChange]:
        from deepdiff import DeepDiff

        for name in names:
            old, new = self.old.tasks[name], self.new.tasks[name]
            found = DeepDiff(_plain(old.settings), _plain(new.settings), view="tree", verbose_level=2)
            changes = tuple(
                (level.path(), _told(level.t1), _told(level.t2))
                for levels in found.values()
                for level in levels
            )
            yield RecordChange(name, _place_of(new), changes)


def _merged(reached: Iterable[_Reach]) -> Iterator[_Reach]:
    """Edits that are the same but for the task file they stand in are one group, its cause that of the first."""
    found: dict[object, _Reach] = {}
    for reach in reached:
        edit, cause = reach.first, reach.cause
        whole = (cause.before, cause.after) if cause.kind == "include" or edit.parts == ("task",) else None
        key = (edit.change, edit.before, edit.after, cause.kind, cause.detail, whole)
        if key not in found:
            found[key] = reach
            continue
        first = found[key]
        first.tasks.update(reach.tasks)
        first.rows.update(reach.rows)
        first.views.update(reach.views)
        first.parts.update(reach.parts)
    return iter(found.values())


def _meaning(value: object) -> str:
    """A setting of the scoring, to be compared: of a post-process rule what it does, whatever its version."""
    if isinstance(value, Function) and value.fingerprint:
        return f"{value.spec.split(' of ')[0]} {value.fingerprint}"
    return repr(value)


def _shown_scoring(value: object) -> str:
    return value.spec if isinstance(value, Function) else shown_value(_plain(value))


def _content(task: SideTask) -> str:
    return repr({key: value for key, value in task.settings.items() if key != "task_id"}) + task.schema


def _place_of(task: SideTask) -> Place:
    from evalspec.errors import Place

    return Place(task.path, task.line, 1)


def _holds_function(values: object) -> bool:
    if isinstance(values, Function):
        return True
    if isinstance(values, dict):
        return any(map(_holds_function, values.values()))
    return isinstance(values, (list, tuple)) and any(map(_holds_function, values))


def _text(line: _Line | None) -> str | None:
    if line is None or line["text"] is None:
        return None
    text = line["text"]
    return text if isinstance(text, str) else "\n".join(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Function):
        return f"!function {value.spec} ({value.fingerprint})"
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _told(value: object) -> object:
    """A value of a record; None where there was none."""
    return None if type(value).__name__ == "NotPresent" else value
