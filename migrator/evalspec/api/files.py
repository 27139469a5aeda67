"""The API for files: validate, load, migrate."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalspec.api._shared import history_of, id_of, project_or_found, reading_in, upgrade_record, upgrades_to
from evalspec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.api._shared import AnyPath
    from evalspec.errors import Finding
    from evalspec.migrate.outcome import Outcome
    from evalspec.project import Project


class Validated(NamedTuple):
    """What a task file holds; it unpacks as `valid, errors`.

    Attributes:
        valid: the valid records, as they are in the file.
        errors: what is wrong with the others, in the order of the file.
    """

    valid: list[dict[str, Any]]
    errors: list[Finding]


def validate_file(path: AnyPath, *, all_errors: bool = False, project: Project | None = None) -> Validated:
    r"""The valid records of a task file, and what is wrong with the others.

    Args:
        path: a JSONL or YAML file; `-` is standard input.
        all_errors: every violation of a record, not only the first.
        project: where versions are looked for.

    Raises:
        WriteError: the file cannot be read.

    >>> import json, pathlib, evalspec
    >>> good = evalspec.load_fixtures("v1").tasks[0]
    >>> bad = {**good, "category": "arithmetics"}
    >>> size = pathlib.Path("tasks.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n")
    >>> valid, errors = evalspec.validate_file("tasks.jsonl")
    >>> [task["task_id"] for task in valid]
    ['arith_001']
    >>> [(error.line, error.rule, error.field, error.fix) for error in errors]
    [(2, 'bad_value', 'category', "did you mean 'arithmetic'?")]
    """
    from evalspec.tasks import open_tasks

    reading = reading_in(project_or_found(project), all_errors=all_errors)
    with open_tasks([os.fspath(path)], reading) as (file,):
        return Validated([value for _, _, value in file.valid()], list(file.report.errors))


def load(
    path: AnyPath,
    schema: str = "head",
    *,
    allow_bad_tasks: bool = False,
    project: Project | None = None,
) -> list[dict[str, Any]]:
    r"""The records of a task file, upgraded in memory to one version; the file stays as it is.

    Args:
        path: a JSONL or YAML file; `-` is standard input.
        schema: `v3`, `family@v3` or `head`.
        allow_bad_tasks: leave invalid records out instead of refusing the file.
        project: where versions and migrations are looked for.

    Raises:
        BadTasks: a record is invalid, or a migration does not fit it.
        BrokenPromise: a prompt changes though a migration promises that none does.
        UsageError: there is no such version, or no way to it.
        WriteError: the file cannot be read.

    >>> import json, pathlib, evalspec
    >>> tasks = evalspec.load_fixtures("v1").tasks
    >>> size = pathlib.Path("tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    >>> loaded = evalspec.load("tasks.jsonl")
    >>> len(loaded), {task["spec_version"] for task in loaded}
    (10, {3})
    """
    from evalspec.tasks import open_tasks, refuse_bad

    project = project_or_found(project)
    upgrades = upgrades_to(project, id_of(project, schema))
    loaded, problems = [], []
    with open_tasks([os.fspath(path)], reading_in(project), allow_bad=allow_bad_tasks) as (file,):
        for record, source, value in file.valid():
            problem = upgrade_record(value, source, upgrades, file.path, record.line, file.report.format)
            if problem is None:
                loaded.append(value)
            else:
                problems.append(problem)
    if not allow_bad_tasks:
        refuse_bad(problems)
    return loaded


def migrate_files(
    paths: AnyPath | Sequence[AnyPath] = (),
    to: str = "head",
    *,
    from_: str | None = None,
    dry_run: bool = False,
    allow_bad_tasks: bool = False,
    atomic: Literal["file", "run"] = "file",
    prove_all: bool = False,
    reformat: bool = False,
    backup: AnyPath | None = None,
    jobs: int = 1,
    project: Project | None = None,
) -> Outcome:
    r"""Migrate task files in place, exactly as `evalspec migrate` does.

    Args:
        paths: files, folders and patterns; with none, the project's tasks, else the current folder.
        to: `v3`, `family@v3`, `head`, or `+1` for the version after the one that all records are at.
        from_: the version of records that carry no marker.
        dry_run: do everything but write.
        allow_bad_tasks: carry invalid records over byte for byte; without it their file is left alone.
        atomic: replace each file by itself, or all or none.
        prove_all: render every record, also where the operations prove the promise.
        reformat: lay YAML out anew where it cannot be edited in place.
        backup: a folder for copies of the old files.
        jobs: how many processes may share the work on large files.
        project: where versions, migrations and tasks are looked for.

    Returns:
        What was done, by file and by step; `outcome.bad` lists what is wrong with invalid records.

    Raises:
        BrokenPromise: a prompt changes that was promised not to; nothing was written.
        UsageError: there is no file, no such version, or no way to it.
        WriteError: a file could not be read or written; what was there is intact.
        GuardHeld: another run is at work.

    >>> import json, pathlib, evalspec
    >>> task = evalspec.load_fixtures("v1").tasks[0]
    >>> size = pathlib.Path("tasks.jsonl").write_text(json.dumps(task) + "\n")
    >>> outcome = evalspec.migrate_files("tasks.jsonl", to="v3")
    >>> [(file.records, file.changed, file.written) for file in outcome.files]
    [(1, 1, True)]
    >>> [(step.migration.id, step.changed, step.proved_by) for step in outcome.steps.values()]
    [('evalspec@v2', 0, 'operations'), ('evalspec@v3', 0, 'operations')]
    """
    from evalspec.migrate.convert import Options
    from evalspec.migrate.run import Writing, migrate_paths
    from evalspec.migrate.target import resolve_target
    from evalspec.tree import select, start_of
    from evalspec.writing import run_folder

    project = project_or_found(project)
    named = (
        [os.fspath(paths)] if isinstance(paths, (str, os.PathLike)) else [os.fspath(path) for path in paths]
    )
    if "-" in named:
        raise UsageError("standard input cannot be migrated in place", fix="name files, or use `load`")
    selection = select(named, defaults=project.tasks, exclude=project.exclude, folder=project.folder)
    files = [file.path for file in selection.files]
    if not files:
        raise UsageError(f"no task file: {selection.chosen}", fix="name a file, or a folder that has some")
    reading = reading_in(project, unmarked=from_)
    target = resolve_target(to, project, history_of(project), files, reading)
    writing = Writing(
        run_folder(map(start_of, named or [project.folder or "."]), project.folder),
        atomic=atomic,
        dry_run=dry_run,
        allow_bad=allow_bad_tasks,
        reformat=reformat,
        backup=os.fspath(backup) if backup is not None else None,
        jobs=jobs,
    )
    options = Options(prove_all=prove_all, want_ids=True)
    return migrate_paths(files, upgrades_to(project, target), reading, writing, options)
