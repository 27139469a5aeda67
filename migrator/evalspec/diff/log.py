"""The history of one task's prompts: every commit in which they changed, and whether its own version moved with them.

The task is resolved where HEAD is; what was read for it (its file, what that includes, the modules of its functions,
rows, the configuration) tells which commits can matter. Each is compared with its parent, for this task alone. What was
read there may add older paths, and then git is asked again: so a task is followed through renames, by its name.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.diff.compare import compare_tasks
from evalspec.diff.git_objects import Commit
from evalspec.diff.side_tasks import SideTasks
from evalspec.diff.sides import Revision, Side, Sides
from evalspec.diff.views import view_pairs
from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalspec.diff.git_objects import Repository, Told
    from evalspec.diff.model import Comparison, Group, Unknown
    from evalspec.project import Project

#: What the files of tasks end in.
_TREE, _RECORDS = (".yaml",), (".jsonl", ".ndjson", ".yaml", ".yml")
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
    """

    task: str
    paths: tuple[str, ...] = ()
    since: str = ""
    spec: str = ""
    views: tuple[str, ...] = ()
    flags: Mapping[str, Any] = {}


def history_of(wanted: Wanted, repository: Repository, project: Project) -> History:
    """The commits in which a task's prompts changed, newest first.

    Raises:
        UsageError: there is no such task in HEAD, or no such revision.
    """
    since = repository.commit(wanted.since).sha if wanted.since else ""
    walk = _Walk(wanted, repository, project)
    path = walk.begin()
    done: dict[str, Change | None] = {}
    while True:
        commits = repository.touching(walk.paths, since)
        left = [told for told in commits if told.sha not in done]
        if not left:
            break
        for told in left:
            done[told.sha] = walk.change_in(told)
    found = [change for told in commits if (change := done[told.sha]) is not None]
    notes = (
        [f"the clone is shallow, and its history cut short: {fix}"] if (fix := repository.deeper()) else []
    )
    return History(wanted.task, path, len(commits), tuple(found), tuple(notes))


def _edit_of(group: Group) -> tuple[object, ...]:
    """What makes an edit the same against another parent: the text and what it comes from, not where that stands."""
    return (group.change, group.parts, group.before, group.after, group.cause.kind, group.cause.detail)


def _doubt_of(unknown: Unknown) -> tuple[object, ...]:
    cause = unknown.cause
    return (unknown.reason, cause and (cause.kind, cause.detail))


class _Then:
    """A task at a commit: where it is, and all that was read for it."""

    def __init__(self, side: Side, tasks: SideTasks, revision: Revision | None, name: str) -> None:
        self.side = side
        self.tasks = tasks
        self.asked = revision.files.asked if revision is not None else {}
        self.task = tasks.tasks.get(name)
        broken = [tasks.path_of(name)] if name in tasks.broken else list(tasks.unread)
        self.path = self.task.path if self.task is not None else next(iter(broken), "")

    @property
    def version(self) -> Any:
        """The task's own version; None where it has none, or is not there."""
        return self.task.version if self.task is not None else None


