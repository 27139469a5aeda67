"""The lines of the tasks of lm-eval trees, for `evalspec render`: in this process, or shared out over several."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from evalspec.prompts.cache_key import cache_file, cache_key
from evalspec.prompts.config import task_config
from evalspec.prompts.findings import findings_of
from evalspec.prompts.lines import Line, line_of
from evalspec.prompts.lm_eval.functions import Fingerprints
from evalspec.prompts.lm_eval.open_tree import place_finder
from evalspec.prompts.problems import Failure, FunctionRef, failure_of
from evalspec.prompts.prompt import Prompt
from evalspec.prompts.record_lines import columns_of, refuse_several
from evalspec.prompts.render import RenderedRow, TaskLabel
from evalspec.prompts.rows import FirstOf, RowsFile
from evalspec.prompts.sharing import shared_out
from evalspec.prompts.tasks import lm_eval_spec, render_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.errors import Finding
    from evalspec.prompts.lines import Wanted
    from evalspec.prompts.lm_eval.groups import ResolvedTask
    from evalspec.prompts.lm_eval.open_tree import Tree

    LinesOf = Callable[[ResolvedTask], Iterator[Line]]

#: The settings that a prompt can need.
_IN_PROMPTS = (
    "class",
    "process_docs",
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "doc_to_image",
    "doc_to_audio",
    "custom_dataset",
    "fewshot_config",
)
#: Fewer tasks than this are rendered sooner than a process starts.
_WORTH_SHARING = 64
_PIECES_A_WORKER = 6


@dataclass(frozen=True, slots=True)
class TreeJob:
    """Tasks of trees to be rendered.

    Attributes:
        tree: the trees.
        tasks: the tasks, in the order of their lines.
        wanted: how they are shown.
        trusted: their functions are run, in processes of their own.
    """

    tree: Tree
    tasks: tuple[ResolvedTask, ...]
    wanted: Wanted
    trusted: bool = False


def render_tree(job: TreeJob, jobs: int = 1) -> Iterator[Line]:
    """The lines of every task, row and view, in order. A task that fails never stops the others.

    Args:
        job: what is rendered.
        jobs: the number of processes.

    Raises:
        UsageError: one file of rows is meant for several tasks.
    """
    source = job.wanted.rows.source
    first = source.sources[0] if isinstance(source, FirstOf) and source.sources else source
    if isinstance(first, RowsFile):
        refuse_several([str(task.name) for task in job.tasks])
    count = len(job.tasks)
    if count < _WORTH_SHARING:
        jobs = 1
    size = max(1, min(200, count // (jobs * _PIECES_A_WORKER)))

    def pieces(number: int, of: int) -> Iterator[Iterator[Line]]:
        with (_trusted if job.trusted else _untrusted)(job) as lines_of:
            for start in range(number * size, count, of * size):
                yield job.wanted.finished(chain.from_iterable(map(lines_of, job.tasks[start : start + size])))

    yield from shared_out(pieces, jobs)


@contextmanager
def _untrusted(job: TreeJob) -> Iterator[LinesOf]:
    """Renders tasks in this process."""
    from evalspec.prompts.sandbox import Sandbox

    sandbox = Sandbox()
    places = job.tree.places()
    teller = _Teller(job)
    rows = job.wanted.rows

    def lines_of(task: ResolvedTask) -> Iterator[Line]:
        place_of = place_finder(places, task)
        spec = lm_eval_spec(task, place_of if job.wanted.parts else None)
        for view in job.wanted.views:
            for row in render_task(spec, view, rows, sandbox, parts=job.wanted.parts):
                columns = columns_of(spec.name, spec.read, rows) if row.error is not None else ()
                yield teller.line(task, row, place_of, columns)

    with sandbox.watch:
        yield lines_of


@contextmanager
def _trusted(job: TreeJob) -> Iterator[LinesOf]:
    """Renders tasks in a process for each tree, which runs their functions."""
    from evalspec.prompts.lm_eval.trust import TrustedRenderer

    places = job.tree.places()
    teller = _Teller(job)
    renderers: dict[int, TrustedRenderer] = {}

    def lines_of(task: ResolvedTask) -> Iterator[Line]:
        if task.is_class or task.broken is not None:
            yield from plain(task)
            return
        root = task.root or 0
        if root not in renderers:
            rows = job.wanted.rows
            renderers[root] = TrustedRenderer(job.tree.roots[root], rows.source, are_docs=rows.are_docs)
        place_of = place_finder(places, task)
        for data in renderers[root].render([task], job.wanted.views):
            yield teller.said(task, data, place_of)

    try:
        with _untrusted(job) as plain:
            yield lines_of
    finally:
        for renderer in renderers.values():
            renderer.close()


class _Teller:
    """Makes lines of rendered rows, with what a tree knows of their tasks."""

    def __init__(self, job: TreeJob) -> None:
        self.tree = job.tree
        self.prints = [Fingerprints(loader.files) for loader in job.tree.index.loaders]

    def line(
        self,
        task: ResolvedTask,
        row: RenderedRow,
        place_of: Callable[[str], Any],
        columns: Sequence[str] = (),
    ) -> Line:
        """The line of a row."""
        path, number = self._where(task)
        findings = self._findings(task, row, path, place_of, columns)
        line = line_of(row, path, number, row.label.schema, findings)
        return self._with_functions(task, line)

    def _findings(
        self,
        task: ResolvedTask,
        row: RenderedRow,
        path: str,
        place_of: Callable[[str], Any],
        columns: Sequence[str],
    ) -> tuple[Finding, ...]:
        found = findings_of(
            row, path, place_of=place_of, columns=columns, source_of=lambda field: _setting(task, field)
        )
        return tuple(found)

    def said(self, task: ResolvedTask, data: dict[str, Any], place_of: Callable[[str], Any]) -> Line:
        """The line of what a process of trusted code said."""
        path, number = self._where(task)
        error, told = data.get("error"), data.pop("told")
        field = told["field"]
        row = RenderedRow(
            TaskLabel(data["task"], data["schema"], data["version"], data["split"]),
            data["row"],
            data["view"],
            prompt=Prompt("", (), notes=tuple(data.get("notes", ()))),
            unknown=data["unknown"],
            error=Failure(error["type"], error["message"], field, told["line"]) if error else None,
            field=field,
        )
        for part in data["parts"] or ():
            origin = part["origin"]
            place = place_of(origin["key"]) if origin.get("key") and "path" not in origin else None
            if place is not None:
                part["origin"] = {"path": place.path, "line": place.line, "column": place.column, **origin}
        findings = self._findings(task, row, path, place_of, told["columns"])
        line = Line({"path": path, "line": number, **data}, findings, tuple(told["notes"]))
        return self._with_functions(task, line)

    def _where(self, task: ResolvedTask) -> tuple[str, int]:
        """A task's file and the line on which its mapping begins."""
        path = self.tree.path_of(task.root, task.path)
        if task.path is None or task.root is None:
            return path, 1
        data = self.tree.index.loaders[task.root].files.read(task.path) or b""
        for number, line in enumerate(data.split(b"\n"), 1):
            text = line.strip()
            if text and text != b"---" and text[:1] not in (b"#", b"%"):
                return path, number
        return path, 1

    def _with_functions(self, task: ResolvedTask, line: Line) -> Line:
        """The line of a prompt that is not known, with what the functions it needs are made of."""
        if line.data["unknown"] is None or task.root is None:
            return line
        found = {}
        for field, function in functions_of(task):
            found[field] = {
                "function": function.spec,
                "file": function.file,
                "fingerprint": self.prints[task.root].of(function),
            }
        return line._replace(data={**line.data, "functions": found}) if found else line


