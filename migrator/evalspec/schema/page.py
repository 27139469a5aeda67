"""A schema version as a page that a person can read: its whole contract, in tables (design.md, "Schema versions")."""

from __future__ import annotations

import ast
import typing
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.schema.assembly import Constant, FromField
from evalspec.schema.declare import ABSENT, OneOf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalspec.schema.declare import Declaration, Rule
    from evalspec.schema.fields import Field
    from evalspec.schema.schema import Schema


class Table(NamedTuple):
    """A table of a page.

    Attributes:
        title: what is in it.
        columns: the headings.
        rows: the cells, as plain text.
        code: how many columns from the left hold words of the contract rather than sentences.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    code: int = 1


class Page(NamedTuple):
    """A version's page: its id, what its module says of it, and its tables."""

    title: str
    text: str
    tables: tuple[Table, ...]


#: The rules that every version has (records.md, "v1 · inline tasks").
_EVERYWHERE = (
    ("missing_required", "a field that must be there is not"),
    ("unknown_field", "the version has no such field"),
    ("not_allowed", "a field of another shape, or one that does not go with the rest"),
    ("bad_type", "not the kind of value that the field takes"),
    ("bad_value", "the right kind of value, but not one that is allowed"),
    ("illegal_pair", "the category does not take this metric or post-process rule"),
    ("duplicate_task_id", "an earlier valid record of the file has the id"),
    ("version_unknown", "`spec_version` names no version"),
    ("bad_json", "the line is no JSON"),
    ("not_an_object", "the record is no object"),
    ("duplicate_key", "an object has a key twice"),
    ("bad_encoding", "the bytes are not UTF-8"),
    ("byte_order_mark", "a byte order mark stands before the record (in YAML a warning)"),
    ("bad_number", "a number that is not finite"),
    ("lone_surrogate", "half of a surrogate pair"),
    ("nul_character", "a NUL in a text"),
    ("line_too_long", "the line is longer than the limit"),
    ("too_deep", "values nest too deep"),
)


def page_of(schema: Schema) -> Page:
    """The page of a version."""
    declared = schema.declaration
    marker = "no `spec_version`" if declared.marker is None else f"`spec_version: {declared.marker}`"
    text = f"{module_doc(schema)}\n\nRecords of this version carry {marker}."
    tables = [
        *(_fields_table(schema, shape.name) for shape in declared.shapes),
        *_vocabularies(schema),
        _metrics(declared),
        _post_process(declared),
        _pairs(declared),
        _rules(declared),
        Table("Rules of every version", ("rule", "meaning"), _EVERYWHERE),
        _assembly(declared),
    ]
    return Page(schema.id, text, tuple(tables))


def module_doc(schema: Schema) -> str:
    """What a version's module says of itself."""
    with open(schema.path, encoding="utf-8") as stream:
        return ast.get_docstring(ast.parse(stream.read())) or ""


def _fields_table(schema: Schema, shape_name: str) -> Table:
    shapes = schema.declaration.shapes
    shape = next(shape for shape in shapes if shape.name == shape_name)
    title = "Fields" if len(shapes) == 1 else f"Fields of {shape.name} tasks"
    if len(shapes) > 1:
        title += f" ({' or '.join(shape.formats)}; known by {', '.join(shape.keys)})"
    rows = tuple(row for field in schema.fields[shape.name] for row in _field_rows("", field))
    return Table(title, ("field", "required", "value", "default"), rows, code=1)


def _field_rows(prefix: str, field: Field) -> Iterator[tuple[str, ...]]:
    default = "" if field.required or field.default is ABSENT else _literal(field.default)
    name = prefix + field.name
    type_ = field.type
    inner = type_ if type_.fields else type_.item
    shown = str(type_)
    if inner is not None and inner.fields:
        shown = shown.replace(str(inner._replace(minimum=None, maximum=None, distinct=None)), "object")
    yield name, "yes" if field.required else "no", shown, default
    if inner is not None:
        below = f"{name}." if inner is type_ else f"{name}[]."
        for item in inner.fields:
            yield from _field_rows(below, item)


