"""Prove a promise by rendering: one record's prompt under two versions, compared to the byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import BrokenPromise, Finding, cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalspec.migrate.upgrade import Step
    from evalspec.schema.schema import Schema


class Shown(NamedTuple):
    """What a model would be shown and asked for, by one record.

    Attributes:
        text: the prompt's plain text, with a row's text after a row's text for a template.
        asked: choices, stop strings and generation settings, in a form that compares.
        unknown: why the prompt could not be rendered; empty where it could.
    """

    text: str
    asked: str = ""
    unknown: str = ""


def show(record: Mapping[str, Any], schema: Schema) -> Shown:
    """What a valid record of `schema` shows."""
    from evalspec.prompts import show_record

    try:
        return Shown(*show_record(record, schema))
    except (KeyError, TypeError) as error:
        # The version's assembly names a field that its records need not have.
        return Shown("", unknown=f"the assembly of {schema.id} does not fit the record: {error!r}")


def hold_to_promise(step: Step, before: Shown, after: Shown, path: str, line: int, task: str) -> bool:
    """Whether a record's prompt, which was known before the step, changed along it. One that is lost has changed.

    Raises:
        BrokenPromise: it did, and the step says that none does.
    """
    changed = before != after
    if changed and step.migration.prompts.unchanged:
        done = f"loses this one ({after.unknown})" if after.unknown else "changes this one"
        message = f"{step.migration.id} promises unchanged prompts, and {done}"
        fix = f'mend {step.migration.path}, or promise `prompts = "changes: …"`'
        finding = Finding("promise_broken", "error", path, line, 1, task, None, message, cut(after.text), fix)
        raise PromptChanged(message, finding, before, after, fix)
    return changed


class PromptChanged(BrokenPromise):
    """A broken promise with the first prompt it broke on, before and after."""

    def __init__(self, message: str, finding: Finding, before: Shown, after: Shown, fix: str) -> None:
        self.before = before
        self.after = after
        super().__init__(message, [finding], fix=fix)
