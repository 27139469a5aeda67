"""What the checks of a specification share: where fixtures lie, how they are read, the findings about them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from evalspec.check import owned
from evalspec.errors import Finding, FindingsError, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.migrate.migration import Migration
    from evalspec.project import Project
    from evalspec.tasks import FileReport


class Spec:
    """A project with its history, read.

    Raises:
        HistoryError: the migrations do not form one line a family.
    """

    def __init__(self, project: Project) -> None:
        from evalspec.migrate import load_history

        self.project = project
        self.history = load_history(project.families)

    def validated(self, path: str, *, all_errors: bool = False) -> FileReport:
        """What a file of fixtures holds."""
        from evalspec.tasks import Reading, validate_path

        return validate_path(path, Reading(self.project.families, self.project.unmarked(), all_errors))


def version_folder(spec: Spec, id_: str) -> str:
    """The folder of a version's fixtures."""
    family, _, version = id_.rpartition("@")
    return owned.version_folder(spec.project.families.by_name[family], version)


def step_folder(spec: Spec, step: Migration) -> str:
    """The folder of a migration's fixtures."""
    return owned.step_folder(spec.project.families.by_name[step.family], step)


def objects(path: str, *keys: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file, each with its line; none where there is no such file.

    Raises:
        FindingsError: a line is no object, or one without these keys.
    """
    import json

    for number, line in lines(path):
        try:
            value = json.loads(line)
        except ValueError as error:
            raise unreadable(path, f"is no JSON: {error}", line=number) from error
        missing = [key for key in keys if not isinstance(value, dict) or key not in value]
        if missing or not isinstance(value, dict):
            raise unreadable(path, f"is no object with {', '.join(keys) or 'keys'}", line=number)
        yield number, value


def unreadable(path: str, why: str, *, line: int = 1) -> FindingsError:
    """The error of a fixture that is not what its name says."""
    return FindingsError(why, [finding("fixture_stale", path, why, "write it anew", line=line)])


def lines(path: str) -> list[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers; none where there is no such file."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as stream:
        return [(number, line) for number, line in enumerate(stream.read().split(b"\n"), 1) if line.strip()]


def finding(
    rule: str,
    path: str,
    message: str,
    fix: str,
    *,
    line: int = 1,
    column: int = 1,
    task: str | None = None,
    field: str | None = None,
    text: str = "",
) -> Finding:
    """A finding about a file of the specification, named from here where it lies below."""
    known = None if task is None else str(task)  # a fixture may have anything there
    return Finding(rule, "error", shown(path), line, column, known, field, message, cut(str(text)), fix)


def shown(path: str) -> str:
    """A path as a person in this folder would write it."""
    short = os.path.relpath(path)
    return path if short.startswith("..") else short
