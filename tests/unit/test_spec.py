"""Every rule of the record contract, version by version: a sound record, one mutation, the rule it breaks (records.md).

The bad tasks among the fixtures break rules in files; this table breaks them in records, so that a contract can be read
row by row. Post-process behaviours are pinned from `post_process.jsonl`.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from support.sound import BODIES, NEW_IN_V2, metrics, sound
from support.spec_cases import ALLOWED, CASES, Case, in_version, mutated

from evalspec.errors import UnknownRule
from evalspec.project import Project
from evalspec.schema.schema import Schema

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = Project.find(str(ROOT)).families
VERSIONS = ("v1", "v2", "v3")


def schema(version: str) -> Schema:
    return FAMILIES.schema(f"evalspec@{version}")


SOUND = [
    *((version, base) for version in VERSIONS for base in [*BODIES, "shots"]),
    *((version, base) for version in ("v2", "v3") for base in NEW_IN_V2),
    ("v3", "word"),
    ("v3", "template"),
]


@pytest.mark.parametrize(("version", "base"), SOUND)
def test_the_sound_records_are_valid(version: str, base: str) -> None:
    assert schema(version).check(sound(version, base)) == []


# ── One mutation, one rule ───────────────────────────────────────────────────────────────────────────────────


ROWS = [(f"v{digit}", in_version(f"v{digit}", case)) for case in CASES for digit in case.versions]


@pytest.mark.parametrize(
    ("version", "case"),
    ROWS,
    ids=[f"{version}-{case.rule}-{case.field}-{number}" for number, (version, case) in enumerate(ROWS)],
)
def test_a_mutation_breaks_its_rule_and_no_other(version: str, case: Case) -> None:
    record = mutated(version, case)
    before = copy.deepcopy(record)
    assert [(found.rule, found.field) for found in schema(version).check(record)] == [(case.rule, case.field)]
    assert record == before, "checking changed the record"


def test_every_rule_of_a_version_is_pinned() -> None:
    """Those of the table; what JSON leaves open and uniqueness are pinned by the bad tasks."""
    common = {"missing_required", "unknown_field", "bad_type", "bad_value", "embedded_few_shot"}
    later = common | {"not_allowed", "gold_not_in_choices", "version_unknown"}
    pinned = {version: {case.rule for v, case in ROWS if v == version} for version in VERSIONS}
    assert pinned == {"v1": common, "v2": later, "v3": later}


# ── What is allowed ──────────────────────────────────────────────────────────────────────────────────────────

ALLOWED_ROWS = [(f"v{digit}", in_version(f"v{digit}", case)) for case in ALLOWED for digit in case.versions]


@pytest.mark.parametrize(
    ("version", "case"),
    ALLOWED_ROWS,
    ids=[
        f"{version}-{case.base}-{case.path[0]}-{number}"
        for number, (version, case) in enumerate(ALLOWED_ROWS)
    ],
)
def test_what_the_contract_allows_is_valid(version: str, case: Case) -> None:
    assert schema(version).check(mutated(version, case)) == []


# ── What may go with what ────────────────────────────────────────────────────────────────────────────────────

_TEXT_RULES = ("none", "strip_whitespace", "lower", "extract_first_line")
_V1_PAIRS = {
    "arithmetic": (("exact_match", "f1"), _TEXT_RULES),
    "mcq": (("exact_match",), ("none", "strip_whitespace", "extract_letter")),
    "code_exec": (("code_exec",), ("none", "strip_whitespace", "extract_code_block")),
    "classification": (("exact_match", "accuracy", "f1"), (*_TEXT_RULES, "extract_letter")),
    "summary": (("exact_match", "f1", "bleu_4", "rouge_l"), _TEXT_RULES),
}
_V2_PAIRS = {
    **{(category, "generate_until"): pair for category, pair in _V1_PAIRS.items()},
    ("mcq", "multiple_choice"): (("accuracy", "accuracy_norm"), ("none",)),
    ("classification", "multiple_choice"): (("accuracy", "accuracy_norm"), ("none",)),
    ("classification", "loglikelihood"): (("accuracy",), ("none",)),
}
PAIRS: dict[str, dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "v1": {(category, ""): pair for category, pair in _V1_PAIRS.items()},
    "v2": _V2_PAIRS,
    "v3": {
        **_V2_PAIRS,
        ("word_problem", "generate_until"): (
            ("numeric_match", "exact_match"),
            ("extract_number", "extract_first_line", "strip_whitespace", "none"),
        ),
    },
}
OUTPUT_TYPES = ("generate_until", "multiple_choice", "loglikelihood")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_pair_is_allowed_or_illegal_as_the_table_says(version: str) -> None:
    declared = schema(version).declaration
    tried = 0
    for category in declared.categories:
        for output in OUTPUT_TYPES if version != "v1" else ("",):
            legal_metrics, legal_rules = PAIRS[version].get((category, output), ((), ()))
            for metric in declared.metrics:
                for rule in declared.post_process:
                    record = paired(version, category, output, metric, rule)
                    legal = metric in legal_metrics and rule in legal_rules
                    assert verdict(version, record) == ([] if legal else ["illegal_pair"]), record
                    tried += 1
    assert tried == {"v1": 5 * 6 * 6, "v2": 5 * 3 * 7 * 6, "v3": 6 * 3 * 8 * 7}[version]


def verdict(version: str, record: dict[str, Any]) -> list[str]:
    """The rules that the record breaks: by the struct where it says yes, and explained only where it does not."""
    return sorted({found.rule for found in schema(version).check(record)})


def paired(version: str, category: str, output: str, metric: str, rule: str) -> dict[str, Any]:
    """A record with these words and nothing else to find fault with."""
    record: dict[str, Any] = {"task_id": "x", "category": category, "prompt": "Choose.", "targets": ["A"]}
    if version != "v1":
        record |= {"spec_version": int(version[1:]), "output_type": output}
    if output == "multiple_choice":
        record["choices"] = ["A", "B"]
    record |= {"version": 1, "metrics": metrics(metric)} if version == "v3" else {"metric_name": metric}
    return record | {"post_process": rule}


def test_each_metric_of_a_v3_task_must_go_with_its_category() -> None:
    record = sound("v3", "summary") | {"metrics": metrics("rouge_l", "code_exec", "bleu_4")}
    assert [(found.rule, found.field) for found in schema("v3").check(record)] == [
        ("illegal_pair", "metrics[1].name")
    ]


# ── The order of violations ──────────────────────────────────────────────────────────────────────────────────


def test_violations_come_in_the_order_of_the_contract() -> None:
    record = {
        "task_id": "a b",
        "category": "mcq",
        "prompt": "Q: a\nQ: b",
        "targets": ["x"],
        "metric_name": "f1",
        "comment": 1,
    }
    found = [(violation.rule, violation.field) for violation in schema("v1").check(record)]
    assert found == [
        ("missing_required", "post_process"),
        ("unknown_field", "comment"),
        ("bad_value", "task_id"),
        ("bad_value", "targets"),
        ("embedded_few_shot", "prompt"),
    ]


def test_a_pair_comes_before_what_is_embedded() -> None:
    record = sound("v1", "summary") | {"metric_name": "accuracy", "prompt": "Q: a\nQ: b"}
    assert [found.rule for found in schema("v1").check(record)] == ["illegal_pair", "embedded_few_shot"]


def test_the_records_own_delimiter_joins_an_example() -> None:
    record = sound("v2", "shots") | {"target_delimiter": " is ", "prompt": "What is 1 + 2? is 3, so?"}
    assert [found.rule for found in schema("v2").check(record)] == ["embedded_few_shot"]
    assert schema("v2").check(record | {"target_delimiter": " "}) == []


# ── Post-processing ──────────────────────────────────────────────────────────────────────────────────────────


def examples() -> list[tuple[str, dict[str, str]]]:
    return [
        (version, json.loads(line))
        for version in VERSIONS
        for line in (ROOT / "fixtures" / "evalspec" / version / "post_process.jsonl")
        .read_bytes()
        .split(b"\n")
        if line
    ]


EXAMPLES = examples()


@pytest.mark.parametrize(
    ("version", "example"),
    EXAMPLES,
    ids=[f"{version}-{example['rule']}-{number}" for number, (version, example) in enumerate(EXAMPLES)],
)
def test_post_process(version: str, example: dict[str, str]) -> None:
    assert schema(version).post_process(example["input"], example["rule"]) == example["output"]


def test_v2_changes_extract_letter_and_no_other_rule() -> None:
    outputs: dict[str, dict[tuple[str, str], str]] = {version: {} for version in VERSIONS}
    for version, example in EXAMPLES:
        outputs[version][example["rule"], example["input"]] = example["output"]
    changed = {key[0] for key, output in outputs["v2"].items() if outputs["v1"].get(key) != output}
    assert changed == {"extract_letter"}
    added = {rule for (rule, _), _ in outputs["v3"].items() ^ outputs["v2"].items()}
    assert added == {"extract_number"}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_unknown_rule_lists_the_ones_there_are(version: str) -> None:
    with pytest.raises(UnknownRule) as caught:
        schema(version).post_process("x", "extract_leter")
    assert isinstance(caught.value, ValueError)
    assert caught.value.known == tuple(schema(version).declaration.post_process)
    assert "extract_letter" in caught.value.fix
