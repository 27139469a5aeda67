"""Where rows come from: files given on the command line, files the task itself names, a local cache.

A source answers one question: the rows of one split of one task, as the data set has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evalspec.errors import FormatError, UsageError, visible
from evalspec.prompts.problems import Unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.prompts.config import TaskConfig

Doc = dict[str, Any]
#: The name under which `--rows-are-docs` looks for a pool of examples.
POOL_FILE = "fewshot"


# Each source looks at what it needs of task, settings and split, and leaves the rest.
# ruff: noqa: ARG002


class RowSource(Protocol):
    """Gives the rows of a split; None where it has none."""

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The rows of a task's split, or None."""


@dataclass(frozen=True, slots=True)
class RowsFile:
    """One file with the rows that are evaluated (`--rows FILE.jsonl`)."""

    path: str

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The file's rows, for the split that is evaluated."""
        return read_jsonl(self.path) if split == config.eval_split else None


@dataclass(frozen=True, slots=True)
class RowsFolder:
    """A folder `DIR/<task>/<split>.jsonl` (`--rows-dir DIR`)."""

    path: str

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The rows of the file for this task and split."""
        import os

        if any(part in ("..", "") for part in f"{task}/{split}".split("/")):
            return None
        path = f"{self.path}/{task}/{split}.jsonl"
        return read_jsonl(path) if os.path.isfile(path) else None


@dataclass(frozen=True, slots=True)
class RowsInMemory:
    """Rows by split, for callers that have them."""

    splits: dict[str, Sequence[Doc]]

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The rows of the split."""
        return self.splits.get(split)


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """The files that a task names itself: `dataset_path: json|csv|parquet` with local `data_files`.

    They must lie in the tree of the tasks or in the working folder: a task file is a stranger's, and must not make
    the tool read whatever else is on the machine.

    Attributes:
        roots: the folders in which a file may lie; paths are tried relative to each in turn.
    """

    roots: tuple[str, ...]

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The rows of the task's own file for the split."""
        kind = config.dataset_path
        kwargs = config.dataset_kwargs
        if kind not in ("json", "csv", "parquet") or not isinstance(kwargs, dict):
            return None
        files = kwargs.get("data_files")
        if isinstance(files, dict):
            files = files.get(split)
        elif split != "train":
            return None
        names = [files] if isinstance(files, str) else files
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return None
        folder = kwargs.get("data_dir")
        rows: list[Doc] = []
        for name in names:
            path = self._inside(f"{folder}/{name}" if isinstance(folder, str) else name)
            if path is None:
                return None
            rows += _read_any(kind, path, kwargs.get("field"))
        return filled(rows)

    def _inside(self, name: str) -> str | None:
        import os

        for root in self.roots:
            base = os.path.realpath(root)
            path = os.path.realpath(os.path.join(base, name))
            if os.path.isfile(path) and (path == base or path.startswith(base.rstrip("/") + "/")):
                return path
        return None


@dataclass(frozen=True, slots=True)
class LocalCache:
    """Data sets that the `datasets` library has in its cache on this machine; nothing is ever downloaded."""

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The rows from the cache, where the library is installed and has them."""
        import os
        from importlib.util import find_spec

        path = config.dataset_path
        home = os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
        cache = os.environ.get("HF_DATASETS_CACHE") or f"{home}/datasets"
        if not isinstance(path, str) or not os.path.isdir(f"{cache}/{path.replace('/', '___')}"):
            return None
        if find_spec("datasets") is None:
            return None
        os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
        from importlib import import_module

        try:
            return list(import_module("datasets").load_dataset(path, config.dataset_name, split=split))
        except Exception as problem:
            raise Unknown(
                f"the cached data set {path} cannot be read: {problem}", "dataset_path"
            ) from problem


@dataclass(frozen=True, slots=True)
class FirstOf:
    """Several sources; the first that has the split answers."""

    sources: tuple[RowSource, ...]

    def split(self, task: str, config: TaskConfig, split: str) -> Sequence[Doc] | None:
        """The rows of the first source that has any."""
        for source in self.sources:
            rows = source.split(task, config, split)
            if rows is not None:
                return rows
        return None


def read_jsonl(path: str) -> list[Doc]:
    """The rows of a JSONL file; every row gets every column, as in a table.

    Raises:
        UsageError: there is no such file.
        FormatError: a line that is not a JSON object.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise UsageError(f"cannot read {visible(path)}: {problem.strerror}", fix="check the path") from None
    return filled(parse_jsonl(data, path))


def parse_jsonl(data: bytes, path: str) -> list[Doc]:
    """The objects of JSONL bytes, one a line; blank lines are skipped."""
    import json

    rows: list[Doc] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise FormatError(
                "bad_json",
                f"{visible(path)}: this row is not JSON: {problem}",
                line=number,
                text=_shown(line),
            ) from None
        if not isinstance(row, dict):
            raise FormatError(
                "not_an_object", f"{visible(path)}: a row is a JSON object", line=number, text=_shown(line)
            )
        rows.append(row)
    return rows


def filled(rows: list[Doc]) -> list[Doc]:
    """The rows with every column in each: a table has no gaps, a missing value is None."""
    if not rows:
        return rows
    columns = dict.fromkeys(rows[0])
    if all(len(row) == len(columns) and row.keys() == columns.keys() for row in rows):
        return rows
    columns = dict.fromkeys([name for row in rows for name in row])
    return [{name: row.get(name) for name in columns} for row in rows]


def _shown(line: bytes) -> str:
    return line[:200].decode("utf-8", "replace")


def _read_any(kind: str, path: str, field: Any) -> list[Doc]:
    if kind == "parquet":
        return _read_parquet(path)
    with open(path, "rb") as file:
        data = file.read()
    if kind == "csv":
        return _parse_csv(data.decode("utf-8-sig"))
    head = data.lstrip()[:1]
    if head == b"[" or isinstance(field, str):
        import json

        value = json.loads(data)
        rows = value[field] if isinstance(field, str) and isinstance(value, dict) else value
        return [row for row in rows if isinstance(row, dict)]
    return parse_jsonl(data, path)


def _parse_csv(text: str) -> list[Doc]:
    """A CSV table; a column of numbers only is read as numbers, as a data frame would."""
    import csv
    import io

    rows: list[Doc] = list(csv.DictReader(io.StringIO(text, newline="")))
    for name in list(rows[0]) if rows else []:
        values = [row[name] for row in rows]
        for kind in (int, float):
            try:
                read = [kind(value) if value not in ("", None) else None for value in values]
            except ValueError:
                continue
            if any(value is not None for value in read) and (kind is float or None not in read):
                for row, value in zip(rows, read, strict=True):
                    row[name] = value
                break
        else:
            for row in rows:
                row[name] = None if row[name] == "" else row[name]
    return rows


def _read_parquet(path: str) -> list[Doc]:
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise Unknown("reading parquet needs the pyarrow package, which is not installed", "dataset_path")
    from importlib import import_module

    return list(import_module("pyarrow.parquet").read_table(path).to_pylist())
