"""The exported JSON Schema is a sound one, and says what the contract says wherever it can."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.cli import ROOT
from support.sound import BODIES, NEW_IN_V2, sound
from support.spec_cases import CASES, in_version, mutated

from evalspec.project import Project
from evalspec.schema.json_schema import json_schema
from evalspec.tasks.fixtures import load_fixtures

PROJECT = Project.find(str(ROOT / "examples" / "acme"))
VERSIONS = ("evalspec@v1", "evalspec@v2", "evalspec@v3", "acme@v1", "acme@v2")
SCHEMAS = {version: json_schema(PROJECT.schema(version)) for version in VERSIONS}

#: What JSON Schema cannot say of one record: the text of its line, its neighbours, and two values compared.
NOT_SAID = {
    "duplicate_key", "bad_number", "lone_surrogate", "nul_character", "too_deep", "byte_order_mark", "bad_encoding",
    "duplicate_task_id", "embedded_few_shot", "gold_not_in_choices",
}  # fmt: skip
#: Values that only a rule across fields, or a predicate in Python, refuses.
NOT_SAID_OF = {"targets", "description"}


def validator(version: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[version])


def is_said(rule: str, field: str | None, record: Any) -> bool:
    """Whether this form can say what is wrong with the record."""
    if rule in NOT_SAID or (rule == "bad_value" and field in NOT_SAID_OF):
        return False
    if rule == "version_unknown":
        return not isinstance(record["spec_version"], float)  # 2.0 is an integer to JSON Schema
    if (rule, field) == ("bad_value", "metrics"):
        names = [metric["name"] for metric in record["metrics"]]
        return len(set(names)) == len(names)  # two of one name that differ otherwise are distinct items
    return True


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_sound(version: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[version])
    assert json.loads(json.dumps(SCHEMAS[version])) == SCHEMAS[version]
    assert SCHEMAS[version]["title"] == version


@pytest.mark.parametrize("version", VERSIONS)
def test_every_valid_fixture_satisfies_it(version: str) -> None:
    fixtures = load_fixtures(PROJECT.families, version)
    assert fixtures.tasks
    for task in [*fixtures.tasks, *fixtures.templates]:
        assert list(validator(version).iter_errors(task)) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_every_bad_fixture_that_it_can_tell_is_refused(version: str) -> None:
    told = 0
    for bad in load_fixtures(PROJECT.families, version).bad:
        try:
            record = json.loads(bad.data)
        except ValueError:
            continue
        if is_said(bad.rule, bad.field, record):
            told += 1
            assert not validator(version).is_valid(record), (bad.line, bad.rule, bad.field)
    assert told > 10


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_it_gives_the_verdict_of_the_contract_on_mutated_records(version: str) -> None:
    check = validator(f"evalspec@{version}")
    bases = [*BODIES, "shots"] + ([*NEW_IN_V2] if version != "v1" else [])
    assert all(check.is_valid(sound(version, base)) for base in bases)
    refused = 0
    cases = [in_version(version, case) for case in CASES if version[1:] in case.versions]
    for case in cases:
        record = mutated(version, case)
        if is_said(case.rule, case.field, record):
            refused += 1
            assert not check.is_valid(record), case
    assert refused > 50


def test_an_editor_is_told_of_the_field_and_not_of_the_other_shape() -> None:
    record = sound("v3", "template") | {"doc_to_text": None}
    (error,) = validator("evalspec@v3").iter_errors(record)
    assert list(error.absolute_path) == ["doc_to_text"]


def test_what_it_cannot_say_is_listed() -> None:
    assert SCHEMAS["evalspec@v1"]["$comment"] == (
        "not said here: bad_value of targets, embedded_few_shot of prompt, duplicate_task_id"
    )
    assert "bad_value of metrics (must hold no name twice)" in SCHEMAS["evalspec@v3"]["$comment"]


def test_defaults_and_vocabularies_are_there() -> None:
    fields = SCHEMAS["evalspec@v2"]["properties"]
    assert fields["fewshot_delimiter"] == {"type": "string", "default": "\n\n"}
    assert fields["category"]["enum"] == ["arithmetic", "mcq", "code_exec", "classification", "summary"]
    assert fields["spec_version"] == {"type": "integer", "const": 2}
