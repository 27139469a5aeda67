"""A schema version as JSON Schema (draft 2020-12), for editors and for programs in other languages.

It is built from the same types as the models. Every valid record satisfies it, and a record that breaks a field's rule,
a pair, or which fields go with an output type does not. What JSON Schema cannot say is left out and listed in its
`$comment`: predicates that are Python, rules that compare two values, and an id that stands twice in a file. To JSON
Schema a number written `2.0` is an integer; to the contract it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.schema.declare import ABSENT
from evalspec.schema.struct import allowed_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.schema.declare import Declaration, Rule, Shape
    from evalspec.schema.fields import Field, Type
    from evalspec.schema.schema import Schema

Json = dict[str, Any]

#: What `str.isspace` calls white space, as a character class of ECMA 262 and of Python.
_SPACE = r"\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
#: Predicates on a text, by what they say (a contract knows them by that too), as JSON Schema.
_PATTERNS: dict[str, Json] = {
    "hold no white space": {"not": {"pattern": f"[{_SPACE}]"}},
    "not end in white space": {"pattern": rf"[^{_SPACE}](?![\s\S])"},
}
#: Rules across fields that mean the same in every version, by their id.
_PRESENCE = {"missing_required": True, "not_allowed": False}


def json_schema(schema: Schema) -> Json:
    """The JSON Schema of one record of a version."""
    from evalspec.schema.page import module_doc

    declared = schema.declaration
    shapes = declared.shapes
    defs = {shape.name: _shape(schema, shape) for shape in shapes}
    said: Json = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:evalspec:{schema.id.replace('@', ':')}",
        "title": schema.id,
        "description": module_doc(schema).partition("\n")[0],
    }
    if comment := _left_out(schema):
        said["$comment"] = f"not said here: {comment}"
    if len(shapes) == 1:
        return said | defs[shapes[0].name] | said
    return said | {"$defs": defs} | _by_shape(shapes)


def _by_shape(shapes: Sequence[Shape]) -> Json:
    """The shape that a record's keys show, or the first one; as `Schema.shape_of` decides it."""
    chosen: Json = {"$ref": f"#/$defs/{shapes[0].name}"}
    for shape in reversed(shapes):
        shows = {"anyOf": [{"required": [key]} for key in shape.keys]}
        chosen = {"if": shows, "then": {"$ref": f"#/$defs/{shape.name}"}, "else": chosen}
    return chosen


def _shape(schema: Schema, shape: Shape) -> Json:
    declared = schema.declaration
    said = _object(schema.fields[shape.name])
    said["title"] = shape.record.__name__
    if shape.record.__doc__:
        said["description"] = " ".join(shape.record.__doc__.split())
    rules = [rule for rule in declared.rules if rule.shape in ("", shape.name)]
    asked = [_presence(rule) for rule in rules]
    conditions = [*_pairs(declared), *(each for each in asked if each is not None)]
    if conditions:
        said["allOf"] = conditions
    return said


def _object(fields: Sequence[Field]) -> Json:
    said: Json = {
        "type": "object",
        "properties": {field.name: _field(field) for field in fields},
        "additionalProperties": False,
    }
    if required := [field.name for field in fields if field.required]:
        said["required"] = required
    return said


def _field(field: Field) -> Json:
    said = _type(field.type)
    if not field.required and field.default is not ABSENT:
        said["default"] = field.default
    return said


def _type(type_: Type) -> Json:
    if type_.exactly is not None:
        return {"type": type_.kind if type_.kind == "integer" else "string", "const": type_.exactly}
    if type_.words is not None:
        return {"type": "string", "enum": list(type_.words)}
    said: Json = {}
    match type_.kind:
        case "text":
            said = {"type": "string", **_limits(type_, minimum="minLength")}
            patterns = [_PATTERNS[each.says] for each in type_.patterns if each.says in _PATTERNS]
            if patterns:
                said["allOf"] = patterns
        case "integer" | "number":
            said = {"type": type_.kind, **_limits(type_, minimum="minimum")}
        case "boolean":
            said = {"type": "boolean"}
        case "list":
            assert type_.item is not None
            said = {"type": "array", "items": _type(type_.item)}
            said |= _limits(type_, minimum="minItems", maximum="maxItems")
            if type_.distinct is not None:
                said["uniqueItems"] = True
        case "map":
            assert type_.item is not None
            said = {"type": "object", "additionalProperties": _type(type_.item)}
        case "object":
            said = _object(type_.fields)
        case "union":
            said = {"anyOf": [_type(option) for option in type_.options]}
    return said


