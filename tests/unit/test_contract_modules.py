"""Schema versions and migrations are pages, not programs: what they may import (design.md, "Rules of the house")."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli import ROOT

from evalspec.check.spec.modules import check


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


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [*SCHEMAS, *MIGRATIONS], ids=named)
def test_a_page_imports_building_blocks_and_earlier_versions_only(path: Path) -> None:
    assert check(str(path)) == []


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
