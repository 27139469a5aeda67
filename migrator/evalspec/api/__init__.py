"""The Python API: one function for each thing that a runner, a notebook or a script needs.

Each function works in a project: the one that is given, else the one that the working directory is in, read once. A
record is plain data, is never changed, and is read as the version that its `spec_version` names; without one it is v1,
unless the project says otherwise.

    files       `validate_file` `load` `migrate_files`
    records     `validate_task` `migrate_record` `render` `post_process`
    versions    `load_fixtures` `json_schema` `TaskSpec`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.api.files import Validated, load, migrate_files, validate_file
from evalspec.api.records import migrate_record, post_process, render, validate_task
from evalspec.api.versions import json_schema, load_fixtures

if TYPE_CHECKING:
    from evalspec.api.versions import TaskSpec

__all__ = [
    "TaskSpec",
    "Validated",
    "json_schema",
    "load",
    "load_fixtures",
    "migrate_files",
    "migrate_record",
    "post_process",
    "render",
    "validate_file",
    "validate_task",
]


def __getattr__(name: str) -> object:
    if name != "TaskSpec":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evalspec.api import versions

    return versions.TaskSpec
