"""One file from old bytes to new: read, validate, apply, validate, prove. Nothing is written here but to a sink."""

from __future__ import annotations

from collections import Counter
from operator import ne
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from evalspec.errors import Finding
from evalspec.formats.edits import EditError
from evalspec.migrate.lanes import Lane, Lanes
from evalspec.migrate.operations import OperationError
from evalspec.migrate.outcome import ChangedPrompt
from evalspec.migrate.rendering import hold_to_promise, show
from evalspec.migrate.upgrade import step_edits
from evalspec.tasks.judge import Batch, Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalspec.formats.edits import Edit
    from evalspec.formats.lines import Chunk, LongLine
    from evalspec.migrate.outcome import FileOutcome, Outcome
    from evalspec.migrate.upgrade import Upgrade, Upgrades
    from evalspec.schema.schema import Schema
    from evalspec.tasks import Reading
    from evalspec.tasks.ids import Twins
    from evalspec.tasks.judge import Line

    Sink = Callable[[bytes], object]


class Options(NamedTuple):
    """How a migration is carried out.

    Attributes:
        prove_all: render every record, also where the operations prove the promise.
        want_ids: list the ids of tasks whose outputs change.
        want_changes: keep line, old and new bytes of every edit.
        want_prompts: keep so many changed prompts of each file and step.
    """

    prove_all: bool = False
    want_ids: bool = False
    want_changes: bool = False
    want_prompts: int = 0


class Upgraded(NamedTuple):
    """What the whole way did to one record.

    Attributes:
        edits: what to change in its text; none where it cannot be upgraded.
        problem: why it cannot be.
        touched: the steps that change its outputs, by index.
        rendered: the steps that were proved by rendering, by index, each with what it did to the prompt.
    """

    edits: list[Edit]
    problem: Finding | None = None
    touched: tuple[int, ...] = ()
    rendered: tuple[tuple[int, ChangedPrompt], ...] = ()


class RecordUpgrader:
    """Takes single records the whole way: operations, the target's rules, the promises."""

    def __init__(self, upgrades: Upgrades, outcome: Outcome, options: Options) -> None:
        self.upgrades = upgrades
        self.outcome = outcome
        self.options = options

    def upgrade(
        self,
        record: dict[str, Any],
        schema: Schema,
        path: str,
        line: int,
        column: int = 1,
        *,
        format: str = "jsonl",  # noqa: A002
    ) -> Upgraded:
        """Upgrade a valid record, which is changed; the edits do the same to its text. `accept` counts it.

        Raises:
            BrokenPromise: a prompt changes that was promised not to.
            UsageError: no way leads from the record's version to the target.
        """
        upgrade = self.upgrades.from_(schema)
        task = record["task_id"]
        edits: list[Edit] = []
        touched: list[int] = []
        rendered: list[tuple[int, ChangedPrompt]] = []
        for index, step in enumerate(upgrade.steps):
            render = self.options.prove_all or not step.proved
            before = show(record, step.source) if render else None
            if record_rule(record) in step.migration.changed_rules:
                touched.append(index)
            try:
                edits += step_edits(step, record)
            except (OperationError, EditError) as error:
                field = getattr(error, "field", None)
                return Upgraded([], _cannot(path, line, column, task, field, f"{step.migration.id}: {error}"))
            violations = (
                step.target.check(record, format=format) if render or step is upgrade.steps[-1] else []
            )
            if violations:
                first = violations[0]
                message = f"{step.migration.id} makes {first.field} {first.rule}: {first.message}"
                return Upgraded([], _cannot(path, line, column, task, first.field, message))
            if before is not None:
                after = show(record, step.target)
                if not before.unknown:
                    hold_to_promise(step, before, after, path, line, task)
                rendered.append((index, ChangedPrompt(path, line, task, before, after)))
        return Upgraded(edits, None, tuple(touched), tuple(rendered))

    def accept(self, upgrade: Upgrade, task: str, upgraded: Upgraded) -> None:
        """Count a record whose text was edited."""
        self.count(upgrade, 1, upgraded.touched, task)
        for index, prompt in upgraded.rendered:
            outcome = self.outcome.step(upgrade.steps[index].migration)
            unknown, changed = prompt.before.unknown, prompt.before != prompt.after
            outcome.unknown += bool(unknown)
            outcome.reason = outcome.reason or unknown
            if unknown:
                continue
            outcome.rendered += 1
            outcome.changed += changed
            if changed and len(outcome.prompts) < self.options.want_prompts:
                outcome.prompts.append(prompt)

    def count(self, upgrade: Upgrade, records: int, touched: Sequence[int] = (), task: str = "") -> None:
        """Count records that took every step, and one that its changed rules touch."""
        for step in upgrade.steps:
            self.outcome.step(step.migration).records += records
        for index in touched:
            self.touch(upgrade, index, 1)
            if self.options.want_ids:
                self.list(upgrade, index, task)

    def touch(self, upgrade: Upgrade, index: int, records: int) -> None:
        """Count records whose outputs a step can change."""
        self.outcome.step(upgrade.steps[index].migration).touched += records

    def list(self, upgrade: Upgrade, index: int, task: str) -> None:
        """Note the id of a task whose outputs a step can change."""
        self.outcome.step(upgrade.steps[index].migration).tasks.append(task)


