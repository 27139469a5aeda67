"""`evalspec.lock`: what a project has released, one line a thing, so that two branches merge.

    migration acme@v2 m1:sha256:…
    schema acme@v2 s1:sha256:…
    prompt arith_001 1 plain=p1:sha256:…
    accepted arith_001 plain=p1:sha256:… "a space before the answer was one too many"

There is no global hash and no time: two branches that release different things touch different lines. A fingerprint
carries the name of its algorithm; one of another algorithm is unknown, not different.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NAME = "evalspec.lock"
_HEAD = "# Made by `evalspec lock` and `evalspec accept`, sorted. Where two branches meet, keep the lines of both.\n"

#: A word, or text in quotes where it holds white space.
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')


class Key(NamedTuple):
    """What a line is about: `schema acme@v2`, `prompt arith_001`."""

    kind: str
    name: str


class Lock(NamedTuple):
    """The lines of a lock, by what they are about; `places` has the number of each line."""

    lines: Mapping[Key, tuple[str, ...]]
    places: Mapping[Key, int]

    def of_kind(self, kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Name and words of every line of a kind."""
        for key, words in self.lines.items():
            if key.kind == kind:
                yield key.name, words


EMPTY = Lock({}, {})
_KINDS = {"schema": 1, "migration": 1, "prompt": 2, "accepted": 2}


def parse_lock(data: bytes, path: str = NAME) -> Lock:
    """A lock's lines.

    Raises:
        UsageError: it is no lock: a merge that was left half-way, say. The error names the line.
    """
    lines: dict[Key, tuple[str, ...]] = {}
    places: dict[Key, int] = {}
    for number, text in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        try:
            kind, name, *words = map(_read, _WORD.findall(text))
            known = len(words) >= _KINDS[kind]
        except (ValueError, KeyError):
            known = False
        if not known:
            fix = (
                "keep the lines of both branches"
                if text[:7] in _MARKS
                else f"restore {NAME}, or mend the line"
            )
            raise UsageError(f"{visible(path)}:{number}: no line of a lock: {visible(text[:60])}", fix=fix)
        key = Key(kind, name)
        if key in lines and lines[key] != tuple(words):
            raise UsageError(
                f"{visible(path)}:{number}: a second line of {kind} {visible(name)}, and another one",
                fix=f"keep one: `evalspec {'accept' if kind == 'accepted' else 'lock'}` writes it anew",
            )
        lines[key], places[key] = tuple(words), number
    return Lock(lines, places)


_MARKS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


def read_lock(folder: str) -> Lock:
    """The lock that lies in a project's folder; an empty one where there is none.

    Raises:
        UsageError: it is no lock.
    """
    path = os.path.join(folder, NAME)
    try:
        with open(path, "rb") as file:
            return parse_lock(file.read(), os.path.relpath(path))
    except FileNotFoundError:
        return EMPTY


def lock_text(lines: Mapping[Key, Iterable[str]]) -> str:
    """A lock as text, sorted."""
    told = sorted(" ".join([key.kind, *map(_written, (key.name, *words))]) for key, words in lines.items())
    return _HEAD + "".join(f"{line}\n" for line in told)


def _read(word: str) -> str:
    return str(json.loads(word)) if word.startswith('"') else word


def _written(word: str) -> str:
    return word if _WORD.fullmatch(word) and not word.startswith('"') else json.dumps(word)
