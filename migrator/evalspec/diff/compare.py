"""Two sides of task files compared: which prompts changed, in what, where that comes from, and how far it reaches.

Tasks are paired by name, and only those that are made of something else are rendered: equal settings, functions and
rows give equal prompts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalspec.diff.causes import Pair, ViewPair, place_of, whole_cause
from evalspec.diff.edits import Edit, edits_of, shown_value
from evalspec.diff.groups import Groups
from evalspec.diff.kept import cache_of, comparison_key, comparison_of
from evalspec.diff.model import Compared, Comparison, Example, Moved, RecordChange, Unknown, VersionMove
from evalspec.diff.outputs import outputs_between
from evalspec.diff.record_changes import value_changes
from evalspec.diff.same import same_tasks
from evalspec.diff.side_schemas import doubt_of
from evalspec.diff.side_task import Function
from evalspec.diff.side_tasks import SCORING, SideTasks
from evalspec.diff.unread import same_unread, unread_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalspec.diff.model import ChangeClass
    from evalspec.diff.sides import Sides
    from evalspec.project import Project

_Line = dict[str, Any]
_Key = tuple[object, ...]

#: So many tasks are rendered before what they gave is let go.
_AT_ONCE = 200
#: Examples that are asked for where a task shows none by itself: two, so that what stands between them shows.
_MORE_SHOTS = 2


def compare(sides: Sides, project: Project, views: Sequence[ViewPair], *, keep: bool = False) -> Comparison:
    """What changed for a model from one side to the other.

    Args:
        sides: the two sides.
        project: whose families and rows count.
        views: the views under which prompts are compared.
        keep: what git tells the content of is kept in the repository's cache, and found there.
    """
    cache = cache_of(sides.repository, project) if keep and sides.repository is not None else None
    key = comparison_key(sides, project, views) if cache is not None else ""
    if cache is not None and key and (found := cache.get(key, comparison_of)) is not None:
        return found
    with (
        SideTasks(sides.before, project, lm_eval=sides.lm_eval) as old,
        SideTasks(sides.after, project, lm_eval=sides.lm_eval) as new,
    ):
        found = compare_tasks(old, new, project, views)
        if cache is not None and key and not (old.used_local or new.used_local):
            cache.put(key, found, comparison_of)
        return found


def compare_tasks(old: SideTasks, new: SideTasks, project: Project, views: Sequence[ViewPair]) -> Comparison:
    """The same, of sides whose tasks were read."""
    return _Comparer(old, new, views, project).comparison()


class _Comparer:
    """Compares the tasks of two sides, once."""

    def __init__(self, old: SideTasks, new: SideTasks, views: Sequence[ViewPair], project: Project) -> None:
        self.old = old
        self.new = new
        self.views = views
        self.families = project.families
        self.groups = Groups()
        self.unknown: dict[str, Unknown] = {}
        self.edited: set[str] = set()
        self.prompts = 0
        self.seen_else = any(view.cause is not None for view in views)
        same = frozenset() if self.seen_else else same_tasks(old, new)
        self.pairs = {
            name: Pair(old.tasks[name], new.tasks[name])
            for name in old.tasks
            if name in new.tasks and name not in same
        }

    def comparison(self) -> Comparison:
        """Everything there is to tell."""
        made_of_else = [name for name, pair in self.pairs.items() if pair.is_made_of_else]
        doubtful = [name for name in made_of_else if self.pairs[name].is_doubtful]
        known = [name for name in made_of_else if name not in {*doubtful}]
        self._are_doubtful(doubtful)
        self._compare_prompts(
            [name for name in self.pairs if name not in {*doubtful}] if self.seen_else else known
        )
        for name in known:
            self._compare_scoring(self.pairs[name])
        self._come_and_gone()
        for each in unread_of(self.old, self.new, [view.after for view in self.views]):
            self.unknown.setdefault(each.task, each)
        versions = {name: (pair.old.version, pair.new.version) for name, pair in self.pairs.items()}
        moved = [name for name, (one, other) in versions.items() if repr(one) != repr(other)]
        return Comparison(
            Compared(
                self.old.side.label,
                self.new.side.label,
                max(self.old.files, self.new.files),
                len({*self.old.tasks, *self.new.tasks}),
                self.prompts,
            ),
            groups=self.groups.sorted(),
            moved=tuple(self._moved(made_of_else)),
            unknown=tuple(self.unknown.values()),
            records=tuple(map(_record_change, map(self.pairs.__getitem__, made_of_else))),
            silent=tuple(name for name in made_of_else if name in self.edited and name not in {*moved}),
            versioned=tuple(moved),
            notes=tuple(self._notes()),
            versions=tuple(
                VersionMove(
                    name,
                    _told_version(versions[name][0]),
                    _told_version(versions[name][1]),
                    self.pairs[name].version_place(),
                )
                for name in moved
            ),
        )

    # ── Prompts ──────────────────────────────────────────────────────────────────────────────────────────────

    def _compare_prompts(self, names: Sequence[str]) -> None:
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            for view in self.views:
                shown = self._rendered(some, view)
                self._compare_lines(view, shown)
                for other, lines in self._under_other_shots(view, shown):
                    self._compare_lines(other, lines, known=shown)

    def _rendered(self, names: Sequence[str], view: ViewPair) -> dict[_Key, list[_Line | None]]:
        """The lines of both sides, by task and row."""
        found: dict[_Key, list[_Line | None]] = {}
        for at, (side, shown_as) in enumerate(((self.old, view.before), (self.new, view.after))):
            for line in side.prompts(names, [shown_as]):
                found.setdefault((line["task"], line["row"]), [None, None])[at] = line
        return found

    def _under_other_shots(
        self, view: ViewPair, shown: dict[_Key, list[_Line | None]]
    ) -> Iterator[tuple[ViewPair, dict[_Key, list[_Line | None]]]]:
        """The view with a number of examples that is not the task's own, and the lines under it."""
        if view.before.shots is not None or view.after.shots is not None:
            return
        own: dict[bool, dict[str, None]] = {True: {}, False: {}}
        for pair in shown.values():
            counts = {bool(line["shots"]) for line in pair if line is not None}
            if len(counts) == 1:  # else the examples are the change, and it shows
                own[counts.pop()][next(filter(None, pair))["task"]] = None
        if own[True]:
            yield self._with_shots(view, 0, list(own[True]))
        if own[False]:
            other, lines = self._with_shots(view, _MORE_SHOTS, list(own[False]))
            yield other, lines
            # A pool may hold too few rows for that.
            if few := {str(task): None for (task, _), pair in lines.items() if any(map(_is_broken, pair))}:
                yield self._with_shots(view, 1, list(few))

    def _with_shots(
        self, view: ViewPair, number: int, names: Sequence[str]
    ) -> tuple[ViewPair, dict[_Key, list[_Line | None]]]:
        """The view with a number of examples, and the lines of both sides under it."""
        shots = f"{number} shot{'' if number == 1 else 's'}"
        before, after = (
            replace(each, shots=number, name=f"{each.name} with {shots}")
            for each in (view.before, view.after)
        )
        other = ViewPair(before, after, view.cause)
        return other, self._rendered(names, other)

    def _compare_lines(
        self,
        view: ViewPair,
        lines: dict[_Key, list[_Line | None]],
        known: dict[_Key, list[_Line | None]] | None = None,
    ) -> None:
        """Compare the lines of both sides; pairs that were compared already, as `known`, are passed over."""
        for key, (before, after) in lines.items():
            if known is not None and all(
                line is not None and (line["text"] is None or line["text"] == (was or line)["text"])
                for line, was in zip((before, after), known.get(key, (None, None)), strict=True)
            ):
                continue
            one = before or after
            assert one is not None
            pair = self.pairs[one["task"]]
            if before is None or after is None:
                if known is None:
                    self._is_unknown(pair, "a row is there on one side only")
                continue
            self.prompts += 1
            self._compare_pair(pair, view, before, after)

    def _compare_pair(self, pair: Pair, view: ViewPair, before: _Line, after: _Line) -> None:
        broken = [line for line in (before, after) if line["unknown"] is not None or line.get("error")]
        if broken:
            error = broken[-1].get("error") or {}
            reason = broken[-1]["unknown"] or f"{error['type']}: {error['message']}"
            self._is_unknown(pair, reason)
            return
        example = Example(pair.name, after["row"], view.name, _text(before), _text(after))
        for edit in edits_of(before, after):
            cause = (
                pair.row_cause(edit.column) if edit.column else pair.cause(edit.key, edit.new_key, view=view)
            )
            self.groups.add(edit, cause, example, chat=view.after.as_chat)
            self.edited.add(pair.name)

    def _is_unknown(self, pair: Pair, reason: str) -> None:
        known = self.unknown.get(pair.name)
        if known is None:
            sides = zip(pair.function_files(), (self.old, self.new), strict=True)
            sources = [{path: side.bytes_of(path) for path in files} for files, side in sides]
            if not any(sources):  # the templates, as they stand
                sources = [_texts_of(task.settings, pair.moved) for task in (pair.old, pair.new)]
            known = Unknown(pair.name, reason, pair.function_cause(), source=_source_diff(*sources))
        self.unknown[pair.name] = known._replace(prompts=known.prompts + 1)

    def _are_doubtful(self, names: Sequence[str]) -> None:
        """Tasks of which a side's schema version is another one than the one at hand."""
        for name in names:
            pair = self.pairs[name]
            side, task = (self.old, pair.old) if pair.old.is_doubtful else (self.new, pair.new)
            reason = doubt_of(side.side.label, task.schema)
            self.unknown[name] = Unknown(name, reason, pair.assembly_cause())
        for line in self.new.prompts(names, [view.after for view in self.views]):
            known = self.unknown[line["task"]]
            self.unknown[line["task"]] = known._replace(prompts=known.prompts + 1)

    # ── Scoring ──────────────────────────────────────────────────────────────────────────────────────────────

    def _compare_scoring(self, pair: Pair) -> None:
        old, new = pair.old.scoring, pair.new.scoring
        for field, change in SCORING.items():
            before, after = old.get(field), new.get(field)
            if repr(before) == repr(after):
                continue
            pieces = _shown_scoring(before), _shown_scoring(after)
            example = Example(pair.name, None, self.views[0].name, *pieces)
            if isinstance(before, Function) and isinstance(after, Function):
                example = self._output_example(pair, before.spec, after.spec) or example
            self.groups.add(Edit(change, (field,), *pieces), pair.cause(field, field), example)
            self.edited.add(pair.name)

    def _output_example(self, pair: Pair, before: str, after: str) -> Example | None:
        """A sample generation of which the rules make different outputs, if the fixtures have one."""
        schemas = self.old.schema_of(pair.name), self.new.schema_of(pair.name)
        if schemas[0] is None or schemas[1] is None:
            return None
        for found in outputs_between((schemas[0], before), (schemas[1], after), self.families):
            return Example(
                pair.name, None, self.views[0].name, found.before, found.after, of=found.generation
            )
        return None

    # ── Tasks that are on one side ───────────────────────────────────────────────────────────────────────────

    def _come_and_gone(self) -> None:
        gone = [name for name in self.old.tasks if name not in self.new.tasks]
        come = [name for name in self.new.tasks if name not in self.old.tasks]
        renamed = dict(self._renamed(gone, come))
        for before, after in renamed.items():
            self._whole("renamed", self.new, after, before, after)
        left = (
            ("removed", self.old, self.new, [name for name in gone if name not in renamed]),
            ("new", self.new, self.old, [name for name in come if name not in renamed.values()]),
        )
        change: ChangeClass
        for change, side, other, names in left:  # type: ignore[assignment] # the words are classes
            known = [name for name in names if not other.cannot_read(side.tasks[name])]
            view = self.views[0].before if side is self.old else self.views[0].after
            first: dict[str, str | None] = {}
            for line in side.prompts([name for name in known if not side.tasks[name].is_doubtful], [view]):
                first.setdefault(line["task"], _text(line))
            for name in known:
                text = first.get(name)
                self._whole(change, side, name, *((text, None) if change == "removed" else (None, text)))

    def _renamed(self, gone: Iterable[str], come: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Tasks that are gone, each with one that came and is made of the same."""
        same: dict[str, list[str]] = defaultdict(list)
        for name in come:
            same[_content(self.new, name)].append(name)
        for name in gone:
            if found := same.get(_content(self.old, name)):
                yield name, found.pop(0)

    def _whole(
        self, change: ChangeClass, side: SideTasks, name: str, before: str | None, after: str | None
    ) -> None:
        """A change of a task as a whole; its texts are shown, or with another name the names."""
        names = (before or "", after or "") if change == "renamed" else ("", "")
        cause = whole_cause(side.tasks[name], before=change != "new", after=change != "removed")
        example = Example(name, None, self.views[0].name, before, after)
        self.groups.add(Edit(change, ("task",), *names), cause, example)

    # ── What else there is to tell ───────────────────────────────────────────────────────────────────────────

    def _moved(self, names: Iterable[str]) -> Iterator[Moved]:
        for name in names:
            pair = self.pairs[name]
            if pair.moved and name not in self.edited and name not in self.unknown:
                yield Moved(
                    name,
                    *(
                        ", ".join(key for key in pair.moved if key in task.settings) or "nowhere"
                        for task in (pair.old, pair.new)
                    ),
                )

    def _notes(self) -> Iterator[str]:
        for side in (self.old, self.new):
            if side.too_large:
                yield f"not read in {side.side.label}, as it is larger than 10 MB: {_some(side.too_large)}"
        if unread := same_unread(self.old, self.new):
            yield f"not compared, as it cannot be read and is the same on both sides: {_some(unread)}"


def _is_broken(line: _Line | None) -> bool:
    """Whether a line has an error in the place of its text."""
    return line is not None and bool(line.get("error"))


def _told_version(version: object) -> str | None:
    return None if version is None else str(version)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f", … and {len(names) - 3:,} more" if len(names) > 3 else "")


def _record_change(pair: Pair) -> RecordChange:
    found = value_changes(_plain(pair.old.settings), _plain(pair.new.settings))
    return RecordChange(
        pair.name, place_of(pair.new), tuple((each.path, each.before, each.after) for each in found)
    )


def _source_diff(before: dict[str, bytes | None], after: dict[str, bytes | None]) -> str:
    """The unified diff of the files that functions are in."""
    from difflib import unified_diff

    out: list[str] = []
    for path in dict.fromkeys((*before, *after)):
        old, new = (
            (side.get(path) or b"").decode("utf-8", "replace").splitlines(keepends=True)
            for side in (before, after)
        )
        out += unified_diff(old, new, path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in out)


def _texts_of(settings: Mapping[str, Any], keys: Iterable[str]) -> dict[str, bytes | None]:
    """Settings as text, each in the place of a file of its name."""
    texts = {key: shown_value(_plain(settings[key])) for key in keys if key in settings}
    return {key: text.encode("utf-8", "surrogatepass") for key, text in texts.items()}


def _shown_scoring(value: object) -> str:
    return value.shown if isinstance(value, Function) else shown_value(_plain(value))


def _content(side: SideTasks, name: str) -> str:
    task = side.tasks[name]
    return repr({key: value for key, value in task.settings.items() if key != "task_id"}) + task.schema


def _text(line: _Line) -> str | None:
    text = line["text"]
    return text if text is None or isinstance(text, str) else "\n".join(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Function):
        return f"{value.shown} ({value.fingerprint})"
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
