"""Print the prompts that a model would see, to the byte.

One prompt is printed as it is, with nothing added; several have a line `--- TASK` before each. A template task without
rows is shown with a placeholder row: a column `question` reads ⟨question⟩. With a tokenizer the texts have marks in
them (`│` where a token ends, `‿` at a join of two parts that lies inside a token), but not in JSON or under `--null`.

Trees of lm-eval YAML are rendered too. There, `--task` takes groups and tags as well as tasks.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from evalspec.cli import _common, _lines, _output, _trees, _views

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from evalspec.project import Project
    from evalspec.prompts.lines import Line
    from evalspec.prompts.view import View

    Finish = Callable[[Line], Line]

EXAMPLES = """
render tasks.jsonl --task arith_001
render tasks/ -0 | xargs -0 -n 1 sha256sum
render tasks/ --format json > prompts.jsonl
render tasks/ --chat chatml --single-turn --system Briefly. --shots 2
render templates.yaml --task opposites --rows rows.jsonl --limit 3
render lm_eval/tasks --spec lm-eval@0.4.13 --task mmlu_* --task @more.txt --format json
render lm_eval/tasks/arc --rows-dir rows/ --write-out
render lm_eval/tasks --task arc_easy --chat chatml --cache-key --tokenizer-name my/model
"""

#: So many rows of each task are shown side by side, where no limit is given.
_FEW = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="ID",
        help="only this task, the tasks that match a pattern, or those listed in @FILE (repeatable)",
    )
    parser.add_argument(
        "-0", "--null", action="store_true", help="a NUL behind each prompt, and nothing else"
    )
    parser.add_argument(
        "--write-out", action="store_true", help="contexts and what is scored side by side, for a few rows"
    )
    parser.add_argument(
        "--cache-key", action="store_true", help="the harness's request-cache key of each task instead"
    )
    parser.add_argument(
        "--allow-bad-tasks", action="store_true", help="leave invalid records out instead of refusing"
    )
    _views.add_views(parser)
    _views.add_rows(parser)
    _common.add_format(parser)
    parser.add_argument(
        "--jobs", type=_common.positive, metavar="N", help="processes for many tasks (default: the cores)"
    )
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Render, print, and return the exit code."""
    project = _trees.find_project(args)
    from evalspec.prompts.view_config import views_of

    views = views_of(project, args.view, _views.flags_of(args), rows=_FEW if args.write_out else None)
    told = _lines.Told(args)
    with ExitStack() as stack:
        lines = told.each(rendered(args, project, views, stack, _finish(args, views)))
        _write(args, lines, stack, views)
    return 1 if told.failed else 0


def rendered(
    args: argparse.Namespace,
    project: Project,
    views: tuple[View, ...],
    stack: ExitStack,
    finish: Finish | None,
) -> Iterator[Line]:
    """The lines that the arguments ask for, each after `finish`; files stay open as long as `stack`."""
    _views.tell_of_clocks(args, views)
    paths = _trees.paths_of(args, project)
    if paths is not None:
        return _of_tree(args, project, views, paths, finish)
    return _of_files(args, project, views, stack, finish)


def _finish(args: argparse.Namespace, views: tuple[View, ...]) -> Finish | None:
    """What is done to each line before it is printed, in the process that makes it."""
    from evalspec.prompts.tokens import token_teller

    tokens = None if args.null else token_teller(views)
    if args.format != "json":
        return tokens

    def finish(line: Line) -> Line:
        line = tokens(line) if tokens else line
        return _lines.encoded(_scored(line) if args.write_out else line)

    return finish


def _of_files(
    args: argparse.Namespace,
    project: Project,
    views: tuple[View, ...],
    stack: ExitStack,
    finish: Finish | None,
) -> Iterator[Line]:
    """The lines of task files of our own contract."""
    from evalspec.errors import UsageError

    if args.cache_key:
        raise UsageError("--cache-key is of lm-eval tasks only", fix="name a tree of lm-eval YAML")
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project)
    from evalspec.prompts.lines import Wanted
    from evalspec.prompts.record_lines import render_records
    from evalspec.prompts.row_config import given_rows, row_options
    from evalspec.tasks import open_tasks

    given = given_rows(args.rows, args.rows_dir)
    roots = [project.folder] if project.folder else []
    family = project.families.default
    rows = row_options(given, project.folder, family, roots, are_docs=args.rows_are_docs, rows=project.rows)
    asked, parts = _views.named_tasks(args.task), _needs_parts(args, views)
    wanted = Wanted(views, asked, rows, parts=parts, finish=finish)
    with _common.progress(args, "reading", paths) as advance:
        opened = open_tasks(paths, reading, allow_bad=args.allow_bad_tasks, advance=advance)
        files = stack.enter_context(opened)
    return render_records(files, wanted, project.families.short, jobs=args.jobs or _common.cores())


def _of_tree(
    args: argparse.Namespace,
    project: Project,
    views: tuple[View, ...],
    paths: list[str],
    finish: Finish | None,
) -> Iterator[Line]:
    """The lines of trees of lm-eval YAML."""
    from evalspec.prompts.lines import Wanted
    from evalspec.prompts.lm_eval.open_tree import FAMILY
    from evalspec.prompts.row_config import given_rows, row_options
    from evalspec.prompts.tree_lines import TreeJob, cache_keys, render_tree

    given = given_rows(args.rows, args.rows_dir)
    tree = _trees.open_trees(args, paths)
    tasks = tree.select(_views.named_tasks(args.task))
    rows = row_options(
        given, project.folder, FAMILY, tree.roots, are_docs=args.rows_are_docs, rows=project.rows
    )
    wanted = Wanted(views, (), rows, parts=_needs_parts(args, views), finish=finish)
    job = TreeJob(tree, tuple(tasks), wanted, trusted=args.trust_code)
    if args.cache_key:
        return cache_keys(job)
    return render_tree(job, args.jobs or _common.cores())


def _needs_parts(args: argparse.Namespace, views: tuple[View, ...]) -> bool:
    cut = any(view.tokenizer is not None for view in views)
    return bool(args.format == "json" or args.write_out or (cut and not args.null))


def _write(
    args: argparse.Namespace, lines: Iterator[Line], stack: ExitStack, views: tuple[View, ...]
) -> None:
    several = len(views) > 1
    write = stack.enter_context(_output.byte_sink(args))
    if args.format == "json":
        _lines.write_json(write, lines)
    elif args.cache_key:
        _lines.write_keys(write, lines, views=several)
    elif args.write_out:
        _lines.write_side_by_side(write, lines, views=several)
    elif args.null:
        _lines.write_null(write, lines)
    else:
        _lines.write_texts(write, lines, views=several)
        if any(view.tokenizer is not None for view in views) and not args.quiet:
            from evalspec.report.token_marks import LEGEND

            sys.stderr.write(f"{LEGEND}\n")
    sys.stdout.flush()


def _scored(line: Line) -> Line:
    """A line with the pairs that are scored, and where these differ from what is shown."""
    from evalspec.prompts.lines import scored_of
    from evalspec.report.side_by_side import scored_json

    return line._replace(data={**line.data, "write_out": scored_json(scored_of(line.data))})
