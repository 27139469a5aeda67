"""Edits carried out on YAML text, compared with what they mean on plain data."""

from __future__ import annotations

from evalspec.formats.edits import Edit, apply_to_value
from evalspec.formats.yaml import LM_EVAL, RecordKey, edit, read, records
from evalspec.formats.yaml.verify import equal

FIRST_RECORD = RecordKey()


def edited(text: str, *edits: Edit, key: RecordKey = FIRST_RECORD) -> str:
    """The text with the edits, which must mean what they mean on plain data."""
    data = text.encode()
    result = edit(data, [(key, edits)], dialect=LM_EVAL)
    before = {record.key: record.value for record in records(read(data, dialect=LM_EVAL))}
    after = {record.key: record.value for record in records(read(result, dialect=LM_EVAL))}
    before[key] = apply_to_value(before[key], edits)
    assert equal(list(before.values()), list(after.values()))
    return result.decode()
