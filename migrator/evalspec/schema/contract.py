"""A schema version as plain data: all that makes it what it is, and nothing else.

Two versions with equal contracts are one version. Migrations are replayed over this form, pages and fingerprints are
made from it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from evalspec.schema.assembly import Constant, FromField
from evalspec.schema.declare import ABSENT
from evalspec.schema.fingerprint import ALGORITHM, function_fingerprint
from evalspec.schema.struct import allowed_pairs

if TYPE_CHECKING:
    from evalspec.schema.declare import Declaration
    from evalspec.schema.schema import Schema

#: section → name → what is said of it; every value is JSON.
Contract = dict[str, dict[str, Any]]


def contract_of(schema: Schema) -> Contract:
    """The contract of a version, section by section."""
    declared = schema.declaration
    fields = {}
    for shape in declared.shapes:
        for field in schema.fields[shape.name]:
            said: dict[str, Any] = {"type": str(field.type), "required": field.required}
            if field.default is not ABSENT and field.default not in ([], {}):
                said["default"] = field.default
            fields[f"{shape.name}.{field.name}"] = said
    return {
        "field": fields,
        "shape": {
            shape.name: {"keys": list(shape.keys), "formats": list(shape.formats)}
            for shape in declared.shapes
        },
        "category": dict.fromkeys(sorted(declared.categories), True),
        "metric": {name: list(metric) for name, metric in sorted(declared.metrics.items())},
        "post_process": {
            name: function_fingerprint(rule) for name, rule in sorted(declared.post_process.items())
        },
        "pairs": {" ".join(pair): True for pair in sorted(allowed_pairs(declared))},
        "rule": _rules(declared),
        "assembly": {
            name: source_as_data(value)
            for name, value in declared.assembly._asdict().items()
            if value is not None
        },
    }


def _rules(declared: Declaration) -> dict[str, Any]:
    """The rules, by id and the field they point at: `bad_value targets` may be several, one behind the other."""
    rules: dict[str, Any] = {}
    for rule in declared.rules:
        said = [rule.shape, list(rule.reads), list(rule.when or ()), function_fingerprint(rule.check)]
        rules.setdefault(f"{rule.id} {rule.at}", []).append(said)
    return rules


def source_as_data(value: object) -> object:
    """A part's source (`Constant`, `FromField`, or the name of a field) as JSON."""
    if isinstance(value, Constant):
        return {"text": value.text}
    if isinstance(value, FromField):
        return {"field": value.name, "default": value.default}
    return value


def _predicates(schema: Schema) -> dict[str, list[str]]:
    """The functions that say which texts a field takes. A migration cannot speak of them; a fingerprint does."""
    found: dict[str, list[str]] = {}
    for shape in schema.declaration.shapes:
        todo = [(f"{shape.name}.{field.name}", field.type) for field in schema.fields[shape.name]]
        for name, type_ in todo:
            if type_.patterns:
                found[name] = [function_fingerprint(pattern.holds) for pattern in type_.patterns]
            inner = [*type_.options, *((type_.item,) if type_.item else ())]
            todo += [(f"{name}[{number}]", option) for number, option in enumerate(inner)]
            todo += [(f"{name}.{field.name}", field.type) for field in type_.fields]
    return found


def fingerprint(schema: Schema) -> str:
    """The version's fingerprint: one text that changes when, and only when, the contract does."""
    import json

    whole = {**contract_of(schema), "predicate": _predicates(schema)}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"{ALGORITHM}:{hashlib.sha256(text.encode()).hexdigest()}"
