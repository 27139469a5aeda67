"""The records of a YAML file: one mapping is one task, a top-level list is many (records.md, "v1 · inline tasks").

A file may hold several documents, each read likewise. A record that is wrong does not spoil its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import FormatError
from evalspec.formats.yaml.values import MERGE, STR, VALUE, Builder

if TYPE_CHECKING:
    from evalspec.formats.edits import Path
    from evalspec.formats.yaml.source import Source, YamlFile


class RecordKey(NamedTuple):
    """Which record of a file: the document, and the item of its list or None where the document is the record."""

    document: int = 0
    item: int | None = None


class YamlRecord(NamedTuple):
    """One record, or what is wrong with it.

    Attributes:
        key: where it sits in the file.
        value: the record as plain data, in the file's order; None where it is in error.
        error: the first thing that keeps it from being read, or None.
        warnings: what deserves a finding and is no error (`duplicate_key` where the dialect allows it).
        line: the line it begins on, from 1.
        column: the column it begins at, from 1, in code points.
        node: its node, for `place`.
        source: the text it is from.
    """

    key: RecordKey
    value: dict[str, Any] | None
    error: FormatError | None
    warnings: tuple[FormatError, ...]
    line: int
    column: int
    node: Any
    source: Source


def records(file: YamlFile) -> list[YamlRecord]:
    """Every record of the file, in order; an empty document holds none."""
    found: list[YamlRecord] = []
    for document, root in enumerate(file.documents):
        if root.id == "sequence":
            found.extend(
                _record(file, RecordKey(document, item), node) for item, node in enumerate(root.value)
            )
        elif not _is_empty(root):
            found.append(_record(file, RecordKey(document), root))
    return found


def place(record: YamlRecord, path: Path) -> tuple[int, int]:
    """Line and column, from 1, of the value at `path`; those of the record where there is none.

    A value that an alias stands for is placed where it is written.
    """
    node = record.node
    for step in path:
        node = child(node, step)
        if node is None:
            return record.line, record.column
    return record.source.mark_place(node.start_mark)


def child(node: Any, step: str | int) -> Any:
    """The node one step below, or None: of a key given twice the last, merged keys where there is no own one."""
    if node.id == "sequence":
        return node.value[step] if isinstance(step, int) and -1 < step < len(node.value) else None
    if node.id != "mapping":
        return None
    merges = []
    for key, value in reversed(node.value):
        if key.tag == MERGE:
            merges.append(value)
        elif is_key(key, step):
            return value
    return next((found for value in merges if (found := merged(value, step)) is not None), None)


def merged(bases: Any, step: str | int) -> Any:
    """The node that a merge key's value, a mapping or a list of them, brings in for the key `step`, or None."""
    for base in bases.value if bases.id == "sequence" else [bases]:
        if (found := child(base, step)) is not None:
            return found
    return None


def is_key(node: Any, step: str | int) -> bool:
    """Whether a key's node is the key `step`."""
    if node.tag in (STR, VALUE):
        return bool(node.value == step and node.id == "scalar")
    return not isinstance(step, str) and node.id == "scalar" and bool(node.value == str(step))


def _record(file: YamlFile, key: RecordKey, node: Any) -> YamlRecord:
    line, column = file.source.mark_place(node.start_mark)
    builder = Builder(file)
    value = error = None
    if node.id != "mapping":
        what = {"sequence": "a list"}.get(node.id, "a single value")
        message = f"a record is a mapping of fields; this is {what}"
        error = builder.fault(node, "not_an_object", message, fix="write `field: value` lines")
        error.field = "_root"
    else:
        try:
            value = builder.build(node)
        except FormatError as caught:
            error = caught
        if error is None and not isinstance(value, dict):
            message = "a record is a plain mapping; this one has a tag"
            value, error = None, builder.fault(node, "not_an_object", message, fix="remove the tag")
            error.field = "_root"
    return YamlRecord(key, value, error, tuple(builder.warnings), line, column, node, file.source)


def _is_empty(node: Any) -> bool:
    """Whether a document has no value at all (nothing but comments between its separators)."""
    return bool(node.id == "scalar" and node.value == "" and node.start_mark.index == node.end_mark.index)
