"""A version's fixtures are what they say: valid tasks, bad tasks, outputs of rules, prompts of templates."""

from __future__ import annotations

import glob
import json
import os
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from evalspec.check.spec.fixtures import finding, lines, objects, shown, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.check.spec.fixtures import Spec
    from evalspec.errors import Finding

#: The files of valid records, of which a version has one at least.
TASKS = ("tasks.jsonl", "tasks.yaml", "templates.yaml", "pairs.jsonl")


def check_tasks(spec: Spec, id_: str, folder: str) -> list[Finding]:
    """There are tasks, and every one is valid at its version."""
    paths = [path for path in (f"{folder}/{name}" for name in TASKS) if os.path.exists(path)]
    if not paths:
        message = f"{id_} has no fixture tasks"
        return [finding("fixture_missing", folder, message, f"write some to {shown(folder)}/tasks.jsonl")]
    return [each for path in paths for each in _tasks(spec, id_, path)]


def _tasks(spec: Spec, id_: str, path: str) -> Iterator[Finding]:
    report = spec.validated(path, all_errors=True)
    for each in (*report.errors, *report.warnings):
        yield each._replace(path=shown(path), severity="error")
    others = sorted(report.schemas.keys() - {id_})
    if others:
        yield finding("fixture_stale", path, f"holds records at {', '.join(others)}", f"write them at {id_}")
    elif not report.errors and not report.valid:
        yield finding("fixture_missing", path, "holds no task", "write one")


def check_bad_tasks(spec: Spec, id_: str, folder: str) -> list[Finding]:  # noqa: ARG001 - the shape of every check
    """Every bad task breaks the one rule on its label, whether the first violation is wanted or all are."""
    return [
        each
        for path in sorted(glob.glob(f"{glob.escape(folder)}/*_bad.*"))
        if not path.endswith(".labels.json")
        for each in _bad_tasks(spec, path)
    ]


def _bad_tasks(spec: Spec, path: str) -> list[Finding]:
    labels_path = f"{path.rpartition('.')[0]}.labels.json"
    if not os.path.exists(labels_path):
        fix = f'write [{{"line": 1, "rule": "…", "field": "…"}}, …] to {shown(labels_path)}'
        return [finding("fixture_missing", path, "no labels say which rule each task breaks", fix)]
    labels = _labels(labels_path)
    for all_errors in (False, True):
        errors = spec.validated(path, all_errors=all_errors).errors
        for error, label in zip_longest(errors, labels):
            said = _of_label(label)
            found = _as_labelled(error, label)
            if said != found:
                message = f"says {_told(said)}; found {_told(found)}"
                line = error.line if error else label.get("line", 1)
                fix = f"mend the task, or its label in {shown(labels_path)}"
                # What comes behind the first difference is most often a consequence of it.
                return [finding("fixture_stale", path, message, fix, line=line)]
    return []


def _labels(path: str) -> list[dict[str, Any]]:
    with open(path, "rb") as stream:
        try:
            labels = json.load(stream)
        except ValueError as error:
            raise unreadable(path, f"is no JSON: {error}") from error
    if not isinstance(labels, list) or not all(
        isinstance(label, dict) and "rule" in label for label in labels
    ):
        raise unreadable(path, "is no list of objects with a rule")
    return labels


def _of_label(label: dict[str, Any] | None) -> tuple[object, ...]:
    """The rule, the place and the field of a label: its line in JSONL, its task in YAML."""
    if label is None:
        return ()
    return label["rule"], label.get("line", label.get("task")), label.get("field")


def _as_labelled(error: Finding | None, label: dict[str, Any] | None) -> tuple[object, ...]:
    if error is None:
        return ()
    place = error.task if label is not None and "line" not in label else error.line
    field = None if label is not None and label.get("field") is None else error.field
    return error.rule, place, field


def _told(said: tuple[object, ...]) -> str:
    return " ".join(str(each) for each in said if each is not None) or "nothing"


def check_post_process(spec: Spec, id_: str, folder: str) -> list[Finding]:
    """Each example of a post-process rule gives its output."""
    schema = spec.project.schema(id_)
    path = f"{folder}/post_process.jsonl"
    found = []
    for line, example in objects(path, "rule", "input", "output"):
        if example["rule"] not in schema.declaration.post_process:
            message = f"{id_} has no post-process rule {example['rule']!r}"
            fix = "remove the example, or add the rule"
            found.append(finding("fixture_stale", path, message, fix, line=line, field="rule"))
            continue
        output = schema.post_process(example["input"], example["rule"])
        if output != example["output"]:
            message = f"{example['rule']} makes {output!r} of it, not {example['output']!r}"
            fix = "mend the example; where the rule is meant to have changed, that takes the next version"
            found.append(
                finding("fixture_stale", path, message, fix, line=line, field="output", text=example["input"])
            )
    return found


