"""What records show and ask for, in a form that compares between versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli import ROOT
from support.sound import BODIES, NEW_IN_V2, sound

import evalspec
from evalspec.errors import UsageError
from evalspec.project import Project
from evalspec.prompts import render_inline, show_record
from evalspec.prompts.lines import Wanted
from evalspec.prompts.record_lines import render_records
from evalspec.schema.schema import Schema
from evalspec.tasks import Reading, open_tasks

PROJECT = Project.find(str(ROOT))


def schema(version: str) -> Schema:
    return PROJECT.schema(f"evalspec@{version}")


def shown(version: str, record: dict[str, Any]) -> tuple[str, str, str]:
    assert schema(version).check(record) == []
    return show_record(record, schema(version))


@pytest.mark.parametrize("base", [*BODIES, "shots"])
def test_a_record_shows_the_same_at_every_version(base: str) -> None:
    record = sound("v1", base)
    first = shown("v1", record)
    assert first[2] == ""
    for version in ("v2", "v3"):
        record = evalspec.migrate_record(record, to=version, project=PROJECT)
        assert shown(version, record) == first


@pytest.mark.parametrize("base", [*BODIES, *NEW_IN_V2, "shots"])
def test_the_text_is_that_of_the_full_rendering(base: str) -> None:
    record = sound("v3", base) | {"description": "Be brief.\n", "gen_prefix": "So:", "target_delimiter": "\n"}
    full = render_inline(record, schema("v3").declaration.assembly)
    text, asked, unknown = shown("v3", record)
    assert (text, unknown) == (full.text, "")
    said = json.loads(asked)
    assert said[0] == full.output_type
    if full.output_type == "generate_until":
        assert said[1] == {"until": []}
    else:
        assert said[1:] == [request.continuation for request in full.requests]


def test_no_settings_and_no_stop_string_are_the_same() -> None:
    plain = sound("v2", "arithmetic")
    same = [shown("v2", plain | more) for more in ({}, {"generation": {}}, {"generation": {"until": []}})]
    assert same[0] == same[1] == same[2]
    settings: list[dict[str, Any]] = [
        {"until": ["\n"]},
        {"max_gen_toks": 5},
        {"until": [], "temperature": 0.5},
    ]
    other = [shown("v2", plain | {"generation": each}) for each in settings]
    assert len({same[0], *other}) == 4
    turned = {"temperature": 0.5, "until": []}
    assert shown("v2", plain | {"generation": turned}) == other[2]


def test_what_is_scored_counts_as_asked() -> None:
    record = sound("v2", "mcq_choices")
    text, asked, _ = shown("v2", record)
    for change in ({"choices": ["cold", "warm"]}, {"choices": ["hot", "cold"]}, {"target_delimiter": "\n"}):
        changed = shown("v2", record | change)
        assert changed[0] == text
        assert changed[1] != asked
    likely = sound("v2", "likelihood")
    assert shown("v2", likely)[1] != shown("v2", likely | {"targets": ["warm"]})[1]


def test_a_template_shows_a_placeholder_row_or_says_why_not() -> None:
    templates = {task["task_id"]: task for task in evalspec.load_fixtures("v3", project=PROJECT).templates}
    text, asked, unknown = shown("v3", templates["tides_letters"])
    assert unknown == ""
    assert "⟨question 1⟩" in text
    assert json.loads(asked) == ["multiple_choice", " A", " B", " C", " D"]
    changed = templates["tides_letters"] | {"target_delimiter": "\n"}
    assert shown("v3", changed)[0] != text
    assert "no rows" in shown("v3", templates["pronoun_gap"])[2]


def test_files_are_rendered_in_order_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    records = [sound("v1", "mcq"), sound("v2", "summary"), sound("v3", "code_exec") | {"version": 4}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    reading = Reading(PROJECT.families, schema("v1"))
    with open_tasks([str(path)], reading) as files:
        keys = ("line", "task", "schema", "version")
        found = [tuple(each.data[key] for key in keys) for each in render_records(files, Wanted())]
        assert found == [
            (1, "mcq_001", "evalspec@v1", None),
            (2, "summary_001", "evalspec@v2", None),
            (3, "code_exec_001", "evalspec@v3", 4),
        ]
        for name in ("summary_001", "sum*"):
            wanted = Wanted(tasks=(name,))
            assert [each.task for each in render_records(files, wanted)] == ["summary_001"]
        with pytest.raises(UsageError, match="no task 'sumary_001'") as caught:
            list(render_records(files, Wanted(tasks=("sumary_001",))))
    assert caught.value.fix == "did you mean 'summary_001'?"
