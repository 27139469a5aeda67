"""Fingerprints of the Python functions that tasks name: what they are made of, without running them.

A fingerprint covers the syntax tree of the function and of everything it reaches inside the tree of tasks: other
functions and classes, module globals, the arguments of `functools.partial`, imported neighbours. Comments, layout
and docstrings do not count. What a function takes from installed packages counts by name only.
"""

from __future__ import annotations

import ast
import posixpath
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.prompts.lm_eval.files import Files
    from evalspec.prompts.problems import FunctionRef

#: The recipe's name; fingerprints of different recipes are not comparable.
RECIPE = "f1"

Definition = tuple[str, str]

#: Names that a module's text defines at its top, in one group or the other.
_DEFINED = re.compile(rb"(?m)^(?:async def|def|class) +(\w+)(?![\x80-\xff])|^(\w+) *[:=]")
#: Ways to make or find names that a syntax tree does not show.
_DYNAMIC = re.compile(r"Name\(id=str:'(?:globals|exec|eval|setattr|getattr|vars|__import__)'")


class _Module:
    """A module's top-level names, and what each is."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.body = tree.body
        self.named: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, tuple[int, str, str | None]] = {}
        self.stars: list[tuple[int, str]] = []
        for statement in _flat(tree.body):
            self._note(statement)

    def _note(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.asname:
                    self.imports[alias.asname] = (0, alias.name, None)
                else:
                    self.imports[alias.name.partition(".")[0]] = (0, alias.name, None)
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if alias.name == "*":
                    self.stars.append((statement.level, statement.module or ""))
                else:
                    bound = alias.asname or alias.name
                    self.imports[bound] = (statement.level, statement.module or "", alias.name)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.named.setdefault(statement.name, []).append(statement)
        else:
            for name in _assigned(statement):
                self.named.setdefault(name, []).append(statement)


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements, those under `if` and `try` too."""
    for statement in body:
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for field in ("body", "orelse", "finalbody"):
                yield from _flat(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from _flat(handler.body)
        else:
            yield statement


def _assigned(statement: ast.stmt) -> list[str]:
    """The names a statement gives a value, also by calling a method of them (`TABLE.update(…)`)."""
    names = [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        owner: Any = statement.value.func
        while isinstance(owner, ast.Attribute | ast.Subscript):
            owner = owner.value
        if isinstance(owner, ast.Name):
            names.append(owner.id)
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Delete):
        targets = statement.targets if not isinstance(statement, ast.AugAssign) else [statement.target]
        for target in targets:
            inner: Any = target
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name):
                names.append(inner.id)
    return names


