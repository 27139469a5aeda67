"""The schema versions of one side, as syntax trees: code from git's objects is never run (design.md, "Git").

Records are rendered by the versions in the working tree. Where a side's own modules of a version are others, what they
would have made of a record is not known.
"""

from __future__ import annotations

import ast
import os
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import visible
from evalspec.schema.family import module_name
from evalspec.schema.fingerprint import serialise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.diff.sides import Side
    from evalspec.schema.family import Family
    from evalspec.schema.schema import Schema


class Modules(NamedTuple):
    """The modules of a schema version on a side.

    Attributes:
        path: the version's module, as it is shown.
        here: what they are made of on the side.
        used: what those are made of that render its records: the working tree's.
    """

    path: str
    here: str
    used: str


class SideSchemas:
    """Looks at the modules of schema versions on a side, each version's once."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._known: dict[str, Modules] = {}

    def of(self, schema: Schema, family: Family) -> Modules:
        """The modules of a version."""
        if schema.id not in self._known:
            folder = f"{family.root.schemas}/{family.name}"
            here = self._side.counterpart(folder)
            name = f"{module_name(schema.version)}.py"
            used = _made_of(folder, name)
            path = self._side.shown(os.path.join(here, name))
            self._known[schema.id] = Modules(path, used if here == folder else _made_of(here, name), used)
        return self._known[schema.id]


def doubt_of(label: str, version: str) -> str:
    """Why a record is unknown whose version's modules are others in the working tree."""
    return (
        f"{visible(label)} has another {visible(version)} than the working tree, and its code is not run: "
        "what it made of the record is not known"
    )


def _made_of(folder: str, name: str) -> str:
    """A digest of a module's syntax tree and of those of all modules of its folder that it reaches."""
    waiting, found = [name], {}
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        tree = _tree(os.path.join(folder, each))
        # What a field must be is no behaviour of a function, but it is part of the contract.
        fields = [ast.dump(node.annotation) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)]
        found[each] = serialise(tree) + "".join(fields)
        waiting += _neighbours(tree)
    told = repr(sorted(found.items()))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _tree(path: str) -> ast.Module:
    """A module's syntax tree; an empty one where there is none, or it does not parse."""
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _neighbours(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from (f"{name.replace('.', '/')}.py" for name in names)
