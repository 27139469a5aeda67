"""Task files read as records of some version: each record judged, each fault with its place.

validate_path(path, reading) → FileReport          open_tasks(paths, reading) → judged files whose records can be read
FieldPlaces(file).of(record)(field) → Place
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.tasks.validate import FileReport, Reading, format_of, validate_path, validate_paths

if TYPE_CHECKING:
    from evalspec.tasks.places import FieldPlaces
    from evalspec.tasks.records import TaskFile, TaskRecord, open_tasks, refuse_bad

__all__ = [
    "FieldPlaces",
    "FileReport",
    "Reading",
    "TaskFile",
    "TaskRecord",
    "format_of",
    "open_tasks",
    "refuse_bad",
    "validate_path",
    "validate_paths",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evalspec.tasks import places, records

    return getattr(places if name == "FieldPlaces" else records, name)
