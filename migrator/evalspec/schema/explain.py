"""Slow explain: why a record is not valid, every violation with its rule, its field and a next step.

The order is the contract's (records.md, "v1 · inline tasks"): required, unknown, types and values, pairs, rules across
fields. A rule is only asked where everything it reads is itself sound.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import did_you_mean, written
from evalspec.schema.declare import ABSENT
from evalspec.schema.struct import allowed_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from evalspec.formats.edits import Path
    from evalspec.schema.declare import Declaration, Rule, Shape
    from evalspec.schema.fields import Field, Type
    from evalspec.schema.schema import Schema


class Violation(NamedTuple):
    """One violated rule of one record: `path` leads to the field from the record's root."""

    rule: str
    path: Path
    message: str
    fix: str
    missing: bool = False

    @property
    def field(self) -> str:
        """The path as findings write it: `few_shot_examples[0].completion`, `_root` for the record itself."""
        return field_text(self.path)


def field_text(path: Path) -> str:
    """A path as text: keys joined by dots, list items in brackets."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" if step else '[""]' for step in path)
    return text.removeprefix(".") or "_root"


def explain(schema: Schema, record: Mapping[str, Any]) -> list[Violation]:
    """Every violation of `record`, in the contract's order; empty where it is valid."""
    shape = schema.shape_of(record)
    fields = schema.fields[shape.name]
    found = _field_violations(schema, shape, record)
    tainted = {str(violation.path[0]) for violation in found if violation.path}
    if tainted.isdisjoint(
        {"category", "output_type", "post_process", schema.declaration.metric_field.split("[")[0]}
    ):
        found += _pair_violations(schema.declaration, record)
    by_name = {field.name: field for field in fields}
    for rule in schema.declaration.rules:
        if rule.shape not in ("", shape.name):
            continue
        reads = [*rule.reads, *(rule.when[:1] if rule.when else ())]
        if tainted.isdisjoint(path.split(".")[0] for path in reads) and _applies(rule, record):
            found += _rule_violations(rule, by_name, record)
    return found


# ── Fields ───────────────────────────────────────────────────────────────────────────────────────────────────


def _field_violations(schema: Schema, shape: Shape, record: Mapping[str, Any]) -> list[Violation]:
    others = {
        other.name: schema.fields[other.name] for other in schema.declaration.shapes if other is not shape
    }
    fields, model = schema.fields[shape.name], schema.model(shape)
    return explain_fields(schema.id, shape, fields, record, others, model=model)


def explain_fields(
    owner: str,
    shape: Shape,
    fields: Sequence[Field],
    record: Mapping[str, Any],
    others: Mapping[str, Sequence[Field]] | None = None,
    *,
    model: type[BaseModel] | None = None,
) -> list[Violation]:
    """The violations of required, unknown, types and values, in that order.

    Args:
        owner: what a message calls the holder of the fields (`evalspec@v2`).
        shape: the shape that the record is read as.
        fields: the fields of that shape.
        record: plain data.
        others: the fields of the owner's other shapes, by name: a field of theirs is `not_allowed`, not unknown.
        model: the model of the fields where there is one; to build it takes longer than many checks.
    """
    from pydantic import ValidationError

    from evalspec.schema.model import build_model

    try:
        (model or build_model(shape.record.__name__, fields)).model_validate(record)
    except ValidationError as error:
        root = _Root(owner, shape, fields, others or {})
        found: dict[tuple[str, Path], Violation] = {}
        for details in error.errors(include_url=False, include_context=True):
            violation = root.violation(details)
            found.setdefault((violation.rule, violation.path), violation)
        return sorted(found.values(), key=_stage)
    return []


def _stage(violation: Violation) -> int:
    """Where in the contract's order a field's violation comes; inside a stage the declared order stays."""
    if len(violation.path) > 1:
        return 2
    return {"missing_required": 0, "unknown_field": 1, "not_allowed": 1}.get(violation.rule, 2)


