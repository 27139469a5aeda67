"""Records that are edited alike: worked out once, then edited by the thousand.

The edits of a record follow from the values the operations look at. Where all of those are words of closed
vocabularies, or keys that are there or not, records fall into a few dozen lanes: in one lane the edits are the same,
and so is the answer to everything the target version asks that the source version has not asked already. The first
record of a lane goes the whole way (edits on text, all rules of the target); the others get its edits.

Which upgrades allow this is decided from the declarations and operations alone (`is_determined`); the others take the
whole way with every record.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from evalspec.formats.json_edit import edit_text
from evalspec.formats.json_text import MAX_DEPTH
from evalspec.formats.jsonl import encoded, parse_line
from evalspec.formats.line_editor import LineEditor
from evalspec.migrate.carry import made_by

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.formats.edits import Edit
    from evalspec.migrate.upgrade import Upgrade
    from evalspec.schema.declare import Rule, Shape
    from evalspec.schema.fields import Field, Type
    from evalspec.schema.struct import Accepter

    Remake = Callable[[Any], Any]


class Lane:
    """What all records of a lane have in common.

    Attributes:
        edits: the edits of each of them.
        touched: the steps whose changed post-process rules these records use, by index.
        remake: makes of a record of a canonical line what encodes to its edited line; None where it is not learnt.
        learns: False once it is known whether there is such a function.
    """

    __slots__ = ("_editor", "edits", "learns", "remake", "touched")

    def __init__(self, edits: Sequence[Edit], touched: tuple[int, ...]) -> None:
        self.edits = tuple(edits)
        self.touched = touched
        self.remake: Remake | None = None
        self.learns = True
        self._editor: LineEditor | None = None

    def edit(self, line: bytes) -> bytes:
        """The edited line for a line of the lane."""
        if self._editor is None:
            self._editor = LineEditor(self.edits, bounded=True)
        return self._editor.edit(line)


def is_determined(upgrade: Upgrade, shape: Shape) -> bool:
    """True where the edits and the target's verdict are the same for all records of a lane."""
    fields = {field.name: field for field in upgrade.source.fields[shape.name]}
    looked_at = upgrade.carry.looked_at
    if looked_at is None:
        return False
    for name in looked_at | upgrade.carry.sometimes:
        # A record that has a nested key of such a name has no lane.
        if name in fields and not _is_closed(fields[name].type):
            return False
    return _Determination(upgrade, shape).holds()


def _is_closed(type_: Type) -> bool:
    return type_.words is not None or type_.exactly is not None or type_.kind == "boolean"


class _Determination:
    """Whether a valid source record that took the edits can fail the target only in ways its lane shows."""

    def __init__(self, upgrade: Upgrade, shape: Shape) -> None:
        self.carry = upgrade.carry
        self.source = upgrade.source
        self.target = upgrade.target
        self.shape = shape
        self.fields = {field.name: field for field in self.source.fields[shape.name]}
        self.made = made_by(operation for step in upgrade.steps for operation in step.migration.records)
        self.closed = frozenset(name for name, field in self.fields.items() if _is_closed(field.type))

    def holds(self) -> bool:
        for shape in self.target.declaration.shapes:
            # No record may take another shape on the way.
            if shape.name != self.shape.name and any(
                key in self.fields or self.carry.origin(key) != key for key in shape.keys
            ):
                return False
        if self.shape.name not in self.target.fields:
            return False
        fields = self.target.fields[self.shape.name]
        return all(self._field(field.name, field.type) for field in fields) and all(
            self._rule(rule) for rule in self.target.declaration.rules if rule.shape in ("", self.shape.name)
        )

    def _field(self, name: str, type_: Type) -> bool:
        origin = self.carry.origin(name)
        if origin is not None:
            before = self._source_type(origin)
            if before is not None and name.count(".") > origin.count(".") and _is_free(type_):
                return False  # it may be as deep as values may be already
            return before is None or before == type_ or origin in self.closed
        if type_.kind == "map":
            return self._source_type(name) in (None, type_)
        if type_.kind == "object":
            return all(self._field(f"{name}.{field.name}", field.type) for field in type_.fields)
        return True

    def _source_type(self, name: str) -> Type | None:
        """The type of a dotted field of the source; None where the source has no such field."""
        field = _field_at(name, self.source.fields[self.shape.name])
        return field.type if field else None

    def _rule(self, rule: Rule) -> bool:
        """Either everything it reads shows in the lane, or the source asked the same of the same values."""
        if rule.when is not None:
            name, words = rule.when
            if not self._shows(name):
                return False
            if name in self.made and self.made[name] not in words:
                return True
        if all(self._shows(name) for name in rule.reads):
            return True
        return any(self._same(old, rule) for old in self.source.declaration.rules)

    def _shows(self, name: str) -> bool:
        origin = self.carry.origin(name)
        return origin is None or origin in self.closed or self._source_type(origin) is None

    def _same(self, old: Rule, new: Rule) -> bool:
        """True where the source asked this rule of the very values that the target asks it of."""
        if old.check is not new.check or old.shape not in ("", self.shape.name):
            return False
        if old.when is not None and (old.when != new.when or self.carry.origin(old.when[0]) != old.when[0]):
            return False
        if len(old.reads) > len(new.reads):
            return False
        before, after = self.source.fields[self.shape.name], self.target.fields[self.shape.name]
        for name, origin in zip(new.reads, old.reads, strict=False):
            if self.carry.origin(name) != origin or _default(name, after) != _default(origin, before):
                return False
        defaults = [parameter.default for parameter in inspect.signature(new.check).parameters.values()]
        return all(
            _default(name, after) == defaults[position] and self._never_there(name)
            for position, name in enumerate(new.reads)
            if position >= len(old.reads)
        )

    def _never_there(self, name: str) -> bool:
        """True where no upgraded record has a field: the source has none, and no operation makes it."""
        return self.carry.origin(name) == name and self._source_type(name) is None


