"""The report of a comparison for programs: annotations, JUnit's XML, and JSON that keeps to its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given

from evalspec.diff.model import CLASSES, JSON_VERSION, Cause, CauseKind, Comparison, Unknown
from evalspec.errors import Place, visible
from evalspec.report.diff_github import diff_github
from evalspec.report.diff_junit import diff_junit
from tests.support.comparisons import COMPARISONS, a_comparison, a_group

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/diff.schema.json").read_text(encoding="utf-8"))


def test_an_annotation_stands_at_what_was_changed() -> None:
    assert diff_github(a_comparison(a_group())) == (
        "::warning file=tasks/_base.yaml,line=4,title=Prompts%3A whitespace::3 tasks, 9 rows: white space, "
        "from description, of an include: tasks/_base.yaml:3 → tasks/_base.yaml:4"
        "%0A1 character, 1 byte more%0A- ⟦⏎⟧%0A+ ⟦⏎⏎⟧\n"
    )


def test_an_annotation_names_a_look_alike() -> None:
    text = diff_github(a_comparison(a_group(":", "\uff1a")))
    assert text.endswith('%0A+ ⟦\uff1a⟧%0A  + U+FF1A FULLWIDTH COLON, looks like ":"\n')


def test_a_file_that_is_gone_is_annotated_where_it_was() -> None:
    group = a_group(cause=Cause("task_file", Place("a:b,c%.yaml", 7)))
    assert "file=a%3Ab%2Cc%25.yaml,line=7," in diff_github(a_comparison(group))


def test_tasks_that_may_change_for_one_reason_are_one_annotation() -> None:
    cause = Cause("function", None, Place("utils.py", 7), "to_text")
    unknown = tuple(Unknown(f"t{n}", "not\n::error::run", cause, 2) for n in range(57))
    assert diff_github(a_comparison(unknown=unknown)) == (
        "::warning file=utils.py,line=7,title=Prompts%3A unknown::57 tasks may change 114 prompts: "
        "not\\n::error::run%0At0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 47 more\n"
    )


@pytest.mark.parametrize(("count", "lines"), [(0, 0), (1, 1), (10, 10), (11, 10), (500, 10)])
def test_ten_annotations_at_most(count: int, lines: int) -> None:
    text = diff_github(a_comparison(*[a_group()] * count, unknown=()))
    assert text.count("\n") == lines
    left = f"{count - 9} more changes; `evalspec diff` shows them all\n"
    assert text.endswith(left) is (count > 10)


@given(COMPARISONS)
def test_a_text_from_a_file_begins_no_annotation(comparison: Comparison) -> None:
    for line in diff_github(comparison).split("\n")[:-1]:
        assert line.startswith("::warning ")
        properties, _, _ = line.removeprefix("::warning ").partition("::")
        assert {each.partition("=")[0] for each in properties.split(",")} <= {"file", "line", "title"}
        assert visible(line) == line


def test_a_change_is_a_failure_and_what_may_have_changed_an_error() -> None:
    suite = ET.fromstring(diff_junit(a_comparison(a_group(), unknown=(Unknown("d", "not run"),))))  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    failure, error = suite.find(".//failure"), suite.find(".//error")
    assert failure is not None
    assert error is not None
    assert "+ …Choose.⟦⏎⏎⟧Q:·…" in (failure.text or "")
    assert error.get("message") == "may change 0 prompts: not run"


def test_nothing_changed_is_a_test_that_passed() -> None:
    suite = ET.fromstring(diff_junit(a_comparison()))  # noqa: S314 - our own
    assert [(case.get("name"), len(case)) for case in suite.iter("testcase")] == [("no prompt changes", 0)]


@given(COMPARISONS)
def test_any_text_is_well_formed_xml_with_every_change(comparison: Comparison) -> None:
    suite = ET.fromstring(diff_junit(comparison).encode())  # noqa: S314 - our own
    assert len(suite.findall(".//failure")) == len(comparison.groups)
    assert len(suite.findall(".//error")) == len(comparison.unknown_groups)


@given(COMPARISONS)
def test_json_keeps_to_the_published_schema(comparison: Comparison) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(comparison.to_dict())))


def test_the_schema_names_all_that_there_is() -> None:
    assert SCHEMA["properties"]["version"] == {"const": JSON_VERSION}
    assert SCHEMA["$defs"]["class"]["enum"] == list(CLASSES)
    assert SCHEMA["$defs"]["cause"]["properties"]["kind"]["enum"] == list(get_args(CauseKind))