def _literal(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _vocabularies(schema: Schema) -> Iterator[Table]:
    """The closed vocabularies that say what their words mean."""
    yield Table("Categories", ("category", "meaning"), tuple(schema.declaration.categories.items()))
    seen = {id(schema.declaration.categories)}
    for shape in schema.declaration.shapes:
        for name, words in _meanings(shape.record):
            if id(words) not in seen:
                seen.add(id(words))
                yield Table(f"Words of `{name}`", (name, "meaning"), tuple(words.items()))


def _meanings(record: type[Any]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for name, hint in typing.get_type_hints(record, include_extras=True).items():
        for item in _flat(hint):
            if isinstance(item, OneOf):
                words: Any = item.words
                if isinstance(words, dict) and all(isinstance(said, str) for said in words.values()):
                    yield name, words
            elif isinstance(item, type) and hasattr(item, "__dataclass_fields__"):
                yield from _meanings(item)


def _flat(hint: Any) -> Iterator[Any]:
    """A type hint and everything in it."""
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for inner in typing.get_args(hint):
        yield from _flat(inner)


def _metrics(declared: Declaration) -> Table:
    rows = tuple(
        (name, metric.aggregation, "higher" if metric.higher_is_better else "lower")
        for name, metric in declared.metrics.items()
    )
    return Table("Metrics", ("metric", "aggregation", "better"), rows, code=2)


def _post_process(declared: Declaration) -> Table:
    rows = tuple((name, sentence_of(rule)) for name, rule in declared.post_process.items())
    return Table("Post-process rules", ("rule", "what it gives"), rows)


def sentence_of(function: Any) -> str:
    """A function's docstring as one line."""
    return " ".join((function.__doc__ or "").split())


def _pairs(declared: Declaration) -> Table:
    with_output = any(pair.output_type for pair in declared.pairs)
    rows = []
    for pair in declared.pairs:
        row = (pair.category, pair.output_type) if with_output else (pair.category,)
        rows.append((*row, " ".join(pair.metrics), " ".join(pair.post_process)))
    columns = ("category", "output type") if with_output else ("category",)
    return Table(
        "What goes together", (*columns, "metrics", "post-process rules"), tuple(rows), code=len(columns)
    )


def _rules(declared: Declaration) -> Table:
    rows = tuple((rule.id, rule.at, _when(rule), sentence_of(rule.check)) for rule in declared.rules)
    return Table("Rules across fields", ("rule", "field", "of", "meaning"), rows, code=2)


def _when(rule: Rule) -> str:
    said = [f"{rule.shape} tasks"] if rule.shape else []
    if rule.when is not None:
        said.append(f"{rule.when[0]} {' or '.join(rule.when[1])}")
    return ", ".join(said) or "every task"


def _assembly(declared: Declaration) -> Table:
    rows = []
    for name, source in declared.assembly._asdict().items():
        match source:
            case None:
                continue
            case Constant(text):
                said = f"always {_literal(text)}"
            case FromField(field, default):
                said = f"the field {field}, else {_literal(default)}"
            case _ if name.startswith("example_"):
                said = f"the key {source} of an example"
            case _:
                said = f"the field {source}"
        rows.append((name, said))
    return Table("How a prompt is assembled", ("part", "from"), tuple(rows))


# ── As text and as Markdown ──────────────────────────────────────────────────────────────────────────────────


def page_text(page: Page, *, width: int = 100) -> str:
    """The page for a terminal, its tables aligned."""
    pieces = [f"{page.title}\n{'=' * len(page.title)}\n\n{page.text}\n"]
    pieces += [
        f"\n{table.title}\n{'-' * len(table.title)}\n\n{_text_table(table, width)}" for table in page.tables
    ]
    return "".join(pieces)


def _text_table(table: Table, width: int) -> str:
    import textwrap

    cells = [table.columns, *table.rows]
    wanted = [max(len(row[place]) for row in cells) for place in range(len(table.columns))]
    room = max(width - 2 * (len(wanted) - 1), 40)
    # The widest column gives way, as often as needed, down to the words that cannot be broken.
    while sum(wanted) > room and max(wanted) > 24:
        widest = wanted.index(max(wanted))
        wanted[widest] = max(24, wanted[widest] - (sum(wanted) - room))
    lines = []
    for row in cells:
        parts = [
            textwrap.wrap(text, size, break_long_words=False, break_on_hyphens=False) or [""]
            for text, size in zip(row, wanted, strict=True)
        ]
        for number in range(max(map(len, parts))):
            shown = [part[number] if number < len(part) else "" for part in parts]
            line = "  ".join(text.ljust(size) for text, size in zip(shown, wanted, strict=True))
            lines.append(line.rstrip() + "\n")
    return "".join(lines)


def page_markdown(page: Page) -> str:
    """The page as Markdown."""
    pieces = [f"# {page.title}\n\n{page.text}\n"]
    for table in page.tables:
        pieces.append(f"\n## {table.title}\n\n")
        rows: Sequence[Sequence[str]] = [table.columns, ["---"] * len(table.columns)]
        pieces += [f"| {' | '.join(row)} |\n" for row in rows]
        for row in table.rows:
            shown = [_cell(text, code=place < table.code) for place, text in enumerate(row)]
            pieces.append(f"| {' | '.join(shown)} |\n")
    return "".join(pieces)


def _cell(text: str, *, code: bool) -> str:
    safe = text.replace("|", "\\|")
    if code:
        return f"`{safe}`" if safe else ""
    return safe.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
