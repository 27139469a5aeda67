"""Lint over whole trees and files: every rule, each finding once, in the order of the files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalspec.check.lint.characters import byte_order_marks, strange_characters
from evalspec.check.lint.keys import functions, includes, unknown_keys
from evalspec.check.lint.patterns import patterns
from evalspec.check.lint.pieces import LintFile
from evalspec.check.lint.scalars import duplicates, escapes, kinds
from evalspec.check.lint.tasks import TaskLint
from evalspec.check.lint.templates import leftovers
from evalspec.errors import Finding, FormatError, Place, counted
from evalspec.prompts.lm_eval.functions import Fingerprints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalspec.prompts.lm_eval.loader import Loader
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View


def lint_tree(tree: Tree, views: Sequence[View], rows: RowOptions | None = None) -> Iterator[Finding]:
    """The findings of trees of lm-eval YAML: those of their files, then those of their tasks, file by file.

    A finding about a value that several tasks share stands once, where the value is written.

    Args:
        tree: the trees.
        views: how prompts are shown; joins are looked at under each.
        rows: where rows come from; None for made-up ones.
    """
    from evalspec.prompts.sandbox import Sandbox

    found: list[Finding] = []
    for root, loader in enumerate(tree.index.loaders):
        prints = Fingerprints(loader.files)
        for name in _files(loader):
            found += _of_file(name, tree.path_of(root, name), loader, prints)
    sandbox = Sandbox()
    with sandbox.watch:
        found += _of_tasks(tree, TaskLint(views, rows, sandbox))
    yield from in_order(found)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file and place, each once."""
    first = {
        (each.path, each.line, each.column, each.rule, each.message): each
        for each in reversed(list(findings))
    }
    return sorted(
        first.values(), key=lambda each: (each.path, each.line, each.column, each.rule, each.message)
    )


def _files(loader: Loader) -> list[str]:
    """Every file of a tree that a task or a group is made of, and those that cannot be read."""
    return sorted(loader.reached())


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


def _of_tasks(tree: Tree, lint: TaskLint) -> Iterator[Finding]:
    from evalspec.prompts.lm_eval.groups import selected
    from evalspec.prompts.lm_eval.open_tree import place_finder

    tasks = [task for task in selected(tree.index) if not task.is_class]
    for task in tasks:
        lint.learn(task.settings)
    places = tree.places()
    found: dict[tuple[Place, str, str], Finding] = {}
    sharing: Counter[tuple[Place, str, str]] = Counter()
    for task in tasks:
        remarks = lint.remarks(str(task.name), task.settings)
        if not remarks:
            continue
        place_of = place_finder(places, task)
        whole = Place(tree.path_of(task.root, task.path))
        for remark in remarks:
            at = (place_of(key) for key in (remark.field, *remark.anchors))
            place = next((each for each in at if each is not None), whole)
            key = (place, remark.rule.id, str(remark.severity or remark.rule.severity))
            sharing[key] += 1
            if key not in found:
                found[key] = remark.at(place, str(task.name))
    for key, finding in found.items():
        more = sharing[key] - 1
        shared = f"; {counted(more, 'more task')} {'shares' if more == 1 else 'share'} it" if more else ""
        yield finding._replace(message=finding.message + shared)
