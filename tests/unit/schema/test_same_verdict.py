"""Fast accept and slow explain give one verdict (design.md, "Schema versions").

A record is accepted by the struct exactly where its explanation is empty: for sound records, for mutated ones, and for
their lines as much as for plain data.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from support.sound import BODIES, NEW_IN_V2, sound
from support.spec_cases import ALLOWED, CASES, in_version, mutated

from evalspec.errors import FormatError
from evalspec.formats.jsonl import parse_line
from evalspec.project import Project
from evalspec.schema.explain import explain
from evalspec.schema.schema import Schema

ROOT = Path(__file__).resolve().parents[3]
PROJECT = Project.find(str(ROOT / "examples" / "acme"))
SCHEMAS = {name: PROJECT.schema(f"evalspec@{name}") for name in ("v1", "v2", "v3")}
ACME = [PROJECT.schema("acme@v1"), PROJECT.schema("acme@v2")]
BASES = {
    "v1": [*BODIES, "shots"],
    "v2": [*BODIES, *NEW_IN_V2, "shots"],
    "v3": [*BODIES, *NEW_IN_V2, "shots", "word", "template"],
}


def accepted(schema: Schema, record: dict[str, Any]) -> bool:
    return schema.accepter(schema.shape_of(record)).accepts(record)


def accepted_as_a_line(schema: Schema, record: dict[str, Any]) -> bool:
    """The way of a file: decode the line, then check the struct."""
    accepter = schema.accepter(schema.shape_of(record))
    try:
        decoded = accepter.decode(json.dumps(record).encode())
    except msgspec.DecodeError:
        return False
    sound: bool = accepter.check([decoded])
    return sound


def assert_one_verdict(schema: Schema, record: dict[str, Any]) -> None:
    before = copy.deepcopy(record)
    violations = explain(schema, record)
    assert accepted(schema, record) == (not violations), violations
    assert accepted_as_a_line(schema, record) == (not violations), violations
    assert record == before


# ── Records that somebody thought of ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", SCHEMAS)
def test_sound_and_mutated_records(version: str) -> None:
    for base in BASES[version]:
        assert explain(SCHEMAS[version], sound(version, base)) == []
        assert_one_verdict(SCHEMAS[version], sound(version, base))
    for case in [*CASES, *ALLOWED]:
        if version[1:] in case.versions:
            assert_one_verdict(SCHEMAS[version], mutated(version, in_version(version, case)))


@pytest.mark.parametrize("schema", [*SCHEMAS.values(), *ACME], ids=lambda schema: schema.id)
def test_the_bad_tasks_of_every_version_at_every_version(schema: Schema) -> None:
    for folder in (ROOT / "fixtures" / "evalspec", ROOT / "examples" / "acme" / "fixtures" / "acme"):
        for path in sorted(folder.glob("v*/tasks*.jsonl")):
            for line in path.read_bytes().split(b"\n"):
                try:
                    record = parse_line(line).value
                except FormatError:
                    continue
                assert_one_verdict(schema, record)


# ── Records that nobody thought of ───────────────────────────────────────────────────────────────────────────

SPACE = st.sampled_from([" ", "\n", "\t", "\r", "\u00a0", "\u2028", "\x85", "\x1c", "\u200b"])
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
LINES = st.lists(
    st.one_of(
        TEXT,
        st.sampled_from(["Q: a", "q:", " Question: b", "EXAMPLE: c", "A: d", "Queſtion: e", "\u2003Q: f"]),
    ),
    max_size=4,
).map("\n".join)
NUMBER = st.one_of(
    st.integers(),
    st.integers(min_value=2**62, max_value=2**70),
    st.floats(allow_nan=False, allow_infinity=False),
)
LEAF = st.one_of(st.none(), st.booleans(), NUMBER, TEXT, st.sampled_from([0, 1, 2, 3, 1.0, 2.0, 3.0, -1]))
ANYTHING = st.recursive(
    LEAF,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)


def words(schema: Schema) -> SearchStrategy[Any]:
    declared = schema.declaration
    output_types = ["generate_until", "multiple_choice", "loglikelihood"]
    return st.sampled_from([*declared.categories, *declared.metrics, *declared.post_process, *output_types])


def names(schema: Schema) -> SearchStrategy[str]:
    nested = (
        *(
            "prompt",
            "completion",
            "samples",
            "num",
            "split",
            "sampler",
            "seed",
            "path",
            "kwargs",
            "splits",
            "test",
        ),
        *(
            "until",
            "max_gen_toks",
            "do_sample",
            "temperature",
            "name",
            "aggregation",
            "higher_is_better",
            "extra",
        ),
    )
    return st.sampled_from([*schema.field_names, *nested])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path in a record, its own keys and what is inside."""
    steps = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [found for step in steps for found in [(*path, step), *places(value[step], (*path, step))]]


@st.composite
def records(draw: st.DrawFn, version: str, schema: Schema) -> dict[str, Any]:
    """A sound record after a few changes anywhere in it."""
    record = copy.deepcopy(sound(version, draw(st.sampled_from(BASES[version]))))
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(places(record)))
        holder: Any = record
        for step in path[:-1]:
            holder = holder[step]
        value = holder[path[-1]]
        match draw(st.sampled_from(["replace", "word", "text", "drop", "add", "double"])):
            case "replace":
                holder[path[-1]] = draw(ANYTHING)
            case "word":
                holder[path[-1]] = draw(words(schema))
            case "text":
                edges = (
                    draw(st.one_of(st.just(""), SPACE)),
                    draw(LINES),
                    draw(st.one_of(st.just(""), SPACE)),
                )
                holder[path[-1]] = "".join(edges)
            case "drop":
                del holder[path[-1]]
            case "add" if isinstance(holder, dict):
                holder[draw(names(schema))] = draw(st.one_of(ANYTHING, st.just(value), words(schema)))
            case "double" if isinstance(value, list):
                holder[path[-1]] = value * draw(st.integers(0, 9))
        if not record:
            break
    return record


@pytest.mark.parametrize("version", SCHEMAS)
@given(data=st.data())
def test_records_that_were_changed_anywhere(version: str, data: st.DataObject) -> None:
    schema = SCHEMAS[version]
    assert_one_verdict(schema, data.draw(records(version, schema)))


@pytest.mark.parametrize("version", SCHEMAS)
@given(data=st.data())
def test_records_made_of_anything(version: str, data: st.DataObject) -> None:
    schema = SCHEMAS[version]
    assert_one_verdict(schema, data.draw(st.dictionaries(names(schema), ANYTHING, max_size=6)))


@pytest.mark.parametrize("version", SCHEMAS)
@given(data=st.data())
def test_examples_in_the_prompt(version: str, data: st.DataObject) -> None:
    """Prompts that hold one of their own examples, or nearly."""
    schema = SCHEMAS[version]
    record = copy.deepcopy(sound(version, "shots"))
    examples = record["fewshot"]["samples"] if version == "v3" else record["few_shot_examples"]
    for example in examples:
        example["prompt"] = data.draw(TEXT)
        example["completion"] = data.draw(TEXT)
    if version != "v1" and data.draw(st.booleans()):
        record["target_delimiter"] = data.draw(TEXT)
    inside = data.draw(st.sampled_from(examples))
    join = data.draw(st.sampled_from([" ", "", "  ", record.get("target_delimiter", " ")]))
    record["prompt"] = data.draw(TEXT) + inside["prompt"] + join + inside["completion"] + data.draw(TEXT)
    assert_one_verdict(schema, record)
