"""The two sides of a comparison: the working tree, a git revision, the index, or folders that were named.

What git holds of a tree of lm-eval YAML is read from its objects. Task files of ours, and rows, go into a temporary
folder, as they are read from files; there is no checkout (design.md, "Git").
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.diff.git_objects import Commit, Repository
    from evalspec.prompts.lm_eval.files import Files

#: Rows, chat templates and configurations, which may lie anywhere in the repository.
BESIDE = (".jsonl", ".ndjson", ".json", ".csv", ".parquet", ".gz", ".toml", ".jinja")
#: What holds records of ours, and the schema versions that a project has of its own.
_RECORDS = (".yaml", ".yml", ".py")
#: So many files of a revision are looked into before it is taken for what was seen.
_LOOKED_AT = 2000


class Side(NamedTuple):
    """One side.

    Attributes:
        label: what it is, for a person.
        folder: where its files are; of a tree in git's objects, where its rows are.
        paths: the paths that were asked for, in that folder.
        stands_for: the folder of the working tree that `folder` stands for; empty where it stands for itself.
        files: the files of a tree that is read from git's objects, from the top of the repository; else None.
        content: a digest of all that a side of git can be read from; empty for any other.
    """

    label: str
    folder: str
    paths: tuple[str, ...]
    stands_for: str = ""
    files: Files | None = None
    content: str = ""

    def shown(self, path: str) -> str:
        """A path in the folder as a person knows it."""
        inside = os.path.relpath(path, self.folder)
        return path if inside.startswith("..") else inside

    def counterpart(self, path: str) -> str:
        """What a path of the working tree is on this side; a path outside of it is the same on both."""
        if not self.stands_for:
            return path
        inside = os.path.relpath(os.path.realpath(path), self.stands_for)
        return path if inside.startswith("..") else os.path.normpath(os.path.join(self.folder, inside))


class Asked(NamedTuple):
    """What is compared.

    Attributes:
        base: a revision; empty for the base that follows from the branch.
        head: a revision; empty for the working tree.
        staged: the index, in place of the working tree.
        paths: files and folders; all of the repository where there are none.
        default_branch: the branch that others leave from, where the project says so.
        spec: the family of the files, where that is said.
    """

    base: str = ""
    head: str = ""
    staged: bool = False
    paths: tuple[str, ...] = ()
    default_branch: str = ""
    spec: str = ""


class Sides(NamedTuple):
    """Two sides.

    Attributes:
        before: the old one.
        after: the new one.
        lm_eval: whether they hold lm-eval YAML rather than task files of ours.
        repository: the repository they are of, if they are git's.
        changed: the files that differ, by their whole paths in the working tree; of git's sides alone.
    """

    before: Side
    after: Side
    lm_eval: bool
    repository: Repository | None = None
    changed: frozenset[str] = frozenset()


def named_sides(before: str, after: str, spec: str | None = None) -> Sides:
    """Two folders, or two files, as sides.

    Raises:
        UsageError: one is not there, or one is a folder and the other is none.
    """
    from evalspec.prompts.lm_eval.open_tree import lm_eval_paths

    sides = []
    for path in (before, after):
        if not os.path.exists(path):
            raise UsageError(f"no such file or folder: {visible(path)}", fix="check the path")
        whole = os.path.realpath(path)
        folder = whole if os.path.isdir(whole) else os.path.dirname(whole)
        sides.append(Side(path, folder, (whole,)))
    if os.path.isdir(before) != os.path.isdir(after):
        raise UsageError("a folder and a file cannot be compared", fix="name two folders, or two files")
    lm_eval = any(lm_eval_paths(side.paths, spec, ()) is not None for side in sides)
    return Sides(sides[0], sides[1], lm_eval)


def same_sides(paths: Sequence[str], spec: str | None = None) -> Sides:
    """The same files on both sides, to be shown under two views.

    Raises:
        UsageError: one is not there.
    """
    from evalspec.prompts.lm_eval.open_tree import lm_eval_paths

    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"no such file or folder: {visible(path)}", fix="check the path")
    side = Side(", ".join(paths), os.path.realpath(os.curdir), tuple(map(os.path.realpath, paths)))
    return Sides(side, side, lm_eval_paths(side.paths, spec, ()) is not None)


@contextmanager
def git_sides(asked: Asked, repository: Repository, *, base: Commit | None = None) -> Iterator[Sides]:
    """The sides that revisions mean, in a repository.

    Args:
        asked: what is compared.
        repository: where.
        base: the base, where it is known already; then `asked.base` is not asked for.

    Raises:
        UsageError: a revision is unknown, a path is on neither side, or a shallow clone lacks the base.
    """
    from tempfile import TemporaryDirectory

    if base is None:
        base = repository.commit(asked.base) if asked.base else repository.base(asked.default_branch)
    head: Commit | None = repository.commit(asked.head) if asked.head else None
    inside = repository.inside(asked.paths)
    if repository.bare and not asked.head:
        raise UsageError("a bare repository has no working tree", fix="name two revisions: A..B")
    with TemporaryDirectory(prefix="evalspec-") as temporary:
        places = [os.path.join(os.path.realpath(temporary), name) for name in ("before", "after")]
        before = Revision(repository, base, places[0])
        if head is None and not asked.staged:
            after = None
            lm_eval = before.seems_lm_eval(inside, asked.spec) or _is_lm_eval(repository, inside, asked.spec)
        else:
            after = Revision(repository, head, places[1])
            lm_eval = any(side.seems_lm_eval(inside, asked.spec) for side in (before, after))
        sides = Sides(
            before.side(inside, lm_eval=lm_eval),
            _working_tree(repository, inside, lm_eval=lm_eval)
            if after is None
            else after.side(inside, lm_eval=lm_eval),
            lm_eval,
            repository,
            repository.changed(base, head, staged=asked.staged),
        )
        for given, path in zip(asked.paths, inside, strict=False):
            if not any(os.path.join(side.folder, path) in side.paths for side in sides[:2]):
                raise UsageError(
                    f"{visible(given)} is on neither side", fix="check the path, or the revision"
                )
        yield sides


def _working_tree(repository: Repository, inside: Sequence[str], *, lm_eval: bool) -> Side:
    from evalspec.diff.git_objects import WorkingFiles

    root = repository.root
    named = [os.path.join(root, path) for path in inside] or [root]
    there = tuple(path for path in named if os.path.exists(path))
    return Side("the working tree", root, there, files=WorkingFiles(repository) if lm_eval else None)


def _is_lm_eval(repository: Repository, inside: Sequence[str], spec: str) -> bool:
    from evalspec.prompts.lm_eval.open_tree import lm_eval_paths

    paths = _working_tree(repository, inside, lm_eval=False).paths
    return bool(paths) and lm_eval_paths(paths, spec or None, ()) is not None


class Revision:
    """A commit, or with None the index, as a side; what has to lie in files goes below `folder`.

    Attributes:
        files: all of its files.
    """

    def __init__(self, repository: Repository, commit: Commit | None, folder: str) -> None:
        from evalspec.diff.git_objects import GitFiles

        self.label = commit.label if commit else "what is staged"
        self.folder = folder
        self.repository = repository
        self.files = GitFiles(repository, repository.blobs(commit))

    def side(
        self, inside: Sequence[str], *, lm_eval: bool, needed: Callable[[str], bool] | None = None
    ) -> Side:
        """The side, of these paths from the top of the repository.

        Args:
            inside: files and folders; all of the revision where there are none.
            lm_eval: they hold lm-eval YAML.
            needed: of the files that would go into the folder, those that are needed there; all of them by default.
        """
        names = self.files.names()
        tops = tuple({path.split("/")[0] for path in inside})
        if needed is None:
            ends = (".yaml", *BESIDE) if lm_eval else (*_RECORDS, *BESIDE)
            self.files.fetch(lambda name: name.endswith(ends))
        os.makedirs(os.path.join(self.folder, ".git"), exist_ok=True)  # where a tree of tasks ends
        for name in names:
            wanted = name.endswith(BESIDE)
            if not lm_eval and not wanted:
                steps = name.split("/")
                asked_for = not tops or steps[0] in tops or (name.endswith(".py") and "schemas" in steps)
                wanted = name.endswith(_RECORDS) and asked_for
            if wanted and (needed is None or needed(name)) and (data := self.files.read(name)) is not None:
                self._lay(name, data)
        there = [path for path in inside if _holds(names, path)] if inside else [""] if names else []
        paths = tuple(os.path.join(self.folder, path) if path else self.folder for path in there)
        files = self.files if lm_eval else None
        root, content = self.repository.root, self.files.digest()
        return Side(self.label, self.folder, paths, root, files, content=content)

    def _lay(self, name: str, data: bytes) -> None:
        """Put a file into the folder; one that another side has laid already gets a second name there."""
        place = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        laid = self.repository.laid.setdefault(self.files.id_of(name), place)
        if laid != place:
            try:
                os.link(laid, place)
            except OSError:  # no second names here, or it is gone
                laid = place
        if laid == place:
            with open(place, "wb") as file:
                file.write(data)

    def seems_lm_eval(self, inside: Sequence[str], spec: str) -> bool:
        """Whether the paths hold lm-eval YAML: as `spec` has it, else as their first bytes look."""
        from evalspec.prompts.lm_eval.open_tree import FAMILY
        from evalspec.tree import format_of, looks_like_bytes

        if spec:
            return spec.partition("@")[0] == FAMILY
        found = False
        wanted = [
            (name, form)
            for name in self.files.names()
            if (form := format_of(name)) is not None and (not inside or any(map(_below(name), inside)))
        ]
        for name, form in wanted[:_LOOKED_AT]:
            if "lm_eval/tasks/" in name:
                return True
            kind = looks_like_bytes(self.files.read(name) or b"", form)
            if kind == "evalspec":
                return False
            found = found or kind == FAMILY
        return found


def _holds(names: Sequence[str], path: str) -> bool:
    return any(_below(name)(path) for name in names)


def _below(name: str) -> Callable[[str], bool]:
    """Whether a file is what a path names, or lies below it."""
    return lambda path: name == path or name.startswith(f"{path}/")
