"""The families that a project itself has, and where their versions and migrations are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.errors import Place
from evalspec.schema.family import module_name

if TYPE_CHECKING:
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project
    from evalspec.schema.family import Family


def owned_families(project: Project) -> list[Family]:
    """The families whose schema versions lie in the project's own folder; without a project, the tool's own ones."""
    if project.folder is None:
        return list(project.families.by_name.values())
    folder = os.path.realpath(project.folder)
    return [
        family
        for family in project.families.by_name.values()
        if os.path.realpath(family.root.schemas) == os.path.join(folder, "schemas")
    ]


def version_folder(family: Family, version: str) -> str:
    """The folder of a version's fixtures."""
    return f"{family.root.fixtures}/{family.name}/{module_name(version)}"


def step_folder(family: Family, step: Migration) -> str:
    """The folder of a migration's fixtures: `v1_v2`, or `evalspec_v3_v1` where it comes from another family."""
    parent, _, version = step.parent.rpartition("@")
    name = f"{module_name(version)}_{module_name(step.revision)}"
    if parent != family.name:
        name = f"{parent.replace('-', '_')}_{name}"
    return f"{family.root.fixtures}/{family.name}/migrations/{name}"


def place_in(path: str, *words: str, near: str = "") -> Place:
    """The first line of a file that holds one of the words in quotes, the earlier words first; else its first line.

    The path is told from the working directory.

    Args:
        path: the file.
        words: the words.
        near: a text that must be on the line, too, or on it and the line before.
    """
    shown = os.path.relpath(path)
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return Place(shown)
    for word in words:
        for number, line in enumerate(lines, 1):
            for quoted in (f'"{word}"', f"'{word}'"):
                if quoted in line and (near in line or near in lines[number - 2].strip() + line.strip()):
                    return Place(shown, number, line.index(quoted) + 1)
    return Place(shown)
