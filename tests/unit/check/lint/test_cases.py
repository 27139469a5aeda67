"""Every rule: the smallest file that breaks it, with the exact place, and its nearest twin that does not.

A case is a folder of `cases/`: `bad.yaml` begins with the place and the field of its one finding, `good.yaml` has none,
and what else lies there is beside both of them (`test.jsonl` holds the rows that are evaluated).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.linting import lint_of

from evalspec.check.rules import LINT_RULES as RULES

CASES = Path(__file__).parent / "cases"


def beside(rule: str) -> dict[str, bytes]:
    """The files of a case, without its two task files."""
    return {
        path.name: path.read_bytes()
        for path in (CASES / rule).iterdir()
        if path.name not in ("bad.yaml", "good.yaml")
    }


def rows_of(rule: str) -> list[dict[str, object]] | None:
    path = CASES / rule / "test.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else None


def test_every_rule_has_a_case() -> None:
    assert sorted(RULES) == sorted(path.name for path in CASES.iterdir())


@pytest.mark.parametrize("rule", RULES)
def test_the_bad_file_has_one_finding_at_its_place(rule: str) -> None:
    data = (CASES / rule / "bad.yaml").read_bytes()
    said = data.decode("utf-8-sig").partition("\n")[0].removeprefix("# expect ")
    found = [
        each for each in lint_of({**beside(rule), "t.yaml": data}, rows=rows_of(rule)) if each.rule == rule
    ]
    assert [f"{each.line}:{each.column} {each.field or '-'}" for each in found] == [said]
    assert found[0].path == "t.yaml"
    assert found[0].message
    assert found[0].fix


@pytest.mark.parametrize("rule", RULES)
def test_its_twin_has_none(rule: str) -> None:
    data = (CASES / rule / "good.yaml").read_bytes()
    found = lint_of({**beside(rule), "t.yaml": data}, rows=rows_of(rule))
    assert [each for each in found if each.rule == rule] == []


@pytest.mark.parametrize("rule", RULES)
def test_the_example_that_explain_shows_breaks_it(rule: str) -> None:
    files = {} if rule == "include_missing" else beside(rule)
    rows = {
        "first_row_decides": [{"question": "x", "answers": "1"}, {"question": "y", "answers": ["1"]}],
        "undefined_variable": [{"headline": "x"}],
        "space_from_row": [{"question": " x", "answer": "y"}],
    }.get(rule)
    found = lint_of({**files, "t.yaml": RULES[rule].example}, rows=rows)
    assert rule in {each.rule for each in found}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("test_split: on", True),
        ("test_split: test", False),
        ("fewshot_split: null", False),
        ("dataset_path: 2020-01-01", True),
        ("task_alias: 12:30", True),
        ("task_alias: 2020", False),
        ("task_alias: 1.5", False),
        ("task_alias: 1.50", True),
        ("metadata: {version: yes}", True),
        ("metadata: {version: 1.10}", True),
        ("metadata: {version: 1.1}", False),
        ("metadata: {version: 2}", False),
    ],
)
def test_what_yaml_takes_for_no_text_where_one_is_meant(line: str, found: bool) -> None:
    told = lint_of({"t.yaml": f"task: a\ndoc_to_text: '{{{{q}}}}'\n{line}\n".encode()})
    assert any(each.rule == "implicit_yaml_type" for each in told) is found
