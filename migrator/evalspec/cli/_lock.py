"""What the commands share that write a lock."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.cli import _gate, _lint
from evalspec.errors import UsageError
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    import argparse

    from evalspec.check.lock import Key, Lock
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
    from evalspec.diff import same_sides

    paths = [path for path in _gate.default_paths(project) if os.path.exists(path)]
    if not paths:
        return {}
    sides = same_sides(paths, project.foreign)
    return prints_of(sides.after, project, _lint.views_of_project(project), (), lm_eval=sides.lm_eval)


def prompt_lines(project: Project) -> dict[Key, tuple[str, ...]]:
    """A line for the prompts of every task: its own version, and a fingerprint a view."""
    import json

    from evalspec.check.against_base import versions_of
    from evalspec.check.lock import Key
    from evalspec.diff import same_sides

    paths = [path for path in _gate.default_paths(project) if os.path.exists(path)]
    if not paths:
        return {}
    sides = same_sides(paths, project.foreign)
    versions = versions_of(sides.after, project, lm_eval=sides.lm_eval)
    prints = prints_of_tasks(project)
    return {Key("prompt", task): (json.dumps(versions.get(task)), *words) for task, words in prints.items()}
