"""Schema versions and migrations are pages, not programs: what they may import (design.md, "Rules of the house")."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli import ROOT

#: Of the standard library, what a page may need: patterns, dates and numbers; nothing that reaches outside.
ALLOWED = {"re", "dataclasses", "typing", "collections", "math", "string", "unicodedata", "decimal", "fractions",
           "itertools", "functools", "__future__"}  # fmt: skip


def modules(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in ROOT.glob(f"{folder}/*/*.py")]
    assert found, folders
    return sorted(found)


SCHEMAS = modules("schemas", "examples/*/schemas")
MIGRATIONS = modules("migrations", "examples/*/migrations")


def imports(path: Path) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Every import of a module, wherever it stands, with the module it names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node, "." * node.level + (node.module or "")


def number(stem: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", stem)))


def siblings(node: ast.Import | ast.ImportFrom, name: str) -> list[str]:
    """The modules beside it that a relative import names."""
    return [alias.name for alias in node.names] if name == "." else [name.removeprefix(".")]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SCHEMAS, ids=named)
def test_a_version_imports_building_blocks_and_earlier_versions_only(path: Path) -> None:
    for node, name in imports(path):
        if name.startswith("."):
            assert not name.startswith(".."), f"{name}: outside of its family"
            for sibling in siblings(node, name):
                assert number(sibling) < number(path.stem), f"{sibling} is no earlier version"
        elif name.startswith("evalspec"):
            assert name == "evalspec.schema", f"{name} is no building block"
        else:
            assert name.partition(".")[0] in ALLOWED & sys.stdlib_module_names, name


@pytest.mark.parametrize("path", MIGRATIONS, ids=named)
def test_a_migration_imports_the_recorder_and_nothing_that_may_change(path: Path) -> None:
    for _, name in imports(path):
        if name.startswith("evalspec"):
            assert name == "evalspec.migrate", f"{name} is no building block"
        else:
            # No version either: a migration says what it does itself, or it would change with them.
            assert name.partition(".")[0] in ALLOWED & sys.stdlib_module_names, name


@pytest.mark.parametrize("path", [*SCHEMAS, *MIGRATIONS], ids=named)
def test_only_building_blocks_that_are_offered_are_used(path: Path) -> None:
    """What they import is in a table of contents (`__all__`), so it will still be there in years."""
    import evalspec.migrate
    import evalspec.schema

    offered = {"evalspec.schema": evalspec.schema.__all__, "evalspec.migrate": evalspec.migrate.__all__}
    for node, name in imports(path):
        if name in offered:
            assert isinstance(node, ast.ImportFrom)
            assert {alias.name for alias in node.names} <= set(offered[name])


@pytest.mark.parametrize("path", [*SCHEMAS, *MIGRATIONS], ids=named)
def test_importing_one_does_nothing_but_define(path: Path) -> None:
    kinds = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)
    for node in ast.parse(path.read_text()).body:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        checking = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        assert text or checking or isinstance(node, kinds), f"line {node.lineno}"


@pytest.mark.parametrize("path", MIGRATIONS, ids=named)
def test_a_migration_has_its_header(path: Path) -> None:
    tree = ast.parse(path.read_text())
    said = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("revision", "down_revision")
    }
    doc = ast.get_docstring(tree) or ""
    title = doc.partition("\n")[0]
    assert title.endswith(".")
    assert doc.endswith(f"Revision: {said['revision']}\nRevises: {said['down_revision']}")
    assert path.stem == said["revision"]
