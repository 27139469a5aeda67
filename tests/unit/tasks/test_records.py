"""Task files that are judged first, and whose records are read behind that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli import ROOT
from support.sound import sound

from evalspec.errors import BadTasks, WriteError
from evalspec.project import Project
from evalspec.tasks import Reading, TaskFile, open_tasks

PROJECT = Project.find(str(ROOT))
READING = Reading(PROJECT.families, PROJECT.schema("evalspec@v1"))


def jsonl(path: Path, *records: dict[str, Any] | str) -> str:
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def numbered(count: int) -> list[dict[str, Any]]:
    return [sound("v1", "arithmetic") | {"task_id": f"t{number}"} for number in range(count)]


def seen(file: TaskFile) -> list[tuple[int, str | None, str | None, bool]]:
    return [
        (record.line, record.task, record.schema.version if record.schema else None, record.value is not None)
        for record in file.records()
    ]


def test_every_record_comes_with_its_place_whether_valid_or_not(tmp_path: Path) -> None:
    first, second = numbered(2)
    path = jsonl(
        tmp_path / "t.jsonl", first, "", second | {"category": "x"}, "{", {"spec_version": 9}, first, second
    )
    file = TaskFile(path, READING)
    assert file.report.valid == 2
    assert [error.rule for error in file.report.errors] == [
        "bad_value", "bad_json", "version_unknown", "duplicate_task_id"
    ]  # fmt: skip
    expected = [
        (1, "t0", "v1", True),
        (3, "t1", "v1", False),
        (4, None, None, False),
        (5, None, None, False),
        (6, "t0", "v1", False),
        (7, "t1", "v1", True),
    ]
    assert seen(file) == expected
    assert seen(file) == expected, "a second reading gives something else"
    assert [value["task_id"] for _, _, value in file.valid()] == ["t0", "t1"]


def test_many_alike_lines_are_records_one_by_one(tmp_path: Path) -> None:
    records = numbered(3000)
    path = jsonl(tmp_path / "t.jsonl", *records)
    file = TaskFile(path, READING)
    found = list(file.valid())
    assert [value for _, _, value in found] == records
    assert [record.line for record, _, _ in found] == list(range(1, 3001))


def test_columns_count_from_one_behind_white_space(tmp_path: Path) -> None:
    record = json.dumps(numbered(1)[0])
    path = jsonl(tmp_path / "t.jsonl", f"  {record}")
    assert [record.column for record in TaskFile(path, READING).records()] == [3]
    yaml = tmp_path / "t.yaml"
    yaml.write_text(f"- {record}\n")
    assert [(record.line, record.column) for record in TaskFile(str(yaml), READING).records()] == [(1, 3)]


@pytest.mark.parametrize("name", ["t.jsonl", "t.yaml"])
def test_a_file_that_is_changed_meanwhile_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(numbered(1)[0]) + "\n")
    file = TaskFile(str(path), READING)
    assert len(seen(file)) == 1
    path.write_text(json.dumps({"task_id": "other"}) + "\n")
    with pytest.raises(WriteError, match="was changed while it was read"):
        list(file.records())


def test_bad_tasks_of_all_files_are_told_together(tmp_path: Path) -> None:
    good = jsonl(tmp_path / "a.jsonl", *numbered(1))
    bad = [jsonl(tmp_path / f"{name}.jsonl", {"task_id": "x"}) for name in "bc"]
    with open_tasks([good, *bad], READING) as files:
        assert [file.report.valid for file in files] == [1, 0, 0]
    with (
        pytest.raises(BadTasks, match="2 errors") as caught,
        open_tasks([good, *bad], READING, allow_bad=False),
    ):
        pass
    assert [found.path for found in caught.value.findings] == bad
