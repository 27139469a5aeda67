"""Which task files are meant (design.md, "Command line")."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import UsageError, WriteError, did_you_mean, visible
from evalspec.tree.patterns import expand, is_pattern, matches_any
from evalspec.tree.sniff import (
    Format,
    Kind,
    format_of,
    is_compressed,
    looks_like_bytes,
    read_head,
    sniff_format,
)
from evalspec.tree.walk import DEAD_LINK, Skipped, refuse_special, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STDIN = "-"
IGNORED = "git-ignored"
EXCLUDED = "excluded"
NO_RECORDS = "no task records"


class Selected(NamedTuple):
    """A task file to read.

    Attributes:
        path: its name as it is shown and opened; `-` is standard input.
        format: `jsonl` or `yaml`; None for standard input, whose first bytes decide (`sniff_format`).
        compressed: whether it is read through gzip.
        named: whether it was named itself, by a path or a pattern; else it was found in a folder.
    """

    path: str
    format: Format | None
    compressed: bool
    named: bool


class Selection(NamedTuple):
    """What was chosen.

    Attributes:
        files: the task files, in the order of the paths, each once.
        skipped: files of folders that have a task file's suffix and were left out, with the reason.
        chosen: the sentence that says so.
        notes: what the user should know of how it was chosen.
    """

    files: tuple[Selected, ...]
    skipped: tuple[Skipped, ...]
    chosen: str
    notes: tuple[str, ...] = ()


class _Candidate(NamedTuple):
    """A file that may count: `found` were walked to, the others were named; a pattern's are filtered all the same."""

    path: str
    real: str
    named: bool
    filtered: bool


def select(
    paths: Sequence[str],
    *,
    defaults: Sequence[str] = (),
    exclude: Sequence[str] = (),
    cwd: str = os.curdir,
    folder: str | None = None,
    kind: Kind | None = "evalspec",
) -> Selection:
    """The task files that paths mean.

    A file that is named is always read. A folder is walked: its `.jsonl .ndjson .yaml .yml` files (`.gz` too) count
    if they seem to hold task records, and are skipped if hidden, excluded or git-ignored. A pattern that the shell has
    left stands for the names it matches; they count whatever they hold, unless excluded or git-ignored.

    Args:
        paths: files, folders, patterns, and `-` for standard input.
        defaults: what is meant where there is no path: the project's `tasks`, relative to its folder.
        exclude: the project's patterns of what folders and patterns leave out.
        cwd: the folder that paths are relative to; names are given so that this process can open them.
        folder: the project's folder, if there is a project; else as `cwd`.
        kind: whose tasks count in a folder; None takes every file with the suffix.

    Raises:
        UsageError: a path is not there, or a pattern matches nothing.
        WriteError: a folder cannot be read, or a path is a FIFO, a socket or a device.
    """
    base = cwd if folder is None else folder
    if paths:
        given, start, where = paths, cwd, ", ".join(map(visible, paths[:3]))
        where += f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    elif defaults:
        given, start, where = defaults, _shortest(base), "the project's tasks"
    else:
        given, start, where = [os.curdir], cwd, "the current folder"

    skipped: list[Skipped] = []
    candidates = _unique(candidate for path in given for candidate in _candidates(path, start, skipped))
    kept = [item for item in candidates if not item.filtered]
    filtered = [item for item in candidates if item.filtered]
    if exclude:
        filtered = _without_excluded(filtered, exclude, base, skipped)
    filtered, notes = _without_ignored(filtered, skipped)
    wanted = {item.path for item in (*kept, *filtered)}
    files = [
        chosen
        for item in candidates
        if item.path in wanted and (chosen := _chosen(item, kind, skipped)) is not None
    ]
    return Selection(tuple(files), tuple(sorted(skipped)), f"{where}: {_counted(files, skipped)}", notes)


def _candidates(path: str, start: str, skipped: list[Skipped]) -> Iterable[_Candidate]:
    """The files that one path means."""
    if path == STDIN:
        return [_Candidate(STDIN, STDIN, named=True, filtered=False)]
    name = path if start == os.curdir else os.path.join(start, path)
    mode = _mode(name)
    if mode is None and is_pattern(path):
        matches = expand(name)
        if not matches:
            raise UsageError(
                f"no file matches {visible(path)}",
                fix="`*` stands for a name, `**` for folders; hidden names are never meant",
            )
        return [item for match in matches for item in _of_match(match, skipped)]
    if mode is None:
        raise _missing(path, name)
    if stat.S_ISDIR(mode):
        return _of_folder(_tidy(name), skipped)
    refuse_special(name, mode)
    return [_Candidate(name, os.path.realpath(name), named=True, filtered=False)]


def _of_folder(folder: str, skipped: list[Skipped]) -> list[_Candidate]:
    return [_Candidate(*found, named=False, filtered=True) for found in walk(folder, skipped)]


