"""Small changes of a version or a migration, made in memory, that its fixtures should notice.

A schema version loses a word of a vocabulary, a pair or a rule, takes any word, post-processes differently, or puts
prompts together with another delimiter; a migration loses an operation, or an entry of a table. A change that makes no
difference (a pair that another row has too, a rule that gives the same for every text at hand) is none.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from evalspec.schema.assembly import Constant, FromField
from evalspec.schema.family import Families, Family
from evalspec.schema.schema import Schema
from evalspec.schema.struct import allowed_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalspec.check.spec.fixtures import Spec
    from evalspec.migrate.migration import Migration
    from evalspec.migrate.operations import RecordOperation
    from evalspec.schema.declare import Declaration
    from evalspec.schema.fields import Field, Type

#: Texts that rules are tried with, beside those of the fixtures.
PROBES = (
    "",
    " a ",
    "The answer is B. 3.5",
    "A\nb\n",
    "Yes\r\nno",
    "x ```py\nf(1)\n``` y",
    "Positive, not -1,200",
)


class Mutant(NamedTuple):
    """A specification with one thing changed.

    Attributes:
        id: the version, or what makes it, that is changed.
        about: what would go unnoticed, as the middle of a sentence.
        lacks: what fixture would notice.
        words: what in its file it is about, the nearest first.
        path: its file.
        noticed_by: the checks that are likely to notice: of versions, and of steps.
        spec: makes it.
        near: what stands on the same line of the file, where the words stand on several.
    """

    id: str
    about: str
    lacks: str
    words: tuple[str, ...]
    path: str
    noticed_by: tuple[tuple[str, ...], tuple[str, ...]]
    spec: Callable[[], Spec]
    near: str = ""


_BY_TASKS = (("tasks", "bad tasks"), ("records",))
_BY_OUTPUTS = (("post-process examples",), ("outputs",))
_BY_PROMPTS = (("prompts", "template prompts"), ("prompts",))


def of_version(spec: Spec, schema: Schema, texts: Iterable[str]) -> Iterator[Mutant]:
    """The changes of a schema version.

    Args:
        spec: the specification.
        schema: the version.
        texts: what post-process rules are tried with, to see which changes make a difference.
    """
    yield from _words(spec, schema)
    yield from _pairs(spec, schema)
    yield from _rules(spec, schema)
    yield from _post_process(spec, schema, [*PROBES, *texts])
    yield from _assembly(spec, schema)


def _changed(spec: Spec, schema: Schema, declared: Declaration, fields: Any = None) -> Callable[[], Spec]:
    """The specification in which a version declares something else."""

    def make() -> Spec:
        other = Schema(schema.family, schema.version, declared, schema.path)
        if fields is not None:
            other.fields = fields
        families = spec.project.families
        by_name = dict(families.by_name)
        by_name[schema.family] = _with(by_name[schema.family], other)
        changed = copy.copy(spec)
        changed.project = copy.copy(spec.project)
        changed.project.families = Families(by_name, families.default)
        return changed

    return make


def _with(family: Family, schema: Schema) -> Family:
    """A family in which one version is another one; versions that were built on it stay."""
    other = Family(family.name, family.root)
    other.put({version: family.schema(version) for version in family.versions} | {schema.version: schema})
    return other


# ── Vocabularies, pairs and rules ────────────────────────────────────────────────────────────────────────────


def _words(spec: Spec, schema: Schema) -> Iterator[Mutant]:
    seen: dict[tuple[str, ...], str] = {}
    for fields in schema.fields.values():
        for name, words in _vocabularies(fields):
            seen.setdefault(words, name)
    for words, name in seen.items():
        for word in words if len(words) > 1 else ():
            left = tuple(each for each in words if each != word)
            yield Mutant(
                schema.id, f"{name} could lose {word}", f"a task with {name} {word}",
                (word, *words), schema.path, _BY_TASKS,
                _changed(spec, schema, schema.declaration, _renamed(schema, words, left)),
            )  # fmt: skip
        yield Mutant(
            schema.id, f"{name} could be any text", f"a bad task with another {name}",
            words, schema.path, _BY_TASKS,
            _changed(spec, schema, schema.declaration, _renamed(schema, words, None)),
        )  # fmt: skip


def _vocabularies(fields: Iterable[Field], above: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    for field in fields:
        name = f"{above}{field.name}"
        inner = field.type
        while inner.item is not None:
            name, inner = f"{name}[]", inner.item
        if inner.words is not None:
            yield name, inner.words
        yield from _vocabularies(inner.fields, f"{name}.")


def _renamed(
    schema: Schema, words: tuple[str, ...], left: tuple[str, ...] | None
) -> dict[str, tuple[Field, ...]]:
    """The fields of every shape, each with this vocabulary having another one."""

    def of_type(type_: Type) -> Type:
        return type_._replace(
            words=left if type_.words == words else type_.words,
            item=None if type_.item is None else of_type(type_.item),
            fields=of_fields(type_.fields),
        )

    def of_fields(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(field._replace(type=of_type(field.type)) for field in fields)

    return {name: of_fields(fields) for name, fields in schema.fields.items()}


def _pairs(spec: Spec, schema: Schema) -> Iterator[Mutant]:
    declared = schema.declaration
    allowed = allowed_pairs(declared)
    for number, pair in enumerate(declared.pairs):
        said = f"{pair.category} ({pair.output_type})" if pair.output_type else pair.category
        for kind, names in (("metrics", pair.metrics), ("post_process", pair.post_process)):
            for name in names:
                left = pair._replace(**cast("Any", {kind: tuple(each for each in names if each != name)}))
                pairs = (*declared.pairs[:number], left, *declared.pairs[number + 1 :])
                changed = declared._replace(pairs=pairs)
                if allowed_pairs(changed) != allowed:
                    yield Mutant(
                        schema.id, f"{said} could no longer go with {name}", f"a task of {said} with {name}",
                        (pair.category, name), schema.path, _BY_TASKS, _changed(spec, schema, changed),
                        near=f'Pair("{pair.category}"',
                    )  # fmt: skip
    whole = [
        pair._replace(metrics=tuple(declared.metrics), post_process=tuple(declared.post_process))
        for pair in declared.pairs
    ]
    changed = declared._replace(pairs=tuple(whole))
    if allowed_pairs(changed) != allowed:
        yield Mutant(
            schema.id, "every metric and rule could go with every category",
            "a bad task with a metric or a rule that does not go with its category",
            tuple(pair.category for pair in declared.pairs), schema.path, _BY_TASKS, _changed(spec, schema, changed),
        )  # fmt: skip


def _rules(spec: Spec, schema: Schema) -> Iterator[Mutant]:
    declared = schema.declaration
    for number, rule in enumerate(declared.rules):
        left = (*declared.rules[:number], *declared.rules[number + 1 :])
        about = f"rule {rule.id} of {rule.at} ({rule.check.__name__})"
        yield Mutant(
            schema.id, f"{about} could be gone", f"a bad task that breaks {about}",
            (rule.id,), schema.path, _BY_TASKS, _changed(spec, schema, declared._replace(rules=left)),
            near=rule.check.__name__,
        )  # fmt: skip


# ── Post-process rules ───────────────────────────────────────────────────────────────────────────────────────

#: Other rules, made of one: what each does, and how.
_OTHERWISE: dict[str, Callable[[Callable[[str], str]], Callable[[str], str]]] = {
    "leave the text as it is": lambda _: lambda text: text,
    "give nothing": lambda _: lambda _text: "",
    "give its output in lower case": lambda rule: lambda text: rule(text).lower(),
    "give its output without white space around it": lambda rule: lambda text: rule(text).strip(),
    "give the first line of its output": lambda rule: lambda text: rule(text).partition("\n")[0],
    "read the text in upper case": lambda rule: lambda text: rule(text.upper()),
    "read the first line of the text": lambda rule: lambda text: rule(text.partition("\n")[0]),
    "read the last line of the text": lambda rule: lambda text: rule(text.rpartition("\n")[2]),
    "miss the first character": lambda rule: lambda text: rule(text[1:]),
}


def _post_process(spec: Spec, schema: Schema, texts: list[str]) -> Iterator[Mutant]:
    declared = schema.declaration
    for name, rule in declared.post_process.items():
        for does, change in _OTHERWISE.items():
            other = change(rule)
            text = next((text for text in texts if rule(text) != other(text)), None)
            if text is None:
                continue
            changed = declared._replace(post_process={**declared.post_process, name: other})
            yield Mutant(
                schema.id, f"post-process rule {name} could {does}",
                f"an example of {name}: {rule(text)!r} of {text!r}, and not {other(text)!r}",
                (name,), schema.path, _BY_OUTPUTS, _changed(spec, schema, changed),
            )  # fmt: skip


# ── Prompts ──────────────────────────────────────────────────────────────────────────────────────────────────

_PARTS = ("system", "target_delimiter", "fewshot_delimiter", "gen_prefix")


def _assembly(spec: Spec, schema: Schema) -> Iterator[Mutant]:
    assembly = schema.declaration.assembly
    for part in _PARTS:
        source = getattr(assembly, part)
        text = source.text if isinstance(source, Constant) else source.default
        shifted = f"{text}\n" if text.strip(" ") == "" else text.rstrip("\n")
        others: list[tuple[str, str, Constant | FromField]]
        if isinstance(source, Constant):
            others = [
                (f"be {shifted!r}", f"a line of prompts.jsonl with the usual {part}", Constant(shifted))
            ]
        else:
            others = [
                (
                    f"be {shifted!r} by default",
                    f"a line of prompts.jsonl with the usual {part}",
                    source._replace(default=shifted),
                ),
                (
                    f"not be read from {source.name}",
                    f"a line of prompts.jsonl whose task has a {source.name} of its own",
                    Constant(text),
                ),
            ]
        for does, lacks, other in others:
            changed = schema.declaration._replace(assembly=assembly._replace(**cast("Any", {part: other})))
            yield Mutant(
                schema.id, f"the {part} of prompts could {does}", lacks,
                (part, "assembly"), schema.path, _BY_PROMPTS, _changed(spec, schema, changed),
            )  # fmt: skip


# ── Migrations ───────────────────────────────────────────────────────────────────────────────────────────────


def of_step(spec: Spec, step: Migration) -> Iterator[Mutant]:
    """The changes of a migration: each operation on records left out, and each entry of a table."""
    from evalspec.migrate.value_operations import MapValues

    def mutant(about: str, lacks: str, words: tuple[str, ...], operations: list[RecordOperation]) -> Mutant:
        def make() -> Spec:
            changed = copy.copy(spec)
            changed.history = copy.copy(spec.history)
            changed.history.steps = {**spec.history.steps, step.id: step.with_records(operations)}
            return changed

        return Mutant(step.id, about, lacks, words, step.path, ((), ("records",)), make)

    for number, operation in enumerate(step.records):
        words = tuple(sorted({each.partition(".")[0] for each in operation.alters()} | operation.alters()))
        without = [*step.records[:number], *step.records[number + 1 :]]
        said = operation.describe()
        yield mutant(
            f"the step could leave out: {said}", f"a pair of records that it is about: {said}", words, without
        )
        if isinstance(operation, MapValues):
            for key in operation.table:
                table = {each: value for each, value in operation.table.items() if each is not key}
                fewer: Any = MapValues(operation.name, table, operation.rename, operation.keep_others)
                about = f"the table of {operation.name} could lack {key}"
                changed = [*step.records[:number], fewer, *step.records[number + 1 :]]
                yield mutant(
                    about, f"a record with {operation.name} {key}", (str(key), operation.name), changed
                )
