"""Which files git ignores: one question to git a repository, and none where there is no repository."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Variables that a git hook sets and that would send the question to another repository or index.
_HOOK_VARIABLES = frozenset(["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"])


class Ignored(NamedTuple):
    """What git said.

    Attributes:
        paths: the real paths that it ignores.
        unanswered: the repositories that it said nothing of, with the reason.
    """

    paths: frozenset[str]
    unanswered: tuple[tuple[str, str], ...]


def git_ignored(real_paths: Iterable[str]) -> Ignored:
    """Which of the files git ignores; a tracked file never is.

    Each file is asked for in the innermost repository it lies in, so that submodules and links are no trouble.

    Args:
        real_paths: absolute paths with every link resolved.
    """
    groups: dict[str, list[str]] = {}
    known: dict[str, str | None] = {}
    for path in real_paths:
        top = _repository(os.path.dirname(path), known)
        if top is not None:
            groups.setdefault(top, []).append(path)
    ignored: set[str] = set()
    unanswered = []
    for top, paths in groups.items():
        try:
            ignored.update(_ask(top, paths))
        except OSError as error:
            unanswered.append((top, error.strerror or str(error)))
    return Ignored(frozenset(ignored), tuple(unanswered))


def _repository(folder: str, known: dict[str, str | None]) -> str | None:
    """The nearest folder from here upwards that has a `.git`."""
    chain = []
    while folder not in known:
        chain.append(folder)
        if os.path.lexists(os.path.join(folder, ".git")):
            known[folder] = folder
            break
        parent = os.path.dirname(folder)
        if parent == folder:
            known[folder] = None
            break
        folder = parent
    top = known[folder]
    known.update(dict.fromkeys(chain, top))
    return top


def _ask(top: str, paths: list[str]) -> list[str]:
    """The ignored ones among the paths of one repository.

    Raises:
        OSError: git is not there, or would not say.
    """
    import subprocess

    start = len(top.rstrip("/")) + 1
    names = {b"./" + os.fsencode(path[start:]): path for path in paths}
    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    # A repository is a stranger's: its file system monitor is a program, and is not started.
    done = subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "check-ignore", "-z", "--stdin"],  # noqa: S607 - the user's git
        cwd=top,
        env=environment,
        input=b"\0".join(names) + b"\0",
        capture_output=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise OSError(done.returncode, done.stderr.decode(errors="replace").strip().partition("\n")[0])
    return [names[name] for name in done.stdout.split(b"\0") if name in names]