def record_rule(record: dict[str, Any]) -> str:
    """The record's post-process rule."""
    rule = record.get("post_process")
    return rule if isinstance(rule, str) else ""


def _cannot(path: str, line: int, column: int, task: str, field: str | None, message: str) -> Finding:
    fix = "change the record so that the migration fits, or leave it out"
    return Finding("cannot_upgrade", "error", path, line, column, task, field, message, "", fix)


class JsonlConverter:
    """Converts the lines of one JSONL file (or of a range of one)."""

    def __init__(
        self,
        upgrader: RecordUpgrader,
        reading: Reading,
        file: FileOutcome,
        *,
        twins: Twins | None = None,
    ) -> None:
        self.upgrader = upgrader
        self.file = file
        self.judge = Judge(
            reading.families, file.path, unmarked=reading.unmarked, all_errors=reading.all_errors, twins=twins
        )
        self._lanes: dict[object, Lanes] = {}
        self._editors: dict[str, Callable[[bytes], bytes]] = {}

    def convert(self, chunk: Chunk | LongLine, source: BinaryIO, sink: Sink) -> None:
        """Give `sink` the new bytes of a chunk. A bad line goes through as it is, its finding to the file's."""
        verdict = self.judge.judge(chunk)
        if isinstance(verdict, Batch):
            self.file.records += len(verdict.records)
            self._batch(verdict, sink)
            return
        for line in verdict:
            self._line(line, source, sink)

    # ── Whole chunks ─────────────────────────────────────────────────────────────────────────────────────────

    def _batch(self, batch: Batch, sink: Sink) -> None:
        upgrade = self.upgrader.upgrades.from_(batch.schema)
        if not upgrade.steps:
            sink(batch.chunk.data)
            return
        lanes = self._lanes_of(upgrade, batch)
        if (
            lanes.usable
            and not self.upgrader.options.prove_all
            and all(step.proved for step in upgrade.steps)
        ):
            sink(self._by_lanes(batch, lanes))
            return
        lines = batch.chunk.data.split(b"\n")
        final = len(lines) - 1
        out: list[bytes] = []
        for index, line in enumerate(lines[: len(batch.records)]):
            end = b"" if index == final else b"\n"
            out.append(self._whole_way_of(line, end, batch.first_line + index, batch.schema)[0])
        sink(b"".join(out))

    def _lanes_of(self, upgrade: Upgrade, batch: Batch) -> Lanes:
        key = (batch.schema.id, batch.accepter)
        if key not in self._lanes:
            self._lanes[key] = Lanes(upgrade, batch.accepter)
        return self._lanes[key]

    def _by_lanes(self, batch: Batch, lanes: Lanes) -> bytes:
        """The new bytes of lines whose edits follow from their lanes; the first of a lane goes the whole way.

        Records of canonical lines are made anew and encoded all at once, other lines are edited as text.
        """
        options = self.upgrader.options
        remaking = batch.canonical and not options.want_changes
        met = None if options.want_changes else lanes.of_all(batch.records, remaking=remaking)
        if met is None:
            return self._one_by_one(batch, lanes, remaking)
        self.upgrader.count(lanes.upgrade, len(met))
        changed = 0
        for lane, count in Counter(met).items():
            changed += count if lane.edits else 0
            for index in lane.touched:
                self.upgrader.touch(lanes.upgrade, index, count)
        if options.want_ids:
            for lane, record in zip(met, batch.records, strict=True):
                for index in lane.touched:
                    self.upgrader.list(lanes.upgrade, index, record.task_id)
        data = batch.chunk.data
        if remaking:
            made = [lane.remake(record) for lane, record in zip(met, batch.records, strict=True)]  # type: ignore[misc]
            self.file.changed += changed
            return batch.accepter.encode_lines(made)[: None if data.endswith(b"\n") else -1]
        lines = data.split(b"\n")
        new = [lane.edit(line) for lane, line in zip(met, lines, strict=False)]
        self.file.changed += sum(map(ne, new, lines))
        return b"\n".join([*new, *lines[len(new) :]])

    def _one_by_one(self, batch: Batch, lanes: Lanes, remaking: bool) -> bytes:
        """The new bytes of lines of which some are the first of their lane, or are edited as text."""
        import msgspec

        lines = batch.chunk.data.split(b"\n")
        final = b"" if lines[-1] else b"\n"
        noting = self.upgrader.options.want_changes
        written: Callable[[bytes], Any] = msgspec.Raw if remaking else bytes
        known = lanes.known
        out: list[Any] = []
        add = out.append
        for index, (record, key) in enumerate(zip(batch.records, lanes.keys(batch.records), strict=True)):
            line = lines[index]
            lane = known.get(key)
            if lane is None:
                end = b"\n" if index < len(lines) - 1 else b""
                number = batch.first_line + index
                new, upgraded = self._whole_way_of(line, end, number, batch.schema)
                new = new.removesuffix(b"\n")
                add(written(new))
                if key is not None and upgraded.problem is None:
                    known[key] = lane = Lane(upgraded.edits, upgraded.touched)
                    if remaking:
                        lanes.learn(lane, record, line, new)
                continue
            if remaking and lane.learns:
                lanes.learn(lane, record, line, lane.edit(line))
            if remaking and lane.remake is not None:
                add(lane.remake(record))
                self.file.changed += bool(lane.edits)
            else:
                new = lane.edit(line)
                add(written(new))
                if new != line:
                    self.file.changed += 1
                    if noting:
                        end = b"\n" if index < len(lines) - 1 else b""
                        self.file.changes.append((batch.first_line + index, line + end, new + end))
            self.upgrader.count(lanes.upgrade, 1, lane.touched, record.task_id)
        if not remaking:
            return b"\n".join(out) + final
        encoded = batch.accepter.encode_lines(out)
        return encoded if final else encoded[:-1]

    # ── Single lines ─────────────────────────────────────────────────────────────────────────────────────────

    def _line(self, line: Line, source: BinaryIO, sink: Sink) -> None:
        if line.findings or line.record is None:
            self.file.records += bool(line.findings)
            self.file.bad += line.findings
            if line.data:
                sink(line.data)
            elif line.span[1]:
                _copy(source, line.span, sink)
            return
        self.file.records += 1
        assert line.schema is not None
        end = b"\n" if line.data.endswith(b"\n") else b""
        text = line.data.removesuffix(b"\n")
        upgrade = self.upgrader.upgrades.from_(line.schema)
        if not upgrade.steps:
            sink(line.data)
            return
        sink(self._whole_way(text, end, line.number, line.schema, line.record)[0])

    def _whole_way_of(self, line: bytes, end: bytes, number: int, schema: Schema) -> tuple[bytes, Upgraded]:
        """As `_whole_way`, of a line of a batch."""
        import msgspec

        return self._whole_way(line, end, number, schema, msgspec.json.decode(line))

    def _whole_way(
        self, line: bytes, end: bytes, number: int, schema: Schema, record: dict[str, Any]
    ) -> tuple[bytes, Upgraded]:
        """The edited line with its end; the line as it was, where it cannot be upgraded."""
        task = record["task_id"]
        upgraded = self.upgrader.upgrade(record, schema, self.file.path, number)
        if upgraded.problem is not None:
            self.file.bad.append(upgraded.problem)
            return line + end, upgraded
        try:
            new = self._editor(upgraded.edits)(line) + end
        except EditError as error:
            problem = _cannot(self.file.path, number, 1, task, None, str(error))
            self.file.bad.append(problem)
            return line + end, Upgraded([], problem)
        self.upgrader.accept(self.upgrader.upgrades.from_(schema), task, upgraded)
        self._note(number, line + end, new)
        return new, upgraded

    def _note(self, number: int, old: bytes, new: bytes) -> None:
        if new != old:
            self.file.changed += 1
            if self.upgrader.options.want_changes:
                self.file.changes.append((number, old, new))

    def _editor(self, edits: list[Edit]) -> Callable[[bytes], bytes]:
        """One editor for each list of edits met, as long as there are few."""
        from evalspec.formats.line_editor import LineEditor

        key = repr(edits)
        if key not in self._editors:
            if len(self._editors) >= 256:
                self._editors.clear()
            self._editors[key] = LineEditor(edits).edit
        return self._editors[key]


def _copy(source: BinaryIO, span: tuple[int, int], sink: Sink) -> None:
    """Pass a line that was too long to hold from the source to the sink, piece by piece."""
    position = source.tell()
    source.seek(span[0])
    left = span[1]
    while left > 0 and (block := source.read(min(left, 1 << 20))):
        sink(block)
        left -= len(block)
    source.seek(position)
