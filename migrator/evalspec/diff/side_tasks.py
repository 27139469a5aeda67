"""The tasks of one side of a comparison: what each is made of, and its prompts when they are asked for."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.diff.side_rows import SideRows
from evalspec.prompts.lm_eval.index import NOT_A_TASK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from evalspec.diff.sides import Side
    from evalspec.errors import Place
    from evalspec.project import Project
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.prompts.view import View
    from evalspec.schema.schema import Schema
    from evalspec.tasks import TaskFile
    from evalspec.tasks.records import TaskRecord

#: Settings of an lm-eval task that say how it is filed, not what a model sees or how it is scored.
_FILED = frozenset(["task", "tag", "group", "task_alias", "metadata", "include"])
#: Settings and fields that say how an answer is scored, and the class of their change.
SCORING = {
    "metric_list": "metric",
    "metrics": "metric",
    "metric_name": "metric",
    "process_results": "metric",
    "aggregation": "metric",
    "post_process": "post_process",
    "filter_list": "post_process",
}


class SideTask(NamedTuple):
    """A task of one side.

    Attributes:
        name: its id.
        settings: what it is made of, plain values that can be compared; a function is its name and fingerprint.
        scoring: how its answers are scored, by setting, in one form for all versions.
        version: its own version, as it stands there.
        schema: the schema version of its record.
        path: its file, as it is shown.
        place_of: where a setting stands, by its dotted name.
        line: the line that it begins on.
        rows: a fingerprint of the rows that are kept for it; empty where there are none.
    """

    name: str
    settings: dict[str, Any]
    scoring: dict[str, Any]
    version: Any
    schema: str
    path: str
    place_of: Callable[[str], Place | None]
    line: int = 1
    rows: str = ""


class Function(NamedTuple):
    """A function that a setting names."""

    spec: str
    fingerprint: str | None


class SideTasks:
    """The tasks of one side. Used as a context: files stay open within it.

    Attributes:
        tasks: the tasks that can be read, by name.
        broken: why a task that has a name cannot be read.
        unread: why a file cannot be read, by its path as it is shown.

    Args:
        side: where its files are.
        project: whose families and rows count.
        lm_eval: the files are lm-eval YAML, not task files of ours.
    """

    def __init__(self, side: Side, project: Project, *, lm_eval: bool) -> None:
        self.side = side
        self.tasks: dict[str, SideTask] = {}
        self.broken: dict[str, str] = {}
        self.unread: dict[str, str] = {}
        self.files = 0
        self._project = project
        self._stack = ExitStack()
        self._tree: Tree | None = None
        self._opened: list[TaskFile] = []
        self._rows: SideRows | None = None
        if side.paths:
            (self._read_tree if lm_eval else self._read_records)()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def prompts(self, names: Iterable[str], views: Sequence[View]) -> Iterator[dict[str, Any]]:
        """The lines of `evalspec render` for tasks, under views; see `evalspec.prompts.lines`."""
        from evalspec.prompts.lines import Wanted
        from evalspec.prompts.record_lines import render_records

        wanted_names = [name for name in names if name in self.tasks]
        if not wanted_names or self._rows is None:
            return
        rows = self._rows.options
        if self._tree is not None:
            from evalspec.prompts.tree_lines import TreeJob, render_tree

            chosen = tuple(self._tree.select(wanted_names))
            lines = render_tree(TreeJob(self._tree, chosen, Wanted(tuple(views), (), rows)))
        else:
            wanted = Wanted(tuple(views), tuple(wanted_names), rows)
            lines = render_records(self._opened, wanted, self._project.families.short)
        for line in lines:
            yield line.data

    def _read_tree(self) -> None:
        from evalspec.prompts.lm_eval.functions import Fingerprints
        from evalspec.prompts.lm_eval.open_tree import open_tree, place_finder
        from evalspec.prompts.tasks import lm_eval_spec

        tree = open_tree(self.side.paths)
        self.unread = {
            self.side.shown(path): each.reason
            for path, each in tree.skipped()
            if each.rule != "duplicate_task_id" and each.reason != NOT_A_TASK
        }
        if not tree.index.entries:
            return
        self._tree = tree
        rows = self._rows = SideRows(self.side, self._project.folder, "lm-eval", tree.roots)
        prints = [Fingerprints(loader.files) for loader in tree.index.loaders]
        places = tree.places()
        self.files = len({(each.root, each.path) for each in tree.index.entries.values() if each.path})
        for task in tree.select(()):
            if task.broken is not None:
                self.broken[str(task.name)] = str(task.broken)
                continue
            settings = {
                key: _comparable(value, prints[task.root or 0])
                for key, value in task.settings.items()
                if key not in _FILED
            }
            metadata = task.settings.get("metadata")
            version = metadata.get("version") if isinstance(metadata, dict) else None
            path = self.side.shown(tree.path_of(task.root, task.path))
            found = place_finder(places, task)
            name = str(task.name)
            scoring = {key: value for key, value in settings.items() if key in SCORING}
            kept = rows.fingerprint(name, settings.get("dataset_path"), lm_eval_spec(task).read)
            self.tasks[name] = SideTask(
                name, settings, scoring, version, "lm-eval@0.4.13", path, self._shown(found), rows=kept
            )

    def _read_records(self) -> None:
        from evalspec.tasks import FieldPlaces, Reading, open_tasks
        from evalspec.tree import select

        selection = select(self.side.paths, exclude=self._project.exclude, folder=self.side.folder)
        paths = [file.path for file in selection.files]
        reading = Reading(self._project.families, self._project.unmarked())
        self.files = len(paths)
        folder = self._project.folder
        roots = [self.side.counterpart(folder)] if folder else []
        self._rows = SideRows(self.side, folder, self._project.families.default, roots)
        self._opened = self._stack.enter_context(open_tasks(paths, reading))
        for file in self._opened:
            places = self._stack.enter_context(FieldPlaces(file))
            for record in file.records():
                if record.value is None or record.schema is None:
                    self._is_broken(file, record)
                else:
                    self._add_record(file, record, record.schema, self._shown(places.of(record)))

    def _is_broken(self, file: TaskFile, record: TaskRecord) -> None:
        reason = next(
            (finding.message for finding in file.report.errors if finding.line == record.line),
            "the record is invalid",
        )
        if record.task is None:
            self.unread.setdefault(self.side.shown(file.path), reason)
        else:
            self.broken[record.task] = reason

    def _add_record(
        self, file: TaskFile, record: TaskRecord, schema: Schema, place_of: Callable[[str], Place | None]
    ) -> None:
        from evalspec.prompts.tasks import record_spec

        assert record.value is not None
        assert self._rows is not None
        value = record.value
        metadata, data_set = value.get("metadata"), value.get("dataset")
        inner = metadata.get("version") if isinstance(metadata, dict) else None
        kind = data_set.get("path") if isinstance(data_set, dict) else None
        name = value["task_id"]
        kept = self._rows.fingerprint(name, kind, record_spec(value, schema.id).read)
        path = self.side.shown(file.path)
        version = value.get("version", inner)
        self.tasks[name] = SideTask(
            name, value, _scoring(value, schema), version, schema.id, path, place_of, record.line, kept
        )

    def _shown(self, place_of: Callable[[str], Place | None]) -> Callable[[str], Place | None]:
        """The same finder, its paths as a person knows them."""

        def shown(field: str) -> Place | None:
            place = place_of(field)
            if place is None:
                return None
            return place._replace(path=self.side.shown(os.path.abspath(place.path)))

        return shown


def _scoring(record: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """A record's metrics with all their settings, and its post-process rule with what the version makes of it."""
    from evalspec.schema.fingerprint import function_fingerprint

    declared = schema.declaration
    metrics = record.get("metrics")
    if metrics is None:
        metric = declared.metrics[record["metric_name"]]
        metrics = [{"name": record["metric_name"], **metric._asdict()}]
    rule = record["post_process"]
    made = Function(f"{rule} of {schema.version}", function_fingerprint(declared.post_process[rule]))
    return {"metrics": metrics, "post_process": made}


def _comparable(value: Any, prints: Any) -> Any:
    """A setting as plain data."""
    from evalspec.prompts.problems import FunctionRef

    if isinstance(value, FunctionRef):
        return Function(value.spec, prints.of(value))
    if isinstance(value, dict):
        return {key: _comparable(item, prints) for key, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item, prints) for item in value]
    return value
