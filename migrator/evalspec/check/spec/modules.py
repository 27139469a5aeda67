"""Schema versions and migrations are pages, not programs: they see no network, no clock and no file.

What they may import is listed, so that what they mean can change with nothing but themselves (design.md, "Rules of the
house"). The check reads the source; nothing runs.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

from evalspec.check.spec.fixtures import finding
from evalspec.schema.family import version_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.errors import Finding
    from evalspec.schema.family import Family

#: Of the standard library, what a page may need: patterns and numbers; nothing that reaches outside.
ALLOWED = frozenset(
    {"__future__", "abc", "collections", "copy", "dataclasses", "decimal", "enum", "fractions", "functools", "html",
     "itertools", "json", "math", "operator", "re", "string", "textwrap", "types", "typing", "unicodedata"}
)  # fmt: skip
#: Builtins that reach outside, or run what is not on the page.
REFUSED = frozenset({"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"})


def of_family(family: Family) -> list[str]:
    """The modules of a family: its schema versions, then its migrations."""
    folders = (f"{family.root.schemas}/{family.name}", f"{family.root.migrations}/{family.name}")
    return [
        os.path.join(folder, name)
        for folder in folders
        if os.path.isdir(folder)
        for name in sorted(os.listdir(folder))
        if name.endswith(".py")
    ]


def check(path: str) -> list[Finding]:
    """What in a module reaches outside; `evalspec.schema` or `evalspec.migrate` is its folder's building block."""
    with open(path, "rb") as stream:
        source = stream.read()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        return [
            finding("spec_reaches_outside", path, f"cannot be read: {error}", "mend the module", line=line)
        ]
    migration = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(path)))) == "migrations"
    stem = os.path.basename(path).removesuffix(".py")
    return [
        finding(
            "spec_reaches_outside",
            path,
            message,
            "write what it needs on the page, from the standard library's " + ", ".join(sorted(ALLOWED)),
            line=node.lineno,
            column=node.col_offset + 1,
        )
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Name))
        for message in _problems(node, migration=migration, stem=stem)
    ]


def _problems(node: ast.Import | ast.ImportFrom | ast.Name, *, migration: bool, stem: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _import(alias.name, migration=migration)
    elif isinstance(node, ast.ImportFrom):
        if node.level:
            yield from _relative(node, migration=migration, stem=stem)
        else:
            yield from _import(node.module or "", migration=migration)
    elif node.id in REFUSED:
        yield f"{node.id} reaches outside of the page"


def _import(name: str, *, migration: bool) -> Iterator[str]:
    block = "evalspec.migrate" if migration else "evalspec.schema"
    if name != block and name.partition(".")[0] not in ALLOWED:
        what = (
            f"is no building block; {block} is"
            if name.startswith("evalspec")
            else "may change, or reach outside"
        )
        yield f"imports {name}, which {what}"


def _relative(node: ast.ImportFrom, *, migration: bool, stem: str) -> Iterator[str]:
    if migration:
        yield "imports a module beside it; a migration says what it does itself, or it would change with the other"
    elif node.level > 1:
        yield "imports from outside of its family"
    else:
        for name in [node.module] if node.module else [alias.name for alias in node.names]:
            if version_number(name) >= version_number(stem):
                yield f"imports {name}, which is no earlier version"
