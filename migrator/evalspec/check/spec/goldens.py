"""What fixtures say that is computed, made anew: outputs of rules, prompts, and the lines that a migration writes.

What a person has to decide is left alone: which tasks, texts and rows there are, which tasks are bad and why.
"""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.check.owned import owned_families
from evalspec.check.spec.fixtures import Spec, lines, objects, step_folder, version_folder
from evalspec.errors import EvalspecError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalspec.migrate.migration import Migration
    from evalspec.project import Project


class Golden(NamedTuple):
    """A file of a fixture that would be another one.

    Attributes:
        path: the file.
        old: its bytes.
        new: what they would be.
    """

    path: str
    old: bytes
    new: bytes


def outdated(project: Project) -> list[Golden]:
    """The files that do not say what is computed now; one that cannot be computed is left out.

    Raises:
        HistoryError: the migrations form no line.
    """
    spec = Spec(project)
    found = []
    for path, make in _files(spec):
        if not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            old = file.read()
        try:
            new = make(path)
        except (EvalspecError, LookupError, TypeError, ValueError):
            continue  # the check of it says what is wrong
        if new != old:
            found.append(Golden(path, old, new))
    return found


def _files(spec: Spec) -> Iterator[tuple[str, Callable[[str], bytes]]]:
    for family in owned_families(spec.project):
        for version in family.versions:
            id_ = f"{family.name}@{version}"
            folder = version_folder(spec, id_)
            yield f"{folder}/post_process.jsonl", partial(_outputs_of_rules, spec, id_)
            yield f"{folder}/prompts.jsonl", partial(_prompts_of_tasks, spec, id_)
            yield f"{folder}/template_prompts.jsonl", partial(_template_prompts, spec, id_)
        for step in spec.history.steps.values():
            if step.family == family.name:
                folder = step_folder(spec, step)
                yield f"{folder}/after.jsonl", partial(_upgraded, spec, step)
                yield f"{folder}/prompts.jsonl", partial(_prompts, spec, step)
                yield f"{folder}/outputs.jsonl", partial(_outputs, spec, step)


def _lines_of(path: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """A file of objects in which some values are others; everything else keeps its bytes.

    Args:
        path: the file.
        changed: the new values of an object, by key.
    """
    from evalspec.formats.edits import Replace
    from evalspec.formats.jsonl import edit_line

    with open(path, "rb") as file:
        out = file.read().split(b"\n")
    for number, value in objects(path):
        edits = [Replace((key,), new) for key, new in changed(value).items() if value.get(key) != new]
        if edits:
            out[number - 1] = edit_line(out[number - 1], edits)
    return b"\n".join(out)


def _outputs_of_rules(spec: Spec, id_: str, path: str) -> bytes:
    schema = spec.project.schema(id_)
    return _lines_of(path, lambda said: {"output": schema.post_process(said["input"], said["rule"])})


def _prompts_of_tasks(spec: Spec, id_: str, path: str) -> bytes:
    from evalspec.check.spec.versions import shown_of

    texts = shown_of(spec, id_, os.path.dirname(path))
    return _lines_of(path, lambda said: {"text": texts[said["task_id"]]})


def _template_prompts(spec: Spec, id_: str, path: str) -> bytes:
    from evalspec.check.spec.versions import rendered

    said = [
        {"task_id": line["task"], "row": line["row"], "text": line["text"]}
        for line in rendered(spec, id_, os.path.dirname(path))
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in said).encode()


def _upgraded(spec: Spec, step: Migration, path: str) -> bytes:
    from evalspec.check.spec.steps import upgraded

    before = f"{os.path.dirname(path)}/before.jsonl"
    new_line = upgraded(spec, step)
    made = [new_line(line) for _, line in lines(before)]
    if made == [line for _, line in lines(path)]:  # whatever blank lines there are
        with open(path, "rb") as file:
            return file.read()
    return b"".join(line + b"\n" for line in made)


def _tasks(data: Iterable[bytes]) -> dict[str, dict[str, Any]]:
    return {task["task_id"]: task for task in map(json.loads, data)}


def _prompts(spec: Spec, step: Migration, path: str) -> bytes:
    from evalspec.check.spec.steps import upgraded
    from evalspec.migrate.rendering import show

    sides = {"before": spec.project.schema(step.parent), "after": spec.project.schema(step.id)}
    old = [line for _, line in lines(f"{os.path.dirname(path)}/before.jsonl")]
    tasks = {"before": _tasks(old), "after": _tasks(map(upgraded(spec, step), old))}

    def shown(said: dict[str, Any]) -> dict[str, Any]:
        return {side: show(tasks[side][said["task_id"]], schema).text for side, schema in sides.items()}

    made = _lines_of(path, shown)
    said = {row["task_id"] for _, row in objects(path, "task_id")}
    for id_ in tasks["before"]:
        if id_ not in said and id_ in tasks["after"]:
            row = {"task_id": id_, **shown({"task_id": id_})}
            made += json.dumps(row, ensure_ascii=False).encode() + b"\n"
    return made


def _outputs(spec: Spec, step: Migration, path: str) -> bytes:
    sides = {"before": spec.project.schema(step.parent), "after": spec.project.schema(step.id)}
    return _lines_of(
        path,
        lambda said: {
            side: schema.post_process(said["generation"], said["rule"]) for side, schema in sides.items()
        },
    )
