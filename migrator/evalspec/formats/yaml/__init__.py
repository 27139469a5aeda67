"""YAML task files: read with places, edited in place byte for byte, written new.

read(data) → YamlFile              records(file) → the records     place(record, path) → line, column
"""

from evalspec.formats.yaml.reading import LM_EVAL, STRICT, Dialect, YamlFile, YamlLimits, read
from evalspec.formats.yaml.records import RecordKey, YamlRecord, place, records
from evalspec.formats.yaml.values import Tagged

__all__ = [
    "LM_EVAL",
    "STRICT",
    "Dialect",
    "RecordKey",
    "Tagged",
    "YamlFile",
    "YamlLimits",
    "YamlRecord",
    "place",
    "read",
    "records",
]
