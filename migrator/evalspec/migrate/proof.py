"""Prove a step's promise on prompts from its operations, for all records at once (design.md, "Migrations").

That is possible where every source of a prompt's parts comes through one to one and the assembly is declared to give
the same text. Where it is not, every record has to be rendered under both versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.migrate.carry import carry, made_by
from evalspec.schema.assembly import Constant, FromField

if TYPE_CHECKING:
    from evalspec.migrate.carry import Carry
    from evalspec.migrate.migration import Migration
    from evalspec.schema.schema import Schema

#: Fields that say nothing to a model: labels, and what happens to its answer (records.md, the table of owners).
_SILENT = frozenset(
    [
        "spec_version",
        "task_id",
        "category",
        "version",
        "metadata",
        "metric_name",
        "metrics",
        "post_process",
        "targets",
    ]
)


def proved_by_operations(migration: Migration, source: Schema, target: Schema) -> bool:
    """True where no record's prompt can change: neither text nor choices, stop strings or generation settings."""
    if not migration.same_text:
        return False
    moves = carry(migration.records)
    before, after = source.declaration.assembly, target.declaration.assembly
    made = made_by(migration.records)
    for role, new in after._asdict().items():
        if role in ("targets", "template", "example_question", "example_answer"):
            continue
        if not _same_source(getattr(before, role), new, moves, made, source):
            return False
    if (before.example_question, before.example_answer) != (after.example_question, after.example_answer):
        return False
    if not _same_source(before.template, after.template, moves, made, source):
        return False
    return before.template is None or _templates_untouched(moves, source, target)


def _same_source(old: Any, new: Any, moves: Carry, made: dict[str, Any], source: Schema) -> bool:
    if isinstance(new, Constant):
        return bool(old == new)
    if isinstance(new, FromField):
        if isinstance(old, FromField):
            return moves.origin(new.name) == old.name and old.default == new.default
        if new.name in made:
            return isinstance(old, Constant) and bool(made[new.name] == old.text)
        return isinstance(old, Constant) and old.text == new.default and _is_new(new.name, moves, source)
    if new is None:
        return old is None
    return moves.origin(new) == old if old is not None else _is_new(new, moves, source)


def _is_new(name: str, moves: Carry, source: Schema) -> bool:
    """True where no migrated record can have the field: the source has none, and no operation makes it."""
    return name.partition(".")[0] not in source.field_names and moves.origin(name) == name


def _templates_untouched(moves: Carry, source: Schema, target: Schema) -> bool:
    """True where every field that a template's prompt may be made from is the same field, untouched."""
    for shape in source.declaration.shapes[1:]:
        names = {field.name for field in source.fields[shape.name]}
        later = {field.name for field in target.fields.get(shape.name, ())}
        if not names - _SILENT <= later or any(moves.origin(name) != name for name in later - _SILENT):
            return False
    return True
