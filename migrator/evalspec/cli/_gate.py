"""What `evalspec check` does, in its order: task files, the project's own versions, the base, then what counts."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.cli import _common, _lint, _trees
from evalspec.errors import Place, UsageError, counted
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator, Sequence

    from evalspec.caching.store import Cache
    from evalspec.check import VersionCheck
    from evalspec.check.against_base import Against
    from evalspec.check.lock import Lock
    from evalspec.diff import Repository
    from evalspec.diff.model import Compared
    from evalspec.errors import Finding
    from evalspec.project import Project
    from evalspec.tasks import FileReport


class Checked(NamedTuple):
    """What a check found.

    Attributes:
        project: the project.
        findings: those that count.
        files: the reports of the task files of our own contract.
        looked_at: how many files that were.
        tasks: how many tasks they hold.
        required: the id of the version that was required, if one was.
        compared: what it was compared with, if it was.
    """

    project: Project
    findings: Sequence[Finding]
    files: Sequence[FileReport] = ()
    looked_at: int = 0
    tasks: int = 0
    required: str | None = None
    compared: Compared | None = None

    @property
    def passed(self) -> bool:
        """True where no finding is an error."""
        return all(finding.severity != "error" for finding in self.findings)


def checked(args: argparse.Namespace, *, with_baseline: bool = True) -> Checked:
    """Check what the arguments ask for.

    Args:
        args: the arguments of `evalspec check`.
        with_baseline: leave out what a baseline has.

    Raises:
        UsageError: the base cannot be found, or the configuration names a rule that is not there.
    """
    project, trees, files = _what(args)
    from evalspec.check.choose import check_names
    from evalspec.check.rules import RULES
    from evalspec.diff.kept import cache_of

    check_names(project.config, RULES)
    found = Checked(project, ())
    broken = list(_broken(project))
    if broken:  # no task file can be judged by versions that do not load
        return found._replace(findings=_counting(args, project, broken, with_baseline=with_baseline))
    if files or not trees:
        found = _of_files(_with(args, paths=files), project)
    if trees:
        of_trees = _of_trees(args, project, trees)
        found = found._replace(
            findings=[*found.findings, *of_trees.findings],
            looked_at=found.looked_at + of_trees.looked_at,
            tasks=found.tasks + of_trees.tasks,
        )
    repository = _repository(args, project)
    cache = cache_of(repository, project) if repository is not None and not args.no_cache else None
    with ExitStack() as stack:
        findings = list(found.findings)
        all_of = list(_against(args, project, repository, stack, [trees, files]))
        of_project = list(_of_project(project, all_of[0].lock if all_of else None, cache))
        of_prompts = [finding for against in all_of for finding in _of_prompts(project, against)]
        findings += _without_echoes([*of_project, *of_prompts])
        compared = all_of[-1].comparison.compared if all_of else None
        if args.changed:
            findings = list(_changed(findings, all_of))
    counting = _counting(args, project, findings, with_baseline=with_baseline)
    return found._replace(findings=counting, compared=compared)


def _with(args: argparse.Namespace, **changes: object) -> argparse.Namespace:
    """The arguments with others in place of some."""
    from argparse import Namespace

    return Namespace(**{**vars(args), **changes})


def _what(args: argparse.Namespace) -> tuple[Project, list[str], list[str]]:
    """The project, the paths that mean trees of lm-eval YAML, and those that mean task files of our own contract."""
    if args.require:
        return _common.find_project(args), [], args.paths
    project = _trees.find_project(args)
    return project, *kinds_of_paths(project, args.paths, args.spec)


def kinds_of_paths(
    project: Project, given: Sequence[str], spec: str | None = None
) -> tuple[list[str], list[str]]:
    """The paths that mean trees of lm-eval YAML, and those that mean task files of our own contract.

    Without any these are the project's; where it names none there are no paths of files, which means this folder.
    """
    from evalspec.prompts.lm_eval.open_tree import lm_eval_paths

    base = project.folder or os.curdir
    configured = [os.path.relpath(os.path.join(base, path)) for path in project.tasks]
    trees: list[str] = []
    files: list[str] = []
    for path in given or configured or [os.curdir]:
        tree = lm_eval_paths([path], spec or project.foreign, ())
        if tree is not None:
            trees += tree
        else:
            files.append(path)
    return trees, [] if files == [os.curdir] and not given else files


def _of_trees(args: argparse.Namespace, project: Project, paths: Sequence[str]) -> Checked:
    """Trees of lm-eval YAML, whose records have no versions of ours."""
    tree = _trees.open_trees(args, paths)
    quiet = _with(args, quiet=True)
    from evalspec.check import twins_in_trees

    findings = _lint.mended(
        args,
        lambda: _lint.lint_of_tree(args, project, _trees.open_trees(quiet, paths)),
        lambda: _lint.lint_of_tree(args, project, tree),
    )
    findings += twins_in_trees(tree)
    loaders = tree.index.loaders
    entries = [entry for entry in tree.index.entries.values() if entry.path is not None]
    return Checked(
        project, findings, looked_at=sum(len(loader.reached()) for loader in loaders), tasks=len(entries)
    )


def _of_files(args: argparse.Namespace, project: Project) -> Checked:
    """Task files of our own contract."""
    required = None
    if args.require or not isinstance(project.config.requires, Absent):
        required = _common.schema_of(project, args.require or str(project.config.requires)).id
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
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
    return Checked(project, [*result.findings, *more], result.files, len(paths), tasks, required)


def _repository(args: argparse.Namespace, project: Project) -> Repository | None:
    """The repository that has the base, where one is asked for or the project has a configuration; else None.

    Raises:
        UsageError: a base is asked for, and there is no repository.
    """
    asked_for = args.base or args.staged or args.changed
    if args.no_base and asked_for:
        raise UsageError("--no-base goes with no other base", fix="leave it out")
    if not asked_for and project.folder is None:
        return None
    from evalspec.diff import Repository

    try:
        repository = Repository()
    except UsageError:
        if asked_for:
            raise
        return None
    return None if repository.is_empty and not asked_for else repository


def _against(
    args: argparse.Namespace,
    project: Project,
    repository: Repository | None,
    stack: ExitStack,
    wanted: Sequence[Sequence[str]],
) -> Iterator[Against]:
    """The comparisons with the base, of trees and of files."""
    if repository is None or args.no_base:
        return
    from evalspec.check.against_base import Against, base_lock
    from evalspec.diff import Asked, compare, git_sides, view_pairs

    branch = project.config.default_branch
    default = "" if isinstance(branch, Absent) else branch
    base = repository.commit(args.base) if args.base else repository.base(default)
    lock = base_lock(repository, base, project)
    trees, files = wanted
    own = args.spec or project.spec or "evalspec"
    for paths, spec in ((trees, "lm-eval"), (files or ([] if trees else default_paths(project)), own)):
        if paths:
            asked = Asked(base.sha, "", args.staged, tuple(paths), default, spec)
            sides = stack.enter_context(git_sides(asked, repository, base=base))
            views = view_pairs(sides, project, (), {})
            yield Against(compare(sides, project, views, keep=not args.no_cache), lock, sides, views)


def default_paths(project: Project) -> list[str]:
    """The project's tasks as `evalspec diff` takes them: its folders and files, whether or not they are there now."""
    from evalspec.tree import start_of

    base = project.folder or os.curdir
    found = [os.path.relpath(os.path.join(base, start_of(path) or os.curdir)) for path in project.tasks]
    return list(dict.fromkeys(found)) or [os.path.relpath(base)]


