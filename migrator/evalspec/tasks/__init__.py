"""Task files read as records of some version: each record judged, each fault with its place.

validate_path(path, reading) → FileReport          open_tasks(paths, reading) → judged files whose records can be read
"""

from evalspec.tasks.records import TaskFile, TaskRecord, open_tasks, refuse_bad
from evalspec.tasks.validate import FileReport, Reading, format_of, validate_path, validate_paths

__all__ = [
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
