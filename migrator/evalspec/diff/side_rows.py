"""The rows of one side: the project's fixtures and the files that tasks name, as they are on that side."""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from evalspec.errors import EvalspecError
from evalspec.prompts.problems import Unknown
from evalspec.prompts.row_config import fixture_rows
from evalspec.prompts.rows import FirstOf, LocalCache, OwnFiles
from evalspec.prompts.tasks import RowOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.diff.sides import Side
    from evalspec.project import Project
    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.rows import Doc, RowSource

#: The kinds of data sets whose files a task can name.
LOCAL = frozenset(["json", "csv", "parquet"])


class _Noted:
    """Rows of a source, with a note that there were some."""

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self.used = False

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The rows of the source."""
        try:
            rows = self._source.split(task, config, split)
        except Unknown:
            self.used = True
            raise
        self.used = self.used or rows is not None
        return rows


class SideRows:
    """Where a side's rows come from.

    Args:
        side: the side.
        project: the project in the working tree.
        family: whose fixtures count.
        roots: the folders in which the files that tasks name may lie.
    """

    def __init__(self, side: Side, project: Project, family: str, roots: Sequence[str]) -> None:
        folder = side.counterpart(project.folder) if project.folder is not None else None
        here = side.counterpart(os.path.realpath(os.curdir))
        self._fixtures = fixture_rows(folder, family, project.rows)
        self._kept = FirstOf((*self._fixtures, OwnFiles((*roots, here))))
        self._local = _Noted(LocalCache())
        self.options = RowOptions(FirstOf((self._kept, self._local)))

    @property
    def used_local(self) -> bool:
        """Whether rows came from data sets on this machine, which are no part of a side."""
        return self._local.used

    def has_fixtures(self, name: str) -> bool:
        """Whether the project keeps rows for a task."""
        return any(os.path.isdir(f"{folder.path}/{name}") for folder in self._fixtures)

    def fingerprint(self, name: str, data_set: object, read: Callable[[], TaskConfig]) -> str:
        """A fingerprint of the rows that a side keeps for a task; empty where it keeps none.

        Args:
            name: the task's name.
            data_set: what it says its data set is.
            read: gives its settings.
        """
        if not self.has_fixtures(name) and not (isinstance(data_set, str) and data_set in LOCAL):
            return ""
        try:
            config = read()
            few: Any = config.fewshot.split
            splits = (config.training_split, config.validation_split, config.test_split, few)
            rows = {
                split: self._kept.split(name, config, split)
                for split in dict.fromkeys(splits)
                if isinstance(split, str)
            }
        except (EvalspecError, Unknown, ValueError, TypeError, KeyError, OSError) as problem:
            return f"{type(problem).__name__}: {problem}"
        if all(found is None for found in rows.values()):
            return ""
        return blake2b(repr(rows).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
