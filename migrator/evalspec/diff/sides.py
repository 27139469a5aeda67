"""The two sides of a comparison, as folders: the working tree, a git revision, the index, or folders that were named.

Bytes of a revision come from git's objects, through one long-lived `cat-file --batch`, and go into a temporary folder:
there is no checkout, and nothing of the repository is touched (design.md, "Git").
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: A larger file is neither a task file nor one that a task includes.
_LARGEST = 10_000_000
#: Only these hold prompts, or what makes them.
_SUFFIXES = (".yaml", ".yml", ".jsonl", ".ndjson", ".py", ".json", ".jinja", "_yaml", ".gz", ".toml")
#: Rows may lie anywhere in the repository.
_ROWS = (".jsonl", ".ndjson", ".json", ".csv", ".parquet")


class Side(NamedTuple):
    """One side.

    Attributes:
        label: what it is, for a person.
        folder: where its files are.
        paths: the paths that were asked for, in that folder.
        stands_for: the folder of the working tree that `folder` stands for; empty where it stands for itself.
    """

    label: str
    folder: str
    paths: tuple[str, ...]
    stands_for: str = ""

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
    """

    base: str = ""
    head: str = ""
    staged: bool = False
    paths: tuple[str, ...] = ()


def named_sides(before: str, after: str) -> tuple[Side, Side]:
    """Two folders, or two files, as sides.

    Raises:
        UsageError: one is not there, or one is a folder and the other is none.
    """
    sides = []
    for path in (before, after):
        if not os.path.exists(path):
            raise UsageError(f"no such file or folder: {visible(path)}", fix="check the path")
        whole = os.path.realpath(path)
        folder = whole if os.path.isdir(whole) else os.path.dirname(whole)
        sides.append(Side(path, folder, (whole,)))
    if os.path.isdir(before) != os.path.isdir(after):
        raise UsageError("a folder and a file cannot be compared", fix="name two folders, or two files")
    return sides[0], sides[1]


@contextmanager
def git_sides(asked: Asked) -> Iterator[tuple[Side, Side]]:
    """The sides that revisions mean, in the repository that the working directory is in.

    Raises:
        UsageError: there is no repository, a revision is unknown, or a shallow clone lacks the base.
    """
    from tempfile import TemporaryDirectory

    repository = _Repository()
    base = repository.commit(asked.base) if asked.base else repository.base()
    with TemporaryDirectory(prefix="evalspec-") as temporary:
        before = repository.side(base, asked.paths, os.path.join(temporary, "before"))
        if asked.head:
            head = repository.commit(asked.head)
            after = repository.side(head, asked.paths, os.path.join(temporary, "after"))
        elif asked.staged:
            after = repository.side(None, asked.paths, os.path.join(temporary, "after"))
        else:
            after = repository.working_tree(asked.paths)
        for path in asked.paths:
            inside = os.path.relpath(os.path.realpath(path), repository.root)
            if not any(os.path.exists(os.path.join(side.folder, inside)) for side in (before, after)):
                raise UsageError(f"{visible(path)} is on neither side", fix="check the path, or the revision")
        yield before, after


class _Commit(NamedTuple):
    """A commit and how it was named."""

    sha: str
    label: str


