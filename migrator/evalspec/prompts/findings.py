"""What a rendered line has to report, as findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import Finding, Place, cut, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.prompts.render import RenderedRow


def findings_of(
    row: RenderedRow,
    path: str,
    *,
    place_of: Callable[[str], Place | None] | None = None,
    columns: Sequence[str] = (),
    source_of: Callable[[str], object] | None = None,
) -> list[Finding]:
    """The findings of one line: an error that the harness would raise, a prompt that cannot be known, a note.

    Args:
        row: the line.
        path: the task's file.
        place_of: finds a field's place; that of no field is the task's.
        columns: the columns of the rows, for a suggestion where a template names one that is not there.
        source_of: gives a field's text as it stands in the file, for the column in a template.
    """
    out: list[Finding] = []
    notes = row.prompt.notes if row.prompt else ()
    if row.error is None and row.unknown is None and not notes:
        return out
    task, field = row.label.task, row.field
    place = (place_of(field or "") if place_of else None) or Place(path)
    where = "when it is loaded" if row.row is None else f"for row {row.row}"
    if row.error is not None:
        error = row.error
        source = source_of(field) if source_of and field else None
        text = source if isinstance(source, str) else ""
        missing = _undefined(error.message)
        fix = did_you_mean(missing, list(columns)) if missing else ""
        rule = "undefined_variable" if error.type == "UndefinedError" else "render_error"
        detail = _within(text, missing, error.line)
        message = f"the task fails {where}: {error.type}: {error.message}{detail}"
        fix = fix or (
            "its columns are: " + ", ".join(columns[:20]) if missing and columns else "mend the field"
        )
        out.append(Finding(rule, "error", *place, task, field, message, cut(text), fix))
    elif row.unknown is not None:
        limit = "did not end within" in row.unknown or "makes too much" in row.unknown
        rule, severity = ("template_limit", "error") if limit else ("unknown_prompt", "info")
        fix = "simplify the template" if limit else _way_out(row.unknown)
        message = f"the prompt is not known {where}: {row.unknown}"
        out.append(Finding(rule, severity, *place, task, field, message, "", fix))  # type: ignore[arg-type]
    fix = "use a template that takes a system message"
    return out + [Finding("chat_retry", "warning", *place, task, None, note, "", fix) for note in notes]


def _way_out(reason: str) -> str:
    """What makes a prompt known."""
    if "see --trust-code" in reason:
        return "--trust-code runs the function, in a process with limits"
    if "cannot be loaded here" in reason:
        return "install what it imports beside evalspec"
    if "there are no rows" in reason:
        return "give its rows: --rows FILE.jsonl, or --rows-dir DIR"
    return "look at it with the harness itself, or change what the reason names"


def _undefined(message: str) -> str:
    """The name that Jinja says is not there."""
    for mark in (" is undefined", "' has no attribute '"):
        if mark in message:
            if mark == " is undefined":
                return message.removesuffix(mark).strip("'")
            return message.rpartition(mark)[2].strip("'")
    return ""


def _within(text: str, name: str, line: int | None) -> str:
    """Where in the template the trouble is."""
    at = text.find(name) if name else -1
    if at >= 0:
        row = text.count("\n", 0, at) + 1
        column = at - (text.rfind("\n", 0, at) + 1) + 1
        return f" (line {row}, column {column} of the template)"
    return f" (line {line} of the template)" if line else ""
