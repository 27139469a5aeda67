"""What migrating would change in prompts and outputs: for a person, and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.errors import Place, counted, cut, visible
from evalspec.report.console import plain
from evalspec.report.excerpt import prompt_diff

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.diff import OutputChange, VersionDiff
    from evalspec.migrate.outcome import ChangedPrompt, StepOutcome
    from evalspec.migrate.rendering import Shown
    from evalspec.report.console import Paint
    from evalspec.schema.family import Families

#: How many changed prompts and outputs of a step, and how many ids, are shown to a person.
SHOWN = 20
_TEXT = 60


def version_diff_text(diff: VersionDiff, families: Families, *, paint: Paint = plain) -> str:
    """Each step with its promises and what became of them, then the changed prompts, then the changed outputs."""
    outcome = diff.outcome
    target = families.short(outcome.target)
    at = ", ".join(f"{count:,} at {families.short(id_)}" for id_, count in sorted(outcome.schemas.items()))
    files = len(outcome.files)
    head = f"{at or 'no records'}, in {counted(files, 'file')}, against {target}\n"
    pieces = [head]
    pieces += [f"{step.sentence(families.short)}\n" for step in outcome.steps.values()]
    for id_, step in outcome.steps.items():
        pieces += _prompts(step, families.short(id_), paint)
        pieces += _outputs(step, diff.outputs.get(id_, ()), families.short(id_), paint)
    if diff.is_empty:
        pieces.append(paint("no prompt changes, and no output of these tasks", "good") + "\n")
    return "".join(pieces)


def _prompts(step: StepOutcome, name: str, paint: Paint) -> Iterator[str]:
    if not step.prompts:
        return
    yield "\n" + paint(f"prompts that {name} changes: {step.changed:,}", "strong") + "\n"
    shown = step.prompts[:SHOWN]
    for item in shown:
        yield f"\n{Place(item.path, item.line)} {visible(item.task)}\n"
        yield shown_difference(item.before, item.after, paint=paint)
    if step.changed > len(shown):
        yield f"\n… and {step.changed - len(shown):,} more\n"


def shown_difference(before: Shown, after: Shown, *, paint: Paint = plain) -> str:
    """The difference of two prompts' texts, and of what is asked for."""
    said = prompt_diff(before.text, after.text, paint=paint)
    if before.asked != after.asked:
        said += "what is asked for: " + prompt_diff(before.asked, after.asked, paint=paint)
    return said


def _outputs(step: StepOutcome, changes: Any, name: str, paint: Paint) -> Iterator[str]:
    if step.touched:
        yield "\n" + paint(f"tasks whose outputs {name} can change: {step.touched:,}", "strong") + "\n"
        ids = ", ".join(visible(task) for task in step.tasks[:SHOWN])
        more = f", … and {step.touched - SHOWN:,} more" if step.touched > SHOWN else ""
        yield f"    {ids}{more}\n"
    if changes:
        yield paint(f"sample generations whose output {name} changes: {len(changes):,}", "strong") + "\n"
    for change in changes[:SHOWN]:
        texts = _quoted(change.before), _quoted(change.after)
        yield f"    {change.rule}  {_quoted(change.generation)}: {texts[0]} → {texts[1]}\n"
    if len(changes) > SHOWN:
        yield f"    … and {len(changes) - SHOWN:,} more\n"


def _quoted(text: str) -> str:
    return f"‘{cut(visible(text), _TEXT)}’"


def version_diff_data(diff: VersionDiff, families: Families) -> dict[str, Any]:
    """The same as plain data, for JSON."""
    outcome, short = diff.outcome, families.short
    steps = []
    for id_, step in outcome.steps.items():
        said = step.to_dict(short)
        said["prompts"]["examples"] = [_prompt_data(item) for item in step.prompts[:SHOWN]]
        said["outputs"]["examples"] = [_output_data(change) for change in diff.outputs.get(id_, ())]
        steps.append(said)
    return {
        "from": {short(id_): count for id_, count in sorted(outcome.schemas.items())},
        "to": short(outcome.target),
        "files": [{"path": file.path, "records": file.records} for file in outcome.files],
        "steps": steps,
        "bad": [finding.to_dict() for finding in outcome.bad],
    }


def _prompt_data(item: ChangedPrompt) -> dict[str, Any]:
    said = {"path": item.path, "line": item.line, "task": item.task}
    said |= {"before": item.before.text, "after": item.after.text}
    if item.before.asked != item.after.asked:
        said |= {"asked_before": item.before.asked, "asked_after": item.after.asked}
    return said


def _output_data(change: OutputChange) -> dict[str, str | None]:
    return {**change._asdict(), "task": change.task or None}
