"""Findings about records: a violation or a format error, with its place in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.errors import Finding, cut, value_text, visible, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalspec.errors import FormatError, Severity
    from evalspec.schema.explain import Violation
    from evalspec.schema.family import Families


def of_format_error(
    path: str, error: FormatError, *, task: str | None = None, severity: Severity = "error"
) -> Finding:
    """What keeps bytes from being a record."""
    text = cut(error.text)
    return Finding(
        error.rule,
        severity,
        path,
        error.line,
        error.column,
        task,
        error.field,
        error.message,
        text,
        error.fix or "mend the text at this place",
    )


def of_violation(
    path: str, line: int, column: int, record: Mapping[str, Any], violation: Violation
) -> Finding:
    """What a record does against its version."""
    text = "" if violation.missing else cut(_text_at(record, violation))
    return Finding(
        violation.rule,
        "error",
        path,
        line,
        column,
        task_of(record),
        violation.field,
        violation.message,
        text,
        violation.fix,
    )


def quoted_in_yaml(record: Mapping[str, Any], violation: Violation) -> Violation:
    """The violation with the next step for a bare YAML word that should be a text: `Yes`, `1.0`, `~`, a date."""
    if violation.rule != "bad_type" or not violation.message.startswith("must be a text"):
        return violation
    value: Any = record
    for step in violation.path:
        value = value[step]
    if isinstance(value, (dict, list)):
        return violation
    return violation._replace(fix="put it in quotes, and YAML reads the text that stands there")


def task_of(record: Mapping[str, Any]) -> str | None:
    """The record's id, where it has one that is a text."""
    task = record.get("task_id")
    return task if isinstance(task, str) else None


def duplicate(path: str, line: int, column: int, task: str, first: int) -> Finding:
    """An id that an earlier valid record of the file has."""
    message = f"the task id is already that of line {first}"
    fix = "give one of the two another id"
    return Finding("duplicate_task_id", "error", path, line, column, task, "task_id", message, task, fix)


def unknown_version(
    path: str, line: int, column: int, record: Mapping[str, Any], families: Families
) -> Finding:
    """A record whose `spec_version` no family knows."""
    marker = record["spec_version"]
    known = [
        repr(schema.marker) for schema in map(families.schema, families.known()) if schema.marker is not None
    ]
    message = f"no schema version is marked {visible(cut(written(marker), 40))}"
    fix = f"the markers are {', '.join(known)}; a record of v1 has none"
    text = cut(written(marker, str))
    return Finding(
        "version_unknown", "error", path, line, column, task_of(record), "spec_version", message, text, fix
    )


def _text_at(record: Any, violation: Violation) -> str:
    value = record
    for step in violation.path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return ""
    return value_text(value)


def moved(found: Iterable[Finding], lines: int) -> list[Finding]:
    """Findings with so many lines before the first."""
    return [finding._replace(line=finding.line + lines) for finding in found]
