"""A version's annotations, read once into a small tree that everything else is built from.

The declaration stays plain Python that a person can read; this module turns it into `Field` and `Type` values, so
the pydantic model, the msgspec struct, the page and the JSON Schema cannot disagree about what it said.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalspec.schema.declare import ABSENT, Absent, Distinct, Exactly, Ge, MaxLen, MinLen, OneOf, Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["text", "integer", "number", "boolean", "list", "object", "map", "any", "union"]

_SCALARS: dict[Any, Kind] = {str: "text", int: "integer", float: "number", bool: "boolean"}


class Type(NamedTuple):
    """What kind of value a field takes, and its limits.

    Attributes:
        kind: the kind of value; `map` is an object with free keys.
        words: a closed vocabulary, for `text`.
        exactly: the one value there is.
        minimum: the least length of a text or list, or the least number.
        maximum: the greatest length of a list.
        patterns: predicates on a text.
        distinct: no item twice, for `list`.
        item: the type of a list's items, or of a map's values.
        fields: the fields of an `object`.
        options: the types of a `union`.
        name: the dataclass an `object` was declared as.
    """

    kind: Kind
    words: tuple[str, ...] | None = None
    exactly: int | str | None = None
    minimum: int | None = None
    maximum: int | None = None
    patterns: tuple[Pattern, ...] = ()
    distinct: Distinct | None = None
    item: Type | None = None
    fields: tuple[Field, ...] = ()
    options: tuple[Type, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        """The type in words, as pages and migrations write it: the same text is the same type."""
        return "".join(_words_of(self))


class Field(NamedTuple):
    """One field of a record or of an object in it. `default` is `ABSENT` where leaving it out means nothing."""

    name: str
    type: Type
    required: bool
    default: Any


def fields_of(record: type[Any]) -> tuple[Field, ...]:
    """The fields that the dataclass `record` declares, in its order.

    Raises:
        TypeError: an annotation that no schema version may use.
    """
    hints = typing.get_type_hints(record, include_extras=True)
    found = []
    for item in dataclasses.fields(record):
        default = item.default
        if item.default_factory is not dataclasses.MISSING:
            default = item.default_factory()
        required = default is dataclasses.MISSING
        found.append(Field(item.name, _type_of(hints[item.name]), required, ABSENT if required else default))
    return tuple(found)


def _type_of(hint: Any) -> Type:
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        inner, *limits = typing.get_args(hint)
        return _limited(_type_of(inner), limits)
    if origin in (typing.Union, types.UnionType):
        options = [_type_of(option) for option in typing.get_args(hint) if option is not Absent]
        return options[0] if len(options) == 1 else _union(options)
    if hint in _SCALARS:
        return Type(_SCALARS[hint])
    if hint is Any:
        return Type("any")
    if origin is list:
        return Type("list", item=_type_of(typing.get_args(hint)[0]))
    if origin is dict and typing.get_args(hint)[0] is str:
        return Type("map", item=_type_of(typing.get_args(hint)[1]))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return Type("object", fields=fields_of(hint), name=hint.__name__)
    raise TypeError(f"a schema version cannot declare a field as {hint!r}")


def _union(options: list[Type]) -> Type:
    """A union whose members are told apart by kind alone, and hold no limits of their own."""
    kinds = ["map" if option.kind == "object" else option.kind for option in options]
    if len(set(kinds)) != len(kinds):
        raise TypeError(f"the members of a union must be of different kinds, not {', '.join(kinds)}")
    for option in options:
        for part in (option, option.item):
            if part is not None and part != Type(part.kind, item=part.item, options=part.options):
                raise TypeError("the members of a union cannot be limited")
    return Type("union", options=tuple(options))


#: The kinds of values that each limit makes sense for.
_LIMITS: dict[type, tuple[Kind, ...]] = {
    OneOf: ("text",),
    Exactly: ("text", "integer"),
    MinLen: ("text", "list"),
    MaxLen: ("text", "list"),
    Ge: ("integer", "number"),
    Pattern: ("text",),
    Distinct: ("list",),
}


def _limited(base: Type, limits: list[Any]) -> Type:
    for limit in limits:
        if base.kind not in _LIMITS.get(type(limit), ()):
            raise TypeError(f"a schema version cannot limit a field of kind {base.kind} by {limit!r}")
        match limit:
            case OneOf(words):
                base = base._replace(words=tuple(words))
            case Exactly(value):
                base = base._replace(exactly=value)
            case MinLen(length):
                base = base._replace(minimum=length)
            case MaxLen(length):
                base = base._replace(maximum=length)
            case Ge(least):
                if base.kind == "integer" and not isinstance(least, int):
                    raise TypeError(f"the least integer cannot be {least!r}")
                base = base._replace(minimum=typing.cast("int", least))
            case Pattern():
                base = base._replace(patterns=(*base.patterns, limit))
            case Distinct():
                _require_comparable(base, limit)
                base = base._replace(distinct=limit)
    if base.words is not None and base.patterns:
        raise TypeError("a word of a closed vocabulary needs no predicate")
    return base


def _require_comparable(base: Type, limit: Distinct) -> None:
    """Items can be told apart where they are plain, or objects with a required, plain key."""
    item = base.item
    if item is not None and limit.key is not None:
        item = next((field.type for field in item.fields if field.name == limit.key and field.required), None)
    if item is None or item.kind not in ("text", "integer", "number", "boolean"):
        raise TypeError(f"the items of a list of {base.item} cannot be told apart by {limit!r}")


def _words_of(type_: Type) -> Iterator[str]:
    if type_.exactly is not None:
        yield f"{type_.kind} {type_.exactly!r}"
    elif type_.words is not None:
        yield "one of " + " ".join(type_.words)
    elif type_.kind == "union":
        yield " or ".join(str(option) for option in type_.options)
    elif type_.kind in ("list", "map"):
        yield f"{type_.kind} of {type_.item}"
    elif type_.kind == "object":
        inner = ", ".join(
            f"{field.name}{'' if field.required else '?'}: {field.type}" for field in type_.fields
        )
        yield f"{{{inner}}}"
    else:
        yield type_.kind
    if type_.minimum is not None:
        yield f", at least {type_.minimum}"
    if type_.maximum is not None:
        yield f", at most {type_.maximum}"
    if type_.distinct is not None:
        yield f", no {type_.distinct.key or 'item'} twice"
    for pattern in type_.patterns:
        yield f", must {pattern.says}"
