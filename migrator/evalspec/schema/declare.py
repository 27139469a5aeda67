"""The vocabulary in which a schema version is written (design.md, "Schema versions").

A version is one module: standard dataclasses for the record, tables for the closed vocabularies and for what
may go with what, functions for post-processing and for the rules across fields. Everything else (models,
JSON Schema, pages, fingerprints) is built from it when it is first needed; nothing here imports more than the
standard library's typing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalspec.schema.assembly import Assembly


@final
class Absent:
    """The type of `ABSENT`: a field that the record may leave out, and that has no value then."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> Literal[False]:
        return False


ABSENT: Final = Absent()


class OneOf(NamedTuple):
    """A text out of a closed vocabulary (a table whose keys are its words, or a sequence of words)."""

    words: Mapping[str, object] | Sequence[str]


class Exactly(NamedTuple):
    """One fixed value: the marker of a version."""

    value: int | str


class MinLen(NamedTuple):
    """The least length of a text, in code points, or of a list."""

    length: int


class MaxLen(NamedTuple):
    """The greatest length of a text, in code points, or of a list."""

    length: int


class Ge(NamedTuple):
    """The least value of a number (named as in `annotated_types`, whose import would double that of this module)."""

    least: float


class Distinct(NamedTuple):
    """A list in which no item stands twice, by the value of `key` where the items are objects."""

    key: str | None = None


class Pattern(NamedTuple):
    """A text of which something is true.

    Attributes:
        holds: whether it is.
        says: the end of the sentence "… must …".
        holds_for_all: the same of many texts at once, where that is quicker than to ask `holds` of each. It may be
            false where `holds` is true of each: then each is asked.
    """

    holds: Callable[[str], bool]
    says: str
    holds_for_all: Callable[[Sequence[str]], bool] | None = None


class Metric(NamedTuple):
    """A metric's default aggregation and direction."""

    aggregation: str = "mean"
    higher_is_better: bool = True


class Pair(NamedTuple):
    """What may go together: one row of a version's table. `output_type` is empty where a version has none."""

    category: str
    metrics: tuple[str, ...]
    post_process: tuple[str, ...]
    output_type: str = ""


class Rule(NamedTuple):
    """A rule across fields: a pure function of the fields it reads.

    Attributes:
        id: the rule id it reports.
        check: called with the values read, in order; gives what is wrong as a sentence, or None.
        reads: dotted fields. A field the record leaves out is given as its default.
        field: the field to point at; the first one read, unless said.
        shape: the one shape of record it is for; every shape, unless said.
        when: a field with a closed vocabulary, and the words with which the rule applies; always, unless said.
    """

    id: str
    check: Callable[..., str | None]
    reads: tuple[str, ...]
    field: str = ""
    shape: str = ""
    when: tuple[str, tuple[str, ...]] | None = None

    @property
    def at(self) -> str:
        """The dotted field that a finding of this rule points at."""
        return self.field or self.reads[0]


class Shape(NamedTuple):
    """One of the shapes a version's records come in.

    Attributes:
        name: what the version's page calls it.
        record: the dataclass of such a record; its annotations are the field rules.
        keys: a record with any of these keys, and none of an earlier shape's, has this shape.
        formats: the formats such records may live in.
    """

    name: str
    record: type[Any]
    keys: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("jsonl", "yaml")


class Declaration(NamedTuple):
    """A whole schema version, as its module declares it.

    Attributes:
        shapes: the shapes of a record; the first one is meant where none shows.
        categories: word to one line of meaning.
        metrics: word to `Metric`.
        post_process: rule name to its function, text to text.
        pairs: what may go together.
        metric_field: the field that names the metric; `metrics[].name` for a list of objects.
        rules: the rules across fields, in the order in which they are checked.
        assembly: how a prompt is put together.
        marker: the value of `spec_version` in its records; None for a version without one.
    """

    shapes: tuple[Shape, ...]
    categories: Mapping[str, str]
    metrics: Mapping[str, Metric]
    post_process: Mapping[str, Callable[[str], str]]
    pairs: tuple[Pair, ...]
    rules: tuple[Rule, ...]
    assembly: Assembly
    marker: int | str | None = None
    metric_field: str = "metric_name"
