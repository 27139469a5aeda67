"""Show what changed in prompts: since a git revision, between two folders, or by a migration. Nothing is written.

Without a revision the working tree is compared with where its branch left the default branch; on that branch itself,
with the commit before. What git holds is read from its objects: there is no checkout, and no function is run.
With --to, every record is rendered under each version on its way, and outputs are compared on the sample generations.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from evalspec.cli import _common, _output, _views
from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    import argparse

    from evalspec.diff import Comparison, Repository, Sides
    from evalspec.project import Project
    from evalspec.prompts.tokens import Tokenizer

EXAMPLES = """
diff
diff main -- tasks/
diff v1.0..HEAD --stat
diff --staged --exit-code
diff --no-index old/ new/ --format html --output changes.html
diff --view plain --against chat tasks/
diff --format markdown --budget summary >> "$GITHUB_STEP_SUMMARY"
diff --from v1 --to v3 tasks/
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument("--staged", action="store_true", help="compare what is staged, not the working tree")
    parser.add_argument(
        "--no-index", action="store_true", help="compare two folders or files, A and B, not git"
    )
    parser.add_argument(
        "--from",
        dest="from_",
        metavar="VERSION",
        help="with --to: the version of records that carry no marker",
    )
    parser.add_argument(
        "--to",
        metavar="VERSION",
        help="what migrating would change: v3, family@v3, head, or +1 for the next one",
    )
    parser.add_argument("--stat", action="store_true", help="how many tasks changed in what, and no more")
    parser.add_argument(
        "--word-diff",
        action="store_true",
        help="show in a prompt every word that changed, not the first difference",
    )
    _output.add_pager(parser)
    parser.add_argument("--exit-code", action="store_true", help="exit 1 if anything changes, or may")
    parser.add_argument(
        "--allow-bad-tasks",
        action="store_true",
        help="with --to: leave invalid records out instead of refusing",
    )
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="VIEW",
        help="compare the files under --view with themselves under this view (repeatable)",
    )
    _common.add_no_cache(parser)
    _views.add_views(parser)
    _common.add_format(parser, formats=("text", "json", "markdown", "html", "github", "junit"))
    parser.add_argument(
        "--budget",
        choices=("comment", "summary"),
        default="comment",
        help="what --format markdown has to fit in: a comment on a pull request (the default), or a job's summary",
    )
    _common.add_jobs(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print, and return the exit code."""
    if args.format != "text" and (args.stat or args.word_diff or args.tokenizer):
        raise UsageError(
            f"--stat, --word-diff and --tokenizer are of text, not of {args.format}", fix="leave --format out"
        )
    if args.to is not None:
        return _versions(args)
    if args.from_ is not None:
        raise UsageError("--from goes with --to", fix="say the version to compare with: --to v3")
    from evalspec.cli._trees import find_project
    from evalspec.diff import compare, view_pairs

    project = find_project(args)
    with ExitStack() as stack:
        sides = _sides(args, project, stack)
        views = view_pairs(sides, project, args.view, _views.flags_of(args), args.against)
        comparison = compare(sides, project, views, keep=not args.no_cache)
        tokenizers = (each.tokenizer for view in views for each in (view.after, view.before))
        _print(args, comparison, next(filter(None, tokenizers), None))
    return 1 if args.exit_code and not comparison.is_empty else 0


def _sides(args: argparse.Namespace, project: Project, stack: ExitStack) -> Sides:
    from evalspec.diff import Asked, Repository, git_sides, named_sides, same_sides

    spec = args.spec or project.foreign
    if args.no_index:
        if len(args.paths) != 2 or args.staged:
            raise UsageError("--no-index compares two folders or files", fix="diff --no-index A B")
        before, after = args.paths
        return named_sides(before, after, spec)
    if args.against:
        if args.staged:
            raise UsageError(
                "--against compares two views of the files as they are", fix="leave --staged out"
            )
        return same_sides(args.paths or [os.curdir], spec)
    repository = Repository()
    base, head, paths = _revisions(args, repository)
    if head and args.staged:
        raise UsageError("two revisions leave nothing to compare what is staged with", fix="leave one out")
    branch = project.config.default_branch or ""
    asked = Asked(base, head, args.staged, tuple(paths), branch, spec or "")
    return stack.enter_context(git_sides(asked, repository))


def _revisions(args: argparse.Namespace, repository: Repository) -> tuple[str, str, list[str]]:
    """Base, head and paths, told apart as git does it.

    What stands behind `--` is paths. Without it the first word is a path where there is one of that name.

    Raises:
        UsageError: the first word is a path and a revision.
    """
    given: list[str] = args.paths
    if args.after_dashes is not None:
        given = given[: len(given) - len(args.after_dashes)]
        if len(given) > 1:
            raise UsageError(
                f"one revision, or A..B, goes in front of `--`, not {len(given)}", fix="paths go behind it"
            )
    elif given and os.path.exists(given[0]):
        if repository.names_commit(given[0]):
            raise UsageError(
                f"{visible(given[0])!r} is a path and a revision",
                fix=f"`diff {given[0]} --` means the revision, `diff -- {given[0]}` the path",
            )
        return "", "", given
    first, *paths = given or [""]
    base, dots, head = first.partition("..")
    return base, (head.removeprefix(".") or "HEAD") if dots else "", paths + (args.after_dashes or [])


def _print(args: argparse.Namespace, comparison: Comparison, tokenizer: Tokenizer | None) -> None:
    from evalspec.report import Console, plain
    from evalspec.report.diff_text import compared_line, diff_text

    if args.format != "text":
        if not args.quiet:
            sys.stderr.write(f"{compared_line(comparison)}\n")
        _common.write_output(args, _for_programs(args, comparison))
        return
    paint = plain if args.output else Console(sys.stdout).paint
    encode = tokenizer.encode if tokenizer is not None else None
    text = diff_text(comparison, stat=args.stat, words=args.word_diff, paint=paint, encode=encode)
    _output.write_paged(args, text)


def _for_programs(args: argparse.Namespace, comparison: Comparison) -> str:
    if args.format == "markdown":
        from evalspec.report.diff_markdown import BUDGETS, diff_markdown

        return diff_markdown(comparison, BUDGETS[args.budget])
    if args.format == "html":
        from evalspec.report.diff_html import diff_html

        return diff_html(comparison)
    if args.format == "github":
        from evalspec.report.diff_github import diff_github

        return diff_github(comparison)
    if args.format == "junit":
        from evalspec.report.diff_junit import diff_junit

        return diff_junit(comparison)
    return _common.dumps(comparison.to_dict())


def _versions(args: argparse.Namespace) -> int:
    """What migrating to `--to` would change."""
    if args.staged or args.no_index or args.stat or args.word_diff:
        raise UsageError(
            "--to compares the same files before and after a migration", fix="leave the other flags out"
        )
    if args.format not in ("text", "json"):
        raise UsageError(f"--to does not print {args.format}", fix="leave --format out, or say json")
    project = _common.find_project(args)
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project, args.from_)
    from evalspec.diff import diff_versions
    from evalspec.migrate import load_history
    from evalspec.migrate.target import resolve_target
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.report import Console, plain
    from evalspec.report.version_diff import version_diff_data, version_diff_text

    history = load_history(project.families)
    upgrades = Upgrades(project.families, history, resolve_target(args.to, project, history, paths, reading))
    with _common.progress(args, "comparing", paths) as advance:
        diff = diff_versions(
            paths,
            upgrades,
            reading,
            allow_bad=args.allow_bad_tasks,
            jobs=args.jobs or _common.cores(),
            advance=advance,
        )
    if args.format == "json":
        _common.write_output(args, _common.dumps(version_diff_data(diff, project.families)))
    else:
        paint = plain if args.output else Console(sys.stdout).paint
        text = _common.findings_text(args, diff.outcome.bad, 20)
        _output.write_paged(args, text + version_diff_text(diff, project.families, paint=paint))
    return 1 if args.exit_code and not diff.is_empty else 0
