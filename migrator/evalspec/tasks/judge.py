"""Says of the lines of a JSONL file whether they are valid records, quickly where they are.

A chunk whose records are all of the version last seen goes through a struct and a flat check, and is proved to hold
no repeated key; anything else is looked at line by line, and only a line that the struct refuses is explained in full
(design.md, "Schema versions": fast accept, slow explain).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import FormatError
from evalspec.tasks import findings
from evalspec.tasks.ids import IdHashes, Twins
from evalspec.writing.signals import import_held

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.errors import Finding
    from evalspec.formats.jsonl import ParsedLine
    from evalspec.formats.lines import Chunk, LongLine
    from evalspec.schema.family import Families
    from evalspec.schema.schema import Schema
    from evalspec.schema.struct import Accepter

_SPACE = b" \t\r\n"
_NUL = rb"\u0000"


class Batch(NamedTuple):
    """A chunk whose lines are all valid records of one version and shape, one each.

    Attributes:
        chunk: the lines.
        first_line: the number of the first one, from 1.
        schema: their version.
        accepter: the fast check they passed.
        records: the decoded structs, one a line.
        canonical: True where the lines are, byte for byte, what the accepter would write for the records.
    """

    chunk: Chunk
    first_line: int
    schema: Schema
    accepter: Accepter
    records: Sequence[Any]
    canonical: bool


class Line(NamedTuple):
    """One line looked at by itself.

    Attributes:
        number: its number, from 1.
        data: its bytes with its line end; empty for a line that was too long to hold.
        schema: its record's version; None where that is unknown, or the line is blank.
        record: the record as plain data, where the line is a valid record.
        findings: what is wrong with it; none for a valid record and for a blank line.
        span: offset and length in the file, in bytes.
    """

    number: int
    data: bytes
    schema: Schema | None
    record: dict[str, Any] | None
    findings: tuple[Finding, ...]
    span: tuple[int, int]


class Judge:
    """Judges the chunks of one file, in order.

    Args:
        families: the versions there are.
        path: the file's name, for findings.
        unmarked: the version of a record that has no `spec_version`.
        all_errors: report every violation of a record, not only the first.
        twins: on a second reading, the ids to compare exactly.

    Attributes:
        schemas: how many records there were of each version, by id; those of unknown version are not counted.
        valid: how many were valid.
        lines: how many lines there were.
        ids: the hashes of the valid records' ids.
    """

    def __init__(
        self,
        families: Families,
        path: str,
        *,
        unmarked: Schema,
        all_errors: bool = False,
        twins: Twins | None = None,
    ) -> None:
        self.families = families
        self.path = path
        self.unmarked = unmarked
        self.all_errors = all_errors
        self.twins = twins
        self.schemas: Counter[str] = Counter()
        self.valid = 0
        self.lines = 0
        self.ids = IdHashes()
        self._schema = unmarked
        self._accepter: Accepter | None = None

    def judge(self, chunk: Chunk | LongLine) -> Batch | list[Line]:
        """One batch where the whole chunk is sound and alike, else its lines (blank ones among them)."""
        from evalspec.formats.lines import LongLine

        if isinstance(chunk, LongLine):
            self.lines += 1
            return [self._long(chunk)]
        if self._accepter is None:
            self._begin(chunk)
        batch = self._as_batch(chunk)
        return list(self._lines(chunk)) if batch is None else batch

    # ── A whole chunk ────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, chunk: Chunk) -> None:
        """Guess the version, and the order in which the file writes its keys, from the first lines."""
        import_held("msgspec")
        import msgspec

        orders: dict[tuple[str, ...], None] = {}
        for line in chunk.data[:65536].split(b"\n")[:20]:
            try:
                record = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(record, dict):
                schema = self._schema_of(record)
                if not orders:
                    self._schema = schema or self.unmarked
                if schema is self._schema:
                    orders[tuple(record)] = None
        self._accepter = self._schema.accepter(order=merged_order(list(orders)))

    def _as_batch(self, chunk: Chunk) -> Batch | None:
        import msgspec

        accepter = self._accepter
        assert accepter is not None
        try:
            records = accepter.decode_lines(chunk.data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if not accepter.check(records) or chunk.data.rfind(_NUL) >= 0:  # twice as fast as `in`
            return None
        canonical = accepter.writes(records, chunk.data)
        if not (canonical or _has_one_record_a_line(chunk.data, len(records), accepter.count_keys(records))):
            return None
        ids = [record.task_id for record in records]
        if self.twins is not None and self.twins.may_hold(ids):
            return None
        self.ids.add(ids)
        first_line = self.lines + 1
        self.lines += len(records)
        self.schemas[self._schema.id] += len(records)
        self.valid += len(records)
        return Batch(chunk, first_line, self._schema, accepter, records, canonical)

    # ── Line by line ─────────────────────────────────────────────────────────────────────────────────────────

    def _lines(self, chunk: Chunk) -> Iterator[Line]:
        offset = chunk.offset
        for data in _split(chunk.data):
            self.lines += 1
            number = self.lines
            span = (offset, len(data))
            if data.strip(_SPACE):
                yield self._line(number, data, span)
            else:
                yield Line(number, data, None, None, (), span)
            offset += len(data)

    def _line(self, number: int, data: bytes, span: tuple[int, int]) -> Line:
        from evalspec.formats.jsonl import parse_line, place

        try:
            parsed = parse_line(data, line_number=number)
        except FormatError as error:
            return Line(number, data, None, None, (findings.of_format_error(self.path, error),), span)
        record = parsed.value
        schema = self._schema_of(record)
        if schema is None:
            return Line(number, data, None, None, (self._unknown_version(number, parsed),), span)
        self.schemas[schema.id] += 1
        violations = schema.check(record, format="jsonl")
        if violations:
            wanted = violations if self.all_errors else violations[:1]
            found = tuple(
                findings.of_violation(self.path, number, place(parsed, violation.path), record, violation)
                for violation in wanted
            )
            return Line(number, data, schema, None, found, span)
        task = record["task_id"]
        self.ids.add([task])
        if self.twins is not None:
            first = self.twins.first_line(task, number)
            if first is not None:
                column = place(parsed, ("task_id",))
                found = (findings.duplicate(self.path, number, column, task, first),)
                return Line(number, data, schema, None, found, span)
        self.valid += 1
        return Line(number, data, schema, record, (), span)

    def _schema_of(self, record: dict[str, Any]) -> Schema | None:
        if "spec_version" not in record:
            return self.unmarked
        return self.families.of_marker(record["spec_version"])

    def _unknown_version(self, number: int, parsed: ParsedLine) -> Finding:
        from evalspec.formats.jsonl import place

        column = place(parsed, ("spec_version",))
        return findings.unknown_version(self.path, number, column, parsed.value, self.families)

    def _long(self, long: LongLine) -> Line:
        error = FormatError(
            "line_too_long",
            f"the line has {long.length:,} bytes, more than a line may have",
            line=self.lines,
            fix="one line is one task; split it, keep its text elsewhere, or raise the limit (--max-line)",
        )
        found = (findings.of_format_error(self.path, error),)
        return Line(self.lines, b"", None, None, found, (long.offset, long.length))


def merged_order(orders: Sequence[Sequence[str]]) -> list[str]:
    """One order of keys that agrees with as many of `orders` as one can: a new key goes behind its predecessor."""
    merged: list[str] = []
    for order in orders:
        position = 0
        for key in order:
            if key in merged:
                position = merged.index(key) + 1
            else:
                merged.insert(position, key)
                position += 1
    return merged


def _has_one_record_a_line(data: bytes, records: int, keys: int) -> bool:
    """Proof, from counts alone, that each line holds one record and that no key stands twice.

    An object's `}` can be followed by a line end and `{` only between two records, so as many of these as there are
    gaps, and as many line ends as records, leave no record on two lines and no two on one. A `":` ends a key, or is
    text behind an escaped quote; as many as the records have keys, with none hidden behind white space, leave no
    repeated key.
    """
    if b" :" in data or (b"\t" in data and b"\t:" in data) or (b"\r" in data and b"\r:" in data):
        return False
    gap = b"}\r\n{" if data.endswith(b"\r\n") else b"}\n{"
    ends = data.count(b"\n") + (not data.endswith(b"\n"))
    if ends != records or data.count(gap) != records - 1 or not data.startswith(b"{"):
        return False
    return data.count(b'":') == keys


def _split(data: bytes) -> list[bytes]:
    """Lines as line feeds alone end them, with their ends."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
