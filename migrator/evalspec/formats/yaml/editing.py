"""YAML edited in place: the spans that change, and not one byte more (design.md, "Bytes").

Every result is parsed again and compared with what was meant. What cannot be done in place is refused with the
place and the reason; with `reformat` the file goes through ruamel.yaml's round trip instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.formats.yaml.reading import read
from evalspec.formats.yaml.records import RecordKey
from evalspec.formats.yaml.refusals import EditRefused
from evalspec.formats.yaml.source import BOM, LM_EVAL, STRICT, Dialect, YamlFile, YamlLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.formats.edits import Edit
    from evalspec.formats.yaml.refusals import Changes


def edit(
    data: bytes,
    changes: Changes,
    *,
    reformat: bool = False,
    limits: YamlLimits | None = None,
    dialect: Dialect = STRICT,
) -> bytes:
    """The bytes of a YAML file with some of its records edited.

    Args:
        data: the bytes of the file.
        changes: which record, and its edits in order.
        reformat: lay the file out anew where the change cannot be made in place.
        limits: what the file may cost.
        dialect: how it is read.

    Raises:
        FormatError: the file cannot be read (see `read`).
        EditError: an edit that does not fit its record.
        EditRefused: what cannot be done in place (with `reformat`: at all).
    """
    return edit_file(read(data, limits=limits, dialect=dialect), changes, reformat=reformat)


def edit_file(file: YamlFile, changes: Changes, *, reformat: bool = False) -> bytes:
    """As `edit`, for a file that was read already."""
    from evalspec.formats.yaml.splice import spliced

    if len(changes) > 1:
        together: dict[RecordKey, list[Edit]] = {}
        for key, edits in changes:
            together.setdefault(key, []).extend(edits)
        changes = list(together.items())
    for key, _ in changes:
        if not _is_record(file, key):
            raise EditRefused("there is no such record", key=key, fix="read the file again")
    try:
        text = spliced(file, changes)
    except EditRefused:
        if not reformat:
            raise
        from evalspec.formats.yaml.roundtrip import reformatted

        text = reformatted(file, changes)
    return ((BOM if file.bom else "") + text).encode()


def _is_record(file: YamlFile, key: RecordKey) -> bool:
    """Whether a mapping is where the key says."""
    if not 0 <= key.document < len(file.documents):
        return False
    node = file.documents[key.document]
    if key.item is None:
        return bool(node.id == "mapping")
    return node.id == "sequence" and 0 <= key.item < len(node.value) and node.value[key.item].id == "mapping"


def edit_document(text: str, edits: Sequence[Edit], *, dialect: Dialect = LM_EVAL) -> str:
    """The text of a file that is one bare mapping, edited.

    Raises:
        FormatError: the text cannot be read.
        EditError: an edit that does not fit.
        EditRefused: what cannot be done in place.
    """
    return edit(text.encode(), [(RecordKey(), edits)], dialect=dialect).decode()


def dump_new(values: Sequence[Any] | dict[str, Any]) -> bytes:
    """The bytes of a new file: a list of records, or one record as a bare mapping.

    Raises:
        Unwritable: a value that YAML, or our reader, does not hold.
    """
    from evalspec.formats.yaml.roundtrip import fresh

    return fresh(values)
