"""What the commands share that write a lock."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.cli import _gate, _lint
from evalspec.errors import UsageError
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from evalspec.check.lock import Key, Lock
    from evalspec.diff import Sides
    from evalspec.project import Project


def project_of(args: argparse.Namespace) -> tuple[Project, str]:
    """The project, which must have a folder of its own, and that folder.

    Raises:
        UsageError: there is no project.
    """
    from evalspec.project import Project

    project = Project.find(config=args.config)
    if project.folder is None:
        raise UsageError("there is no project here", fix="make one: evalspec init")
    return project, project.folder


def base_lock_of(args: argparse.Namespace, project: Project) -> Lock:
    """The lock of the base; an empty one outside of git, and where there is no commit yet."""
    from evalspec.check.against_base import base_lock
    from evalspec.check.lock import EMPTY
    from evalspec.diff import Repository

    try:
        repository = Repository()
    except UsageError:
        if args.base:
            raise
        return EMPTY
    if repository.is_empty and not args.base:
        return EMPTY
    branch = project.config.default_branch
    default = "" if isinstance(branch, Absent) else branch
    base = repository.commit(args.base) if args.base else repository.base(default)
    return base_lock(repository, base, project)


def prints_of_tasks(project: Project) -> dict[str, tuple[str, ...]]:
    """The fingerprints of every task of the project, as `view=fingerprint`, under every configured view."""
    from evalspec.check.against_base import prints_of

    views = _lint.views_of_project(project)
    return {
        task: prints
        for sides in _sides(project)
        for task, prints in prints_of(sides.after, project, views, (), lm_eval=sides.lm_eval).items()
    }


def prompt_lines(project: Project) -> dict[Key, tuple[str, ...]]:
    """A line for the prompts of every task: its own version, and a fingerprint a view."""
    import json

    from evalspec.check.against_base import versions_of
    from evalspec.check.lock import Key

    versions = {
        task: version
        for sides in _sides(project)
        for task, version in versions_of(sides.after, project, lm_eval=sides.lm_eval).items()
    }
    prints = prints_of_tasks(project)
    return {Key("prompt", task): (json.dumps(versions.get(task)), *words) for task, words in prints.items()}


def _sides(project: Project) -> Iterator[Sides]:
    """The project's trees of lm-eval YAML, and its task files, as they are."""
    from evalspec.diff import same_sides

    trees, files = _gate.kinds_of_paths(project, [])
    if not files and not trees:
        files = _gate.default_paths(project)
    own = project.spec or "evalspec"
    for paths, spec in ((trees, "lm-eval"), (files, own)):
        there = [path for path in paths if os.path.exists(path)]
        if there:
            yield same_sides(there, spec)