def _field_at(name: str, fields: Sequence[Field]) -> Field | None:
    """The declared field of a dotted name."""
    found: Field | None = None
    for step in name.split("."):
        found = next((field for field in fields if field.name == step), None)
        if found is None:
            return None
        fields = found.type.fields
    return found


def _default(name: str, fields: Sequence[Field]) -> Any:
    """What a rule is given for a dotted field that a record leaves out."""
    found = _field_at(name, fields)
    return found.default if found else None


def _is_free(type_: Type) -> bool:
    """True where a value of this type may nest as deep as any value may."""
    inner = [*type_.options, *(field.type for field in type_.fields)]
    if type_.item is not None:
        inner.append(type_.item)
    return type_.kind == "any" or any(map(_is_free, inner))


def lane_keys(upgrade: Upgrade, accepter: Accepter) -> Callable[[Sequence[Any]], list[object]]:
    """A function from decoded records to the keys of their lanes; None for a record that has no lane.

    The key holds what shows: the words of closed fields, which optional fields are there, and the metrics' names. A
    record that has one of the nested keys which operations speak of has none.
    """
    import msgspec

    terms, guards = [], []
    fields = upgrade.source.fields[accepter.shape.name]
    for field in fields:
        if _is_closed(field.type) and not (field.required and field.type.exactly is not None):
            terms.append(f"r.{field.name}")
        elif not field.required:
            terms.append(f"r.{field.name} is UNSET")
    metric_field = upgrade.source.declaration.metric_field
    if metric_field.endswith("[].name"):
        terms.append(f"tuple([m.name for m in r.{metric_field.removesuffix('[].name')}])")
    by_name = {field.name: field for field in fields}
    for name in sorted(upgrade.carry.named):
        top, _, inner = name.partition(".")
        if inner and top in by_name:
            step = inner.partition(".")[0]
            value = f"r.{top}"
            there = f"has({value}, {step!r})"
            if by_name[top].type.kind == "map":
                there = (
                    f"{step!r} in {value}" if by_name[top].required else f"({value} and {step!r} in {value})"
                )
            guards.append(there)
    code = f"({', '.join(terms)},)"
    if guards:
        code = f"None if {' or '.join(guards)} else {code}"
    names = {"UNSET": msgspec.UNSET, "has": _has}
    code = f"lambda records: [{code} for r in records]"
    function: Callable[[Sequence[Any]], list[object]] = eval(code, names)  # noqa: S307 - our own text
    return function


def _has(value: Any, key: str) -> bool:
    """True where a decoded value holds a key: a struct, a plain mapping, or neither."""
    import msgspec

    if isinstance(value, dict):
        return key in value
    return getattr(value, key, msgspec.UNSET) is not msgspec.UNSET


#: The only key of an object that stands for a value of the record; no record has it.
_SLOT = "\0"