def _tidy(folder: str) -> str:
    """A folder's name without the `/` or `/.` at its end and the `./` at its beginning."""
    while folder.startswith("./"):
        folder = folder[2:].lstrip("/") or os.curdir
    while folder.endswith(("/", "/.")) and folder.strip("/."):
        folder = folder.removesuffix(".").rstrip("/")
    return folder


def _of_match(path: str, skipped: list[Skipped]) -> list[_Candidate]:
    """What a pattern matched; a dead link is passed over as in a folder."""
    mode = _mode(path)
    if mode is None:
        skipped.append(Skipped(path, DEAD_LINK))
        return []
    if stat.S_ISDIR(mode):
        return _of_folder(path, skipped)
    refuse_special(path, mode)
    return [_Candidate(path, os.path.realpath(path), named=True, filtered=True)]


def _mode(path: str) -> int | None:
    """A path's kind and permissions, links followed; None where there is nothing.

    Raises:
        WriteError: a folder on the way may not be looked into.
    """
    try:
        return os.stat(path).st_mode
    except PermissionError as error:
        raise WriteError(path, str(error.strerror), fix="grant leave to read it") from error
    except (OSError, ValueError):
        return None


def _missing(path: str, name: str) -> UsageError:
    """The error for a path that is not there, with the nearest name that is."""
    if os.path.islink(name):
        target = visible(os.readlink(name))
        return UsageError(f"{visible(path)} is a link to {target}, which is not there", fix="mend the link")
    tail = []
    head = name.rstrip("/")
    while head and not os.path.lexists(head):
        head, last = os.path.split(head)
        tail.append(last)
    if "\0" in name or not tail:
        return UsageError(
            f"no such file or folder: {visible(path) or repr(path)}", fix="name a file or a folder"
        )
    try:
        siblings = sorted(os.listdir(head or os.curdir))
    except OSError:
        siblings = []
    near = did_you_mean(tail[-1], siblings)
    if near and head:
        near = f"{near[:-1]} in {visible(head)}?"
    return UsageError(
        f"no such file or folder: {visible(path)}", fix=visible(near) or "name a file or a folder"
    )


def _unique(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """Each file once, by its first name; one that is also named is read whatever it holds."""
    by_real: dict[str, _Candidate] = {}
    for item in candidates:
        first = by_real.setdefault(item.real, item)
        if item is not first:
            named, filtered = first.named or item.named, first.filtered and item.filtered
            by_real[item.real] = first._replace(named=named, filtered=filtered)
    return list(by_real.values())


def _without_excluded(
    items: list[_Candidate], exclude: Sequence[str], base: str, skipped: list[Skipped]
) -> list[_Candidate]:
    root = os.path.abspath(base)
    kept = []
    for item in items:
        name = os.path.relpath(os.path.abspath(item.path), root).replace(os.sep, "/")
        if matches_any(name, exclude):
            skipped.append(Skipped(item.path, EXCLUDED))
        else:
            kept.append(item)
    return kept


def _without_ignored(
    items: list[_Candidate], skipped: list[Skipped]
) -> tuple[list[_Candidate], tuple[str, ...]]:
    if not items:
        return items, ()
    from evalspec.tree.ignored import git_ignored

    answer = git_ignored(item.real for item in items)
    skipped += [Skipped(item.path, IGNORED) for item in items if item.real in answer.paths]
    notes = tuple(
        f"git was not asked which files of {visible(top)} it ignores: {visible(reason)}"
        for top, reason in answer.unanswered
    )
    return [item for item in items if item.real not in answer.paths], notes


def _chosen(item: _Candidate, kind: Kind | None, skipped: list[Skipped]) -> Selected | None:
    """The candidate as a file to read, unless it was found in a folder and holds something else."""
    if item.path == STDIN:
        return Selected(STDIN, None, compressed=False, named=True)
    form = format_of(item.path)
    judged = kind is not None and not item.named
    head = read_head(item.path) if judged or form is None else None
    if form is None:
        form = sniff_format(head or b"")
    if judged and head is not None:  # what cannot be read is chosen: its reader says what is wrong
        seems = looks_like_bytes(head, form)
        if seems != kind:
            reason = NO_RECORDS if seems is None else f"tasks of {seems}"
            skipped.append(Skipped(item.path, reason))
            return None
    return Selected(item.path, form, is_compressed(item.path), item.named)


def _shortest(folder: str) -> str:
    """A folder's name from here: `.` for the current one, relative for one below, else as it is."""
    relative = os.path.relpath(folder)
    return os.path.abspath(folder) if relative.startswith(f"..{os.sep}..") else relative


def _counted(files: Sequence[Selected], skipped: Sequence[Skipped]) -> str:
    """`12 task files, 3 skipped (2 no task records, 1 git-ignored)`."""
    text = f"{len(files)} task file{'' if len(files) == 1 else 's'}"
    if not skipped:
        return text
    reasons: dict[str, int] = {}
    for item in skipped:
        reasons[item.reason] = reasons.get(item.reason, 0) + 1
    detail = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"{text}, {len(skipped)} skipped ({detail})"
