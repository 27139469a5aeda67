"""The history of one task's prompts: each commit in which they changed, and whether its own version moved with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalspec.diff.git_objects import Told
    from evalspec.diff.model import Comparison, Group, Unknown

#: The version of the JSON form; a field's meaning never changes under one number.
_JSON_VERSION = 1


class Change(NamedTuple):
    """A commit in which the prompts of a task changed, or may have.

    Attributes:
        commit: the commit.
        files: the task's file before and after; empty where the task is not there.
        versions: the task's own version before and after.
        comparison: what changed, for this task alone.
    """

    commit: Told
    files: tuple[str, str]
    versions: tuple[Any, Any]
    comparison: Comparison

    @property
    def silent(self) -> bool:
        """Whether prompts changed and the task's own version did not move."""
        return bool(self.comparison.silent)

    def shared_with(self, other: Change) -> Change:
        """What of the change is in another one too: what a merge has from neither of two parents."""
        mine, others = self.comparison, other.comparison
        groups = {_edit_of(group) for group in others.groups}
        unknown = {_doubt_of(each) for each in others.unknown}
        left = mine._replace(
            groups=tuple(group for group in mine.groups if _edit_of(group) in groups),
            unknown=tuple(each for each in mine.unknown if _doubt_of(each) in unknown),
        )
        return self._replace(comparison=left)

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        said = self.comparison.to_dict()
        told = self.commit._asdict()
        return {
            **{key: told[key] for key in ("sha", "date", "author", "subject")},
            "path": {"before": self.files[0] or None, "after": self.files[1] or None},
            "version": {"before": self.versions[0], "after": self.versions[1]},
            "silent": self.silent,
            "classes": list(said["summary"]),
            "groups": said["groups"],
            "unknown": said["unknown"],
        }


class History(NamedTuple):
    """What the history of a task's prompts is.

    Attributes:
        task: its name.
        path: its file, where HEAD is.
        commits: how many commits touched what it is made of.
        changes: those in which its prompts changed, newest first.
        notes: what the reader should know.
    """

    task: str
    path: str
    commits: int
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The history as JSON (`evalspec log --format json`)."""
        return {
            "version": _JSON_VERSION,
            "task": self.task,
            "path": self.path,
            "commits": self.commits,
            "changes": [change.to_dict() for change in self.changes],
            "notes": list(self.notes),
        }


class Wanted(NamedTuple):
    """Which history is asked for, and how prompts are shown.

    Attributes:
        task: the task's name.
        paths: files and folders that it may be in; all of the repository where there are none.
        since: a revision; what it has in its own history is left out.
        spec: the family of the files, where that is said.
        views: the names of configured views.
        flags: settings over those of the views.
        keep: results are kept in the repository's cache, and found there.
    """

    task: str
    paths: tuple[str, ...] = ()
    since: str = ""
    spec: str = ""
    views: tuple[str, ...] = ()
    flags: Mapping[str, Any] = {}
    keep: bool = False


def _edit_of(group: Group) -> tuple[object, ...]:
    """What makes an edit the same against another parent: the text and what it comes from, not where that stands."""
    return (group.change, group.parts, group.before, group.after, group.cause.kind, group.cause.detail)


def _doubt_of(unknown: Unknown) -> tuple[object, ...]:
    cause = unknown.cause
    return (unknown.reason, cause and (cause.kind, cause.detail))
