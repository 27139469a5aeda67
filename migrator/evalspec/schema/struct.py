"""Fast accept: a msgspec struct and one flat function per record shape.

Both are built from the declaration. The struct refuses a wrong kind, a word outside a vocabulary, an unknown or a
missing field while it decodes; the generated function checks what a struct cannot say (predicates, pairs, rules across
fields). A second one counts the keys that the lines must hold, which is how a repeated key shows. They only say yes or
"look closer": every refusal is explained by `evalspec.schema.explain`; a property test holds both to one verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.schema.declare import ABSENT
from evalspec.writing.signals import import_held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalspec.schema.declare import Declaration, Shape
    from evalspec.schema.fields import Field, Type

#: Values in free fields may nest this deep (records.md leaves the number open); deeper is `too_deep`.
MAX_DEPTH = 100


class Accepter:
    """One shape of a version's records, ready to decode and check many.

    Attributes:
        struct: the msgspec struct.
        check: True where all of some decoded records are valid; False says that one needs a closer look.
        count_keys: the number of keys that the lines of valid records hold, if none holds one twice.
    """

    def __init__(self, declaration: Declaration, shape: Shape, fields: Sequence[Field]) -> None:
        import_held("msgspec")
        import msgspec

        self.shape = shape
        self.struct: Any = _struct_of(shape.record.__name__, fields)
        self._decoder = msgspec.json.Decoder(self.struct)
        self.decode_lines: Callable[[bytes], list[Any]] = self._decoder.decode_lines
        self.decode: Callable[[bytes], Any] = self._decoder.decode
        self.check: Callable[[Sequence[Any]], bool] = _checker(
            shape.record.__name__, fields, declaration, shape.name
        )
        self.count_keys: Callable[[Sequence[Any]], int] = _key_counter(shape, fields)
        self.encode_lines: Callable[[Sequence[Any]], bytes] = msgspec.json.Encoder().encode_lines

    def writes(self, records: Sequence[Any], data: bytes) -> bool:
        """True where `data` is, byte for byte, what encoding the records gives: compact, in this order of keys.

        Lines of that form hold one record each and no key twice.
        """
        if not data.startswith(self.encode_lines(records[:1])):
            return False
        written = self.encode_lines(records)
        return written == data or written == data + b"\n"

    def accepts(self, record: object) -> bool:
        """True where the plain record is valid; False says no more than "look closer"."""
        import msgspec

        try:
            return self.check([msgspec.convert(record, self.struct)])
        except msgspec.ValidationError:
            return False


def accepts_fields(name: str, fields: Sequence[Field], value: object) -> bool:
    """True where plain data is a sound object of these fields alone, of no schema version; else "look closer"."""
    import msgspec

    try:
        return _checker(name, fields)([msgspec.convert(value, _struct_of(name, fields))])
    except msgspec.ValidationError:
        return False


#: What holds further values.
_NESTING = frozenset([dict, list])


def too_deep(values: Iterable[Any], depth: int) -> bool:
    """True where one of the values, which stand at `depth`, holds any past `MAX_DEPTH`."""
    for value in values:
        if type(value) in _NESTING:
            if depth > MAX_DEPTH:
                return True
            if type(value) is dict:
                if too_deep(value.values(), depth + 1):
                    return True
            elif too_deep(value, depth + 1):
                return True
    return False


def count_keys(value: object) -> int:
    """The number of keys in a free value and all it holds."""
    if type(value) not in _NESTING:
        return 0
    keys = len(value) if type(value) is dict else 0
    values: Any = value.values() if type(value) is dict else value
    for inner in values:
        if type(inner) in _NESTING:
            keys += count_keys(inner)
    return keys


def _struct_of(name: str, fields: Sequence[Field]) -> Any:
    import msgspec

    columns: list[Any] = []
    for field in fields:
        hint = _hint(field.type)
        columns.append(
            (field.name, hint) if field.required else (field.name, hint | msgspec.UnsetType, msgspec.UNSET)
        )
    return msgspec.defstruct(name, columns, forbid_unknown_fields=True, kw_only=True, gc=False)


def _hint(type_: Type) -> Any:
    """The annotation by which msgspec knows `type_`."""
    from typing import Annotated, Literal, Union

    import msgspec

    if type_.exactly is not None:
        return Literal[type_.exactly]
    if type_.words is not None:
        return Literal[type_.words]
    match type_.kind:
        case "text":
            limits = msgspec.Meta(min_length=type_.minimum, max_length=type_.maximum)
            return str if type_.minimum is type_.maximum is None else Annotated[str, limits]
        case "integer":
            return int if type_.minimum is None else Annotated[int, msgspec.Meta(ge=type_.minimum)]
        case "number":
            return float if type_.minimum is None else Annotated[float, msgspec.Meta(ge=type_.minimum)]
        case "boolean":
            return bool
        case "object":
            return _struct_of(type_.name, type_.fields)
        case "list":
            assert type_.item is not None
            hint: Any = list.__class_getitem__(_hint(type_.item))
            if type_.minimum is None and type_.maximum is None:
                return hint
            return Annotated[hint, msgspec.Meta(min_length=type_.minimum, max_length=type_.maximum)]
        case "map":
            assert type_.item is not None
            return dict[str, _hint(type_.item)]  # type: ignore[misc]
        case "union":
            return Union[tuple(_hint(option) for option in type_.options)]  # noqa: UP007 - built, not written
    return Any


class _Source:
    """Python source in the making, with the objects it names."""

    def __init__(self) -> None:
        self.at_once: list[str] = []  # of all records together, before the lines for each
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}

    def bind(self, value: object) -> str:
        name = f"_{len(self.names)}"
        self.names[name] = value
        return name


def _checker(
    name: str, fields: Sequence[Field], declaration: Declaration | None = None, shape: str = ""
) -> Callable[..., bool]:
    """Write and compile the flat check of one shape; looping over rule objects would cost a third more."""
    import msgspec

    source = _Source()
    source.names |= {"UNSET": msgspec.UNSET, "ABSENT": ABSENT, "NESTING": _NESTING, "too_deep": too_deep}
    by_name = {field.name: field for field in fields}
    for field in fields:
        if _is_checked_at_once(field):
            source.at_once.append(_check_at_once(source, field))
            field = field._replace(type=field.type._replace(patterns=()))  # noqa: PLW2901
        source.lines += _field_checks(source, f"r.{field.name}", field, 2)
    if declaration is not None:
        _pair_check(source, declaration)
    for rule in declaration.rules if declaration is not None else ():
        if rule.shape in ("", shape):
            values = ", ".join(_read(source, path.split("."), by_name) for path in rule.reads)
            applies = f"r.{rule.when[0]} in {source.bind(rule.when[1])} and " if rule.when else ""
            _refuse_if(source, f"{applies}{source.bind(rule.check)}({values}) is not None")
    each = ["for r in records:", *_indented(source.lines)] if source.lines else []
    body = "\n".join(_indented([*source.at_once, *each]))
    code = f"def check(records):\n{body}\n    return True\n"
    exec(compile(code, f"<check of {name}>", "exec"), source.names)  # noqa: S102 - our own text
    checker: Callable[..., bool] = source.names["check"]
    return checker


def _is_checked_at_once(field: Field) -> bool:
    """True where a field's patterns can be asked of all records together."""
    patterns = field.type.patterns
    return field.required and bool(patterns) and all(pattern.holds_for_all for pattern in patterns)