def _limits(type_: Type, *, minimum: str = "", maximum: str = "") -> Json:
    limits = ((minimum, type_.minimum), (maximum, type_.maximum))
    return {name: limit for name, limit in limits if name and limit is not None}


# ── What goes together ───────────────────────────────────────────────────────────────────────────────────────


def _pairs(declared: Declaration) -> Iterator[Json]:
    """For each category and output type, the metrics and post-process rules it takes."""
    allowed = allowed_pairs(declared)
    with_output = any(pair.output_type for pair in declared.pairs)
    for category in declared.categories:
        outputs = list(
            dict.fromkeys(pair.output_type for pair in declared.pairs if pair.category == category)
        )
        if with_output:
            yield _if({"category": category}, {"properties": {"output_type": {"enum": outputs}}})
        for output in outputs:
            rules: dict[tuple[str, ...], list[str]] = {}
            for rule in declared.post_process:
                metrics = tuple(
                    name for name in declared.metrics if (category, output, name, rule) in allowed
                )
                if metrics:
                    rules.setdefault(metrics, []).append(rule)
            options = [
                {"properties": {**_metric_enum(declared, metrics), "post_process": {"enum": names}}}
                for metrics, names in rules.items()
            ]
            fixed = {"category": category} | ({"output_type": output} if with_output else {})
            yield _if(fixed, options[0] if len(options) == 1 else {"anyOf": options})


def _metric_enum(declared: Declaration, names: Sequence[str]) -> Json:
    field, listed, _ = declared.metric_field.partition("[]")
    enum = {"enum": list(names)}
    return {field: {"items": {"properties": {"name": enum}}} if listed else enum}


def _presence(rule: Rule) -> Json | None:
    """A rule that a field must be there, or must not; None for one that only Python can ask."""
    if rule.id not in _PRESENCE or len(rule.reads) != 1 or "." in rule.reads[0]:
        return None
    there = {"required": [rule.reads[0]]}
    then = there if _PRESENCE[rule.id] else {"not": there}
    if rule.when is None:
        return then
    field, words = rule.when
    return _if_any(field, words, then)


def _if(values: dict[str, str], then: Json) -> Json:
    properties = {name: {"const": value} for name, value in values.items()}
    return {"if": {"properties": properties, "required": list(values)}, "then": then}


def _if_any(field: str, words: Sequence[str], then: Json) -> Json:
    return {"if": {"properties": {field: {"enum": list(words)}}, "required": [field]}, "then": then}


def _left_out(schema: Schema) -> str:
    """What of the contract this form cannot say."""
    rules = [f"{rule.id} of {rule.at}" for rule in schema.declaration.rules if _presence(rule) is None]
    limits = []
    for field in (field for fields in schema.fields.values() for field in fields):
        for type_ in _all_types(iter([field.type])):
            says = [each.says for each in type_.patterns if each.says not in _PATTERNS]
            if type_.distinct is not None and type_.distinct.key:
                says.append(f"hold no {type_.distinct.key} twice")
            limits += [f"bad_value of {field.name} (must {said})" for said in says]
    return ", ".join(dict.fromkeys([*rules, *limits, "duplicate_task_id"]))


def _all_types(types: Iterator[Type]) -> Iterator[Type]:
    for type_ in types:
        yield type_
        below = [*type_.options, *(field.type for field in type_.fields)]
        yield from _all_types(iter([*below, type_.item] if type_.item is not None else below))
