"""How the history of one task's prompts is found.

The task is resolved where HEAD is; what was read for it (its file, what that includes, the modules of its functions,
rows, the configuration) tells which commits can matter. Each is compared with its parent, for this task alone. What was
read there may add older paths, and then git is asked again: so a task is followed through renames, by its name.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.caching.store import key_of
from evalspec.diff.compare import compare_tasks
from evalspec.diff.git_objects import Commit
from evalspec.diff.history import Change, History
from evalspec.diff.kept import cache_of, comparison_of, surroundings, view_key
from evalspec.diff.side_tasks import SideTasks
from evalspec.diff.sides import Revision, Side, Sides
from evalspec.diff.views import view_pairs
from evalspec.errors import UsageError, visible
from evalspec.prompts.view_config import views_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.diff.git_objects import Repository, Told
    from evalspec.diff.history import Wanted
    from evalspec.diff.model import Comparison
    from evalspec.project import Project

#: What the files of tasks end in.
_TREE, _RECORDS = (".yaml",), (".jsonl", ".ndjson", ".yaml", ".yml")


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


class _Step(NamedTuple):
    """What lies between a commit and one of its parents: as a `Change`, and the paths that were read to tell."""

    files: tuple[str, str]
    versions: tuple[Any, Any]
    comparison: Comparison | None
    asked: tuple[str, ...]


def _step_of(data: Any) -> _Step:
    files, versions, comparison, asked = data
    found = comparison_of(comparison) if comparison is not None else None
    return _Step((files[0], files[1]), (versions[0], versions[1]), found, tuple(asked))


def _begun(data: Any) -> tuple[str, bool, tuple[str, ...]]:
    path, lm_eval, asked = data
    return str(path), bool(lm_eval), tuple(asked)


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
        self._cache = cache_of(repository, project) if wanted.keep else None
        self._fixed = self._all_else() if self._cache is not None else ()
        self._configurations = {os.path.normpath(os.path.join(folder, name)) for name in names}

    def begin(self) -> str:
        """Find the task where HEAD is, and note what it is made of; its file.

        Raises:
            UsageError: it is not there.
        """
        head = self.repository.commit("HEAD")
        key = self._key("begin", self.repository.tree_of(head.sha))
        if self._cache is not None and (kept := self._cache.get(key, _begun)) is not None:
            path, self._lm_eval, asked = kept
            self._known[path] = None
            self.paths.update(dict.fromkeys(asked))
            return path
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
            if self._cache is not None:
                self._cache.put(key, (then.path, self._lm_eval, tuple(self.paths)), _begun)
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
        trees = [self.repository.tree_of(sha) if sha else "" for sha in (parent, told.sha)]
        key = self._key("step", *trees, self._lm_eval, sorted(self._known))
        found = self._cache.get(key, _step_of) if self._cache is not None else None
        if found is None:
            found, is_local = self._made(told, parent)
            if self._cache is not None and not is_local:
                self._cache.put(key, found, _step_of)
        self.paths.update(dict.fromkeys(found.asked))
        self._known.update(dict.fromkeys(filter(None, found.files)))
        if found.comparison is None:
            return None
        return Change(told, found.files, found.versions, found.comparison)

    def _made(self, told: Told, parent: str) -> tuple[_Step, bool]:
        """What lies between a commit and a parent, and whether rows on this machine went into it."""
        with ExitStack() as stack:
            new = self._at(told.sha, stack, search=False)
            old = self._at(parent, stack, search=bool(new.path))
            sides = Sides(old.side, new.side, self._lm_eval)
            views = view_pairs(sides, self.project, self.wanted.views, self.wanted.flags)
            found = compare_tasks(old.tasks, new.tasks, self.project, views)
            step = _Step(
                (old.path, new.path),
                (old.version, new.version),
                None if found.is_empty else found,
                tuple({**old.asked, **new.asked}),
            )
            return step, old.tasks.used_local or new.tasks.used_local

    def _key(self, *parts: object) -> str:
        return key_of("log", self._fixed, *parts) if self._cache is not None else ""

    def _all_else(self) -> tuple[object, ...]:
        """All that a result depends on beside two trees of git: what was asked for, and what is at hand."""
        wanted = self.wanted
        names = list(wanted.views) or ([] if wanted.flags else list(self.project.config.views))
        views = [view_key(view) for view in views_of(self.project, names, wanted.flags)]
        asked = (wanted.task, self._inside, wanted.spec, wanted.views, sorted(wanted.flags.items()), views)
        return (asked, surroundings(self.repository.root, self.project, lm_eval=False))

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
