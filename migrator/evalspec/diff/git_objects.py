"""A git repository read from its objects: which files a revision has, and their bytes. Nothing in it is touched.

git is found and started by GitPython; bytes come from one long-lived `cat-file --batch` (design.md, "Git").
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: A larger file is neither a task file nor one that a task includes.
LARGEST = 10_000_000
#: What the branch that others leave from is called where nobody says so.
_DEFAULT_BRANCHES = (
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
#: Fewer objects than this are read one by one.
_MANY = 20


class Commit(NamedTuple):
    """A commit and how it was named."""

    sha: str
    label: str


class Told(NamedTuple):
    """What a commit says of itself.

    Attributes:
        sha: its name.
        parents: the names of its parents.
        date: when it was written, as ISO 8601.
        author: who wrote it.
        subject: the first line of its message.
    """

    sha: str
    parents: tuple[str, ...]
    date: str
    author: str
    subject: str


class Blob(NamedTuple):
    """A file of a revision: its object and its size in bytes."""

    sha: str
    size: int


class Repository:
    """The git repository that the working directory is in.

    Attributes:
        root: the top of its working tree; of a bare one, its own folder.
        bare: it has no working tree.

    Raises:
        UsageError: there is none.
    """

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
        self.made: dict[tuple[str, str], Any] = {}
        #: Where the bytes of an object were laid down as a file.
        self.laid: dict[str, str] = {}
        self._kept: dict[str, bytes] = {}
        # A bare repository may lie in a folder of any name, in which git itself would look for it in vain.
        self._repo.git.set_persistent_git_options(git_dir=self._repo.git_dir)
        inside = f"{os.path.realpath(os.curdir)}/".startswith(f"{os.path.realpath(self._repo.git_dir)}/")
        self.bare = self._repo.bare or inside
        self.root = os.path.realpath(
            self._repo.git_dir if self.bare else self._repo.working_tree_dir or os.curdir
        )

    def ask(self, command: str, *words: str) -> str:
        """What a git command prints; empty where it refuses."""
        try:
            said: Any = getattr(self._repo.git, command)(*words, strip_newline_in_stdout=False)
        except self._failed:
            return ""
        return str(said).rstrip("\n")

    def read(self, sha: str) -> bytes:
        """The bytes of an object."""
        if sha not in self._kept:
            self._kept[sha] = self._repo.git.get_object_data(sha)[3]
        return self._kept[sha]

    def fetch(self, shas: Iterable[str]) -> None:
        """Read many objects in one go; `read` has them then."""
        from tempfile import TemporaryFile

        wanted = [sha for sha in dict.fromkeys(shas) if sha not in self._kept]
        if len(wanted) < _MANY:
            return
        with TemporaryFile() as names:
            names.write("\n".join([*wanted, ""]).encode())
            names.seek(0)
            data: bytes = self._repo.git.cat_file(
                "--batch", istream=names, stdout_as_string=False, strip_newline_in_stdout=False
            )
        at = 0
        for sha in wanted:
            line = data.index(b"\n", at)
            about = data[at:line].split()
            at = line + 1
            if len(about) == 3:  # else it is missing, and `read` says so when it is needed
                size = int(about[2])
                self._kept[sha] = data[at : at + size]
                at += size + 1

    def file_at(self, commit: Commit, path: str) -> bytes | None:
        """The bytes of a file of a commit, by its path from the top; None where there is none."""
        sha = self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit.sha}:{path}")
        return self.read(sha) if sha else None

    # ── Commits ──────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_empty(self) -> bool:
        """Whether there is no commit yet."""
        return not self._sha("HEAD")

    def names_commit(self, name: str) -> bool:
        """Whether there is a commit that is called so."""
        return bool(self._sha(name))

    def commit(self, name: str) -> Commit:
        """The commit that a revision names.

        Raises:
            UsageError: there is none.
        """
        sha = self._sha(name)
        if not sha:
            raise UsageError(f"no commit {visible(name)!r}", fix=self.deeper() or "`git log` lists commits")
        return Commit(sha, f"{name} ({sha[:7]})" if not sha.startswith(name) else sha[:7])

    def base(self, default: str = "") -> Commit:
        """The merge-base with the default branch; on that branch itself the first parent.

        Args:
            default: the default branch, where the project says which one it is.

        Raises:
            UsageError: there is no commit, or a shallow clone lacks the one that is meant.
        """
        head = self._sha("HEAD")
        if not head:
            raise UsageError("the repository has no commit yet", fix="name two folders with --no-index A B")
        default = default or self._default_branch()
        merged = self.ask("merge-base", default, "HEAD") if default else ""
        here = self.ask("symbolic-ref", "--quiet", "--short", "HEAD")
        on_another = here and here != default.rpartition("/")[2]  # without a commit of its own yet
        if merged and (merged != head or on_another):
            return Commit(merged, f"{merged[:7]}, where this branch left {default}")
        parent = self._sha("HEAD~1")
        if parent:
            return Commit(parent, f"{parent[:7]}, the commit before HEAD")
        if self.deeper():
            raise UsageError("the clone is shallow and lacks the commit to compare with", fix=self.deeper())
        return Commit(head, f"{head[:7]}, the only commit")

    def _sha(self, name: str) -> str:
        return self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def _default_branch(self) -> str:
        form = "--format=%(refname)%09%(symref)"
        said = self.ask("for-each-ref", form, "refs/remotes/origin/HEAD", *_DEFAULT_BRANCHES)
        found = dict(line.split("\t") for line in said.split("\n") if line)
        remote = found.get("refs/remotes/origin/HEAD", "")
        name = remote or next((each for each in _DEFAULT_BRANCHES if each in found), "")
        return name.removeprefix("refs/remotes/").removeprefix("refs/heads/")

    def deeper(self) -> str:
        """What to do in a shallow clone; empty in any other."""
        if self.ask("rev-parse", "--is-shallow-repository") != "true":
            return ""
        return "fetch the history: `fetch-depth: 0` under actions/checkout, or `git fetch --unshallow`"

    def tree_of(self, sha: str) -> str:
        """The name of a commit's tree, which tells all that is in it."""
        return self.read(sha).partition(b"\n")[0].removeprefix(b"tree ").decode()

    def touching(self, paths: Iterable[str], since: str = "") -> list[Told]:
        """The commits of HEAD's history that touched any of these paths, newest first; merges that did.

        Args:
            paths: paths from the top of the repository; they need not be there any more.
            since: a commit; what it has in its own history is left out.
        """
        span = ["HEAD", f"^{since}"] if since else ["HEAD"]
        named = [f":(top,literal){path}" for path in paths]
        form = "%H%x1f%P%x1f%aI%x1f%an%x1f%s"
        said = self.ask("rev_list", "--topo-order", f"--format={form}", *span, "--", *named)
        found = []
        for line in said.split("\n"):
            if "\x1f" in line:
                sha, parents, date, author, subject = line.split("\x1f", maxsplit=4)
                found.append(Told(sha, tuple(parents.split()), date, author, subject))
        return found

    def holding(self, text: str, commit: Commit, endings: Iterable[str]) -> list[str]:
        """The files of a commit that hold a text, of those with these endings."""
        patterns = [f":(top)*{ending}" for ending in endings]
        said = self.ask(
            "grep", "--no-color", "-l", "-z", "-F", "--full-name", "-e", text, commit.sha, "--", *patterns
        )
        start = len(commit.sha) + 1
        return sorted(name[start:] for name in said.split("\0") if name)

    # ── Files ────────────────────────────────────────────────────────────────────────────────────────────────

    def blobs(self, commit: Commit | None) -> dict[str, Blob]:
        """The files of a commit, or with None of the index, by their paths from the top."""
        if commit is None:
            listed = self.ask("ls-files", "--stage", "-z", "--full-name", ":/")
        else:
            listed = self.ask("ls-tree", "-r", "-l", "-z", "--full-tree", commit.sha)
        found = {}
        for entry in filter(None, listed.split("\0")):
            about, _, name = entry.partition("\t")
            mode, *rest = about.split()
            outside = not {"..", ".git"}.isdisjoint(name.split("/"))  # a tree that was made up may say so
            if mode.startswith("100") and not outside:
                sha, size = (rest[1], int(rest[2])) if commit else (rest[0], 0)
                found[name] = Blob(sha, size)
        return found

    def changed(self, base: Commit, head: Commit | None, *, staged: bool) -> frozenset[str]:
        """The whole paths of files that differ from `base`: in `head`, the index, or the working tree."""
        words = [base.sha, *([head.sha] if head else ["--cached"] if staged else [])]
        names = self.ask("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", *words).split("\0")
        if head is None and not staged and not self.bare:
            names += self.ask("ls-files", "-z", "--others", "--exclude-standard", ":/").split("\0")
        return frozenset(f"{self.root}/{name}" for name in names if name)

    def unstaged(self) -> list[str]:
        """The paths of files in the working tree that are not as they are staged, those that are gone among them."""
        changed = self.ask("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z")
        others = self.ask("ls-files", "-z", "--others", "--exclude-standard", ":/")
        return [name for name in (*changed.split("\0"), *others.split("\0")) if name]

    def _own_repository(self, path: str) -> str:
        """The folder on the way to a path, or it itself, in which another repository begins; empty where none does."""
        while path and path != os.curdir:
            if os.path.exists(os.path.join(self.root, path, ".git")):
                return path
            path = os.path.dirname(path)
        return ""

    def inside(self, paths: Sequence[str]) -> list[str]:
        """Paths from the top of the working tree; the top itself is left out.

        Raises:
            UsageError: a path leads out of it, or into another one.
        """
        found = []
        for path in paths:
            if self.bare:
                found.append(os.path.normpath(path))
                continue
            inside = os.path.relpath(os.path.realpath(path), self.root)
            if inside.startswith(".."):
                raise UsageError(f"{visible(path)} is outside the repository", fix="name paths in it")
            if own := self._own_repository(inside):
                shown = visible(own)
                raise UsageError(
                    f"{shown} is a repository of its own, a submodule perhaps",
                    fix=f"compare in it: cd {shown}",
                )
            found.append(inside)
        return [path for path in found if path != os.curdir]


