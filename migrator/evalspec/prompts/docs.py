"""A task's docs and its pool of examples (prompting.md, "Docs and the few-shot pool")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalspec.prompts.problems import FunctionRef, Unknown
from evalspec.prompts.rows import POOL_FILE
from evalspec.prompts.samplers import sampler_class

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.rows import RowSource

Doc = dict[str, Any]
_NO_POOL: list[Doc] = []


@dataclass(frozen=True, slots=True)
class Docs:
    """What a task is rendered over.

    Attributes:
        docs: the evaluated rows after `process_docs`, or why they cannot be known; None where there is no data.
        features: the names of their columns.
        pool: the rows that can serve as examples, or why they cannot be known.
        split: the split that is evaluated.
        fell_back: the pool was found by falling back, and this is the split it came from.
    """

    docs: Sequence[Doc] | Unknown | None
    features: tuple[str, ...]
    pool: Sequence[Doc] | Unknown
    split: str | None
    fell_back: str | None = None


def docs_of(
    name: str,
    config: TaskConfig,
    source: RowSource | None,
    *,
    are_docs: bool = False,
    as_dataset: Callable[[Sequence[Doc]], Any] | None = None,
) -> Docs:
    """The docs and the pool of a task.

    Args:
        name: the task's name.
        config: its settings.
        source: where rows come from; None where there is no data.
        are_docs: the rows are already what `process_docs` gives; `fewshot.jsonl`, where present, is the pool.
        as_dataset: makes what `process_docs` is called with (a data set, not a list).

    Raises:
        ValueError: the task has neither a test nor a validation split.
        KeyError, TypeError: its sampler is none.
    """
    split = config.eval_split
    reader = _Reader(name, config, source, are_docs, as_dataset)
    pool, fell_back = reader.pool()
    if pool is not _NO_POOL:
        sampler_class(config.fewshot.sampler)
    if split is None:
        raise ValueError("the task must have a test or a validation split")
    try:
        docs, features = reader.docs(split, config.process_docs, "process_docs")
    except Unknown as unknown:
        return Docs(unknown, (), pool, split, fell_back)
    return Docs(docs, features, pool, split, fell_back)


@dataclass(frozen=True, slots=True)
class _Reader:
    name: str
    config: TaskConfig
    source: RowSource | None
    are_docs: bool
    as_dataset: Callable[[Sequence[Doc]], Any] | None

    def docs(self, split: str, process: Any, field: str) -> tuple[Sequence[Doc] | None, tuple[str, ...]]:
        """The rows of a split after `process`, and their columns; None where there is no data."""
        rows = self.source.split(self.name, self.config, split) if self.source is not None else None
        if rows is None:
            return None, ()
        if process is None or self.are_docs:
            return rows, tuple(rows[0]) if rows else ()
        if isinstance(process, FunctionRef):
            raise process.unknown(field)
        made = process(self.as_dataset(rows) if self.as_dataset else rows)
        return list(made), tuple(made.features.keys())

    def pool(self) -> tuple[Sequence[Doc] | Unknown, str | None]:
        """The pool, and the split it fell back on, if it did."""
        try:
            return self._pool()
        except Unknown as unknown:
            return unknown, None

    def _pool(self) -> tuple[Sequence[Doc], str | None]:
        config, few = self.config, self.config.fewshot
        if self.are_docs and self.source is not None:
            given = self.source.split(self.name, config, POOL_FILE)
            if given is not None:
                return given, None
        if few.split is not None:
            return self._rows(few.split, few.process_docs, "fewshot_config.process_docs"), None
        if few.samples is not None:
            if isinstance(few.samples, list):
                return few.samples, None
            if isinstance(few.samples, FunctionRef):
                raise few.samples.unknown("fewshot_config.samples")
            if callable(few.samples):
                return list(few.samples()), None
            raise ValueError("fewshot_config.samples must be a list of rows, or a function that gives one")
        for split in (config.training_split, config.validation_split, config.test_split):
            if split is not None:
                return self._rows(split, config.process_docs, "process_docs"), split
        return _NO_POOL, None

    def _rows(self, split: str, process: Any, field: str) -> Sequence[Doc]:
        rows, _ = self.docs(split, process, field)
        if rows is None:
            raise Unknown(f"there are no rows of split {split!r} to draw examples from", "fewshot_split")
        return rows
