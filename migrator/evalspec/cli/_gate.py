"""What `evalspec check` does, in its order: task files, the project's own versions, the base, then what counts."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.cli import _common, _lint, _task_files, _trees
from evalspec.errors import Place, UsageError, counted
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterator, Sequence

    from evalspec.caching.store import Cache
    from evalspec.check.against_base import Against
    from evalspec.check.lint.suggest import Suggestion
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
        suggested: edits that would mend what is left, and change prompts.
    """

    project: Project
    findings: Sequence[Finding]
    files: Sequence[FileReport] = ()
    looked_at: int = 0
    tasks: int = 0
    required: str | None = None
    compared: Compared | None = None
    suggested: Sequence[Suggestion] = ()

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
    _task_files.refuse_to_mend_staged(args)
    project, trees, files = _what(args)
    from evalspec.check.choose import check_names
    from evalspec.check.rules import RULES
    from evalspec.diff.kept import cache_of

    check_names(project.config, RULES)
    broken = list(_broken(project))
    if broken:  # no task file can be judged by versions that do not load
        counting = _counting(args, project, broken, None, with_baseline=with_baseline)
        return Checked(project, counting)
    repository = _repository(args, project)
    cache = cache_of(repository, project) if repository is not None and not args.no_cache else None
    shown: list[_task_files.Shown] = []
    with ExitStack() as stack:
        all_of = list(_against(args, project, repository, stack, [trees, files]))
        of = {against.sides.lm_eval: against for against in all_of}
        if files or not trees:
            shown.append(_task_files.of_files(args, project, files, of.get(False)))
        if trees:
            shown.append(_task_files.of_trees(args, project, trees, of.get(True)))
        findings = [finding for each in shown for finding in each.findings]
        of_project = list(_of_project(project, all_of[0].lock if all_of else None, cache))
        of_prompts = [finding for against in all_of for finding in _of_prompts(project, against)]
        findings += _without_echoes([*of_project, *of_prompts])
        compared = all_of[-1].comparison.compared if all_of else None
        if args.changed:
            findings = list(_changed(findings, all_of))
    findings = list(dict.fromkeys(findings))  # a fixture is checked by the versions before and behind a step
    counting = _counting(args, project, findings, repository, with_baseline=with_baseline)
    places = set(map(_place, counting))
    return Checked(
        project,
        counting,
        [file for each in shown for file in each.files],
        sum(each.looked_at for each in shown),
        sum(each.tasks for each in shown),
        next((each.required for each in shown if each.required), None),
        compared,
        [each for part in shown for each in part.suggested if _place(each.finding) in places],
    )


def _place(finding: Finding) -> tuple[str, str, int, int]:
    return finding.rule, finding.path, finding.line, finding.column


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
    return trees, files if given or configured else []


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
    from evalspec.diff import Asked, Comparison, git_sides, view_pairs
    from evalspec.diff.model import Compared

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
            if sides.changed or any(view.cause is not None for view in views):
                from evalspec.diff import compare

                comparison = compare(sides, project, views, keep=not args.no_cache)
            else:  # where no file differs no prompt does
                comparison = Comparison(Compared(sides.before.label, sides.after.label, 0, 0))
            yield Against(comparison, lock, sides, views)


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
    tasks = {task for against in all_of for task in against.changed_tasks}
    paths = {path for against in all_of for path in against.sides.changed}
    for finding in findings:
        if finding.task in tasks or os.path.realpath(finding.path) in paths:
            yield finding


def _counting(
    args: argparse.Namespace,
    project: Project,
    findings: Sequence[Finding],
    repository: Repository | None,
    *,
    with_baseline: bool,
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
        read=_staged_reader(repository) if args.staged and repository is not None else None,
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


def _staged_reader(repository: Repository) -> Callable[[str], bytes | None]:
    """Reads what is staged of a file, by its path from here."""
    from evalspec.diff.git_objects import GitFiles

    files = GitFiles(repository, repository.blobs(None))
    return lambda path: files.read(os.path.relpath(os.path.realpath(path), repository.root))


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
