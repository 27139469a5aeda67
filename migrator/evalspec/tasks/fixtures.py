"""The fixtures of a schema version, loaded: what exercises it, as data (records.md, "Fixtures").

A version's folder is `fixtures/<family>/<version>/`. Any of its files may be missing:

    tasks.jsonl  tasks.yaml       valid records                       post_process.jsonl   rule, input, output
    templates.yaml                valid template tasks                generations.jsonl    task_id, text
    pairs.jsonl                   valid records, for the pairs that     prompts.jsonl        task_id, text: what a
                                  no other task has                                          task's prompt is
    tasks_bad.jsonl               a broken rule a line; which one     rows/<task>/<split>.jsonl
                                  says tasks_bad.labels.json
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.schema.family import module_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalspec.schema.family import Families


class BadTask(NamedTuple):
    """A line that breaks a rule.

    Attributes:
        line: its number in `tasks_bad.jsonl`, from 1.
        data: its bytes, without the line feed.
        rule: the rule it breaks.
        field: the field it is found at, where there is one.
    """

    line: int
    data: bytes
    rule: str
    field: str | None


class Generation(NamedTuple):
    """What a model wrote for a task."""

    task_id: str
    text: str


class PostProcessExample(NamedTuple):
    """What a post-process rule makes of a text."""

    rule: str
    input: str
    output: str


@dataclass(frozen=True)
class Fixtures:
    """Everything that exercises one schema version.

    Attributes:
        schema: the version's id.
        tasks: valid inline records, of `tasks.jsonl`.
        templates: valid template records.
        pairs: more valid inline records, of `pairs.jsonl`.
        bad: lines that break a rule.
        generations: sample generations of the tasks.
        post_process: examples of every post-process rule.
        rows: the rows of template tasks, by task and split.
    """

    schema: str
    tasks: tuple[dict[str, Any], ...] = ()
    templates: tuple[dict[str, Any], ...] = ()
    pairs: tuple[dict[str, Any], ...] = ()
    bad: tuple[BadTask, ...] = ()
    generations: tuple[Generation, ...] = ()
    post_process: tuple[PostProcessExample, ...] = ()
    rows: Mapping[str, Mapping[str, tuple[dict[str, Any], ...]]] = field(default_factory=dict)


def load_fixtures(families: Families, reference: str) -> Fixtures:
    """The fixtures of the version that `v3` or `family@v3` names.

    Raises:
        UnknownVersion: there is no such version.
        FormatError: a fixture is not what its name says.
    """
    family, version = families.resolve(reference)
    root = families.by_name[family].root.fixtures
    folder = f"{root}/{family}/{module_name(version)}"
    tasks = _objects(f"{folder}/tasks.jsonl") or _yaml_objects(f"{folder}/tasks.yaml")
    return Fixtures(
        f"{family}@{version}",
        tasks=tasks,
        templates=_yaml_objects(f"{folder}/templates.yaml"),
        pairs=_objects(f"{folder}/pairs.jsonl"),
        bad=_bad(folder),
        generations=tuple(
            Generation(said["task_id"], said["text"])
            for said in _objects(f"{folder}/generations.jsonl", "task_id", "text")
        ),
        post_process=tuple(
            PostProcessExample(said["rule"], said["input"], said["output"])
            for said in _objects(f"{folder}/post_process.jsonl", "rule", "input", "output")
        ),
        rows=_rows(f"{folder}/rows"),
    )


def _bytes(path: str) -> bytes:
    """A fixture's bytes; none where it is not there."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return b""


def _objects(path: str, *texts: str) -> tuple[dict[str, Any], ...]:
    """The objects of a JSONL file, each with a text under these keys.

    Raises:
        FormatError: a line is no object, or lacks one.
    """
    from evalspec.errors import FormatError
    from evalspec.formats.jsonl import parse_line

    found = []
    for number, line in enumerate(_bytes(path).split(b"\n"), 1):
        if line.strip():
            value = parse_line(line, line_number=number).value
            for key in texts:
                if not isinstance(value.get(key), str):
                    message = f"{path}:{number}: a line has a text under {key!r}"
                    raise FormatError("missing_required", message, line=number, field=key)
            found.append(value)
    return tuple(found)


def _yaml_objects(path: str) -> tuple[dict[str, Any], ...]:
    data = _bytes(path)
    if not data:
        return ()
    from evalspec.formats.yaml import read, records

    found = []
    for record in records(read(data)):
        if record.error is not None:
            raise record.error
        if record.value is not None:
            found.append(record.value)
    return tuple(found)


def _bad(folder: str) -> tuple[BadTask, ...]:
    import json

    from evalspec.errors import FormatError

    path = f"{folder}/tasks_bad.labels.json"
    lines = _bytes(f"{folder}/tasks_bad.jsonl").split(b"\n")
    try:
        labels = json.loads(_bytes(path) or b"[]")
        return tuple(
            BadTask(label["line"], lines[label["line"] - 1], label["rule"], label["field"])
            for label in labels
        )
    except (ValueError, LookupError, TypeError) as error:
        message = f"{path}: is no list of objects with a line, a rule and a field"
        raise FormatError("bad_json", message) from error


def _rows(folder: str) -> dict[str, dict[str, tuple[dict[str, Any], ...]]]:
    rows: dict[str, dict[str, tuple[dict[str, Any], ...]]] = {}
    if os.path.isdir(folder):
        for task in sorted(os.listdir(folder)):
            for name in sorted(os.listdir(f"{folder}/{task}")):
                if name.endswith(".jsonl"):
                    split = name.removesuffix(".jsonl")
                    rows.setdefault(task, {})[split] = _objects(f"{folder}/{task}/{name}")
    return rows
