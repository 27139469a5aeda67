"""Where the fields of records stand, in JSONL and in YAML."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from evalspec.project import Project
from evalspec.tasks import FieldPlaces, Reading, TaskFile
from evalspec.tasks.places import steps_of

if TYPE_CHECKING:
    from pathlib import Path


def record(task: str, **more: Any) -> dict[str, Any]:
    plain = {"task_id": task, "category": "arithmetic", "prompt": "é?", "targets": ["4"]}
    return plain | {"metric_name": "exact_match", "post_process": "none"} | more


SHOTS = [{"prompt": "a", "completion": "b"}, {"prompt": "c", "completion": "d"}]


def opened(path: Path, text: str) -> TaskFile:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    families = Project.find(str(path.parent)).families
    file = TaskFile(str(path), Reading(families, families.schema("v1")))
    assert not file.report.errors
    return file


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_a_value_in_json_lines(tmp_path: Path, name: str) -> None:
    lines = ["  " + json.dumps(record(f"t{number}", few_shot_examples=SHOTS)) for number in range(2000)]
    lines[3] = ""
    file = opened(tmp_path / name, "\n".join(lines) + "\n")
    fields = {"prompt": '"\\u00e9?"', "few_shot_examples[1].completion": '"d"', "targets[0]": '"4"'}
    with FieldPlaces(file) as places:
        seen = 0
        for each, _, _ in file.valid():
            place_of = places.of(each)
            for field, written in fields.items():
                place = place_of(field)
                assert (place.path, place.line) == (file.path, each.line)
                assert lines[place.line - 1][place.column - 1 :].startswith(written)
            assert place_of("few_shot_examples[7].prompt") == (file.path, each.line, 3)
            seen += 1
        first = next(file.valid())[0]
        assert places.of(first)("prompt").line == 1
    assert seen == 1999


YAML = """\
- task_id: one
  category: arithmetic
  prompt: 2 + 2?
  targets: ["4"]
  metric_name: exact_match
  post_process: none
---
- task_id: two
  category: arithmetic
  prompt: |-
    2 + 3?
  targets: ["5"]
  few_shot_examples:
  - {prompt: a, completion: "b"}
  metric_name: exact_match
  post_process: none
"""


@pytest.mark.parametrize("name", ["t.yaml", "t.yaml.gz"])
def test_a_value_in_yaml(tmp_path: Path, name: str) -> None:
    file = opened(tmp_path / name, YAML)
    fields = ("prompt", "targets[0]", "few_shot_examples[0].completion", "nothing", "")
    with FieldPlaces(file) as places:
        found = {each.task: [places.of(each)(field)[1:] for field in fields] for each, _, _ in file.valid()}
    assert found == {
        "one": [(3, 11), (4, 13), (1, 3), (1, 3), (1, 3)],
        "two": [(10, 11), (12, 13), (14, 29), (8, 3), (8, 3)],
    }


def test_a_field_is_taken_apart_into_steps() -> None:
    assert steps_of("fewshot.samples[10].prompt") == ("fewshot", "samples", 10, "prompt")
    assert steps_of("") == ()
