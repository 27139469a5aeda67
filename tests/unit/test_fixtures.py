"""The fixtures are what the contract says they are (records.md, "Fixtures")."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalspec.check.spec import SpecCheck, spec_checks
from evalspec.formats.edits import Edit, apply_to_value
from evalspec.formats.jsonl import edit_line
from evalspec.formats.yaml import read, records
from evalspec.migrate.migration import load_migrations
from evalspec.project import Project
from evalspec.prompts import render_inline, text_of
from evalspec.tasks import FileReport, Reading, validate_path
from evalspec.testing import hold

ROOT = Path(__file__).resolve().parents[2]
OURS = ROOT / "fixtures" / "evalspec"
ACME = ROOT / "examples" / "acme" / "fixtures" / "acme"
PROJECT = Project.find(str(ROOT / "examples" / "acme"))
VERSIONS = [("evalspec@v1", OURS / "v1"), ("evalspec@v2", OURS / "v2"), ("evalspec@v3", OURS / "v3"),
            ("acme@v1", ACME / "v1"), ("acme@v2", ACME / "v2")]  # fmt: skip
STEPS = [
    ("evalspec@v1", "evalspec@v2", OURS / "migrations" / "v1_v2"),
    ("evalspec@v2", "evalspec@v3", OURS / "migrations" / "v2_v3"),
    ("evalspec@v3", "acme@v1", ACME / "migrations" / "evalspec_v3_v1"),
    ("acme@v1", "acme@v2", ACME / "migrations" / "v1_v2"),
]
BAD = [
    *((version, folder / "tasks_bad.jsonl") for version, folder in VERSIONS),
    ("evalspec@v3", OURS / "v3" / "templates_bad.yaml"),
]

#: Rules that no file can show: the one for lines of many megabytes, which is made when it is tested.
MADE_AT_TEST_TIME = {"line_too_long"}
JSON_RULES = {"bad_json", "not_an_object", "duplicate_key", "bad_encoding", "bad_number", "lone_surrogate",
              "nul_character", "too_deep"}  # fmt: skip
FIELD_RULES = {"missing_required", "unknown_field", "bad_type", "bad_value", "illegal_pair", "embedded_few_shot",
               "duplicate_task_id"}  # fmt: skip
RULE_IDS = {
    "evalspec@v1": JSON_RULES | FIELD_RULES | {"byte_order_mark"},
    "evalspec@v2": JSON_RULES | FIELD_RULES | {"version_unknown", "not_allowed", "gold_not_in_choices"},
    "evalspec@v3": JSON_RULES | FIELD_RULES | {"version_unknown", "not_allowed", "gold_not_in_choices"},
}

by_version = pytest.mark.parametrize(
    ("version", "folder"), VERSIONS, ids=[version for version, _ in VERSIONS]
)
by_step = pytest.mark.parametrize(
    ("before", "after", "folder"), STEPS, ids=[f"{before}-{after}" for before, after, _ in STEPS]
)
by_bad = pytest.mark.parametrize(
    ("version", "path"), BAD, ids=[f"{version}-{path.stem}" for version, path in BAD]
)


def lines_of(path: Path) -> list[bytes]:
    """The lines of a file that are not blank, without their line feed."""
    return [line for line in path.read_bytes().split(b"\n") if line.strip()]


def load(path: Path) -> list[Any]:
    return [json.loads(line) for line in lines_of(path)]


def labels_of(path: Path) -> list[dict[str, Any]]:
    labels: list[dict[str, Any]] = json.loads(path.with_suffix(".labels.json").read_bytes())
    return labels


def validated(path: Path, *, all_errors: bool = False) -> FileReport:
    return validate_path(str(path), Reading(PROJECT.families, PROJECT.schema("evalspec@v1"), all_errors))


CHECKS = spec_checks(PROJECT, ["evalspec", "acme"])


@pytest.mark.parametrize("check", CHECKS, ids=[check.name for check in CHECKS])
def test_the_specification_is_what_it_says(check: SpecCheck) -> None:
    hold(check)


# ── Tasks ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_v1_has_two_tasks_of_each_category_and_uses_every_word() -> None:
    tasks = load(OURS / "v1" / "tasks.jsonl")
    declared = PROJECT.schema("evalspec@v1").declaration
    assert Counter(task["category"] for task in tasks) == dict.fromkeys(declared.categories, 2)
    assert {task["metric_name"] for task in tasks} == set(declared.metrics)
    assert {task["post_process"] for task in tasks} == set(declared.post_process)


def test_v1_holds_the_golden_record_and_its_prompt() -> None:
    task = load(OURS / "v1" / "tasks.jsonl")[0]
    assert task == {
        "task_id": "arith_001",
        "category": "arithmetic",
        "prompt": "Compute the result. Question: 17 + 24\nAnswer:",
        "targets": ["41"],
        "metric_name": "exact_match",
        "few_shot_examples": [{"prompt": "Question: 2 + 2\nAnswer:", "completion": "4"}],
        "post_process": "strip_whitespace",
        "metadata": {"difficulty": "easy"},
    }
    assert text_of(task, PROJECT.schema("evalspec@v1").declaration.assembly) == (
        "Question: 2 + 2\nAnswer: 4\n\nCompute the result. Question: 17 + 24\nAnswer:"
    )


def test_v2_is_v1_upgraded_with_two_tasks_for_each_new_output_type() -> None:
    upgraded = [migrated(line, "evalspec@v2") for line in lines_of(OURS / "v1" / "tasks.jsonl")]
    lines = lines_of(OURS / "v2" / "tasks.jsonl")
    assert lines[: len(upgraded)] == upgraded
    added = [json.loads(line)["output_type"] for line in lines[len(upgraded) :]]
    assert Counter(added) == {"multiple_choice": 2, "loglikelihood": 2}


def test_v3_has_two_inline_tasks_of_each_category_and_uses_every_output_type() -> None:
    tasks = load(OURS / "v3" / "tasks.jsonl")
    declared = PROJECT.schema("evalspec@v3").declaration
    assert Counter(task["category"] for task in tasks) == dict.fromkeys(declared.categories, 2)
    assert {task["output_type"] for task in tasks} == {"generate_until", "multiple_choice", "loglikelihood"}


def test_the_yaml_twins_are_the_same_records() -> None:
    file = read((OURS / "v3" / "tasks.yaml").read_bytes())
    twins = [record.value for record in records(file)]
    tasks = load(OURS / "v3" / "tasks.jsonl")
    assert twins == tasks
    for twin, task in zip(twins, tasks, strict=True):
        assert twin is not None
        assert list(twin) == list(task)


def test_each_template_has_its_rows() -> None:
    file = read((OURS / "v3" / "templates.yaml").read_bytes())
    templates = [record.value for record in records(file)]
    assert {path.name for path in (OURS / "v3" / "rows").iterdir()} == {
        task["task_id"] for task in templates if task is not None
    }
    for task in templates:
        assert task is not None
        splits = set(task["dataset"]["splits"].values())
        if "split" in task.get("fewshot", {}):
            splits.add(task["fewshot"]["split"])
        rows = OURS / "v3" / "rows" / task["task_id"]
        assert {path.stem for path in rows.glob("*.jsonl")} == splits
        for path in rows.glob("*.jsonl"):
            assert len({tuple(row) for row in load(path)}) == 1, f"{path}: rows with different columns"


# ── Bad tasks ────────────────────────────────────────────────────────────────────────────────────────────────


@by_bad
@pytest.mark.parametrize("all_errors", [False, True], ids=["first", "all"])
def test_every_bad_task_is_told_with_the_next_step(version: str, path: Path, all_errors: bool) -> None:
    found = validated(path, all_errors=all_errors)
    assert len(found.errors) == len(labels_of(path))
    assert all(error.message and error.fix for error in found.errors)
    assert found.valid == 1  # what the duplicate repeats
    assert version in {*found.schemas}


@pytest.mark.parametrize("version", RULE_IDS)
def test_the_bad_tasks_trip_every_rule(version: str) -> None:
    tripped = {label["rule"] for owner, path in BAD if owner == version for label in labels_of(path)}
    assert tripped == RULE_IDS[version]


@pytest.mark.parametrize(
    ("version", "path"), [bad for bad in BAD if bad[1].suffix == ".jsonl" and "acme" not in bad[0]]
)
def test_the_bad_tasks_trip_every_pair_that_is_not_allowed(version: str, path: Path) -> None:
    """Every metric and every rule that a category (with its output type) does not take has a line of its own."""
    schema = PROJECT.schema(version)
    declared = schema.declaration
    field = declared.metric_field.removesuffix("[].name")
    lines = path.read_bytes().split(b"\n")
    illegal = set()
    for label in labels_of(path):
        if label["rule"] == "illegal_pair":
            record = json.loads(lines[label["line"] - 1])
            what = label["field"].partition("[")[0]
            word = record[what][-1]["name"] if what == "metrics" else record[what]
            illegal.add((record["category"], record.get("output_type", ""), what, word))
    for category in declared.categories:
        rows = [pair for pair in declared.pairs if pair.category == category]
        for output in {pair.output_type for pair in declared.pairs}:
            here = [pair for pair in rows if pair.output_type == output]
            if not here:
                assert (category, output, "output_type", output) in illegal
                continue
            metrics = {metric for pair in here for metric in pair.metrics}
            rules = {rule for pair in here for rule in pair.post_process}
            expected = {(category, output, field, metric) for metric in set(declared.metrics) - metrics}
            expected |= {
                (category, output, "post_process", rule) for rule in set(declared.post_process) - rules
            }
            assert expected <= illegal


# ── Post-processing ──────────────────────────────────────────────────────────────────────────────────────────


@by_version
def test_each_rule_has_five_examples_of_every_kind(version: str, folder: Path) -> None:
    examples = load(folder / "post_process.jsonl")
    for rule in PROJECT.schema(version).declaration.post_process:
        inputs = [example["input"] for example in examples if example["rule"] == rule]
        assert len(inputs) == len(set(inputs)) >= 5
        assert "" in inputs
        assert any("\n" in text.strip() for text in inputs), f"{rule}: no input of several lines"
        assert any("\r\n" in text for text in inputs), f"{rule}: no CRLF"
        assert any(not text.isascii() for text in inputs), f"{rule}: no unicode"
        outputs = {example["input"]: example["output"] for example in examples if example["rule"] == rule}
        assert any(text and outputs[text] in ("", text) for text in inputs), (
            f"{rule}: nothing without a match"
        )


# ── Migrations ───────────────────────────────────────────────────────────────────────────────────────────────

MIGRATIONS = {migration.id: migration for migration in load_migrations(PROJECT.families)}


def edits_of(record: Any, after: str) -> list[Edit]:
    edits: list[Edit] = []
    for operation in MIGRATIONS[after].records:
        more = operation.edits(apply_to_value(record, edits))
        edits += more
    return edits


def migrated(line: bytes, after: str) -> bytes:
    return edit_line(line, edits_of(json.loads(line), after))


@by_step
def test_both_ways_to_a_prompt_give_the_same(before: str, after: str, folder: Path) -> None:
    for version, side in ((before, "before"), (after, "after")):
        assembly = PROJECT.schema(version).declaration.assembly
        for task in load(folder / f"{side}.jsonl"):
            assert render_inline(task, assembly).text == text_of(task, assembly)


@by_step
def test_a_step_has_every_kind_of_fixture(before: str, after: str, folder: Path) -> None:
    for name in ("before", "after", "prompts", "outputs"):
        assert load(folder / f"{name}.jsonl"), f"{before} to {after}"


# ── Examples ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("folder", "version"),
    [(ROOT / "examples" / "tasks", "evalspec@v1"), (ROOT / "examples" / "acme" / "tasks", "acme@v1")],
    ids=["tasks", "acme"],
)
def test_the_example_tasks_are_valid(folder: Path, version: str) -> None:
    reports = [validated(path, all_errors=True) for path in sorted(folder.iterdir())]
    assert [error for report in reports for error in report.errors + report.warnings] == []
    assert {id_ for report in reports for id_ in report.schemas} == {version}
