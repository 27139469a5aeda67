"""Where each value of a task comes from: the file and line that had the last word on it, through includes."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalspec.prompts.lm_eval.groups import ResolvedTask
    from evalspec.prompts.lm_eval.index import Index
    from evalspec.prompts.lm_eval.loader import Loader


class ResolvedValue(NamedTuple):
    """One setting of a task, with its origin.

    Attributes:
        key: the setting's name.
        value: its value, with every include, override and default applied.
        place: where it stands; None where no file has it.
        origin: in words, where there is no place (`the default`, an override of a group).
    """

    key: str
    value: Any
    place: Place | None
    origin: str


class Places:
    """Finds the places of values in a tree. Files are parsed with marks only when they are asked for.

    Args:
        index: the tree's index.
        shown: the path of the tree as it was given, which places begin with.
    """

    def __init__(self, index: Index, shown: str = "") -> None:
        self.index = index
        self.shown = shown
        self._records: dict[tuple[int, str], Any] = {}

    def place_of(self, task: ResolvedTask) -> Callable[[str], Place | None]:
        """A function from a setting's dotted name to its place."""

        def find(key: str) -> Place | None:
            return self.find(task, key)

        return find

    def find(self, task: ResolvedTask, key: str) -> Place | None:
        """The place of a setting; None where no file has it, or an override of a group is meant."""
        if task.path is None or task.root is None:
            return None
        steps = key.split(".")
        if steps[0] in task.overrides and steps[0] != "task":
            return None
        loader = self.index.loaders[task.root]
        source = loader.source(task.path, steps[0])
        if source is None:
            return None
        return self.of_file(task.root, source, *steps)

    def of_file(self, root: int, path: str, *steps: str) -> Place:
        """The place of the value behind some keys of a file of a tree."""
        line, column = self._mark(root, self.index.loaders[root], path, steps)
        return Place(posixpath.join(self.shown, path) if self.shown else path, line, column)

    def _mark(self, root: int, loader: Loader, source: str, steps: tuple[str, ...]) -> tuple[int, int]:
        from evalspec.formats.yaml import LM_EVAL, place, read, records

        record = self._records.get((root, source))
        if record is None:
            data = loader.files.read(source) or b""
            try:
                found = records(read(data, dialect=LM_EVAL))
            except FormatError:
                return 1, 1
            if not found:
                return 1, 1
            record = self._records[root, source] = found[0]
        return place(record, steps)

    def resolved(self, task: ResolvedTask) -> list[ResolvedValue]:
        """Every setting of a task: those that are set, then those that have their default."""
        from dataclasses import fields

        from evalspec.prompts.config import TaskConfig, task_config, task_fields
        from evalspec.prompts.metrics import default_filters, filled_metrics

        out = []
        for key, value in task.settings.items():
            place = self.find(task, key)
            origin = (
                "" if place else f"set by group {task.group}" if key in task.overrides else "set when loaded"
            )
            out.append(ResolvedValue(key, value, place, origin))
        if task.is_class:
            return out
        config = task_config(task.settings)
        for field in fields(TaskConfig):
            if field.name in task_fields() and field.name not in (*task.settings, "tag"):
                value = getattr(config, field.name)
                if value is not None:
                    out.append(ResolvedValue(field.name, value, None, "the default"))
        out.extend(self._fewshot(task, config))
        if config.metric_list is None:
            metrics = filled_metrics(None, config.output_type)
            out.append(ResolvedValue("metric_list", metrics, None, f"the default of {config.output_type}"))
        if config.filter_list is None:
            out.append(ResolvedValue("filter_list", default_filters(), None, "the default"))
        return out

    def _fewshot(self, task: ResolvedTask, config: Any) -> list[ResolvedValue]:
        given = task.settings.get("fewshot_config")
        own = given if isinstance(given, dict) else {}
        out = []
        for key in ("split", "sampler", "doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix"):
            value = getattr(config.fewshot, key)
            if key not in own and value is not None:
                taken = "fewshot_split" if key == "split" else key
                origin = "the default" if key == "sampler" else f"taken from {taken}"
                out.append(ResolvedValue(f"fewshot_config.{key}", value, None, origin))
        return out
