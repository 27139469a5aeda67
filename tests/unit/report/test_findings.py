"""A finding as a person and a program see it."""

from __future__ import annotations

import json

import pytest

from evalspec.errors import Finding
from evalspec.report import finding_json, finding_text
from evalspec.report.console import coloured

FINDING = Finding(
    rule="bad_value",
    severity="error",
    path="tasks/a.jsonl",
    line=3,
    column=14,
    task="arith_003",
    field="metric_name",
    message="must be one of exact_match, f1",
    text="exact",
    fix="write exact_match",
)


def test_a_finding_is_one_line_its_text_and_the_next_step() -> None:
    assert finding_text(FINDING) == (
        "tasks/a.jsonl:3:14 arith_003 metric_name bad_value must be one of exact_match, f1\n"
        "    | exact\n"
        "    fix: write exact_match\n"
    )


def test_what_is_not_known_keeps_its_column_and_what_is_empty_has_no_line() -> None:
    bare = FINDING._replace(task=None, field=None, text="", fix="")
    assert finding_text(bare) == "tasks/a.jsonl:3:14 - - bad_value must be one of exact_match, f1\n"


def test_a_warning_says_so() -> None:
    line = finding_text(FINDING._replace(severity="warning")).partition("\n")[0]
    assert line.endswith(" bad_value warning: must be one of exact_match, f1")


@pytest.mark.parametrize("name", ["path", "task", "field", "message", "text", "fix"])
def test_nothing_from_a_file_reaches_the_terminal_as_it_is(name: str) -> None:
    hostile = "\x1b[2J\u202eevil\r\n\u200b"
    shown = finding_text(Finding(**{**FINDING.to_dict(), name: hostile}))  # type: ignore[arg-type]
    assert r"\x1b[2J\u{202E}evil\r\n\u{200B}" in shown
    assert shown.count("\n") == 3


def test_long_text_is_cut_in_the_middle() -> None:
    line = finding_text(FINDING._replace(text="a" * 5000 + "z")).split("\n")[1]
    assert len(line) < 120
    assert line.startswith("    | aaa")
    assert line.endswith("aaz")


def test_colours_only_if_asked() -> None:
    assert "\x1b" not in finding_text(FINDING)
    assert "\x1b[31mbad_value\x1b[0m" in finding_text(FINDING, paint=coloured)


def test_the_json_object_has_its_keys_in_order_and_is_ascii() -> None:
    line = finding_json(FINDING._replace(text="é\ud800\x1b\n"))
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line) == FINDING._replace(text="é\ud800\x1b\n").to_dict()
    keys = ["rule", "severity", "path", "line", "column", "task", "field", "message", "text", "fix"]
    assert list(json.loads(line)) == keys
