"""A schema version, ready to use: what it declares, and what is built from it when it is first needed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalspec.errors import UnknownRule, UsageError
from evalspec.schema.fields import fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import BaseModel

    from evalspec.schema.declare import Declaration, Shape
    from evalspec.schema.explain import Violation
    from evalspec.schema.fields import Field
    from evalspec.schema.struct import Accepter


class Schema:
    """One schema version of one family.

    Attributes:
        family: the family's name.
        version: the version's name in its family (`v2`).
        declaration: what its module says.
        path: the module's file.
        fields: the fields of each shape, by the shape's name.
    """

    def __init__(self, family: str, version: str, declaration: Declaration, path: str) -> None:
        self.family = family
        self.version = version
        self.declaration = declaration
        self.path = path
        self.fields: dict[str, tuple[Field, ...]] = {
            shape.name: fields_of(shape.record) for shape in declaration.shapes
        }
        _require_names(self)
        self._accepters: dict[tuple[str, ...], Accepter] = {}
        self._models: dict[str, type[BaseModel]] = {}

    def __repr__(self) -> str:
        return f"<Schema {self.id}>"

    @property
    def id(self) -> str:
        """The version's full name, `family@version`."""
        return f"{self.family}@{self.version}"

    @property
    def marker(self) -> int | str | None:
        """What `spec_version` says in a record of this version; None where records carry no marker."""
        return self.declaration.marker

    def shape_of(self, record: Mapping[str, Any]) -> Shape:
        """The shape that the record's keys show, or the first one."""
        shapes = self.declaration.shapes
        return next((shape for shape in shapes if any(key in record for key in shape.keys)), shapes[0])

    def accepter(self, shape: Shape | None = None, *, order: Sequence[str] = ()) -> Accepter:
        """The fast check of a shape (the first one, unless said); see `evalspec.schema.struct`.

        Args:
            shape: one of the version's shapes.
            order: the order in which a file writes its keys; fields it does not name come last.
        """
        from evalspec.schema.struct import Accepter

        shape = shape or self.declaration.shapes[0]
        fields = self.fields[shape.name]
        names = [field.name for field in fields]
        wanted = [*(name for name in order if name in names), *(name for name in names if name not in order)]
        key = (shape.name, *wanted)
        if key not in self._accepters:
            by_name = {field.name: field for field in fields}
            self._accepters[key] = Accepter(self.declaration, shape, [by_name[name] for name in wanted])
        return self._accepters[key]

    def model(self, shape: Shape | None = None) -> type[BaseModel]:
        """The pydantic model of a shape (the first one, unless said)."""
        from evalspec.schema.model import build_model

        shape = shape or self.declaration.shapes[0]
        if shape.name not in self._models:
            doc = shape.record.__doc__ or ""
            self._models[shape.name] = build_model(shape.record.__name__, self.fields[shape.name], doc)
        return self._models[shape.name]

    def check(self, record: Mapping[str, Any], *, format: str = "") -> list[Violation]:  # noqa: A002
        """Every violation of `record` in the contract's order; empty where it is valid.

        Args:
            record: plain data.
            format: the format it was read from, if its shape may not live in every one.
        """
        shape = self.shape_of(record)
        allowed = not format or format in shape.formats
        if allowed and self.accepter(shape).accepts(record):
            return []
        from evalspec.schema.explain import Violation, explain

        if not allowed:
            message = f"a {shape.name} task lives in {' or '.join(shape.formats)} files"
            key = next(key for key in shape.keys if key in record)
            return [Violation("not_allowed", (key,), message, f"move it to a {shape.formats[0]} file")]
        return explain(self, record)

    def post_process(self, text: str, rule: str) -> str:
        """A generation after the rule.

        Raises:
            UnknownRule: this version has no such rule.
        """
        rules = self.declaration.post_process
        if rule not in rules:
            raise UnknownRule(rule, self.id, list(rules))
        return rules[rule](text)

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """Every top-level field of any shape, in declared order."""
        return tuple(dict.fromkeys(field.name for fields in self.fields.values() for field in fields))


def _require_names(schema: Schema) -> None:
    """Every field and word that a declaration speaks of must be one it declares.

    Raises:
        UsageError: it is not; a slip of the pen would otherwise show at the first record that meets it.
    """
    declared = schema.declaration
    everywhere = set(schema.field_names)
    for rule in declared.rules:
        fields = {field.name for field in schema.fields[rule.shape]} if rule.shape else everywhere
        names = [*rule.reads, rule.at, *(rule.when[:1] if rule.when else ())]
        for name in names:
            if name.partition(".")[0] not in fields:
                raise UsageError(
                    f"{schema.path}: rule {rule.id} speaks of {name!r}, which is no field", fix=_SLIP
                )
    for name in [*declared.assembly.reads(), *(key for shape in declared.shapes for key in shape.keys)]:
        if name.partition(".")[0] not in everywhere:
            raise UsageError(f"{schema.path}: {name!r} is no field", fix=_SLIP)
    for pair in declared.pairs:
        unknown = [
            word
            for words, known in (
                ((pair.category,), declared.categories),
                (pair.metrics, declared.metrics),
                (pair.post_process, declared.post_process),
            )
            for word in words
            if word not in known
        ]
        if unknown:
            raise UsageError(
                f"{schema.path}: a pair speaks of {unknown[0]!r}, which is in no vocabulary", fix=_SLIP
            )


_SLIP = "mend the name, or declare it"