def compile_remake(line: bytes, edits: Sequence[Edit]) -> Remake | None:
    """What makes of a decoded record the value whose encoding is its edited line, for canonical lines like `line`.

    A canonical line is what encoding its record gives. So a value that the edits leave alone is written again as it
    stood, and what the edits bring is the same for the whole lane. None where an edit looks into a value.
    """
    import msgspec

    edited = edit_text(parse_line(line).node, edits, max_depth=MAX_DEPTH)
    if edited.opened:
        return None
    glue = [piece for piece in encoded(edited.before) if isinstance(piece, bytes)]
    keys = [piece.rpartition(b'":')[0].rpartition(b'"')[2].decode() for piece in glue[:-1]]
    pieces = [
        piece if isinstance(piece, bytes) else b'{"\\u0000":%d}' % piece for piece in encoded(edited.after)
    ]
    names: dict[str, Any] = {}
    expression = _making(msgspec.json.decode(b"".join(pieces)), keys, names)
    if not expression:
        return None
    remake: Remake = eval(f"lambda r: {expression}", names)  # noqa: S307 - our own text
    return remake


def _making(value: Any, keys: Sequence[str], names: dict[str, Any]) -> str:
    """The expression that makes a value of the edited line; empty where it has no slot, so is the same in all lines."""
    import msgspec

    if isinstance(value, list):
        items = [_making(item, keys, names) for item in value]
        if not any(items):
            return ""
        made = [item or _constant(names, inner) for item, inner in zip(items, value, strict=True)]
        return f"[{', '.join(made)}]"
    if not isinstance(value, dict):
        return ""
    if list(value) == [_SLOT]:
        return f"r.{keys[value[_SLOT]]}"
    items = [_making(item, keys, names) for item in value.values()]
    if not any(items):
        return ""
    columns = {f"value_{number}": key for number, key in enumerate(value)}
    struct = msgspec.defstruct("Remade", [(name, Any) for name in columns], rename=columns, gc=False)
    made = [item or _constant(names, inner) for item, inner in zip(items, value.values(), strict=True)]
    return f"{_bound(names, struct)}({', '.join(made)})"


def _constant(names: dict[str, Any], value: object) -> str:
    """The name of a value that is the same in all lines: a plain one as it is, any other already encoded."""
    import msgspec

    if value is None or isinstance(value, (str, bool, int)):
        return _bound(names, value)
    return _bound(names, msgspec.Raw(msgspec.json.encode(value)))


def _bound(names: dict[str, Any], value: object) -> str:
    name = f"_{len(names)}"
    names[name] = value
    return name


class Lanes:
    """The lanes of one upgrade for the lines of one file.

    Attributes:
        usable: False where every record has to take the whole way.
        keys: the function that gives the lanes of records.
        known: the lanes met so far, by key.
    """

    def __init__(self, upgrade: Upgrade, accepter: Accepter) -> None:
        self.upgrade = upgrade
        self.accepter = accepter
        if accepter not in upgrade.lane_keys:
            upgrade.lane_keys[accepter] = is_determined(upgrade, accepter.shape), lane_keys(upgrade, accepter)
        self.usable, self.keys = upgrade.lane_keys[accepter]
        self.known: dict[object, Lane] = {}
        self._remakes: dict[object, Remake | None] = {}

    def learn(self, lane: Lane, record: Any, line: bytes, edited: bytes) -> None:
        """Let a lane learn from a canonical line of it to make records anew, and hold that against the edited line.

        What is learnt depends on the edits and on the fields that are there, so several lanes may share it.
        """
        import msgspec

        lane.learns = False
        there = tuple([value is msgspec.UNSET for value in msgspec.structs.astuple(record)])
        key = (repr(lane.edits), there)
        if key not in self._remakes:
            self._remakes[key] = compile_remake(line, lane.edits)
        remake = self._remakes[key]
        if remake is not None and msgspec.json.encode(remake(record)) == edited:
            lane.remake = remake

    def of_all(self, records: Sequence[Any], *, remaking: bool) -> list[Lane] | None:
        """The lane of each record; None where one has no lane yet, or is to be made anew by one that cannot."""
        met: Any = list(map(self.known.get, self.keys(records)))
        if any(lane is None or (remaking and lane.remake is None) for lane in set(met)):
            return None
        return met  # type: ignore[no-any-return]
