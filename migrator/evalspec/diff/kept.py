"""Comparisons that were made before: what one depends on, and a comparison made again of plain data."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from evalspec.caching.store import FOLDER, Cache, digest_of_files, key_of
from evalspec.diff.model import (
    Cause,
    Compared,
    Comparison,
    Example,
    Group,
    Moved,
    RecordChange,
    Unknown,
    VersionMove,
)
from evalspec.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.diff.causes import ViewPair
    from evalspec.diff.git_objects import Repository
    from evalspec.diff.sides import Side, Sides
    from evalspec.project import Project
    from evalspec.prompts.view import View


def cache_of(repository: Repository, project: Project) -> Cache | None:
    """Where a repository's results are kept; None where they are not.

    That is so in a bare repository, where the folder is a link or came with a checkout (a stranger could have written
    what it says), and where rows or the configuration are outside of what git tells the content of.
    """
    if repository.bare or repository.ask("ls_files", "-z", "--", f":(top){FOLDER}"):
        return None
    folder = os.path.join(repository.root, FOLDER)
    inside = f"{os.path.realpath(project.folder)}/" if project.folder else f"{repository.root}/"
    if os.path.islink(folder) or not inside.startswith(f"{repository.root}/"):
        return None
    return Cache(folder)


def comparison_key(sides: Sides, project: Project, views: Sequence[ViewPair]) -> str:
    """All that the comparison of two sides of git depends on; empty where git does not tell the content of both."""
    if not (sides.before.content and sides.after.content):
        return ""
    shown = [
        (view_key(view.before), view_key(view.after), view.cause and view.cause.to_dict()) for view in views
    ]
    told = [_side(side) for side in sides[:2]]
    return key_of(
        "compare", told, shown, surroundings(sides.before.stands_for, project, lm_eval=sides.lm_eval)
    )


def surroundings(root: str, project: Project, *, lm_eval: bool) -> tuple[object, ...]:
    """What else counts, beside the content of two sides: the project, the folder, which data sets are at hand.

    Rows that the `datasets` library has on this machine are no part of it: what used them is not kept.
    """
    home = os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    try:
        data_sets = sorted(os.listdir(os.environ.get("HF_DATASETS_CACHE") or f"{home}/datasets"))
    except OSError:
        data_sets = []
    families = project.families
    code = "" if lm_eval else digest_of_files(_code(project))
    return (
        lm_eval,
        os.path.relpath(os.path.realpath(os.curdir), root),
        project.folder and os.path.relpath(project.folder, root),
        (
            project.spec,
            project.foreign,
            project.exclude,
            project.rows,
            families.default,
            sorted(families.by_name),
        ),
        code,
        data_sets,
        find_spec("datasets") is not None,
    )


def _code(project: Project) -> list[str]:
    roots = {family.root for family in project.families.by_name.values()}
    return [folder for root in sorted(roots) for folder in (root.schemas, root.fixtures)]


def _side(side: Side) -> tuple[object, ...]:
    paths = [os.path.relpath(path, side.folder) for path in side.paths]
    return (side.content, side.label, paths)


def view_key(view: View) -> tuple[object, ...]:
    """All of a view that a prompt depends on."""
    chat = view.chat and (view.chat.name, view.chat.source, repr(view.chat.tokens))
    dealt = (view.shots, view.limit, view.rank, view.world_size, view.seed)
    return (view.name, chat, view.multiturn, view.system, *dealt)


# ── A comparison of plain data ───────────────────────────────────────────────────────────────────────────────


def comparison_of(data: Any) -> Comparison:
    """The comparison that plain data holds: named tuples as lists."""
    compared, groups, moved, unknown, records, silent, versioned, notes, versions = data
    return Comparison(
        Compared(*compared),
        tuple(map(_group, groups)),
        tuple(Moved(*each) for each in moved),
        tuple(
            Unknown(task, why, _cause(cause), prompts, source)
            for task, why, cause, prompts, source in unknown
        ),
        tuple(
            RecordChange(task, _place(place), tuple(tuple(change) for change in changes))
            for task, place, changes in records
        ),
        tuple(silent),
        tuple(versioned),
        tuple(notes),
        tuple(VersionMove(task, old, new, Place(*place)) for task, old, new, place in versions),
    )


def _group(data: Any) -> Group:
    change, parts, cause, before, after, left, right, tasks, rows, views, example, comparable, beside = data
    where = _cause(cause)
    assert where is not None
    texts = (before, after, left, right)
    reach = (tuple(tasks), rows, tuple(views))
    other = beside and Example(*beside)
    return Group(change, tuple(parts), where, *texts, *reach, Example(*example), comparable, other)


def _cause(data: Any) -> Cause | None:
    return data and Cause(data[0], _place(data[1]), _place(data[2]), data[3])


def _place(data: Iterable[Any] | None) -> Place | None:
    return Place(*data) if data is not None else None
