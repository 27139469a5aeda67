"""What the task files themselves show, in `evalspec check`: those of the working tree, or those that are staged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from evalspec.cli import _common, _lint, _trees
from evalspec.errors import UsageError
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from evalspec.check import VersionCheck
    from evalspec.check.against_base import Against
    from evalspec.check.lint.run import Only
    from evalspec.check.lint.suggest import Suggestion
    from evalspec.diff.sides import Side
    from evalspec.errors import Finding
    from evalspec.project import Project
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.tasks import FileReport


class Shown(NamedTuple):
    """What task files show.

    Attributes:
        findings: what is wrong in them.
        files: the reports of those of our own contract.
        looked_at: how many files that were.
        tasks: how many tasks they hold.
        required: the id of the version that was required, if one was.
        suggested: edits that change prompts, where findings were to be mended.
    """

    findings: Sequence[Finding] = ()
    files: Sequence[FileReport] = ()
    looked_at: int = 0
    tasks: int = 0
    required: str | None = None
    suggested: Sequence[Suggestion] = ()


def of_trees(
    args: argparse.Namespace, project: Project, paths: Sequence[str], against: Against | None
) -> Shown:
    """Trees of lm-eval YAML, whose records have no versions of ours.

    Args:
        args: the arguments.
        project: the project.
        paths: the trees.
        against: the comparison with the base, which has read them already; None where there is none.
    """
    if against is not None and (args.staged or args.changed) and not args.fix:
        return _of_side(args, project, against)
    from evalspec.check import twins_in_trees

    tree = _trees.open_trees(args, paths)
    quiet = _common.with_changed(args, quiet=True)
    findings = _lint.mended(
        args,
        lambda: _lint.lint_of_tree(args, project, _trees.open_trees(quiet, paths)),
        lambda: _lint.lint_of_tree(args, project, tree),
    )
    findings += twins_in_trees(tree)
    suggested = _lint.suggested(args, project, _trees.open_trees(quiet, paths), findings) if args.fix else ()
    return Shown(findings, looked_at=_looked_at(tree), tasks=_tasks(tree), suggested=suggested)


def _of_side(args: argparse.Namespace, project: Project, against: Against) -> Shown:
    """The trees of the newer side of a comparison: what is staged, or the working tree as git sees it."""
    from evalspec.check import twins_in_trees
    from evalspec.check.lint.run import Only
    from evalspec.prompts.lm_eval.open_tree import tree_in

    side = against.sides.after
    assert side.files is not None
    tree = tree_in(side.files, side.folder, side.paths)
    _trees.tell(args, tree, [_named(side, path) for path in side.paths])
    only: Only | None = None
    if args.changed:
        top = side.stands_for or side.folder
        only = Only(
            frozenset(
                os.path.join(side.folder, os.path.relpath(path, top)) for path in against.sides.changed
            ),
            against.changed_tasks,
        )
    roots = [side.stands_for] if side.stands_for else None
    findings = [*_lint.lint_of_tree(args, project, tree, only=only, roots=roots), *twins_in_trees(tree)]
    return Shown([_as_named(side, each) for each in findings], looked_at=_looked_at(tree), tasks=_tasks(tree))


def _looked_at(tree: Tree) -> int:
    return sum(len(loader.reached()) for loader in tree.index.loaders)


def _tasks(tree: Tree) -> int:
    return sum(entry.path is not None for entry in tree.index.entries.values())


def _named(side: Side, path: str) -> str:
    """A path of a side as a person in this folder would write that of the working tree."""
    return os.path.relpath(os.path.join(side.stands_for or side.folder, os.path.relpath(path, side.folder)))


def _as_named(side: Side, finding: Finding) -> Finding:
    """A finding of a file of a side, told of the file that it stands for."""
    path = _named(side, finding.path)

    def told(text: str) -> str:
        return text.replace(finding.path, path).replace(f"{side.folder}/", "")

    return finding._replace(path=path, message=told(finding.message), fix=told(finding.fix))


def of_files(
    args: argparse.Namespace, project: Project, given: Sequence[str], against: Against | None
) -> Shown:
    """Task files of our own contract.

    Args:
        args: the arguments.
        project: the project.
        given: the paths that were given; the project's where there are none.
        against: the comparison with the base, whose newer side is read where that is what is staged.
    """
    required = None
    if args.require or not isinstance(project.config.requires, Absent):
        required = _common.schema_of(project, args.require or str(project.config.requires)).id
    side = against.sides.after if against is not None and args.staged else None
    if side is None:
        selection = _common.select_files(_common.with_changed(args, paths=list(given)), project)
        paths = [file.path for file in selection.files]
        _common.warn_pending(args, project, paths)
    else:
        from evalspec.tree import select

        folder = side.counterpart(project.folder) if project.folder else side.folder
        chosen = select(side.paths, exclude=project.exclude, folder=folder).files if side.paths else ()
        paths = [file.path for file in chosen]
    reading = _common.reading_of(args, project)
    from evalspec.check import check_versions
    from evalspec.check.lint import lint_records
    from evalspec.migrate import load_history
    from evalspec.tasks import open_tasks

    history = load_history(project.families)
    views, rows = _lint.views_of_project(project), _lint.rows_of_project(project)
    judged: list[VersionCheck] = []

    def look() -> list[Finding]:
        judged.clear()
        with (
            _common.progress(args, "checking", paths) as advance,
            open_tasks(paths, reading, advance=advance) as files,
        ):
            judged.append(check_versions(files, reading, history, required))
            return list(lint_records(files, views, rows))

    linted = _lint.mended(args, look)
    [result] = judged
    said = {(each.path, each.line, each.column, each.rule) for each in result.findings}
    more = [each for each in linted if (each.path, each.line, each.column, each.rule) not in said]
    tasks = sum(report.valid + len({error.line for error in report.errors}) for report in result.files)
    findings = [*result.findings, *more]
    if side is not None:
        findings = [_as_named(side, each) for each in findings]
        for report in result.files:
            report.path = _named(side, report.path)
    return Shown(findings, result.files, len(paths), tasks, required)


def refuse_to_mend_staged(args: argparse.Namespace) -> None:
    """Stop where `--fix` would have to mend what is staged.

    Raises:
        UsageError: it would.
    """
    if args.staged and args.fix:
        raise UsageError(
            "--fix mends files of the working tree, not what is staged", fix="leave --staged out"
        )
