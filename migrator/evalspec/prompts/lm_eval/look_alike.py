"""A small stand-in for the `datasets` library, for functions of tasks where it is not installed.

It has what `process_docs` functions use: mapping, filtering, choosing and renaming columns, and slices. What it
does not have raises, so that a row is never made differently without a word.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Row = dict[str, Any]


class Dataset:
    """Rows with columns, like `datasets.Dataset`."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[str] | None = None) -> None:
        named = (
            dict.fromkeys(columns) if columns is not None else dict.fromkeys(k for row in rows for k in row)
        )
        self.column_names = list(named)
        self._rows = [{name: row.get(name) for name in self.column_names} for row in rows]

    @classmethod
    def from_list(cls, rows: Sequence[Row], **_: Any) -> Dataset:
        """Rows as a data set."""
        return cls(list(rows))

    @classmethod
    def from_dict(cls, columns: dict[str, Sequence[Any]], **_: Any) -> Dataset:
        """Columns as a data set."""
        names = list(columns)
        rows = [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return cls(rows, names)

    @property
    def features(self) -> dict[str, None]:
        """The columns; their types are not known."""
        return dict.fromkeys(self.column_names)

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self._rows), len(self.column_names)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter([dict(row) for row in self._rows])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.column_names:
                raise KeyError(key)
            return [row[key] for row in self._rows]
        if isinstance(key, slice):
            return self._columns(self._rows[key])
        if isinstance(key, int):
            return dict(self._rows[key])
        return self._columns([self._rows[at] for at in key])

    def _columns(self, rows: Sequence[Row]) -> dict[str, list[Any]]:
        return {name: [row[name] for row in rows] for name in self.column_names}

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: str | list[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        remove_columns: str | list[str] | None = None,
        fn_kwargs: dict[str, Any] | None = None,
        **_: Any,
    ) -> Dataset:
        """Each row (or batch of rows) updated by what the function returns."""
        if function is None:
            return self
        dropped = {remove_columns} if isinstance(remove_columns, str) else set(remove_columns or ())
        if batched:
            return self._map_batches(function, with_indices, batch_size, dropped, fn_kwargs or {})
        made, columns = [], dict.fromkeys(name for name in self.column_names if name not in dropped)
        for number, row in enumerate(self._rows):
            args = self._arguments(row, input_columns)
            said = function(*args, *([number] if with_indices else []), **(fn_kwargs or {}))
            left = {name: value for name, value in row.items() if name not in dropped}
            if said is not None:
                left.update(said)
            columns.update(dict.fromkeys(left))
            made.append(left)
        return Dataset(made, list(columns))

    def _map_batches(
        self,
        function: Callable[..., Any],
        indices: bool,
        size: int | None,
        dropped: set[str],
        kwargs: dict[str, Any],
    ) -> Dataset:
        made: list[Row] = []
        columns: dict[str, None] = dict.fromkeys(name for name in self.column_names if name not in dropped)
        step = size or len(self._rows) or 1
        for start in range(0, len(self._rows), step):
            batch = self._columns(self._rows[start : start + step])
            count = len(self._rows[start : start + step])
            said = function(batch, *([list(range(start, start + count))] if indices else []), **kwargs)
            merged = {name: values for name, values in batch.items() if name not in dropped} | dict(
                said or {}
            )
            columns.update(dict.fromkeys(merged))
            made += [dict(zip(merged, values, strict=True)) for values in zip(*merged.values(), strict=True)]
        return Dataset(made, list(columns))

    @staticmethod
    def _arguments(row: Row, input_columns: str | list[str] | None) -> list[Any]:
        if input_columns is None:
            return [dict(row)]
        names = [input_columns] if isinstance(input_columns, str) else input_columns
        return [row[name] for name in names]

    def filter(
        self,
        function: Callable[..., Any],
        with_indices: bool = False,
        input_columns: str | list[str] | None = None,
        batched: bool = False,
        fn_kwargs: dict[str, Any] | None = None,
        **_: Any,
    ) -> Dataset:
        """The rows that the function says yes to."""
        if batched:
            kept_flags = list(function(self._columns(self._rows), **(fn_kwargs or {})))
            return Dataset(
                [row for row, kept in zip(self._rows, kept_flags, strict=True) if kept], self.column_names
            )
        kept = []
        for number, row in enumerate(self._rows):
            args = [*self._arguments(row, input_columns), *([number] if with_indices else [])]
            if function(*args, **(fn_kwargs or {})):
                kept.append(row)
        return Dataset(kept, self.column_names)

    def select(self, indices: Iterable[int], **_: Any) -> Dataset:
        """The rows at these positions."""
        return Dataset([self._rows[at] for at in indices], self.column_names)

    def take(self, n: int) -> Dataset:
        """The first rows."""
        return Dataset(self._rows[:n], self.column_names)

    def skip(self, n: int) -> Dataset:
        """All but the first rows."""
        return Dataset(self._rows[n:], self.column_names)

    def rename_column(self, original_column_name: str, new_column_name: str, **_: Any) -> Dataset:
        """One column under another name."""
        return self.rename_columns({original_column_name: new_column_name})

    def rename_columns(self, column_mapping: dict[str, str], **_: Any) -> Dataset:
        """Columns under other names."""
        renamed = [
            {column_mapping.get(name, name): value for name, value in row.items()} for row in self._rows
        ]
        return Dataset(renamed, [column_mapping.get(name, name) for name in self.column_names])

    def remove_columns(self, column_names: str | list[str], **_: Any) -> Dataset:
        """Without these columns."""
        dropped = {column_names} if isinstance(column_names, str) else set(column_names)
        return Dataset(self._rows, [name for name in self.column_names if name not in dropped])

    def select_columns(self, column_names: str | list[str], **_: Any) -> Dataset:
        """Only these columns."""
        return Dataset(self._rows, [column_names] if isinstance(column_names, str) else column_names)

    def add_column(self, name: str, column: Sequence[Any], **_: Any) -> Dataset:
        """With one more column."""
        rows = [{**row, name: value} for row, value in zip(self._rows, column, strict=True)]
        return Dataset(rows, [*self.column_names, name])

    def unique(self, column: str) -> list[Any]:
        """A column's values, each once, in order."""
        return list(dict.fromkeys(self[column]))

    def to_list(self) -> list[Row]:
        """The rows."""
        return [dict(row) for row in self._rows]

    def to_dict(self, **_: Any) -> dict[str, list[Any]]:
        """The columns."""
        return self._columns(self._rows)

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"this needs the datasets package, which is not installed (Dataset.{name})")


class DatasetDict(dict[str, Dataset]):
    """Data sets by split."""


def concatenate_datasets(dsets: Sequence[Dataset], **_: Any) -> Dataset:
    """One data set after another."""
    return Dataset([row for each in dsets for row in each])


def _absent(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("loading data needs the datasets package, which is not installed")


def install() -> None:
    """Make `import datasets` find the stand-in."""
    module: Any = types.ModuleType("datasets")
    module.Dataset = Dataset
    module.DatasetDict = DatasetDict
    module.IterableDataset = type("IterableDataset", (), {})
    module.concatenate_datasets = concatenate_datasets
    module.load_dataset = _absent
    module.__version__ = "0"
    sys.modules["datasets"] = module