def _check_at_once(source: _Source, field: Field) -> str:
    """The check of a field of all records by its patterns."""
    texts = f"[r.{field.name} for r in records]"
    held = [f"{source.bind(pattern.holds_for_all)}({texts})" for pattern in field.type.patterns]
    return f"if not ({' and '.join(held)}): return False"


def _refuse_if(source: _Source, condition: str) -> None:
    source.lines.append(f"if {condition}: return False")


def _value_checks(source: _Source, value: str, type_: Type, level: int) -> list[str]:
    """The checks that msgspec cannot make while it decodes, of a value and of all that it may hold.

    Args:
        source: takes in the objects that the checks name.
        value: the expression that reads the value.
        type_: its declared type.
        level: how deep it stands; a record's own fields stand at 2.
    """
    lines = [f"if not {source.bind(pattern.holds)}({value}): return False" for pattern in type_.patterns]
    if type_.distinct is not None:
        key = type_.distinct.key
        items = f"{{x.{key} for x in {value}}}" if key else f"set({value})"
        lines.append(f"if len({items}) != len({value}): return False")
    if type_.kind in ("any", "union"):
        lines.append(f"if too_deep(({value},), {level}): return False")
    if type_.item is not None:
        items = f"{value}.values()" if type_.kind == "map" else value
        if type_.item.kind in ("any", "union"):
            # Most values hold none that holds others: then nothing need be called.
            lines.append(f"for x in {items}:")
            lines.append("    if x.__class__ in NESTING:")
            lines.append("        inner = map(type, x.values() if x.__class__ is dict else x)")
            lines.append("        if not NESTING.isdisjoint(inner):")
            lines.append(f"            if too_deep((x,), {level + 1}): return False")
        elif inner := _value_checks(source, f"x{level}", type_.item, level + 1):
            lines += [f"for x{level} in {items}:", *_indented(inner)]
    for field in type_.fields:
        lines += _field_checks(source, f"{value}.{field.name}", field, level + 1)
    return lines