class _Repository:
    """A git repository, through GitPython."""

    def __init__(self) -> None:
        import git

        try:
            self._repo = git.Repo(os.curdir, search_parent_directories=True)
        except (git.InvalidGitRepositoryError, git.NoSuchPathError):
            raise UsageError(
                "this folder is in no git repository",
                fix="call it in one, or compare two folders with --no-index A B",
            ) from None
        self._failed = git.GitCommandError
        self.root = os.path.realpath(self._repo.working_tree_dir or os.curdir)

    def commit(self, name: str) -> _Commit:
        """The commit that a revision names."""
        sha = self._ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if not sha:
            raise UsageError(f"no commit {visible(name)!r}", fix=self._deeper() or "`git log` lists commits")
        return _Commit(sha, f"{name} ({sha[:7]})" if not sha.startswith(name) else sha[:7])

    def base(self) -> _Commit:
        """The merge-base with the default branch; on that branch itself the first parent."""
        head = self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not head:
            raise UsageError("the repository has no commit yet", fix="name two folders with --no-index A B")
        default = self._default_branch()
        merged = self._ask("merge-base", default, "HEAD") if default else ""
        if merged and merged != head:
            return _Commit(merged, f"{merged[:7]}, where this branch left {default}")
        parent = self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}~1")
        if parent:
            return _Commit(parent, f"{parent[:7]}, the commit before HEAD")
        if self._deeper():
            raise UsageError("the clone is shallow and lacks the commit to compare with", fix=self._deeper())
        return _Commit(head, f"{head[:7]}, the only commit")

    def side(self, commit: _Commit | None, paths: Sequence[str], folder: str) -> Side:
        """A commit, or with None the index, written out below `folder`."""
        inside = self._inside(paths)
        for name, sha in self._blobs(commit, inside):
            place = os.path.join(folder, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            _, _, _, data = self._repo.git.get_object_data(sha)
            with open(place, "wb") as file:
                file.write(data)
        os.makedirs(os.path.join(folder, ".git"), exist_ok=True)  # where a tree of tasks ends
        label = commit.label if commit else "what is staged"
        return Side(label, os.path.realpath(folder), self._there(folder, inside), self.root)

    def working_tree(self, paths: Sequence[str]) -> Side:
        """The working tree."""
        if self._repo.bare:
            raise UsageError("a bare repository has no working tree", fix="name two revisions: A..B")
        return Side("the working tree", self.root, self._there(self.root, self._inside(paths)))

    def _there(self, folder: str, inside: Sequence[str]) -> tuple[str, ...]:
        named = [os.path.join(folder, path) for path in inside] or [folder]
        return tuple(path for path in named if os.path.exists(path))

    def _inside(self, paths: Sequence[str]) -> list[str]:
        """Paths relative to the repository's top."""
        found = []
        for path in paths:
            inside = os.path.relpath(os.path.realpath(path), self.root)
            if inside.startswith(".."):
                raise UsageError(f"{visible(path)} is outside the repository", fix="name paths in it")
            if inside != os.curdir:
                found.append(inside)
        return found

    def _blobs(self, commit: _Commit | None, inside: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Name and object of every file that may make prompts: below the folders of these paths, and rows."""
        tops = sorted({path.split(os.sep)[0] for path in inside})
        if commit is None:
            listed = self._ask("ls-files", "--stage", "-z")
        else:
            listed = self._ask("ls-tree", "-r", "-l", "-z", "--full-tree", commit.sha)
        for entry in filter(None, listed.split("\0")):
            about, _, name = entry.partition("\t")
            mode, *rest = about.split()
            if tops and name.split("/")[0] not in tops and not name.endswith(_ROWS):
                continue
            sha = rest[1] if commit else rest[0]
            size = int(rest[2]) if commit and rest[2].isdigit() else 0
            plain = "." not in os.path.basename(name)
            outside = not {"..", ".git"}.isdisjoint(name.split("/"))  # a tree that was made up may say so
            if outside or not mode.startswith("100") or size > _LARGEST:
                continue
            if plain or name.endswith(_SUFFIXES + _ROWS):
                yield name, sha

    def _default_branch(self) -> str:
        remote = self._ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
        for name in filter(None, (remote, "origin/main", "origin/master", "main", "master")):
            if self._ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"):
                return name
        return ""

    def _deeper(self) -> str:
        """What to do in a shallow clone; empty in any other."""
        if self._ask("rev-parse", "--is-shallow-repository") != "true":
            return ""
        return "fetch the history: `fetch-depth: 0` under actions/checkout, or `git fetch --unshallow`"

    def _ask(self, *words: str) -> str:
        """What git prints; empty where it refuses."""
        try:
            said: Any = self._repo.git.execute(["git", *words], strip_newline_in_stdout=False)
        except self._failed:
            return ""
        return str(said).rstrip("\n")
