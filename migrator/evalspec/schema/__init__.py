"""Schema versions: what a record may hold, and everything that is built from that one declaration.

A version's module imports its building blocks from here:

    record       `Absent`, `ABSENT`, `OneOf`, `Exactly`, `Distinct`, `Pattern`, `MinLen`, `MaxLen`, `Ge`
    tables       `Metric`, `Pair`
    rules        `Rule`
    assembly     `Assembly`, `Constant`, `FromField`
    the whole    `Declaration`, `Shape`

and the rest of the tool takes a `Schema`, built from a declaration when it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.schema.assembly import Assembly, Constant, FromField
from evalspec.schema.declare import (
    ABSENT,
    Absent,
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
    Rule,
    Shape,
)

if TYPE_CHECKING:
    from evalspec.schema.explain import Violation
    from evalspec.schema.schema import Schema

__all__ = [
    "ABSENT",
    "Absent",
    "Assembly",
    "Constant",
    "Declaration",
    "Distinct",
    "Exactly",
    "FromField",
    "Ge",
    "MaxLen",
    "Metric",
    "MinLen",
    "OneOf",
    "Pair",
    "Pattern",
    "Rule",
    "Schema",
    "Shape",
    "Violation",
]


def __getattr__(name: str) -> object:
    if name == "Schema":
        from evalspec.schema.schema import Schema

        return Schema
    if name == "Violation":
        from evalspec.schema.explain import Violation

        return Violation
    raise AttributeError(name)
