"""The tasks of one side of a comparison: what each is made of, and its prompts when they are asked for."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from evalspec.diff.git_objects import GitFiles
from evalspec.diff.side_rows import SideRows
from evalspec.diff.side_schemas import SideSchemas
from evalspec.diff.side_task import Function, Lazily, SideTask
from evalspec.prompts.lm_eval.index import NOT_A_TASK, PYTHON_TASK, TASK

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from evalspec.diff.model import ChangeClass
    from evalspec.diff.sides import Side
    from evalspec.errors import Place
    from evalspec.project import Project
    from evalspec.prompts.lm_eval.functions import Fingerprints
    from evalspec.prompts.lm_eval.index import Entry
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.prompts.view import View
    from evalspec.schema.schema import Schema
    from evalspec.tasks import TaskFile
    from evalspec.tasks.records import TaskRecord

#: Settings of an lm-eval task that say how it is filed, not what a model sees or how it is scored.
_FILED = frozenset(["task", "tag", "group", "task_alias", "metadata", "include"])
#: Settings and fields that say how an answer is scored, and the class of their change.
SCORING: dict[str, ChangeClass] = {
    "metric_list": "metric",
    "metrics": "metric",
    "metric_name": "metric",
    "process_results": "metric",
    "aggregation": "metric",
    "post_process": "post_process",
    "filter_list": "post_process",
}


class SideTasks:
    """The tasks of one side. Used as a context: files stay open within it.

    Attributes:
        tasks: the tasks that can be read, by name; those of a tree are made when they are looked at.
        tree: the tree of lm-eval YAML that they are in; None for records.
        entries: where each is in the index of the tree.
        broken: why a task that has a name cannot be read.
        unread: why a file cannot be read, by its path as it is shown.

    Args:
        side: where its files are.
        project: whose families and rows count.
        lm_eval: the files are lm-eval YAML, not task files of ours.
        only: the names of the tasks that are asked for; all of them where there are none.
    """

    def __init__(self, side: Side, project: Project, *, lm_eval: bool, only: Collection[str] = ()) -> None:
        self.side = side
        self.only = only
        self.tasks: Mapping[str, SideTask] = {}
        self.broken: dict[str, str] = {}
        self.unread: dict[str, str] = {}
        self.files = 0
        self._project = project
        self._stack = ExitStack()
        self.tree: Tree | None = None
        self.entries: dict[str, Entry] = {}
        self._opened: list[TaskFile] = []
        self._schemas: dict[str, Schema] = {}
        self._broken_in: dict[str, str] = {}
        self._rows: SideRows | None = None
        self._modules = SideSchemas(side)
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
        if self.tree is not None:
            from evalspec.prompts.tree_lines import TreeJob, render_tree

            chosen = tuple(self.tree.select(wanted_names))
            lines = render_tree(TreeJob(self.tree, chosen, Wanted(tuple(views), (), rows)))
        else:
            wanted = Wanted(tuple(views), tuple(wanted_names), rows)
            lines = render_records(self._opened, wanted, self._project.families.short)
        for line in lines:
            yield line.data

    def bytes_of(self, path: str) -> bytes | None:
        """The bytes of a file, by its path as it is shown; None where there is none."""
        if self.side.files is not None:
            return self.side.files.read(path)
        try:
            with open(os.path.join(self.side.folder, path), "rb") as file:
                return file.read()
        except OSError:
            return None

    def cannot_read(self, task: SideTask) -> str | None:
        """Why a task of the other side is there and cannot be read on this one; None where it is not there."""
        if task.name in self.tasks:
            return None
        return self.broken.get(task.name) or self.unread.get(task.path)

    def path_of(self, name: str) -> str:
        """The file of a task that cannot be read; of a file itself, its path."""
        return self._broken_in.get(name, name)

    @property
    def too_large(self) -> list[str]:
        """Files that were not read for their size, as they are shown."""
        return list(self.side.files.too_large) if isinstance(self.side.files, GitFiles) else []

    @property
    def used_local(self) -> bool:
        """Whether rows came from data sets on this machine, which are no part of the side."""
        return self._rows is not None and self._rows.used_local

    def has_fixtures(self, name: str) -> bool:
        """Whether the project keeps rows for a task on this side."""
        return self._rows is not None and self._rows.has_fixtures(name)

    def schema_of(self, name: str) -> Schema | None:
        """The schema of a record; None for a task of lm-eval."""
        return self._schemas.get(self.tasks[name].schema)

    def _read_tree(self) -> None:
        from evalspec.prompts.lm_eval.functions import Fingerprints
        from evalspec.prompts.lm_eval.groups import resolve_task
        from evalspec.prompts.lm_eval.open_tree import FAMILY, VERSION, open_tree, place_finder, tree_in
        from evalspec.prompts.tasks import lm_eval_spec

        side = self.side
        # A side may be of any year.
        if side.files is not None:
            tree = tree_in(side.files, side.folder, side.paths, group_is_tag=True)
        else:
            tree = open_tree(side.paths, group_is_tag=True)
        self.unread = {
            self.side.shown(path): each.reason
            for path, each in tree.skipped()
            if each.rule != "duplicate_task_id" and each.reason != NOT_A_TASK
        }
        if not tree.index.entries:
            return
        self.tree = tree
        rows = self._rows = SideRows(self.side, self._project, FAMILY, tree.roots)
        prints = [Fingerprints(loader.files) for loader in tree.index.loaders]
        places = tree.places()
        self.files = len({(each.root, each.path) for each in tree.index.entries.values() if each.path})

        def made(entry: Entry) -> SideTask:
            task = resolve_task(tree.index, entry)
            functions = _Functions(prints[task.root or 0], self._path_in(tree, task.root))
            settings = {
                key: functions.comparable(value) for key, value in task.settings.items() if key not in _FILED
            }
            version = _own_version(task.settings)
            path = self.side.shown(tree.path_of(task.root, task.path))
            found = place_finder(places, task)
            name = str(task.name)
            scoring = {key: value for key, value in settings.items() if key in SCORING}
            kept = rows.fingerprint(name, settings.get("dataset_path"), lm_eval_spec(task).read)
            return SideTask(
                name, settings, scoring, version, f"{FAMILY}@{VERSION}", path, self._shown(found), rows=kept
            )

        entries = {str(each.name): each for each in tree.index.of_kind(TASK, PYTHON_TASK)}
        self.entries = {name: each for name, each in entries.items() if not self.only or name in self.only}
        self.tasks = Lazily({name: partial(made, each) for name, each in self.entries.items()})

    def _path_in(self, tree: Tree, root: int | None) -> Callable[[str], str]:
        return lambda path: self.side.shown(tree.path_of(root, path))

    def _read_records(self) -> None:
        from evalspec.tasks import FieldPlaces, Reading, open_tasks
        from evalspec.tree import select

        selection = select(self.side.paths, exclude=self._project.exclude, folder=self.side.folder)
        paths = [file.path for file in selection.files]
        reading = Reading(self._project.families, self._project.unmarked())
        self.files = len(paths)
        folder = self._project.folder
        roots = [self.side.counterpart(folder)] if folder else []
        self._rows = SideRows(self.side, self._project, self._project.families.default, roots)
        tasks: dict[str, SideTask] = {}
        self._opened = self._stack.enter_context(open_tasks(paths, reading))
        for file in self._opened:
            places = self._stack.enter_context(FieldPlaces(file))
            for record in file.records():
                if self.only and record.task not in self.only:
                    continue
                if record.value is None or record.schema is None:
                    self._is_broken(file, record)
                else:
                    task = self._made_of(file, record, record.schema, self._shown(places.of(record)))
                    tasks[task.name] = task
        self.tasks = tasks

    def _is_broken(self, file: TaskFile, record: TaskRecord) -> None:
        reason = next(
            (finding.message for finding in file.report.errors if finding.line == record.line),
            "the record is invalid",
        )
        if record.task is None:
            self.unread.setdefault(self.side.shown(file.path), reason)
        else:
            self.broken[record.task] = reason
            self._broken_in[record.task] = self.side.shown(file.path)

    def _made_of(
        self, file: TaskFile, record: TaskRecord, schema: Schema, place_of: Callable[[str], Place | None]
    ) -> SideTask:
        from evalspec.prompts.tasks import record_spec

        assert record.value is not None
        assert self._rows is not None
        value = record.value
        data_set = value.get("dataset")
        kind = data_set.get("path") if isinstance(data_set, dict) else None
        name = value["task_id"]
        kept = self._rows.fingerprint(name, kind, record_spec(value, schema.id).read)
        path = self.side.shown(file.path)
        version = value.get("version", _own_version(value))
        self._schemas[schema.id] = schema
        modules = self._modules.of(schema, self._project.families.by_name[schema.family])
        return SideTask(
            name,
            value,
            _scoring(value, schema),
            version,
            schema.id,
            path,
            place_of,
            record.line,
            kept,
            modules,
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
    made = Function(rule, function_fingerprint(declared.post_process[rule]), schema.version)
    return {"metrics": metrics, "post_process": made}


def _own_version(values: dict[str, Any]) -> Any:
    """A task's own version, where it stands in its metadata."""
    metadata = values.get("metadata")
    return metadata.get("version") if isinstance(metadata, dict) else None


class _Functions:
    """Settings of a tree's tasks as plain data, their functions named by what they are made of."""

    def __init__(self, prints: Fingerprints, path_of: Callable[[str], str]) -> None:
        self._prints = prints
        self._path_of = path_of

    def comparable(self, value: Any) -> Any:
        """A setting as plain data."""
        from evalspec.prompts.problems import FunctionRef

        if isinstance(value, FunctionRef):
            return Function(value.spec, self._prints.of(value), file=self._path_of(value.file))
        if isinstance(value, dict):
            return {key: self.comparable(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.comparable(item) for item in value]
        return value
