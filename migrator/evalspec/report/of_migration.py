"""An outcome as a reader wants it: the diff of a file, and the data of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.diff.record_changes import value_changes
from evalspec.report.markdown import (
    FileLine,
    MigrationReport,
    OutputChange,
    PromptChange,
    RecordChange,
    StepLine,
)
from evalspec.report.unified_diff import unified, unified_by_line
from evalspec.tasks import format_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.migrate.outcome import FileOutcome, Outcome
    from evalspec.schema.family import Families


def file_diff(file: FileOutcome) -> Iterator[str]:
    """The unified diff of a file that a run left as it was, from the changes it noted."""
    if not file.changes:
        return
    if format_of(file.path) == "yaml":
        _, old, new = file.changes[0]
        yield unified(old, new, file.path)
    else:
        yield from unified_by_line(_pairs(file), file.path)


def _pairs(file: FileOutcome) -> Iterator[tuple[bytes, bytes]]:
    """Every line of the file as it is and as it would be."""
    from evalspec.formats.lines import open_source

    changed = {number: new for number, _, new in file.changes}
    with open_source(file.path) as stream:
        rest, number = b"", 0
        while block := stream.read(1 << 17):
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                number += 1
                old = line + b"\n"
                yield old, changed.get(number, old)
        if rest:
            yield rest, changed.get(number + 1, rest)


def migration_report(outcome: Outcome, families: Families, *, dry_run: bool) -> MigrationReport:
    """The outcome as `evalspec.report.migration_markdown` takes it; it must have noted changes and prompts."""
    from evalspec.diff import changed_outputs

    short = families.short
    return MigrationReport(
        target=short(outcome.target),
        origins={short(id_): count for id_, count in outcome.schemas.items()},
        files=[FileLine(file.path, file.records, file.changed, file.written) for file in outcome.files],
        steps=[
            StepLine(
                short(step.migration.id),
                step.migration.title,
                step.records,
                step.prompts_sentence(),
                step.outputs_sentence(),
            )
            for step in outcome.steps.values()
        ],
        records=[change for file in outcome.files for change in _record_changes(file, families)],
        prompts=[
            PromptChange(item.path, item.line, item.task, item.before.text, item.after.text)
            for step in outcome.steps.values()
            for item in step.prompts
        ],
        outputs=[
            OutputChange(
                change.task or "(an example)", change.rule, change.generation, change.before, change.after
            )
            for step in outcome.steps.values()
            for change in changed_outputs(step.migration, families)
        ],
        bad=outcome.bad,
        dry_run=dry_run,
    )


def _record_changes(file: FileOutcome, families: Families) -> Iterator[RecordChange]:
    for line, old, new in _records(file):
        before, after = (_version(record, families) for record in (old, new))
        changes = [f"{change.path} {change.what}" for change in value_changes(old, new)]
        yield RecordChange(file.path, line, old["task_id"], before, after, tuple(changes))


def _records(file: FileOutcome) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    if format_of(file.path) == "yaml":
        from evalspec.formats.yaml import read, records

        for _, before, after in file.changes:
            for old, new in zip(records(read(before)), records(read(after)), strict=True):
                if old.value is not None and new.value is not None and old.value != new.value:
                    yield old.line, old.value, new.value
        return
    from evalspec.formats.jsonl import parse_line

    for line, before, after in file.changes:
        yield line, parse_line(before).value, parse_line(after).value


def _version(record: dict[str, Any], families: Families) -> str:
    schema = families.of_marker(record["spec_version"]) if "spec_version" in record else None
    return families.short(schema.id) if schema else "v1"
