"""The pydantic model of a record shape: strict, no extra fields. It explains what the struct refused.

pydantic is imported here and nowhere on the way of a valid record: it takes longer to load than a thousand records
take to check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.schema.declare import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import BaseModel

    from evalspec.schema.declare import Distinct, Pattern
    from evalspec.schema.fields import Field, Type


def build_model(name: str, fields: Sequence[Field], doc: str = "") -> type[BaseModel]:
    """The model of an object with `fields`. A field left out takes its default, or is left unset."""
    from pydantic import ConfigDict, create_model

    columns: dict[str, Any] = {}
    for field in fields:
        default = ... if field.required else None if field.default is ABSENT else field.default
        columns[field.name] = (_annotation(field.type), default)
    return create_model(
        name,
        __config__=ConfigDict(strict=True, extra="forbid", frozen=True, protected_namespaces=()),
        __doc__=doc or None,
        **columns,
    )


def _annotation(type_: Type) -> Any:
    from typing import Annotated, Literal, Union

    import pydantic
    from pydantic import AfterValidator

    if isinstance(type_.exactly, int):
        # A literal would take 2.0 for 2.
        return Annotated[int, pydantic.Field(ge=type_.exactly, le=type_.exactly)]
    if type_.exactly is not None:
        return Literal[type_.exactly]
    if type_.words is not None:
        return Literal[type_.words]
    hint: Any
    match type_.kind:
        case "text":
            hint = Annotated[str, pydantic.Field(min_length=type_.minimum, max_length=type_.maximum)]
            for pattern in type_.patterns:
                hint = Annotated[hint, AfterValidator(_predicate(pattern))]
            return hint
        case "integer":
            return Annotated[int, pydantic.Field(ge=type_.minimum)]
        case "number":
            return Annotated[float, pydantic.Field(ge=type_.minimum)]
        case "boolean":
            return bool
        case "object":
            return build_model(type_.name, type_.fields)
        case "list":
            assert type_.item is not None
            item = _annotation(type_.item)
            hint = Annotated[list[item], pydantic.Field(min_length=type_.minimum, max_length=type_.maximum)]  # type: ignore[valid-type]
            return (
                hint if type_.distinct is None else Annotated[hint, AfterValidator(_distinct(type_.distinct))]
            )
        case "map":
            assert type_.item is not None
            value = _annotation(type_.item)
            return dict[str, value]  # type: ignore[valid-type]
        case "union":
            return Union[tuple(_annotation(option) for option in type_.options)]  # noqa: UP007 - built, not written
    return Any


def _predicate(pattern: Pattern) -> Callable[[str], str]:
    def holds(value: str) -> str:
        from pydantic_core import PydanticCustomError

        if not pattern.holds(value):
            raise PydanticCustomError("predicate", "must {says}", {"says": pattern.says})
        return value

    return holds


def _distinct(limit: Distinct) -> Callable[[list[Any]], list[Any]]:
    def holds(value: list[Any]) -> list[Any]:
        from pydantic_core import PydanticCustomError

        items = [getattr(item, limit.key) for item in value] if limit.key else value
        if len(set(items)) != len(items):
            raise PydanticCustomError("distinct", "must hold no {what} twice", {"what": limit.key or "item"})
        return value

    return holds
