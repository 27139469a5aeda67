"""A migration's fixtures are what they say: the bytes that it writes, prompts and outputs on both sides, promises."""

from __future__ import annotations

import json
import os
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from evalspec.check.spec.fixtures import finding, lines, objects, shown, version_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalspec.check.spec.fixtures import Spec
    from evalspec.errors import Finding
    from evalspec.migrate.migration import Migration, Promise

_SIDES = ("before", "after")


def check_bytes(spec: Spec, step: Migration, folder: str) -> list[Finding]:
    """Each line of `before.jsonl` becomes, byte for byte, the one of `after.jsonl`; both are valid."""
    paths = {side: f"{folder}/{side}.jsonl" for side in _SIDES}
    for side, path in paths.items():
        if not os.path.exists(path):
            message = f"{step.id} has no records {side} it"
            return [finding("fixture_missing", folder, message, f"write some to {shown(path)}")]
    found = []
    for side, id_ in zip(_SIDES, (step.parent, step.id), strict=True):
        report = spec.validated(paths[side], all_errors=True)
        found += [each._replace(path=shown(paths[side])) for each in report.errors]
        others = sorted(report.schemas.keys() - {id_})
        if others:
            message = f"holds records at {', '.join(others)}"
            found.append(finding("fixture_stale", paths[side], message, f"write them at {id_}"))
    return found or list(_bytes(spec, step, **paths))


def upgraded(spec: Spec, step: Migration) -> Callable[[bytes], bytes]:
    """Makes of a line of records the one that a migration writes."""
    from evalspec.formats.jsonl import edit_line
    from evalspec.migrate.upgrade import Upgrades

    upgrades = Upgrades(spec.project.families, spec.history, step.id)
    upgrade = upgrades.from_(spec.project.schema(step.parent))
    return lambda line: edit_line(line, upgrade.edits(json.loads(line)))


def _bytes(spec: Spec, step: Migration, before: str, after: str) -> Iterator[Finding]:
    new_line = upgraded(spec, step)
    for old, new in zip_longest(lines(before), lines(after)):
        made = new_line(old[1]) if old else b""
        if made != (new[1] if new else b""):
            line = (new or old or (1, b""))[0]
            fix = f"mend {shown(step.path)}, or write the line anew"
            text = made.decode(errors="replace")
            message = f"{step.id} writes another line"
            yield finding("fixture_stale", after, message, fix, line=line, text=text)


def check_prompts(spec: Spec, step: Migration, folder: str) -> list[Finding]:
    """Each prompt is the one of `prompts.jsonl` on both sides, and they agree with the promise."""
    from evalspec.migrate.rendering import show

    path = f"{folder}/prompts.jsonl"
    found = []
    for side, id_ in zip(_SIDES, (step.parent, step.id), strict=True):
        schema = spec.project.schema(id_)
        tasks = {task["task_id"]: task for _, task in objects(f"{folder}/{side}.jsonl", "task_id")}
        rows = objects(path, "task_id", *_SIDES)
        goldens = {row["task_id"]: (line, row[side]) for line, row in rows}
        for task_id in tasks.keys() - goldens.keys() if goldens else ():
            fix = f"write its prompts to {shown(path)}"
            found.append(finding("fixture_missing", path, f"no prompts of {task_id}", fix, task=task_id))
        for task_id, (line, golden) in goldens.items():
            text = show(tasks[task_id], schema).text if task_id in tasks else ""
            if text != golden:
                message = f"the prompt {side} {step.id} is another one"
                fix = "mend the assembly or the task, or write the prompt anew"
                found.append(finding("fixture_stale", path, message, fix, line=line, task=task_id, text=text))
    return list(dict.fromkeys(found)) + _held("prompts", step.prompts, path)


def check_outputs(spec: Spec, step: Migration, folder: str) -> list[Finding]:
    """Each output is the one of `outputs.jsonl` on both sides, and they agree with the promise."""
    path = f"{folder}/outputs.jsonl"
    found = []
    for side, id_ in zip(_SIDES, (step.parent, step.id), strict=True):
        schema = spec.project.schema(id_)
        rules = {
            task["task_id"]: task.get("post_process")
            for _, task in objects(f"{folder}/{side}.jsonl", "task_id")
        }
        for line, row in objects(path, "task_id", "rule", "generation", *_SIDES):
            task_id, rule = row["task_id"], row["rule"]
            output = schema.post_process(row["generation"], rule) if rules.get(task_id) == rule else None
            if output != row[side]:
                message = f"the output {side} {step.id} is another one"
                if output is None:
                    message = f"{task_id} {side} {step.id} does not use {rule}"
                fix = "mend the rule or the task, or write the output anew"
                text = output or ""
                found.append(finding("fixture_stale", path, message, fix, line=line, task=task_id, text=text))
    return found + _held("outputs", step.outputs, path) + list(_same_outputs(spec, step))


def _held(what: str, promise: Promise, path: str) -> list[Finding]:
    """The rows of a golden file change where the promise says so, and only there."""
    rows = list(objects(path, "task_id", *_SIDES))
    changed = [(line, row) for line, row in rows if row["before"] != row["after"]]
    if promise.unchanged:
        return [
            finding(
                "promise_broken",
                path,
                f"{what} are promised to stay, and this one changes",
                f'promise `{what} = "changes: …"`, or mend the migration',
                line=line,
                task=row["task_id"],
                text=row["after"],
            )
            for line, row in changed
        ]
    if rows and not changed:
        message = f"{what} are said to change, and none here does"
        return [finding("fixture_missing", path, message, "add a task that shows the change")]
    return []


def _same_outputs(spec: Spec, step: Migration) -> Iterator[Finding]:
    """A rule of both versions that no operation changes gives the same for every text of both versions' fixtures."""
    before, after = spec.project.schema(step.parent), spec.project.schema(step.id)
    kept = before.declaration.post_process.keys() & after.declaration.post_process.keys() - step.changed_rules
    folders = [version_folder(spec, id_) for id_ in (step.parent, step.id)]
    texts: dict[str, Any] = {}
    for folder in folders:
        for name, key in (("post_process.jsonl", "input"), ("generations.jsonl", "text")):
            texts |= dict.fromkeys(row[key] for _, row in objects(f"{folder}/{name}", key))
    for rule in sorted(kept):
        for text in texts:
            if before.post_process(text, rule) != after.post_process(text, rule):
                message = (
                    f"{rule} gives {after.post_process(text, rule)!r} for this text, and gave another before"
                )
                fix = f'say `op.post_process("{rule}", changed="…")`, or change the rule back'
                yield finding("promise_broken", step.path, message, fix, field=rule, text=text)
                break


#: Every check of a migration's fixtures, by what it is about.
CHECKS = {"records": check_bytes, "prompts": check_prompts, "outputs": check_outputs}
