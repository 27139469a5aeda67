"""Patterns of names: `*`, `?`, `[…]` inside a name and `**` over folders, as a shell has them."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from evalspec.errors import WriteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAGIC = re.compile(r"[*?[]")
#: Folders that hold other people's files, never a project's tasks.
NEVER = frozenset(["node_modules", "__pycache__"])


def is_pattern(text: str) -> bool:
    """Whether a path has to be expanded."""
    return _MAGIC.search(text) is not None


def start_of(path: str) -> str:
    """The folder that a pattern's names lie below; any other path is its own start."""
    magic = None if os.path.lexists(path) else _MAGIC.search(path)
    if magic is None:
        return path
    head = path[: magic.start()]
    return os.path.dirname(head) or os.curdir


def expand(pattern: str) -> list[str]:
    """The files and folders that a pattern names, sorted by name.

    A `*` or a `**` never stands for a hidden name, and `**` passes over no link, so it cannot run in circles.
    `folder/**` is the folder.

    Raises:
        WriteError: a folder on the way cannot be read.
    """
    steps = _split(pattern)
    absolute = pattern.startswith("/")
    while steps and steps[-1] == "**":
        steps.pop()
    if not steps:
        return ["/" if absolute else "."]
    seen = dict.fromkeys(_matches("/" if absolute else "", steps))
    return sorted(seen)


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Whether a path relative to the project, `/` between folders, or a folder it lies in, is meant.

    A pattern without a `/` is compared with every name on the way, any other with the path from the start.
    """
    return any(_expression(pattern).match(name) for pattern in patterns)


def _split(pattern: str) -> list[str]:
    if os.sep != "/":
        pattern = pattern.replace(os.sep, "/")
    steps = [step for step in pattern.split("/") if step not in ("", ".")]
    return [step for index, step in enumerate(steps) if step != "**" or steps[index - 1 : index] != ["**"]]


def _matches(base: str, steps: list[str]) -> Iterator[str]:
    if not steps:
        yield base
        return
    step, rest = steps[0], steps[1:]
    if step == "**":
        yield from _matches(base, rest)
        for entry in _entries(base):
            if entry.is_dir(follow_symlinks=False) and not _is_passed_over(entry.name):
                yield from _matches(base + entry.name + "/", steps)
    elif not is_pattern(step):
        path = base + step
        if os.path.lexists(path):
            yield from _matches(path + "/" if rest else path, rest)
    else:
        matches = _name_expression(step).fullmatch
        for entry in _entries(base):
            if matches(entry.name) and (step.startswith(".") or not entry.name.startswith(".")):
                if not rest:
                    yield base + entry.name
                elif entry.is_dir():
                    yield from _matches(base + entry.name + "/", rest)


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in NEVER


def _entries(base: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(base or os.curdir) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable_folder(base, error) from error


def unreadable_folder(path: str, error: OSError) -> WriteError:
    """What is said of a folder whose names cannot be read."""
    reason = f"the folder cannot be read ({error.strerror})"
    return WriteError(path, reason, fix="grant leave to read it, or name the files that are meant")


@lru_cache(maxsize=256)
def _name_expression(step: str) -> re.Pattern[str]:
    return re.compile(_translated(step), re.DOTALL)


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    steps = _split(pattern)
    anchored = "/" in pattern.rstrip("/")
    while steps and steps[-1] == "**":
        steps.pop()
    body = "".join(
        r"(?:[^/]+/)*" if step == "**" else _translated(step) + ("/" if index < len(steps) - 1 else "")
        for index, step in enumerate(steps)
    )
    start = "" if anchored else r"(?:.*/)?"
    return re.compile(f"{start}{body}(?:/|\\Z)" if steps else "", re.DOTALL)


def _translated(step: str) -> str:
    """One name's pattern as a regular expression; a `[` that is never closed stands for itself."""
    out = []
    index = 0
    while index < len(step):
        char = step[index]
        index += 1
        if char == "*":
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := _set_end(step, index)):
            out.append(_translated_set(step[index:end]))
            index = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def _set_end(step: str, start: int) -> int:
    """Where the `]` of a set stands; 0 where there is none. A `]` in the first place is one of the set."""
    first = start + 1 if step[start : start + 1] in ("!", "^") else start
    return max(step.find("]", first + 1), 0)


def _translated_set(body: str) -> str:
    negated = body[:1] in ("!", "^")
    items = []
    index = int(negated)
    while index < len(body):
        low = body[index]
        high = body[index + 2] if body[index + 1 : index + 2] == "-" and index + 2 < len(body) else ""
        if not high:
            items.append(re.escape(low))
        elif low <= high:
            items.append(f"{re.escape(low)}-{re.escape(high)}")
        index += 3 if high else 1
    if not items:
        return "[^/]" if negated else r"(?!)"
    return f"[^/{''.join(items)}]" if negated else f"(?!/)[{''.join(items)}]"
