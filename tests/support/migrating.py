"""Migrate bytes in memory, by the code that migrates files."""

from __future__ import annotations

import io
from functools import cache
from typing import NamedTuple

from evalspec.formats.lines import read_lines
from evalspec.migrate import load_history
from evalspec.migrate.convert import JsonlConverter, Options, RecordUpgrader
from evalspec.migrate.outcome import FileOutcome, Outcome
from evalspec.migrate.upgrade import Upgrades
from evalspec.project import Project
from evalspec.tasks import Reading


@cache
def own_project() -> Project:
    """The families that come with the tool."""
    return Project(None)


class Migrated(NamedTuple):
    """What became of some JSONL bytes."""

    data: bytes
    file: FileOutcome
    outcome: Outcome


@cache
def upgrades_of(target: str, project: Project) -> Upgrades:
    return Upgrades(project.families, load_history(project.families), project.schema(target).id)


def migrate_lines(
    data: bytes,
    target: str = "v3",
    *,
    project: Project | None = None,
    options: Options | None = None,
    chunk_size: int = 600,
) -> Migrated:
    """Migrate JSONL bytes; bad lines go through as they are.

    Chunks are small unless said: what was learnt from one chunk's lines is tried on those of the next.
    """
    project = project or own_project()
    upgrades = upgrades_of(target, project)
    outcome, file = Outcome(target), FileOutcome("tasks.jsonl")
    reading = Reading(project.families, project.unmarked())
    converter = JsonlConverter(RecordUpgrader(upgrades, outcome, options or Options()), reading, file)
    source, sink = io.BytesIO(data), io.BytesIO()
    for chunk in read_lines(source, chunk_size=chunk_size):
        converter.convert(chunk, source, sink.write)
    return Migrated(sink.getvalue(), file, outcome)


#: A line that is no record: a chunk that holds it is looked at line by line.
SPOILER = b"no record\n"


def migrate_line_by_line(data: bytes, target: str = "v3", **more: object) -> Migrated:
    """As `migrate_lines`, with each line looked at by itself."""
    migrated = migrate_lines(SPOILER + data, target, chunk_size=1 << 30, **more)  # type: ignore[arg-type]
    assert migrated.data.startswith(SPOILER)
    assert migrated.file.bad.pop(0).rule == "bad_json"
    return migrated._replace(data=migrated.data.removeprefix(SPOILER))
