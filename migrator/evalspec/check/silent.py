"""Prompts that changed against the base while the tasks' own versions say that they did not, and the reverse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalspec.check.rule import Rule
from evalspec.errors import Place, counted, cut, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from evalspec.diff import Cause, Comparison, Group
    from evalspec.diff.model import VersionMove
    from evalspec.errors import Finding

CHANGED_SILENTLY = Rule(
    "prompt_changed_silently",
    "error",
    "What a model is shown, or how its answers are scored, changed against the base, and the task's version did not.",
    'target_delimiter: "\\n"  # was " ", and metadata.version is what it was\n',
    "raise the version of the tasks, or record that the change was looked at: evalspec accept TASK --reason …",
    group="prompts",
)
MOVED_FOR_NOTHING = Rule(
    "version_moved_for_nothing",
    "warning",
    "A task's version moved, and nothing that a model is shown or scored by changed.",
    "metadata:\n  version: 2.0  # was 1.0, and every prompt is the same\n",
    "leave the version as it was, so that scores still compare",
    group="prompts",
)
WENT_DOWN = Rule(
    "version_went_down",
    "error",
    "A task's version is lower than on the base: scores of two different prompts would carry one version.",
    "metadata:\n  version: 1.0  # was 2.0\n",
    "take a version that no prompt had before",
    group="prompts",
)
OPAQUE_CHANGE = Rule(
    "opaque_change",
    "error",
    "A function or file changed that prompts depend on, and what it does to them could not be seen.",
    "doc_to_text: !function utils.text  # and utils.py changed\n",
    "raise the version of the tasks, or look at the change and record that: evalspec accept TASK --reason …",
    group="prompts",
)

RULES = (CHANGED_SILENTLY, MOVED_FOR_NOTHING, WENT_DOWN, OPAQUE_CHANGE)

#: Changes of a task as a whole: there is no version before, or none after, or no other prompt.
_WHOLE = frozenset(["new", "removed", "renamed"])
_SHOWN = 3


def check_prompts(
    comparison: Comparison, policy: str, accepted: Callable[[Collection[str]], Collection[str]]
) -> Iterator[Finding]:
    """The findings of a comparison with the base.

    Args:
        comparison: the working tree, or what is staged, against the base.
        policy: how the tasks' own versions are written (`evalspec.configuration.POLICIES`).
        accepted: of some tasks those whose prompts, as they are now, were looked at and recorded in the lock.
    """
    edited = {task for group in comparison.groups if group.change not in _WHOLE for task in group.tasks}
    moved = {move.task for move in comparison.versions if _direction(move, policy) > 0}
    silent = edited - moved
    silent -= set(accepted(sorted(silent))) if silent else set()
    for group in comparison.groups:
        tasks = [task for task in group.tasks if task in silent]
        if tasks and group.change not in _WHOLE:
            yield _of_group(group, tasks, policy)
    opaque = {each.task for each in comparison.unknown} - moved
    opaque -= set(accepted(sorted(opaque))) if opaque else set()
    by_cause: dict[tuple[str, Cause | None], list[str]] = {}
    for each in comparison.unknown:
        if each.task in opaque:
            cause = each.cause and each.cause._replace(
                before=_file(each.cause.before), after=_file(each.cause.after)
            )
            by_cause.setdefault((each.reason, cause), []).append(each.task)
    prompts = {each.task: each.prompts for each in comparison.unknown}
    for (reason, cause), tasks in by_cause.items():
        count = sum(prompts[task] for task in tasks)
        what = (
            f"may change {counted(count, 'prompt')} of {_some(tasks)}"
            if count
            else f"may change {_some(tasks)}"
        )
        yield OPAQUE_CHANGE.at(
            _place(cause), f"{what}: {reason}", task=tasks[0], field=(cause.detail or None) if cause else None
        )
    unknown = {each.task for each in comparison.unknown}
    for move in comparison.versions:
        task, what = move.task, f"the version of {visible(move.task)} went from {move.before}"
        if _direction(move, policy) < 0:
            yield WENT_DOWN.at(move.place, f"{what} down to {move.after}", task=task)
        elif task not in edited and task not in unknown:
            message = f"{what} to {move.after}, and no prompt changed"
            yield MOVED_FOR_NOTHING.at(move.place, message, task=task)


def _of_group(group: Group, tasks: list[str], policy: str) -> Finding:
    before, after = (repr(cut(text, 30)) for text in (group.before, group.after))
    where = " and ".join(part.replace("_", " ") for part in group.parts)
    message = f"{group.change}: {before} became {after} in the {where} of {_some(tasks)}; "
    message += "its version is as before" if len(tasks) == 1 else "their versions are as before"
    fix = CHANGED_SILENTLY.fix
    if policy == "suffix":
        message = message.rpartition(";")[0] + ", under the same id"
        fix = "give the changed task an id of its own (-v2), or record the change: evalspec accept TASK --reason …"
    return CHANGED_SILENTLY.at(
        _place(group.cause),
        message,
        task=tasks[0],
        field=group.cause.detail or None,
        text=group.after,
        fix=fix.replace("TASK", " ".join(map(visible, tasks[:_SHOWN])) if len(tasks) <= _SHOWN else "TASK …"),
    )


def _some(tasks: list[str]) -> str:
    if len(tasks) == 1:
        return visible(tasks[0])
    more = ", …" if len(tasks) > _SHOWN else ""
    return f"{counted(len(tasks), 'task')} ({', '.join(map(visible, tasks[:_SHOWN]))}{more})"


def _place(cause: Cause | None) -> Place:
    place = cause and (cause.after or cause.before)
    return place or Place("evalspec.toml")


def _file(place: Place | None) -> Place | None:
    """The place's file: many tasks of one cause are one finding."""
    return place and Place(place.path)


def _direction(move: VersionMove, policy: str) -> int:
    """1 where a task's version went on, -1 where it went back, 0 where it says the same prompts as before."""
    if policy == "suffix":
        return 0
    old, new = _rank(move.before, policy), _rank(move.after, policy)
    if old is None or new is None:
        return 1  # none before, or another way of writing it: it is another version
    return (new > old) - (new < old)


def _rank(version: str | None, policy: str) -> float | None:
    """The number in a version by which it goes on; None where it has none that can be compared."""
    pattern = r"(\d+)[-.]?[A-Za-z]+" if policy == "number-letter" else r"(\d+(?:\.\d+)?)"
    found = re.fullmatch(pattern, (version or "").strip())
    return float(found[1]) if found else None


def accepted_tasks(
    lines: Iterable[tuple[str, tuple[str, ...]]],
    prints: Callable[[Collection[str]], dict[str, tuple[str, ...]]],
) -> Callable[[Collection[str]], set[str]]:
    """A function that tells of tasks which ones were accepted as they are now.

    Args:
        lines: the `accepted` lines of the lock: the task, then a fingerprint a view and the reason.
        prints: the fingerprints of tasks as they are now, as `view=fingerprint`, by task.
    """
    known = {task: set(words[:-1]) for task, words in lines}

    def accepted(tasks: Collection[str]) -> set[str]:
        wanted = [task for task in tasks if task in known]
        return (
            {task for task, found in prints(wanted).items() if set(found) <= known[task]} if wanted else set()
        )

    return accepted