class _Walk:
    """Looks at one task in one commit after another.

    Attributes:
        paths: every path that was read for the task in a commit that was looked at.
    """

    def __init__(self, wanted: Wanted, repository: Repository, project: Project) -> None:
        self.wanted = wanted
        self.name = wanted.task
        self.repository = repository
        self.project = project
        self.paths: dict[str, None] = {}
        self._inside = repository.inside(wanted.paths)
        self._known: dict[str, None] = {}
        self._lm_eval = False
        folder = os.path.relpath(project.folder, repository.root) if project.folder else ""
        names = ("evalspec.toml", "pyproject.toml") if project.folder else ()
        self._configurations = {os.path.normpath(os.path.join(folder, name)) for name in names}

    def begin(self) -> str:
        """Find the task where HEAD is, and note what it is made of; its file.

        Raises:
            UsageError: it is not there.
        """
        head = self.repository.commit("HEAD")
        with ExitStack() as stack:
            revision = Revision(self.repository, head, _folder(stack))
            self._lm_eval = revision.seems_lm_eval(self._inside, self.wanted.spec)
            then = self._at(head.sha, stack)
            if then.task is None:  # its name may be written in a way that a search does not find
                everything = Revision(self.repository, head, _folder(stack))
                then = self._opened(everything, self._inside or None, stack)
            if then.task is None:
                raise UsageError(
                    f"no task {visible(self.name)!r} in HEAD",
                    fix="`evalspec tasks` lists the tasks of a tree; a file that is not committed has no history",
                )
            self._known[then.path] = None
            self.paths.update(self._at(head.sha, stack).asked)
            return then.path

    def change_in(self, told: Told) -> Change | None:
        """What a commit changed; of a merge, only what it has from none of its parents."""
        first: Change | None = None
        for parent in told.parents or ("",):
            found = self._compared(told, parent)
            if found is None:
                return None
            first = found if first is None else first.shared_with(found)
        return first if first is not None and not first.comparison.is_empty else None

    def _compared(self, told: Told, parent: str) -> Change | None:
        with ExitStack() as stack:
            new = self._at(told.sha, stack, search=False)
            old = self._at(parent, stack, search=bool(new.path))
            sides = Sides(old.side, new.side, self._lm_eval)
            views = view_pairs(sides, self.project, self.wanted.views, self.wanted.flags)
            found = compare_tasks(old.tasks, new.tasks, self.project, views)
            self.paths |= {**old.asked, **new.asked}
            if found.is_empty:
                return None
            return Change(told, (old.path, new.path), (old.version, new.version), found)

    def _at(self, sha: str, stack: ExitStack, *, search: bool = True) -> _Then:
        """The task at a commit: in a file that is known to have held it, else where a search finds its name."""
        if not sha:  # in front of the first commit
            return self._nowhere("nothing", stack)
        commit = Commit(sha, sha[:9])
        revision = Revision(self.repository, commit, _folder(stack))
        then = self._opened(revision, [path for path in self._known if revision.files.id_of(path)], stack)
        if then.path or not search:
            return then
        endings = _TREE if self._lm_eval else _RECORDS
        found = [path for path in self.repository.holding(self.name, commit, endings) if self._may_hold(path)]
        elsewhere = self._opened(revision, found, stack)
        if elsewhere.task is None:
            return then
        self._known[elsewhere.path] = None
        return self._at(sha, stack, search=False)

    def _may_hold(self, path: str) -> bool:
        return not self._inside or any(path == each or path.startswith(f"{each}/") for each in self._inside)

    def _nowhere(self, label: str, stack: ExitStack, revision: Revision | None = None) -> _Then:
        folder = revision.folder if revision is not None else _folder(stack)
        side = Side(label, folder, (), self.repository.root)
        return _Then(side, SideTasks(side, self.project, lm_eval=self._lm_eval), revision, self.name)

    def _opened(self, revision: Revision, paths: Sequence[str] | None, stack: ExitStack) -> _Then:
        """The task as these files of a revision have it; None is all of them."""
        if paths is not None and not paths:
            return self._nowhere(revision.label, stack, revision)
        needed = self._needed(revision, paths) if paths is not None else None
        side = revision.side(paths or (), lm_eval=self._lm_eval, needed=needed)
        tasks = SideTasks(side, self.project, lm_eval=self._lm_eval, only=(self.name,))
        return _Then(side, stack.enter_context(tasks), revision, self.name)

    def _needed(self, revision: Revision, paths: Sequence[str]) -> Callable[[str], bool]:
        """Which of the files that lie beside tasks this one needs.

        These are the rows that the project keeps for it, files that its own files name, the configuration and what
        that names. More is harmless: it is read, and found to be the same.
        """
        own = [revision.files.read(path) or b"" for path in self._chain(revision, paths)]
        own += [revision.files.read(path) or b"" for path in self._configurations]
        of_records = () if self._lm_eval else paths

        def needed(name: str) -> bool:
            if name in self._configurations or name in of_records or f"/rows/{self.name}/" in f"/{name}":
                return True
            if name.endswith(".py"):
                return f"/{name}".rpartition("/")[0].rpartition("/")[0].endswith("/schemas")
            last = name.rpartition("/")[2].encode()
            return any(last in text for text in own)

        return needed

    def _chain(self, revision: Revision, paths: Sequence[str]) -> list[str]:
        """The files and all that they include, as far as that can be read."""
        if not self._lm_eval:
            return list(paths)
        from evalspec.prompts.lm_eval.loader import LoadError
        from evalspec.prompts.lm_eval.open_tree import tree_in

        found: dict[str, None] = {}
        tree = tree_in(revision.files, "", paths)
        for root, loader in zip(tree.roots, tree.index.loaders, strict=True):
            for name in loader.files.names():
                try:
                    files = loader.load(name).files
                except LoadError:
                    files = (name,)
                found.update((os.path.join(root, each), None) for each in files)
        return list(found)


def _folder(stack: ExitStack) -> str:
    """A folder that is gone when the stack is left."""
    return os.path.realpath(stack.enter_context(TemporaryDirectory(prefix="evalspec-")))