def functions_of(task: ResolvedTask) -> Iterator[tuple[str, FunctionRef]]:
    """The functions that a task's prompts can need, by field."""
    for field in _IN_PROMPTS:
        value = task.settings.get(field)
        if isinstance(value, FunctionRef):
            yield field, value
        elif field == "fewshot_config" and isinstance(value, dict):
            for key, each in value.items():
                if isinstance(each, FunctionRef):
                    yield f"{field}.{key}", each


def _setting(task: ResolvedTask, field: str) -> object:
    """A setting by its dotted name."""
    value: Any = task.settings
    for step in field.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def cache_keys(job: TreeJob) -> Iterator[Line]:
    """For every task and view the key under which the harness keeps its requests, and the name of the file."""
    return job.wanted.finished(_cache_keys(job))


def _cache_keys(job: TreeJob) -> Iterator[Line]:
    for task in job.tasks:
        path = job.tree.path_of(task.root, task.path)
        for view in job.wanted.views:
            data: dict[str, Any] = {"path": path, "task": str(task.name), "view": view.name}
            try:
                if task.broken is not None:
                    raise task.broken  # noqa: TRY301 - told as what the harness raises for a task is
                own = None if task.is_class else task_config(task.settings).num_fewshot
            except Exception as problem:  # noqa: BLE001 - what the harness would raise when it builds the task
                failure = failure_of(problem)
                label = TaskLabel(str(task.name), "", None)
                row = RenderedRow(label, None, view.name, error=failure)
                yield Line({**data, "error": failure.to_dict()}, tuple(findings_of(row, path)))
                continue
            shots = own if own == 0 or view.shots is None else view.shots
            key = cache_key(str(task.name), shots or 0, view)
            yield Line({**data, "cache_key": key, "cache_file": cache_file(key)})
