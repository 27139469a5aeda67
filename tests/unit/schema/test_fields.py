"""A declaration either means what it says, or is refused when its version is loaded (design.md, "Schema versions")."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any

import pytest

from evalspec.schema import (
    ABSENT,
    Absent,
    Assembly,
    Declaration,
    Distinct,
    Exactly,
    Ge,
    MaxLen,
    Metric,
    MinLen,
    OneOf,
    Pair,
    Pattern,
    Shape,
)
from evalspec.schema.explain import explain
from evalspec.schema.fields import fields_of
from evalspec.schema.schema import Schema

UPPER = Pattern(str.isupper, "be upper case")


@dataclass(frozen=True)
class Named:
    name: Annotated[str, UPPER]


@dataclass(frozen=True, kw_only=True)
class Tagged:
    tags: Annotated[list[str], Distinct()]
    name: Annotated[str, UPPER] | Absent = ABSENT


def declared(annotation: Any, default: Any = ABSENT) -> type[Any]:
    """A record with the fields that a checker asks of every version, and the field `x`."""
    words = [(name, str) for name in ("task_id", "category", "metric_name", "post_process")]
    x: tuple[Any, ...] = ("x", annotation) if default is ABSENT else ("x", annotation, default)
    return make_dataclass("Record", [*words, x], kw_only=True, frozen=True)


def schema_of(annotation: Any, default: Any = ABSENT) -> Schema:
    declaration = Declaration(
        shapes=(Shape("inline", declared(annotation, default)),),
        categories={"a": "the only one"},
        metrics={"m": Metric()},
        post_process={"none": str},
        pairs=(Pair("a", ("m",), ("none",)),),
        rules=(),
        assembly=Assembly(question="x", examples="x"),
    )
    return Schema("made", "v1", declaration, "made/v1.py")


def record(x: Any) -> dict[str, Any]:
    return {"task_id": "1", "category": "a", "metric_name": "m", "post_process": "none", "x": x}


# ── What a declaration may say holds ─────────────────────────────────────────────────────────────────────────

HOLDS = [
    ("a text", str, "", 1, "bad_type", "x"),
    ("an integer", int, 10**40, 1.0, "bad_type", "x"),
    ("a number", float, 1, "1", "bad_type", "x"),
    ("a boolean", bool, False, 0, "bad_type", "x"),
    ("words", Annotated[str, OneOf(("a", "b"))], "b", "c", "bad_value", "x"),
    ("words of a table", Annotated[str, OneOf({"a": 1})], "a", "b", "bad_value", "x"),
    ("one value", Annotated[int, Exactly(7)], 7, 8, "version_unknown", "x"),
    ("one text", Annotated[str, Exactly("acme@v1")], "acme@v1", "acme@v2", "version_unknown", "x"),
    ("least length of a text", Annotated[str, MinLen(2)], "ab", "é", "bad_value", "x"),
    ("greatest length of a text", Annotated[str, MaxLen(2)], "éé", "abc", "bad_value", "x"),
    ("least length of a list", Annotated[list[str], MinLen(2)], ["a", "a"], ["a"], "bad_value", "x"),
    ("greatest length of a list", Annotated[list[str], MaxLen(1)], ["a"], ["a", "b"], "bad_value", "x"),
    ("least integer", Annotated[int, Ge(-3)], -3, -4, "bad_value", "x"),
    ("least number", Annotated[float, Ge(0)], 0.0, -0.5, "bad_value", "x"),
    ("a pattern", Annotated[str, UPPER], "A", "a", "bad_value", "x"),
    ("two limits", Annotated[str, MinLen(2), UPPER], "AB", "A", "bad_value", "x"),
    ("distinct texts", Annotated[list[str], Distinct()], ["a", "b"], ["a", "a"], "bad_value", "x"),
    ("distinct keys", Annotated[list[Named], Distinct("name")], [{"name": "A"}], [{"name": "A"}] * 2, "bad_value", "x"),
    ("an object", Named, {"name": "A"}, {"name": 1}, "bad_type", "x.name"),
    ("a pattern in an object", Named, {"name": "A"}, {"name": "a"}, "bad_value", "x.name"),
    ("distinct items in an object", Tagged, {"tags": ["a"]}, {"tags": ["a", "a"]}, "bad_value", "x.tags"),
    ("a pattern behind a gap", Tagged, {"tags": []}, {"tags": [], "name": "a"}, "bad_value", "x.name"),
    ("a pattern in a list", list[Annotated[str, UPPER]], ["A", "B"], ["A", "b"], "bad_value", "x[1]"),
    ("objects in a list", list[Named], [{"name": "A"}], [{"name": "A"}, {"name": "a"}], "bad_value", "x[1].name"),
    ("a map", dict[str, int], {"": 1}, {"a": "1"}, "bad_type", "x.a"),
    ("a pattern in a map", dict[str, Annotated[str, UPPER]], {"a": "A"}, {"a": "a"}, "bad_value", "x.a"),
    ("lists in lists", list[list[int]], [[1], []], [[1], ["a"]], "bad_type", "x[1][0]"),
    ("a union", str | list[int] | dict[str, str], [1], [None], "bad_type", "x"),
    ("anything", Any, [{"a": None}], ..., "", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("annotation", "good", "bad", "rule", "at"), [row[1:] for row in HOLDS], ids=[row[0] for row in HOLDS]
)
def test_what_is_declared_holds(annotation: Any, good: Any, bad: Any, rule: str, at: str) -> None:
    schema = schema_of(annotation)
    assert schema.accepter().accepts(record(good))
    assert explain(schema, record(good)) == []
    if bad is not ...:
        assert not schema.accepter().accepts(record(bad))
        assert [(found.rule, found.field) for found in explain(schema, record(bad))] == [(rule, at)]


@pytest.mark.parametrize(
    "annotation", [str | Absent, Annotated[str, UPPER] | Absent, list[str] | Absent, str | int | Absent]
)
def test_a_field_may_be_left_out_but_not_be_null(annotation: Any) -> None:
    schema = schema_of(annotation, field(default=ABSENT))
    without = {name: value for name, value in record(None).items() if name != "x"}
    assert schema.accepter().accepts(without)
    assert explain(schema, without) == []
    assert not schema.accepter().accepts(record(None))
    assert [found.rule for found in explain(schema, record(None))] == ["bad_type"]


def test_a_default_is_what_a_missing_field_means() -> None:
    schema = schema_of(list[str], field(default_factory=lambda: ["a"]))
    assert schema.fields["inline"][-1].default == ["a"]


def test_fields_keep_their_order_through_a_base_class() -> None:
    base = make_dataclass("Base", [("a", str), ("b", int, 1)], kw_only=True)
    derived = make_dataclass(
        "Derived", [("c", str), ("a", Annotated[str, MinLen(1)])], bases=(base,), kw_only=True
    )
    fields = fields_of(derived)
    assert [found.name for found in fields] == ["a", "b", "c"]
    assert fields[0].type.minimum == 1


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (str, "text"),
        (Annotated[int, Exactly(3)], "integer 3"),
        (Annotated[str, Exactly("acme@v1")], "text 'acme@v1'"),
        (Annotated[str, OneOf(("a", "b"))], "one of a b"),
        (Annotated[list[str], MinLen(2), Distinct()], "list of text, at least 2, no item twice"),
        (Annotated[list[Named], MaxLen(8)], "list of {name: text, must be upper case}, at most 8"),
        (Tagged, "{tags: list of text, no item twice, name?: text, must be upper case}"),
        (dict[str, Any], "map of any"),
        (str | int, "text or integer"),
    ],
)
def test_a_type_has_words(annotation: Any, text: str) -> None:
    assert str(fields_of(declared(annotation))[-1].type) == text


# ── What it may not say is refused ───────────────────────────────────────────────────────────────────────────

REFUSED = [
    ("null", str | None),
    ("a tuple", tuple[str, ...]),
    ("a set", set[str]),
    ("keys that are no texts", dict[int, str]),
    ("bytes", bytes),
    ("a class of no fields", Pattern),
    ("an unknown limit", Annotated[str, "short"]),
    ("words for a list", Annotated[list[str], OneOf(("a",))]),
    ("words and a pattern", Annotated[str, OneOf(("a", "B")), UPPER]),
    ("a pattern and words", Annotated[str, UPPER, OneOf(("a", "B"))]),
    ("one boolean", Annotated[bool, Exactly(True)]),
    ("a length of a number", Annotated[float, MinLen(1)]),
    ("a length of an object", Annotated[dict[str, Any], MinLen(1)]),
    ("a pattern for an integer", Annotated[int, UPPER]),
    ("a least text", Annotated[str, Ge(1)]),
    ("a fraction as the least integer", Annotated[int, Ge(1.5)]),
    ("distinct letters of a text", Annotated[str, Distinct()]),
    ("distinct items that are lists", Annotated[list[list[str]], Distinct()]),
    ("distinct items of any kind", Annotated[list[Any], Distinct()]),
    ("distinct objects without a key", Annotated[list[Named], Distinct()]),
    ("distinct objects by a key they lack", Annotated[list[Named], Distinct("id")]),
    ("distinct objects by a key they may lack", Annotated[list[Tagged], Distinct("name")]),
    ("a union with a limit", Annotated[str, UPPER] | int),
    ("a union with a limit inside", list[Annotated[int, Ge(1)]] | str),
    ("a union of two objects", Named | Tagged),
    ("a union of an object and a map", Named | dict[str, int]),
    ("a union of two lists", list[str] | list[int]),
]


@pytest.mark.parametrize("annotation", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_cannot_be_held_is_refused(annotation: Any) -> None:
    with pytest.raises(TypeError):
        fields_of(declared(annotation))