class _Root:
    """Turns pydantic's errors into violations, with the shape's own types to read their places by."""

    def __init__(
        self, owner: str, shape: Shape, fields: Sequence[Field], others: Mapping[str, Sequence[Field]]
    ) -> None:
        self.owner = owner
        self.shape = shape
        self.fields = fields
        self.others = others

    def violation(self, details: ErrorDetails) -> Violation:
        path, type_ = self._path(details["loc"])
        match details["type"]:
            case "missing":
                fix = f"add `{path[-1]}`" + (f": {type_}" if type_ else "")
                return Violation("missing_required", path, f"`{path[-1]}` is missing", fix, missing=True)
            case "extra_forbidden":
                return self._unknown(path)
        if type_ is None:
            return Violation("bad_type", path, "every key must be a text", "quote the key")
        value = details["input"]
        if type_.exactly is not None:
            message = f"must be {type_.exactly!r}, the marker of {self.owner}"
            return Violation("version_unknown", path, message, f"write {type_.exactly!r}")
        if not _is_kind(value, type_):
            message = f"must be {_a(type_)}, not {_kind_of(value)}"
            return Violation("bad_type", path, message, f"write {_a(type_)}")
        return Violation("bad_value", path, *_bad_value(value, type_, details))

    def _path(self, loc: Sequence[str | int]) -> tuple[Path, Type | None]:
        """Pydantic's location without the names of union members, and the type that stands there."""
        path: list[str | int] = []
        fields: Sequence[Field] = self.fields
        type_: Type | None = None
        for step in loc:
            if type_ is not None and type_.kind == "union":
                break
            if type_ is not None and type_.kind in ("list", "map"):
                if step == "[key]":
                    return tuple(path), None
                type_ = type_.item
            else:
                type_ = next((field.type for field in fields if field.name == step), None)
            path.append(step)
            fields = type_.fields if type_ is not None else ()
        return tuple(path), type_

    def _unknown(self, path: Path) -> Violation:
        name = str(path[-1])
        for other, fields in self.others.items():
            inner = fields
            for step in path[:-1]:
                inner = next((field.type.fields for field in inner if field.name == step), ())
            if any(field.name == name for field in inner):
                message = (
                    f"`{name}` belongs to a task of the other shape ({other}), this one is {self.shape.name}"
                )
                return Violation(
                    "not_allowed", path, message, f"remove `{name}`, or write the task as {other}"
                )
        known = [field.name for field in self._siblings(path)]
        fix = did_you_mean(name, known) or f"remove it; {self.owner} knows {', '.join(known)}"
        return Violation("unknown_field", path, f"{self.owner} has no field `{field_text(path)}`", fix)

    def _siblings(self, path: Path) -> Sequence[Field]:
        _, type_ = self._path(path[:-1])
        return type_.fields if type_ is not None else self.fields


