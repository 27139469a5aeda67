"""The project against its base: prompts that changed, and what the base has released."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.check.lock import EMPTY, NAME, Lock, parse_lock
from evalspec.check.prints import prompt_print
from evalspec.diff.side_tasks import SideTasks

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalspec.diff import Comparison, Repository
    from evalspec.diff.causes import ViewPair
    from evalspec.diff.git_objects import Commit
    from evalspec.diff.sides import Side, Sides
    from evalspec.project import Project
    from evalspec.prompts.view import View

#: The number of examples that a prompt's fingerprint is made with, beside the task's own.
SHOTS = 2


class Against(NamedTuple):
    """What came of comparing with the base.

    Attributes:
        comparison: the prompts of both sides compared.
        lock: the base's lock.
        sides: what was compared.
        views: under which views.
    """

    comparison: Comparison
    lock: Lock
    sides: Sides
    views: Sequence[ViewPair]

    @property
    def changed_tasks(self) -> frozenset[str]:
        """The tasks whose prompts or records differ, or cannot be told to be the same."""
        found = {task for group in self.comparison.groups for task in group.tasks}
        found |= {each.task for each in self.comparison.unknown}
        return frozenset(found | {each.task for each in self.comparison.records})


def base_lock(repository: Repository, base: Commit, project: Project) -> Lock:
    """The lock that the project has at the base; an empty one where it has none there.

    Raises:
        UsageError: it is no lock.
    """
    if project.folder is None:
        return EMPTY
    inside = os.path.relpath(os.path.realpath(project.folder), repository.root)
    data = repository.file_at(base, os.path.normpath(os.path.join(inside, NAME)))
    return parse_lock(data, f"{NAME} of {base.label}") if data is not None else EMPTY


def prints_of(
    side: Side, project: Project, views: Sequence[View], tasks: Collection[str], *, lm_eval: bool
) -> dict[str, tuple[str, ...]]:
    """The fingerprints of tasks' prompts on a side, as `view=fingerprint`, by task.

    Args:
        side: where the tasks are.
        project: whose families and rows count.
        views: under which views.
        tasks: the tasks; all of them where there are none.
        lm_eval: the files are lm-eval YAML.
    """
    found: dict[str, list[str]] = {}
    with SideTasks(side, project, lm_eval=lm_eval) as all_tasks:
        for view in views:
            # With more examples, too: what stands between them is part of what a task is.
            shown = [view, replace(view, name=f"{view.name} with examples", shots=SHOTS)]
            lines: dict[str, list[dict[str, Any]]] = {}
            for line in all_tasks.prompts(tasks or list(all_tasks.tasks), shown):
                lines.setdefault(line["task"], []).append(line)
            for task, rows in lines.items():
                print_ = prompt_print(rows, all_tasks.tasks[task].scoring)
                found.setdefault(task, []).append(f"{view.name}={print_}")
    return {task: tuple(sorted(prints)) for task, prints in found.items()}


def versions_of(side: Side, project: Project, *, lm_eval: bool) -> dict[str, Any]:
    """The own version of every task of a side, as it stands there."""
    with SideTasks(side, project, lm_eval=lm_eval) as all_tasks:
        return {name: task.version for name, task in all_tasks.tasks.items()}