class GitFiles:
    """The files of a revision, as `evalspec.prompts.lm_eval.files.Files` has them.

    Attributes:
        too_large: paths of files that were asked for and are larger than a file of tasks is read.
        asked: every path that was asked for, also where there is no file.
    """

    def __init__(self, repository: Repository, blobs: dict[str, Blob]) -> None:
        self.too_large: dict[str, None] = {}
        self.asked: dict[str, None] = {}
        self._repository = repository
        self._blobs = blobs

    def names(self) -> list[str]:
        """Every file's path from the top."""
        return list(self._blobs)

    def digest(self) -> str:
        """A digest of every file's path and object."""
        from hashlib import blake2b

        told = "\0".join([f"{name}\0{blob.sha}" for name, blob in sorted(self._blobs.items())])
        return blake2b(told.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()

    def id_of(self, name: str) -> str:
        """The name of a file's object; empty where there is no such file."""
        blob = self._blobs.get(name)
        return blob.sha if blob else ""

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is none, or it is too large."""
        self.asked[name] = None
        blob = self._blobs.get(name)
        if blob is None:
            return None
        data = self._repository.read(blob.sha) if blob.size <= LARGEST else b""
        if max(blob.size, len(data)) > LARGEST:
            self.too_large[name] = None
            return None
        return data

    def fetch(self, wanted: Callable[[str], bool]) -> None:
        """Read all files with such names in one go, where their sizes are known to be usual."""
        blobs = self._blobs.items()
        self._repository.fetch(blob.sha for name, blob in blobs if 0 < blob.size <= LARGEST and wanted(name))

    def kept_of(self, name: str) -> tuple[dict[tuple[str, str], Any] | None, str]:
        """See `evalspec.prompts.lm_eval.files.Kept`: one for all revisions of the repository."""
        return self._repository.made, self._blobs[name].sha

    def differing(self, other: GitFiles) -> set[str]:
        """The paths that are on one side only, or have other bytes on the other one."""
        names = self._blobs.keys() | other._blobs.keys()
        return {name for name in names if self.id_of(name) != other.id_of(name)}


class WorkingFiles(GitFiles):
    """The files of the working tree, as git sees them: what it ignores is not there.

    A file that is as it was staged has the staged object; any other is read from disk, and named by what git would call
    its object. So files that are the same as in a revision are known to be.
    """

    def __init__(self, repository: Repository) -> None:
        from hashlib import sha1

        blobs = repository.blobs(None)
        # Of most files it is known that they are as staged, and they are never read: that depends on them all the same.
        sys.audit("evalspec.working_tree", repository.root, list(blobs))
        self._own: dict[str, bytes] = {}
        for name in repository.unstaged():
            path = os.path.join(repository.root, name)
            blobs.pop(name, None)
            if not os.path.isfile(path):
                continue
            about = os.stat(path)
            if about.st_size > LARGEST:
                blobs[name] = Blob(f"{about.st_size} {about.st_mtime_ns}", about.st_size)
                continue
            with open(path, "rb") as file:
                data = file.read()
            sha = sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            blobs[name] = Blob(sha, len(data))
            self._own[sha] = data
        super().__init__(repository, blobs)

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is none, or it is too large."""
        sys.audit(
            "evalspec.read", os.path.join(self._repository.root, name)
        )  # it stands for the file on disk
        data = self._own.get(self.id_of(name))
        return super().read(name) if data is None else data
