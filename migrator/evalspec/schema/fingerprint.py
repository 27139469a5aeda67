"""Fingerprints of functions: their normalised syntax tree and that of all they reach in their own family's folder.

Our own serialisation, the same on every supported Python: a comment, a docstring, an annotation or a line break is
free, a changed regular expression is not. Calls into the tool or the standard library count by name (design.md, "Schema
versions"). Only text is read; nothing is run.
"""

from __future__ import annotations

import ast
import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The algorithm's name; a fingerprint under another name is unknown, not different.
ALGORITHM = "s1:sha256"


def function_fingerprint(function: Callable[..., object]) -> str:
    """The fingerprint of a plain module-level function."""
    code = function.__code__
    return Reader(os.path.dirname(code.co_filename)).fingerprint(
        os.path.basename(code.co_filename), code.co_name
    )


class Reader:
    """Reads the modules of one folder as syntax trees, each once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._modules: dict[str, dict[str, ast.AST]] = {}

    def fingerprint(self, file: str, name: str) -> str:
        """The fingerprint of `name` in the module `file` (with its `.py`)."""
        text = "\n".join(self._reached(file, name))
        return f"{ALGORITHM}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"

    def _reached(self, file: str, name: str) -> Iterator[str]:
        """The serialised definition of `name` and of all it reaches, in the order of first mention."""
        todo, seen = [(file, name)], {(file, name)}
        while todo:
            here, wanted = todo.pop(0)
            module = self._module(here)
            node = module.get(wanted)
            if node is None:
                yield f"{wanted} elsewhere"
                continue
            if isinstance(node, ast.ImportFrom):
                target = self._target(node, wanted)
                if target is None:
                    yield f"{wanted} from {node.module}"
                elif target not in seen:
                    seen.add(target)
                    todo.append(target)
                continue
            yield serialise(node)
            for mention in self._mentions(here, node):
                if mention not in seen:
                    seen.add(mention)
                    todo.append(mention)

    def _mentions(self, file: str, node: ast.AST) -> Iterator[tuple[str, str]]:
        """What a definition mentions: names of its module, and `v1.name` of a sibling module."""
        module = self._module(file)
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                imported = module.get(part.value.id)
                if isinstance(imported, ast.ImportFrom) and imported.level == 1 and imported.module is None:
                    yield f"{part.value.id}.py", part.attr
            elif isinstance(part, ast.Name) and part.id in module:
                imported = module[part.id]
                if not (
                    isinstance(imported, ast.ImportFrom) and imported.level == 1 and imported.module is None
                ):
                    yield file, part.id

    def _target(self, node: ast.ImportFrom, name: str) -> tuple[str, str] | None:
        """Where an import from a sibling module leads; None where it leaves the folder."""
        if node.level != 1 or node.module is None:
            return None
        original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        return f"{node.module}.py", original

    def _module(self, file: str) -> dict[str, ast.AST]:
        if file not in self._modules:
            with open(os.path.join(self.folder, file), encoding="utf-8") as stream:
                self._modules[file] = dict(_definitions(ast.parse(stream.read())))
        return self._modules[file]


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Each top-level name of a module with what defines it."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node
        elif isinstance(node, (ast.ImportFrom, ast.Import)):
            for alias in node.names:
                yield alias.asname or alias.name, node


#: Parts of a syntax tree that carry no behaviour, or that only some Pythons have.
_LEFT_OUT = frozenset({"annotation", "returns", "type_comment", "type_params", "kind", "type_ignores", "ctx"})


def serialise(node: object) -> str:
    """A syntax tree as text: names of nodes, their fields in order, and constants by type and value."""
    if isinstance(node, ast.Constant):
        return f"({type(node.value).__name__} {node.value!r})"
    if isinstance(node, list):
        return f"[{' '.join(serialise(item) for item in node)}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={serialise(_without_docstring(node, name, value))}"
        for name, value in ast.iter_fields(node)
        if name not in _LEFT_OUT and value is not None and value != []
    ]
    return f"({type(node).__name__} {' '.join(fields)})"


def _without_docstring(node: ast.AST, name: str, value: object) -> object:
    holds = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and name == "body" and isinstance(value, list)
    if holds and value and isinstance(value[0], ast.Expr) and isinstance(value[0].value, ast.Constant):  # type: ignore[index]
        return value[1:]  # type: ignore[index]
    return value