def _field_checks(source: _Source, value: str, field: Field, level: int) -> list[str]:
    lines = _value_checks(source, value, field.type, level)
    return [f"if {value} is not UNSET:", *_indented(lines)] if lines and not field.required else lines


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _pair_check(source: _Source, declaration: Declaration) -> None:
    table = source.bind(allowed_pairs(declaration))
    output = "r.output_type" if any(pair.output_type for pair in declaration.pairs) else "''"
    if declaration.metric_field.endswith("[].name"):
        listed = declaration.metric_field.removesuffix("[].name")
        source.lines.append(f"for m in r.{listed}:")
        source.lines.append(
            f"    if (r.category, {output}, m.name, r.post_process) not in {table}: return False"
        )
    else:
        pair = f"(r.category, {output}, r.{declaration.metric_field}, r.post_process)"
        source.at_once.append(f"if not {table}.issuperset({{{pair} for r in records}}): return False")


def allowed_pairs(declaration: Declaration) -> frozenset[tuple[str, str, str, str]]:
    """Every (category, output type, metric, post-process rule) that may go together."""
    return frozenset(
        (pair.category, pair.output_type, metric, rule)
        for pair in declaration.pairs
        for metric in pair.metrics
        for rule in pair.post_process
    )


def _read(source: _Source, path: Sequence[str], fields: dict[str, Field]) -> str:
    """The expression that reads a dotted field, as its default where the record leaves it out."""
    field = fields[path[0]]
    expression = f"r.{path[0]}"
    default = "ABSENT" if field.default is ABSENT else source.bind(field.default)
    if len(path) == 1:
        return expression if field.required else f"({default} if {expression} is UNSET else {expression})"
    inner = next(item for item in field.type.fields if item.name == path[1])
    inner_default = "ABSENT" if inner.default is ABSENT else source.bind(inner.default)
    value = f"{expression}.{path[1]}"
    missing = [] if field.required else [f"{expression} is UNSET"]
    if not inner.required:
        missing.append(f"{value} is UNSET")
    return f"({inner_default} if {' or '.join(missing)} else {value})" if missing else value


def _key_counter(shape: Shape, fields: Sequence[Field]) -> Callable[..., int]:
    """Write and compile the function that counts the keys of one shape's records."""
    import msgspec

    source = _Source()
    source.names |= {"UNSET": msgspec.UNSET, "count_keys": count_keys}
    keys = _key_count(source, "r", fields)
    code = f"def count(records): return sum([{keys} for r in records])"
    exec(compile(code, f"<keys of {shape.record.__name__}>", "exec"), source.names)  # noqa: S102 - our own text
    counter: Callable[..., int] = source.names["count"]
    return counter


def _key_count(source: _Source, holder: str, fields: Sequence[Field]) -> str:
    """The expression that counts the keys a record's line must hold."""
    terms = [str(sum(field.required for field in fields))]
    for field in fields:
        value = f"{holder}.{field.name}"
        inner = _value_count(source, value, field.type)
        if field.required:
            terms += [inner] if inner else []
        else:
            terms.append(f"(0 if {value} is UNSET else 1{' + ' + inner if inner else ''})")
    return " + ".join(terms)


def _value_count(source: _Source, value: str, type_: Type) -> str:
    """The expression that counts the keys inside a value; empty where it can hold none."""
    match type_.kind:
        case "object":
            name = source.bind(_nested_counter(type_))
            return f"{name}({value})"
        case "list" if type_.item is not None and type_.item.kind == "object":
            if all(field.required and field.type.kind in _PLAIN for field in type_.item.fields):
                return f"{len(type_.item.fields)} * len({value})"
            name = source.bind(_nested_counter(type_.item))
            return f"sum(map({name}, {value}))"
        case "text" | "integer" | "number" | "boolean":
            return ""
        case "list" if type_.item is not None and type_.item.kind in _PLAIN:
            return ""
    return f"count_keys({value})"


_PLAIN = ("text", "integer", "number", "boolean")


def _nested_counter(type_: Type) -> Callable[[Any], int]:
    """A function that counts the keys of a nested struct."""
    import msgspec

    source = _Source()
    source.names |= {"UNSET": msgspec.UNSET, "count_keys": count_keys}
    code = f"def count(r): return {_key_count(source, 'r', type_.fields)}"
    exec(compile(code, f"<keys of {type_.name}>", "exec"), source.names)  # noqa: S102 - our own text
    counter: Callable[[Any], int] = source.names["count"]
    return counter
