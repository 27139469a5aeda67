"""Where a run's rows come from: what was given, then the project's fixtures, the task's own files, a local cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalspec.errors import UsageError, visible
from evalspec.prompts.rows import FirstOf, LocalCache, OwnFiles, RowsFile, RowsFolder
from evalspec.prompts.tasks import RowOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.prompts.rows import RowSource


def given_rows(file: str | None, folder: str | None) -> RowSource | None:
    """The source that `--rows` or `--rows-dir` names.

    Raises:
        UsageError: both are given, or what is given is not there.
    """
    if file is not None and folder is not None:
        raise UsageError("--rows and --rows-dir exclude each other", fix="give one of them")
    if file is not None:
        if not os.path.isfile(file):
            raise UsageError(f"no such file: {visible(file)}", fix="--rows takes a JSONL file, a row a line")
        return RowsFile(file)
    if folder is not None:
        if not os.path.isdir(folder):
            raise UsageError(
                f"no such folder: {visible(folder)}", fix="--rows-dir takes DIR with DIR/<task>/<split>.jsonl"
            )
        return RowsFolder(folder)
    return None


def fixture_rows(project: str | None, family: str, rows: str = "") -> list[RowsFolder]:
    """The folders of rows that a project keeps: the configured one, those of a family, and of each of its versions."""
    if project is None:
        return []
    configured = [os.path.join(project, rows)] if rows else []
    fixtures = os.path.join(project, "fixtures", family)
    try:
        versions = sorted(os.listdir(fixtures), reverse=True)
    except OSError:
        versions = []
    folders = [*configured, f"{fixtures}/rows", *(f"{fixtures}/{version}/rows" for version in versions)]
    return [RowsFolder(folder) for folder in folders if os.path.isdir(folder)]


def row_options(
    given: RowSource | None,
    project: str | None,
    family: str,
    roots: Sequence[str],
    *,
    are_docs: bool = False,
    rows: str = "",
) -> RowOptions:
    """All sources in their order; a task that no source has rows for gets placeholder rows.

    Args:
        given: what flags name.
        project: the project's folder.
        family: whose fixtures count.
        roots: the folders in which the files that tasks name may lie.
        are_docs: the given rows are what `process_docs` gives.
        rows: the folder of rows that the project configures, from its own.

    Raises:
        UsageError: rows are said to be docs, and none are given.
    """
    if are_docs and given is None:
        raise UsageError("--rows-are-docs goes with --rows or --rows-dir", fix="give one of them")
    sources: list[RowSource] = [given] if given is not None else []
    if not are_docs:
        sources += [*fixture_rows(project, family, rows), OwnFiles((*roots, os.curdir)), LocalCache()]
    return RowOptions(FirstOf(tuple(sources)), are_docs=are_docs)