_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
    "map": (dict,),
}
_NAMES = {
    str: "a text",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def _is_kind(value: object, type_: Type) -> bool:
    if type_.kind == "union":
        return any(_is_kind(value, option) and _is_deep(value, option) for option in type_.options)
    if isinstance(value, bool):
        return type_.kind == "boolean"
    return isinstance(value, _KINDS[type_.kind])


def _is_deep(value: Any, option: Type) -> bool:
    """True where what a list or map of a union holds is of the right kind too."""
    if option.kind == "list" and option.item is not None:
        return all(_is_kind(item, option.item) for item in value)
    if option.kind == "map" and option.item is not None:
        return all(_is_kind(item, option.item) for item in value.values())
    return True


def _kind_of(value: object) -> str:
    return "null" if value is None else _NAMES.get(type(value), f"a {type(value).__name__}")


def _a(type_: Type) -> str:
    if type_.kind == "union":
        return " or ".join(_a(option) for option in type_.options)
    return {"text": "a text", "integer": "an integer", "number": "a number", "boolean": "true or false",
            "list": "a list", "object": "an object", "map": "an object"}[type_.kind]  # fmt: skip


def _bad_value(value: object, type_: Type, details: ErrorDetails) -> tuple[str, str]:
    """The message and the fix for a value of the right kind that is not allowed."""
    if type_.words is not None:
        fix = did_you_mean(written(value, str), type_.words) or "use one of them"
        return f"is none of {', '.join(type_.words)}", fix
    match details["type"]:
        case "string_too_short" | "too_short":
            least = type_.minimum or 1
            message = "must not be empty" if least == 1 else f"must hold at least {least}"
            return message, "give it a value"
        case "too_long" | "string_too_long":
            return f"must hold at most {type_.maximum}", f"keep {type_.maximum} of them"
        case "greater_than_equal":
            return f"must be at least {type_.minimum}", f"write {type_.minimum} or more"
    message = details["msg"]
    return message, message.replace("must ", "it may ") if message.startswith("must not") else f"it {message}"


# ── Pairs and rules ──────────────────────────────────────────────────────────────────────────────────────────


def _pair_violations(declaration: Declaration, record: Mapping[str, Any]) -> Iterator[Violation]:
    """`illegal_pair`: what the category (and output type) may go with."""
    category, post_process = record["category"], record["post_process"]
    output_type = record["output_type"] if any(pair.output_type for pair in declaration.pairs) else ""
    rows = [
        pair for pair in declaration.pairs if (pair.category, pair.output_type) == (category, output_type)
    ]
    label = f"{category} with {output_type}" if output_type else category
    if not rows:
        outputs = sorted({pair.output_type for pair in declaration.pairs if pair.category == category})
        message = f"a task of category {category} cannot be {output_type}"
        fix = f"{category} goes with {', '.join(outputs)}"
        if not any(outputs):
            fix = f"the schema version has no pair of {category}: declare one beside its others"
        yield Violation("illegal_pair", ("output_type",), message, fix)
        return
    allowed = allowed_pairs(declaration)
    for path, metric in _metrics_of(declaration, record):
        metrics = sorted({name for pair in rows for name in pair.metrics})
        if metric not in metrics:
            message = f"{label} does not take the metric {metric}"
            yield Violation("illegal_pair", path, message, f"{label} takes {', '.join(metrics)}")
        elif (category, output_type, metric, post_process) not in allowed:
            rules = [name for pair in rows if metric in pair.metrics for name in pair.post_process]
            message = f"{label} does not take the post-process rule {post_process}"
            yield Violation("illegal_pair", ("post_process",), message, f"{label} takes {', '.join(rules)}")
            return


def _metrics_of(declaration: Declaration, record: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    if declaration.metric_field.endswith("[].name"):
        listed = declaration.metric_field.removesuffix("[].name")
        for index, entry in enumerate(record[listed]):
            yield (listed, index, "name"), entry["name"]
    else:
        yield (declaration.metric_field,), record[declaration.metric_field]


def _applies(rule: Rule, record: Mapping[str, Any]) -> bool:
    return rule.when is None or record.get(rule.when[0]) in rule.when[1]


def _rule_violations(
    rule: Rule, fields: Mapping[str, Field], record: Mapping[str, Any]
) -> Iterator[Violation]:
    message = rule.check(*(_value_at(fields, record, path.split(".")) for path in rule.reads))
    if message is not None:
        missing = rule.id == "missing_required"
        fix = _RULE_FIXES.get(rule.id, "change it so")
        yield Violation(rule.id, tuple(rule.at.split(".")), message, fix, missing=missing)


_RULE_FIXES = {
    "missing_required": "add it",
    "not_allowed": "remove it, or change `output_type`",
    "embedded_few_shot": "move the examples to their own field; the renderer puts them in",
    "gold_not_in_choices": "write the target as it stands in `choices`",
}


def _value_at(fields: Mapping[str, Field], record: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value of a dotted field as rules see it: objects with attributes, defaults where it is left out."""
    field = fields[path[0]]
    if path[0] not in record:
        inner = next((item for item in field.type.fields if item.name == path[-1]), field)
        return inner.default
    if len(path) == 1:
        return _as_object(record[path[0]], field.type)
    return _value_at({item.name: item for item in field.type.fields}, record[path[0]], path[1:])


def _as_object(value: Any, type_: Type) -> Any:
    if value is ABSENT:
        return value
    if type_.kind == "object":
        inner = {
            field.name: _as_object(value.get(field.name, field.default), field.type) for field in type_.fields
        }
        return SimpleNamespace(**inner)
    if type_.kind == "list" and type_.item is not None:
        return [_as_object(item, type_.item) for item in value]
    return value