def _without_echoes(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings without those that say of a released file that was changed what the change makes of all else."""
    from evalspec.check.released import MIGRATION_CHANGED, SCHEMA_CHANGED

    causes = (SCHEMA_CHANGED.id, MIGRATION_CHANGED.id)
    changed = {finding.path for finding in findings if finding.rule in causes}
    for finding in findings:
        if finding.rule in causes or finding.path not in changed:
            yield finding


def _broken(project: Project) -> Iterator[Finding]:
    """What keeps the project's own versions from being read at all."""
    if project.folder is None:
        return
    from evalspec.check.chain import CHAIN_BROKEN, SCHEMA_UNREADABLE, check_chain

    for finding in check_chain(project):
        if finding.rule in (CHAIN_BROKEN.id, SCHEMA_UNREADABLE.id):
            yield finding


def _of_project(project: Project, base: Lock | None, cache: Cache | None) -> Iterator[Finding]:
    """The project's own versions, migrations and fixtures, and what of them the base's lock has released."""
    if project.folder is None:
        return
    from evalspec.check.chain import check_chain
    from evalspec.check.exercised import check_exercised
    from evalspec.check.lock import read_lock
    from evalspec.check.released import check_released

    lock = read_lock(project.folder)
    released = list(check_released(project, lock, base if base is not None else lock))
    yield from released
    chain = list(check_chain(project))
    yield from chain
    yield from check_exercised(project)
    if not (released or chain):  # else hardly a fixture gives what it says, and it is no fault of theirs
        yield from _of_fixtures(project, cache)


def _of_fixtures(project: Project, cache: Cache | None) -> Sequence[Finding]:
    """What every check of the project's fixtures finds; kept while versions, migrations and fixtures are the same."""
    from evalspec.caching.store import digest_of_files, key_of
    from evalspec.check.spec import spec_checks
    from evalspec.errors import Finding

    def build(data: list[list[Any]]) -> list[Finding]:
        return [Finding(*each) for each in data]

    roots = sorted({folder for family in project.families.by_name.values() for folder in family.root})
    key = (
        key_of("spec", os.path.relpath(project.folder or os.curdir), digest_of_files(roots)) if cache else ""
    )
    kept = cache.get(key, build) if cache is not None else None
    if kept is not None:
        return kept
    found = [finding for check in spec_checks(project) for finding in check.findings()]
    if cache is not None:
        cache.put(key, found, build)
    return found


def _of_prompts(project: Project, against: Against) -> Iterator[Finding]:
    """Prompts that changed against the base."""
    from evalspec.check.against_base import prints_of
    from evalspec.check.lock import EMPTY, read_lock
    from evalspec.check.silent import accepted_tasks, check_prompts

    lock = read_lock(project.folder) if project.folder is not None else EMPTY
    side, views = against.sides.after, [view.after for view in against.views]

    def prints(tasks: Collection[str]) -> dict[str, tuple[str, ...]]:
        return prints_of(side, project, views, tasks, lm_eval=against.sides.lm_eval)

    family = "lm-eval" if against.sides.lm_eval else project.families.default
    accepted = accepted_tasks(lock.of_kind("accepted"), prints)
    yield from check_prompts(against.comparison, project.config.policy(family), accepted)


def _changed(findings: Sequence[Finding], all_of: Sequence[Against]) -> Iterator[Finding]:
    """The findings in files that differ from the base, and of tasks whose prompts do."""
    tasks: set[str] = set()
    paths: set[str] = set()
    for against in all_of:
        comparison = against.comparison
        tasks |= {task for group in comparison.groups for task in group.tasks}
        tasks |= {each.task for each in comparison.unknown} | {each.task for each in comparison.records}
        paths |= against.sides.changed
    for finding in findings:
        if finding.task in tasks or os.path.realpath(finding.path) in paths:
            yield finding


def _counting(
    args: argparse.Namespace, project: Project, findings: Sequence[Finding], *, with_baseline: bool
) -> list[Finding]:
    """The findings that count."""
    from evalspec.check.choose import chosen, without_old
    from evalspec.check.rules import RULES
    from evalspec.project import configuration_in
    from evalspec.tree import format_of

    config_path = configuration_in(project.folder) if project.folder else None
    files = {finding.path for finding in findings if format_of(finding.path) == "yaml"}
    kept = chosen(
        findings,
        project.config,
        RULES,
        folder=project.folder,
        files=sorted(files),
        config_place=Place(os.path.relpath(config_path)) if config_path else None,
    )
    path = args.baseline
    if path is None and not isinstance(project.config.baseline, Absent):
        path = os.path.join(project.folder or os.curdir, project.config.baseline)
    if path is None or not with_baseline:
        return kept
    try:
        with open(path, "rb") as file:
            return without_old(kept, file.read(), path)
    except FileNotFoundError:
        raise UsageError(f"no such baseline: {path}", fix="make one: evalspec baseline") from None


def summary(result: Checked) -> str:
    """What was found, in a line or two."""
    short = result.project.families.short
    compared = f"compared with {result.compared.base}\n" if result.compared else ""
    if not result.files:
        return compared + _lint.summary(result.findings)
    required = short(result.required) if result.required else None
    files = counted(len(result.files), "file")
    if result.passed:
        valid = sum(report.valid for report in result.files)
        at = f" and at {required}" if required else ""
        remarks = f"; {_lint.counts(result.findings)}" if result.findings else ""
        return f"{compared}{files} with {counted(valid, 'record')}, all valid{at}{remarks}\n"
    errors = [finding for finding in result.findings if finding.severity == "error"]
    known = {report.path for report in result.files}
    failed = len({finding.path for finding in errors} & known)
    elsewhere = len({finding.path for finding in errors} - known)
    where = f"{failed} of {files}" if failed or not elsewhere else files
    if elsewhere:
        where += f" and {counted(elsewhere, 'other file')}"
    needed = f"; {required} is required" if required else ""
    return f"{compared}{counted(len(errors), 'finding')} in {where}{needed}\n"


def watch(args: argparse.Namespace) -> int:
    """Check in a process of its own, again whenever a file of the project or the paths changes, until interrupted."""
    import subprocess
    import time

    words = [word for word in sys.argv[1:] if word != "--watch"]
    project = _trees.find_project(args)
    folders = args.paths or [project.folder or os.curdir]
    seen = None
    while True:
        now = _stamps(folders)
        if now != seen:
            seen = now
            if sys.stdout.isatty():
                sys.stdout.write("\x1b[2J\x1b[H")
            sys.stdout.flush()
            command = [sys.executable, "-m", "evalspec", *words]
            code = subprocess.run(command, check=False).returncode  # noqa: S603 - the command that we are
            if code not in (0, 1):
                return code
            sys.stderr.write("watching; Ctrl-C ends it\n")
        time.sleep(0.5)


def _stamps(paths: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Size and time of every file below the paths that may be a task file or a part of a project."""
    found = {}
    for top in paths:
        walk = os.walk(top) if os.path.isdir(top) else [(os.path.dirname(top), [], [os.path.basename(top)])]
        for folder, folders, names in walk:
            folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
            for name in names:
                try:
                    status = os.stat(os.path.join(folder, name))
                except OSError:
                    continue
                found[os.path.join(folder, name)] = (status.st_size, status.st_mtime_ns)
    return found