class Fingerprints:
    """Fingerprints of the functions of one tree."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._modules: dict[str, _Module | None] = {}
        self._known: dict[tuple[str, str], str | None] = {}
        self._whole: dict[str, str] = {}
        self._texts: dict[ast.stmt, str] = {}
        self._shown: dict[str, set[str]] = {}
        self._lacks: dict[FunctionRef, str | None] = {}
        self._sources: dict[str, bytes | None] = {}

    def of(self, function: FunctionRef) -> str | None:
        """A function's fingerprint, its recipe's name in front; None where its source is not in the tree."""
        path = function.file
        if self.module(path) is None:
            path = self._file(f"{function.folder}/.", 0, function.module) or path
        key = (path, function.name)
        if key not in self._known:
            self._known[key] = self._make(path, function.name)
        return self._known[key]

    def _make(self, path: str, name: str) -> str | None:
        module = self.module(path)
        if module is None:
            return None
        found: dict[Definition, str] = {}
        self._reach(path, name, found)
        if found and not any(_DYNAMIC.search(text) for text in found.values()):
            return _digest(found)
        # The name is made while the module runs (`globals()[name] = …`), so all of the module counts.
        whole = self._whole.get(path)
        if whole is None:
            everything = {(posixpath.basename(path), ""): "".join(map(self._told, module.body))}
            for each in (*module.named, *module.imports):
                self._reach(path, each, everything)
            whole = self._whole[path] = _digest(everything)
        return _digest({(posixpath.basename(path), name): whole})

    def _told(self, statement: ast.stmt) -> str:
        """A statement's text, made once."""
        text = self._texts.get(statement)
        if text is None:
            text = self._texts[statement] = serialised(statement)
        return text

    def module(self, path: str) -> _Module | None:
        """A module of the tree; None where there is none, or it does not parse."""
        if path not in self._modules:
            data = self.files.read(path)
            try:
                tree = ast.parse(data) if data is not None else None
            except (SyntaxError, ValueError, RecursionError):
                tree = None
            self._modules[path] = _Module(path, tree) if tree is not None else None
        return self._modules[path]

    def lacks(self, function: FunctionRef) -> str | None:
        """What of a function is not in the tree: `module`, or the `name` in it; None where it is or may be there."""
        if function not in self._lacks:
            self._lacks[function] = self._lack(function)
        return self._lacks[function]

    def _lack(self, function: FunctionRef) -> str | None:
        path = function.file
        data = self._source(path)
        if data is None:
            path = self._file(f"{function.folder}/.", 0, function.module) or ""
            data = self._source(path) if path else None
        if data is None:
            return "module"
        if path not in self._shown:
            self._shown[path] = {max(found).decode() for found in _DEFINED.findall(data)}
        if function.name in self._shown[path]:
            return None  # as nearly all are, and found without a syntax tree
        module = self.module(path)
        if module is None or function.name in module.named or function.name in module.imports or module.stars:
            return None
        made = any(_DYNAMIC.search(self._told(statement)) for statement in module.body)
        return None if made or "__getattr__" in module.named else "name"

    def _source(self, path: str) -> bytes | None:
        if path not in self._sources:
            self._sources[path] = self.files.read(path)
        return self._sources[path]

    def _reach(self, path: str, name: str, found: dict[Definition, str]) -> None:
        """Note a name of a module and all that its definition uses.

        Paths are told relative to the first, so that a folder that moves as a whole keeps its fingerprints.
        """
        waiting = [(path, name)]
        base = posixpath.dirname(path)
        while waiting:
            where, what = waiting.pop()
            shown = posixpath.relpath(where, base or ".")
            if (shown, what) in found:
                continue
            module = self.module(where)
            if module is None:
                continue
            if what in module.named:
                statements = module.named[what]
                found[shown, what] = "".join(map(self._told, statements))
                for statement in statements:
                    waiting += [(where, used) for used in _used(statement)]
            elif what in module.imports:
                level, source, member = module.imports[what]
                target = self._file(where, level, source)
                if target is not None and member is not None:
                    found[shown, what] = "import"
                    inner = self._file(where, level, f"{source}.{member}" if source else member)
                    waiting.append((target, member) if inner is None else (inner, ""))
                    if inner is not None:
                        waiting += [(inner, each) for each in self._all(inner)]
                elif target is not None:
                    found[shown, what] = "import"
                    waiting += [(target, each) for each in self._all(target)]
                else:
                    found[shown, what] = f"{'.' * level}{source}:{member}"
            else:
                for level, source in module.stars:
                    target = self._file(where, level, source)
                    if target is not None and self.module(target) is not None:
                        waiting.append((target, what))

    def _all(self, path: str) -> list[str]:
        module = self.module(path)
        return list(module.named) if module else []

    def _file(self, path: str, level: int, source: str) -> str | None:
        """The file of an imported module, where it is in the tree: beside the importer, or by its package name."""
        folder = posixpath.dirname(path)
        tail = source.replace(".", "/")
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            candidates = [posixpath.join(folder, tail)]
        else:
            below = tail.partition("lm_eval/tasks/")[2] if tail.startswith("lm_eval/tasks/") else None
            candidates = [posixpath.join(folder, tail), *([below] if below else [])]
        for candidate in candidates:
            for name in (f"{candidate}.py", f"{candidate}/__init__.py"):
                if self.files.read(name) is not None:
                    return name
        return None


def _digest(found: dict[Definition, str]) -> str:
    from hashlib import sha256

    told = "\n".join(f"{where}:{what}={text}" for (where, what), text in sorted(found.items()))
    return f"{RECIPE}:sha256:{sha256(told.encode()).hexdigest()}"


def _used(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def serialised(node: ast.AST) -> str:
    """A syntax tree as text, the same on every supported Python: no positions, no docstrings, no type comments."""
    out: list[str] = []
    _write(node, out)
    return "".join(out)


_LEFT_OUT = frozenset(["lineno", "col_offset", "end_lineno", "end_col_offset", "type_comment", "kind", "ctx"])


def _write(value: Any, out: list[str]) -> None:
    if isinstance(value, ast.AST):
        out.append(f"{type(value).__name__}(")
        body = getattr(value, "body", None)
        documented = (
            isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        )
        for name in sorted(value._fields):
            field = getattr(value, name, None)
            if name in _LEFT_OUT or field is None or field == []:
                continue
            if name == "body" and documented and isinstance(field, list):
                field = field[1:]
            out.append(f"{name}=")
            _write(field, out)
            out.append(",")
        out.append(")")
    elif isinstance(value, list):
        out.append("[")
        for each in value:
            _write(each, out)
            out.append(",")
        out.append("]")
    else:
        out.append(f"{type(value).__name__}:{value!r}")
