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

from annotated_types import Ge, MaxLen, MinLen

from evalspec.schema.assembly import Assembly, Constant, FromField
from evalspec.schema.declare import (
    ABSENT,
    Absent,
    Declaration,
    Distinct,
    Exactly,
    Metric,
    OneOf,
    Pair,
    Pattern,
    Rule,
    Shape,
)

if TYPE_CHECKING:
    from evalspec.schema.schema import Schema, Violation

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
    if name in {"Schema", "Violation"}:
        from evalspec.schema import schema

        return getattr(schema, name)
    raise AttributeError(name)
