"""The values of one record, each with the place it comes from, or the default that stands in for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.errors import UsageError, did_you_mean, visible
from evalspec.prompts.lm_eval.places import ResolvedValue
from evalspec.tasks.places import FieldPlaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalspec.schema.schema import Schema
    from evalspec.tasks.records import TaskFile, TaskRecord


def values_of_task(files: Iterable[TaskFile], name: str) -> list[ResolvedValue]:
    """The values of the one valid record of that name.

    Raises:
        UsageError: there is none.
    """
    met = []
    for file in files:
        for record, schema, value in file.valid():
            if value["task_id"] == name:
                return record_values(file, record, schema, value)
            met.append(value["task_id"])
    fix = did_you_mean(name, met) or "`evalspec tasks` lists the tasks"
    raise UsageError(f"no task {visible(name)!r} in what was read", fix=fix)


def record_values(
    file: TaskFile, record: TaskRecord, schema: Schema, value: Mapping[str, Any]
) -> list[ResolvedValue]:
    """Every field that a valid record has, then every default of its version that it leaves to be meant."""
    from evalspec.schema.declare import Absent

    with FieldPlaces(file) as places:
        place_of = places.of(record)
        out = [ResolvedValue(key, each, place_of(key), "") for key, each in value.items()]
    out += [
        ResolvedValue(field.name, field.default, None, f"the default of {schema.id}")
        for field in schema.fields[schema.shape_of(value).name]
        if field.name not in value and not isinstance(field.default, Absent) and field.default is not None
    ]
    return out
