"""Lint as a part of `evalspec check`: over trees of lm-eval YAML, and over task files of our own contract."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import counted, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from evalspec.check.lint.run import Only
    from evalspec.check.lint.suggest import Suggestion
    from evalspec.errors import Finding
    from evalspec.project import Project
    from evalspec.prompts.lm_eval.open_tree import Tree
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View

#: So many suggestions are made: each is looked at by a person.
_SUGGESTED = 20
_WORDS = {"error": "error", "warning": "warning", "info": "note"}


def views_of_project(project: Project) -> tuple[View, ...]:
    """Every configured view, and plain text where there is none."""
    from evalspec.prompts.view_config import views_of

    return views_of(project, list(project.config.views), {})


def lint_of_tree(
    args: argparse.Namespace,
    project: Project,
    tree: Tree,
    *,
    only: Only | None = None,
    roots: Sequence[str] | None = None,
) -> list[Finding]:
    """The findings of trees of lm-eval YAML.

    Args:
        args: the arguments.
        project: the project.
        tree: the trees.
        only: what is looked at; everything unless it is said.
        roots: the folders in which the files that tasks name may lie; those of the trees unless they are said.
    """
    from evalspec.check.lint import lint_tree
    from evalspec.prompts.row_config import row_options

    rows = row_options(None, project.folder, "lm-eval", roots or tree.roots, rows=project.rows)
    jobs = args.jobs or _common.cores()
    return list(lint_tree(tree, views_of_project(project), rows, jobs=jobs, only=only))


def rows_of_project(project: Project) -> RowOptions:
    """Where the rows of template tasks of our own contract come from."""
    from evalspec.prompts.row_config import row_options

    roots = [project.folder] if project.folder else []
    return row_options(None, project.folder, project.families.default, roots, rows=project.rows)


def mended(
    args: argparse.Namespace,
    found: Callable[[], list[Finding]],
    first: Callable[[], list[Finding]] | None = None,
) -> list[Finding]:
    """The findings; with `--fix` those that are left once what is safe to mend has been mended.

    Args:
        args: the arguments.
        found: reads the files and finds.
        first: finds the same in what was read already.
    """
    findings = (first or found)()
    if not args.fix:
        return findings
    from evalspec.check.lint import mend_files

    done = mend_files(findings)
    for each in done:
        if not args.quiet:
            sys.stderr.write(f"mended {visible(each.path)}: {', '.join(each.rules)}\n")
    return found() if done else findings


def suggested(
    args: argparse.Namespace, project: Project, tree: Tree, findings: Sequence[Finding]
) -> list[Suggestion]:
    """The edits that would mend what is left, and change prompts: so many as are shown."""
    if args.format != "text":
        return []
    from itertools import islice

    from evalspec.check.lint.suggest import suggestions
    from evalspec.prompts.row_config import row_options

    rows = row_options(None, project.folder, "lm-eval", tree.roots, rows=project.rows)
    return list(islice(suggestions(tree, findings, views_of_project(project)[0], rows), _SUGGESTED))


def suggestion_text(args: argparse.Namespace, suggestion: Suggestion) -> str:
    """An edit that is not made, and what it would make of a prompt."""
    from evalspec.report import Console, plain, prompt_diff, unified

    paint = plain if args.output else Console(sys.stdout).paint
    finding = suggestion.finding
    place = f"{visible(finding.path)}:{finding.line}:{finding.column}"
    text = f"suggestion for {finding.rule} at {place}, not made because a prompt changes:\n"
    text += unified(suggestion.old, suggestion.new, finding.path, context=1, paint=paint)
    if suggestion.before != suggestion.after:
        text += f"the prompt of {visible(suggestion.task)}: "
        text += prompt_diff(suggestion.before, suggestion.after, paint=paint)
    return text


def counts(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning, 3 notes`."""
    numbers = [(word, sum(each.severity == kind for each in findings)) for kind, word in _WORDS.items()]
    return ", ".join(counted(number, word) for word, number in numbers if number)


def summary(findings: Sequence[Finding]) -> str:
    """What was found, in a line."""
    if not findings:
        return "nothing found\n"
    return f"{counts(findings)} in {counted(len({each.path for each in findings}), 'file')}\n"