def shown_of(spec: Spec, id_: str, folder: str) -> dict[str, str]:
    """The prompts of a version's inline fixture tasks, by task."""
    from evalspec.migrate.rendering import show

    schema = spec.project.schema(id_)
    names = (name for name in TASKS if name.endswith(".jsonl"))
    tasks = (task for name in names for _, task in objects(f"{folder}/{name}", "task_id"))
    return {task["task_id"]: show(task, schema).text for task in tasks}


def check_inline_prompts(spec: Spec, id_: str, folder: str) -> list[Finding]:
    """Each task gives the prompt that `prompts.jsonl` has for it."""
    path = f"{folder}/prompts.jsonl"
    said = list(objects(path, "task_id", "text"))
    texts = shown_of(spec, id_, folder) if said else {}
    found = []
    for line, each in said:
        text = texts.get(each["task_id"])
        if text != each["text"]:
            message = "the prompt is another one" if text is not None else "there is no such task"
            fix = "mend the assembly or the task, or write the prompt anew"
            task = str(each["task_id"])
            found.append(finding("fixture_stale", path, message, fix, line=line, task=task, text=text or ""))
    return found


def rendered(spec: Spec, id_: str, folder: str) -> list[dict[str, Any]]:
    """The prompts of a version's fixture templates, one a row, as `evalspec render --format json` has them."""
    from evalspec.prompts import PLAIN
    from evalspec.prompts.rows import RowsFolder
    from evalspec.prompts.tasks import RowOptions, record_spec, render_tasks
    from evalspec.tasks.fixtures import load_fixtures

    tasks = load_fixtures(spec.project.families, id_).templates
    rows = RowOptions(RowsFolder(f"{folder}/rows"))
    return [line.to_dict() for line in render_tasks(map(record_spec, tasks), [PLAIN], rows)]


def check_prompts(spec: Spec, id_: str, folder: str) -> list[Finding]:
    """Each template gives the prompt that `template_prompts.jsonl` has for each of its rows."""
    path = f"{folder}/template_prompts.jsonl"
    if not os.path.exists(path):
        return []
    prompts = rendered(spec, id_, folder)
    for line, (golden, now) in enumerate(
        zip_longest((each for _, each in objects(path, "task_id", "row", "text")), prompts), 1
    ):
        said = tuple(golden[key] for key in ("task_id", "row", "text")) if golden else ("nothing",) * 3
        found = tuple(now[key] for key in ("task", "row", "text")) if now else ("nothing",) * 3
        if said != found:
            (task, row, _), (found_task, found_row, text) = said, found
            message = f"the prompt of {task}, row {row}, is another one"
            if (task, row) != (found_task, found_row):
                message = f"says {task}, row {row}; rendered is {found_task}, row {found_row}"
            fix = "mend the template or its rows, or write the prompt anew"
            return [finding("fixture_stale", path, message, fix, line=line, task=str(task), text=str(text))]
    return []


def check_generations(spec: Spec, id_: str, folder: str) -> list[Finding]:
    """Each sample generation is of a task that the fixtures have."""
    path = f"{folder}/generations.jsonl"
    if not lines(path):
        return []
    from evalspec.tasks.fixtures import load_fixtures

    fixtures = load_fixtures(spec.project.families, id_)
    ids = {task.get("task_id") for task in (*fixtures.tasks, *fixtures.templates)}
    return [
        finding(
            "fixture_stale",
            path,
            f"{generation['task_id']} is no task of {id_}'s fixtures",
            "mend the task's id, or remove the generation",
            line=line,
            field="task_id",
        )
        for line, generation in objects(path, "task_id", "text")
        if generation["task_id"] not in ids
    ]


#: Every check of a version, by what it is about.
CHECKS = {
    "tasks": check_tasks,
    "bad tasks": check_bad_tasks,
    "post-process examples": check_post_process,
    "prompts": check_inline_prompts,
    "template prompts": check_prompts,
    "generations": check_generations,
}
