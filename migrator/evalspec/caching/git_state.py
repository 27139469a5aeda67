"""What git reads to say what a repository holds: references, the index, settings. Objects never change."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Variables with which git looks elsewhere than where it would.
ELSEWHERE = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
)
_OF_TREE = ("HEAD", "index", "config.worktree", "info/sparse-checkout", "commondir")
_OF_REPOSITORY = ("config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts")
_NAMED = re.compile(
    r"(?:path|excludesfile|attributesfile)\s*=\s*\"?([^\"\n]+?)\"?\s*$", re.IGNORECASE | re.MULTILINE
)


#: What in a folder says which of its files git looks at, and how.
IN_FOLDERS = (".gitignore", ".gitattributes")


def top_of(folder: str) -> str:
    """The nearest folder upwards that has a `.git`; empty where there is none."""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def git_reads(folder: str) -> Iterator[tuple[str, str]]:
    """Everything, as a kind of dependence and a path, that git reads for a folder of a working tree.

    Beside it there are the files of `IN_FOLDERS` in each folder.
    """
    top = top_of(folder)
    if not top:
        yield "existence", os.path.join(folder, ".git")
        return
    own = os.path.join(top, ".git")
    yield "existence", own
    if os.path.isfile(own):
        yield "content", own
        own = os.path.normpath(os.path.join(top, _text(own).removeprefix("gitdir:").strip()))
    said = _text(os.path.join(own, "commondir")).strip()
    common = os.path.normpath(os.path.join(own, said)) if said else own
    yield from (("content", os.path.join(own, name)) for name in _OF_TREE)
    yield from (("content", os.path.join(common, name)) for name in _OF_REPOSITORY)
    for refs in dict.fromkeys([f"{own}/refs", f"{common}/refs", f"{common}/reftable"]):
        for inner, _, names in os.walk(refs):
            yield "listing", inner
            yield from (("content", os.path.join(inner, name)) for name in names)
        if not os.path.isdir(refs):
            yield "existence", refs
    yield from _settings([f"{common}/config", f"{own}/config.worktree"])


def ignored_folders(top: str) -> frozenset[str] | None:
    """The folders of a working tree of which git ignores all that is in them; None where it does not say."""
    import subprocess

    ask = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]
    try:
        said = subprocess.run(ask, cwd=top, capture_output=True, check=True).stdout  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    names = said.decode("utf-8", "surrogateescape").split("\0")
    return frozenset(f"{top}/{name[:-1]}" for name in names if name.endswith("/"))


def _settings(configs: list[str]) -> Iterator[tuple[str, str]]:
    home = os.path.expanduser("~")
    base = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    wide = os.environ.get("GIT_CONFIG_GLOBAL")
    pending = [
        *configs,
        "/etc/gitconfig",
        *([wide] if wide else [f"{home}/.gitconfig", f"{base}/git/config"]),
    ]
    seen = set()
    while pending:
        config = pending.pop()
        if config in seen:
            continue
        seen.add(config)
        yield "content", config
        beside = os.path.dirname(config)
        pending += [
            os.path.join(beside, os.path.expanduser(named)) for named in _NAMED.findall(_text(config))
        ]
    yield "content", f"{base}/git/ignore"
    yield "content", f"{base}/git/attributes"


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
