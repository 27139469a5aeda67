"""YAML task files: read with places, edited in place byte for byte, written new.

Reading: `read` gives a `YamlFile`, `records` its records, `place` where a value stands. Editing: `edit` takes bytes,
`edit_file` a file that was read, `edit_document` the text of one bare mapping. Writing: `dump_new`.
"""

from evalspec.formats.yaml.editing import dump_new, edit, edit_document, edit_file
from evalspec.formats.yaml.reading import read
from evalspec.formats.yaml.records import RecordKey, YamlRecord, place, records
from evalspec.formats.yaml.refusals import EditRefused, Unwritable
from evalspec.formats.yaml.source import LM_EVAL, STRICT, Dialect, YamlFile, YamlLimits
from evalspec.formats.yaml.values import Tagged

__all__ = [
    "LM_EVAL",
    "STRICT",
    "Dialect",
    "EditRefused",
    "RecordKey",
    "Tagged",
    "Unwritable",
    "YamlFile",
    "YamlLimits",
    "YamlRecord",
    "dump_new",
    "edit",
    "edit_document",
    "edit_file",
    "place",
    "read",
    "records",
]
