"""Fingerprints of functions: their normalised syntax tree and that of all they reach in their own family's folder.

Our own serialisation, the same on every supported Python: a comment, a docstring, an annotation or a line break is
free, a changed regular expression is not. Calls into the tool or the standard library count by name (design.md, "Schema
versions"). Only text is read; nothing is run.
"""

from __future__ import annotations

import ast
import hashlib
import os
from functools import lru_cache
from typing import TYPE_CHECKING

from evalspec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: The algorithm's name; a fingerprint under another name is unknown, not different.
ALGORITHM = "s1:sha256"


def function_fingerprint(function: Callable[..., object]) -> str:
    """The fingerprint of a function that a schema version names.

    Raises:
        UsageError: it is made in a way that its text does not show: a lambda, a function inside a function, a method.
    """
    module, name = getattr(function, "__module__", "") or "", getattr(function, "__qualname__", "")
    code = getattr(function, "__code__", None)
    if code is None or (module.startswith("evalspec.") and not module.startswith("evalspec.spec.")):
        return _digest(f"{name} from {module}")
    folder, file = os.path.split(code.co_filename)
    reader = Reader(folder)
    if name != code.co_name or not reader.defines(file, name):
        raise UsageError(
            f"{code.co_filename}:{code.co_firstlineno}: {name} is no function at the top of a module",
            fix="define it there with `def`, so that a change of it shows",
        )
    return reader.fingerprint(file, name)


def _digest(text: str) -> str:
    return f"{ALGORITHM}:{hashlib.sha256(text.encode()).hexdigest()}"


class Reader:
    """Reads the modules of one folder as syntax trees."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def defines(self, file: str, name: str) -> bool:
        """True where `name` is a function at the top of the module `file` (with its `.py`)."""
        return any(isinstance(node, _FUNCTIONS) for node in self._module(file).get(name, ()))

    def fingerprint(self, file: str, name: str) -> str:
        """The fingerprint of `name` in the module `file` (with its `.py`)."""
        return _digest("\n".join(self._reached(file, name)))

    def _reached(self, file: str, name: str) -> Iterator[str]:
        """The serialised definitions of `name` and of all it reaches, in the order of first mention."""
        todo, seen = [(file, name)], {(file, name)}
        while todo:
            here, wanted = todo.pop(0)
            nodes = self._module(here).get(wanted)
            if nodes is None:
                yield f"{wanted} elsewhere"
            for node in nodes or ():
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    outside, mentions = self._imported(node, wanted)
                    if outside:
                        yield outside
                else:
                    yield serialise(node)
                    mentions = list(self._mentions(here, node))
                for mention in mentions:
                    if mention not in seen:
                        seen.add(mention)
                        todo.append(mention)

    def _mentions(self, file: str, node: ast.AST) -> Iterator[tuple[str, str]]:
        """What a definition mentions: names of its module, and `v1.name` of a sibling module."""
        module = self._module(file)
        for part in _parts(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                sibling = _sibling(module.get(part.value.id, ()), part.value.id)
                if sibling:
                    yield f"{sibling}.py", part.attr
            elif (
                isinstance(part, ast.Name)
                and part.id in module
                and not _sibling(module.get(part.id, ()), part.id)
            ):
                yield file, part.id

    def _imported(self, node: ast.Import | ast.ImportFrom, name: str) -> tuple[str, list[tuple[str, str]]]:
        """Where an import leads: out of the folder, said as text, or to a name of a sibling module."""
        original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        if isinstance(node, ast.Import):
            return f"{name} is {original}", []
        if node.level == 1 and node.module is not None:
            return "", [(f"{node.module}.py", original)]
        return f"{name} is {original} from {'.' * node.level}{node.module or ''}", []

    def _module(self, file: str) -> dict[str, list[ast.AST]]:
        """Each top-level name of a module with all that defines it, in order; none where there is no such module."""
        path = os.path.join(self.folder, file)
        try:
            found = os.stat(path)
        except OSError:
            return {}
        return _names_of(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=64)
def _names_of(path: str, size: int, time: int) -> dict[str, list[ast.AST]]:
    """A module's top-level names. A version has some twenty functions in one file, which is parsed once."""
    del size, time  # of the file that was read
    names: dict[str, list[ast.AST]] = {}
    with open(path, encoding="utf-8") as stream:
        for name, node in _definitions(ast.parse(stream.read())):
            names.setdefault(name, []).append(node)
    return names


def _sibling(nodes: Iterable[ast.AST], name: str) -> str:
    """The module that `name` stands for, where it was imported from its own folder as a whole."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is None:
            return next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
    return ""


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HOLDERS = (*_FUNCTIONS, ast.ClassDef)


def _definitions(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Each top-level name of a module with a node that defines it, also below an `if` or a `try`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _HOLDERS):
            yield node.name, node
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        yield part.id, node
        elif isinstance(node, (ast.ImportFrom, ast.Import)):
            for alias in node.names:
                yield alias.asname or alias.name, node
        elif isinstance(node, ast.stmt | ast.ExceptHandler):
            yield from _definitions(node)


#: Parts of a syntax tree that carry no behaviour, or that only some Pythons have.
_LEFT_OUT = frozenset(
    {"annotation", "returns", "type_comment", "type_params", "kind", "type_ignores", "ctx", "simple"}
)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all it holds, without what carries no behaviour."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in _LEFT_OUT:
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, ast.AST):
                    yield from _parts(item)


def serialise(node: object) -> str:
    """A syntax tree as text: names of nodes, their fields in order, and constants by type and value."""
    if isinstance(node, ast.Constant):
        return f"({type(node.value).__name__} {node.value!a})"
    if isinstance(node, list):
        return f"[{' '.join(serialise(item) for item in node)}]"
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        node = ast.Assign([node.target], node.value)
    if not isinstance(node, ast.AST):
        return ascii(node)
    fields = [
        f"{name}={serialise(_without_docstring(node, name, value))}"
        for name, value in ast.iter_fields(node)
        if name not in _LEFT_OUT and value is not None and value != []
    ]
    return f"({type(node).__name__} {' '.join(fields)})"


def _without_docstring(node: ast.AST, name: str, value: object) -> object:
    if not (isinstance(node, _HOLDERS) and name == "body" and isinstance(value, list) and value):
        return value
    first = value[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return value[1:] if is_text and isinstance(first.value.value, str) else value
