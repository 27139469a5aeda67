"""Lint over whole trees and files: every rule, each finding once, in the order of the files."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from evalspec.check.choose import IGNORES, has_ignores
from evalspec.check.lint.characters import byte_order_marks, strange_characters
from evalspec.check.lint.keys import functions, includes, unknown_keys
from evalspec.check.lint.patterns import patterns
from evalspec.check.lint.pieces import LintFile
from evalspec.check.lint.scalars import duplicates, escapes, kinds
from evalspec.check.lint.tasks import TaskLint
from evalspec.check.lint.templates import leftovers
from evalspec.errors import Finding, FormatError, Place, counted
from evalspec.prompts.lm_eval.functions import Fingerprints
from evalspec.prompts.sharing import shared_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalspec.prompts.lm_eval.groups import ResolvedTask
    from evalspec.prompts.lm_eval.loader import Loader
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.prompts.lm_eval.places import Places
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View

#: With fewer files than this one process is sooner done; so many are a piece of work.
_WORTH_SHARING, _AT_ONCE = 1000, 400


class _Counted(NamedTuple):
    """A finding about a value, and how many tasks use that value; 0 where that was not counted."""

    finding: Finding
    tasks: int


class Only(NamedTuple):
    """What of trees is looked at: some files, the tasks that are made of them, and some tasks more.

    Attributes:
        paths: whole paths of files.
        tasks: names of tasks.
    """

    paths: frozenset[str]
    tasks: frozenset[str]

    def has(self, tree: Tree, root: int | None, names: Iterable[str]) -> bool:
        """Whether one of a tree's files is among the files."""
        top = tree.roots[root or 0]
        return any(os.path.join(top, name) in self.paths for name in names)

    def has_task(self, tree: Tree, task: ResolvedTask) -> bool:
        """Whether a task is looked at."""
        if task.path is None or str(task.name) in self.tasks:
            return str(task.name) in self.tasks
        return self.has(tree, task.root, tree.index.loaders[task.root or 0].load(task.path).files)


def lint_tree(
    tree: Tree,
    views: Sequence[View],
    rows: RowOptions | None = None,
    *,
    jobs: int = 1,
    only: Only | None = None,
) -> Iterator[Finding]:
    """The findings of trees of lm-eval YAML, file by file: those of the files, and those of their tasks.

    A finding about a value that several tasks share stands once, where the value is written.

    Args:
        tree: the trees.
        views: how prompts are shown; joins are looked at under each.
        rows: where rows come from; None for made-up ones.
        jobs: the number of processes, for large trees.
        only: what is looked at; everything unless it is said.
    """
    from evalspec.prompts.lm_eval.groups import selected
    from evalspec.prompts.sandbox import Sandbox

    tasks = [task for task in selected(tree.index) if not task.is_class]
    files = [
        (root, name) for root, loader in enumerate(tree.index.loaders) for name in sorted(loader.reached())
    ]
    sandbox = Sandbox()
    lint = TaskLint(views, rows, sandbox)
    siblings = tasks
    if only is not None:
        files = [each for each in files if only.has(tree, each[0], each[1:])]
        tasks = [task for task in tasks if only.has_task(tree, task)]
        known = {str(task.settings.get("dataset_path")) for task in tasks}
        siblings = [task for task in siblings if str(task.settings.get("dataset_path")) in known]
    for task in siblings:
        lint.learn(task.settings)
    if len(files) < _WORTH_SHARING:
        jobs = 1

    def pieces(number: int, of: int) -> Iterator[Iterator[_Counted]]:
        prints = [Fingerprints(loader.files) for loader in tree.index.loaders]
        places = tree.places()
        with sandbox.watch:
            for start in range(number * _AT_ONCE, max(len(files), len(tasks)), of * _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                yield chain(_of_files(tree, files[part], prints), _of_tasks(tree, tasks[part], lint, places))

    yield from in_order(_together(shared_out(pieces, jobs)))


def _together(counted_findings: Iterable[_Counted]) -> Iterator[Finding]:
    """The findings, one of each rule and severity at a place where tasks share it."""
    found: dict[tuple[str, int, int, str, str], _Counted] = {}
    for each in counted_findings:
        finding = each.finding
        if not each.tasks:
            yield finding
            continue
        key = (finding.path, finding.line, finding.column, finding.rule, finding.severity)
        before = found.get(key)
        found[key] = each if before is None else before._replace(tasks=before.tasks + each.tasks)
    for finding, tasks in found.values():
        more = tasks - 1
        shared = f"; {counted(more, 'more task')} {'shares' if more == 1 else 'share'} it" if more else ""
        yield finding._replace(message=finding.message + shared)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file and place, each once."""
    first = {
        (each.path, each.line, each.column, each.rule, each.message): each
        for each in reversed(list(findings))
    }
    return sorted(
        first.values(), key=lambda each: (each.path, each.line, each.column, each.rule, each.message)
    )


def _of_files(
    tree: Tree, files: Sequence[tuple[int, str]], prints: Sequence[Fingerprints]
) -> Iterator[_Counted]:
    for root, name in files:
        path = tree.path_of(root, name)
        for finding in _of_file(name, path, tree.index.loaders[root], prints[root]):
            yield _Counted(finding, 0)


def _of_file(name: str, path: str, loader: Loader, prints: Fingerprints) -> Iterator[Finding]:
    from evalspec.formats.yaml import LM_EVAL, read

    data = loader.files.read(name)
    if data is None:
        return
    try:
        file = read(data, dialect=LM_EVAL)
    except FormatError as problem:
        yield Finding(
            problem.rule, "error", path, problem.line, problem.column, None, problem.field, problem.message,
            problem.text, problem.fix,
        )  # fmt: skip
        return
    yield from byte_order_marks(path, file)
    if IGNORES in file.source.text:
        yield has_ignores(path)
    for each in LintFile.of_yaml(path, file):
        yield from escapes(each)
        yield from kinds(each)
        yield from duplicates(each)
        yield from strange_characters(each)
        yield from leftovers(each)
        yield from unknown_keys(each, name, loader)
        yield from includes(each, name, loader)
        yield from functions(each, name, prints)
        yield from patterns(each)


def _of_tasks(
    tree: Tree, tasks: Sequence[ResolvedTask], lint: TaskLint, places: Sequence[Places]
) -> Iterator[_Counted]:
    from evalspec.prompts.lm_eval.open_tree import place_finder

    for task in tasks:
        remarks = lint.remarks(str(task.name), task.settings)
        if not remarks:
            continue
        place_of = place_finder(places, task)
        whole = Place(tree.path_of(task.root, task.path))
        for remark in remarks:
            at = (place_of(key) for key in (remark.field, *remark.anchors))
            place = next((each for each in at if each is not None), whole)
            yield _Counted(remark.at(place, str(task.name)), 1)
