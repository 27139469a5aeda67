"""The `op` that a migration's `upgrade` is called with: it records operations, and runs none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalspec.formats.edits import FIRST, IN_PLACE, LAST, Where
from evalspec.migrate.contract_operations import AssemblyChange, Change, ContractOperation
from evalspec.migrate.operations import (
    Add,
    MoveField,
    RecordOperation,
    RemoveField,
    RenameField,
    SetField,
)
from evalspec.migrate.value_operations import Each, MapValues, Narrowed, Split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_UNSAID: Any = object()


@dataclass
class Recorder:
    """Collects the operations of one migration, in order.

    Attributes:
        contract: what the migration says of the schema.
        records: what it does to records.
    """

    contract: list[ContractOperation] = field(default_factory=list)
    records: list[RecordOperation] = field(default_factory=list)
    _conditions: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    # ── The contract ─────────────────────────────────────────────────────────────────────────────────────────

    def field(
        self,
        name: str,
        *,
        type: str = "",  # noqa: A002 - the word a migration's reader expects
        required: bool = False,
        default: Any = _UNSAID,
        shape: str = "inline",
        removed: bool = False,
        changed: str = "",
    ) -> None:
        """A top-level field comes, goes, or becomes another. `type` is written as the version's page writes it."""
        data = {"type": type, "required": required} | ({} if default is _UNSAID else {"default": default})
        self._say("field", f"{shape}.{name}", removed=removed, changed=changed, data=data)

    def shape(
        self,
        name: str,
        *,
        like: str = "",
        without: tuple[str, ...] = (),
        keys: tuple[str, ...] = (),
        formats: tuple[str, ...] = ("jsonl", "yaml"),
        changed: str = "",
        removed: bool = False,
    ) -> None:
        """A shape of record comes (with the fields of the shape it is `like`, some left out), goes, or changes."""
        data = {"like": like, "without": without, "keys": keys, "formats": formats}
        self._say("shape", name, removed=removed, changed=changed, data=data)

    def category(self, name: str, *, added: bool = False, removed: bool = False) -> None:
        """A category comes or goes."""
        self._say("category", name, added=added, removed=removed)

    def metric(
        self,
        name: str,
        *,
        added: bool = False,
        removed: bool = False,
        changed: str = "",
        aggregation: str = "mean",
        higher_is_better: bool = True,
    ) -> None:
        """A metric comes, goes, or has another default aggregation or direction."""
        data = (aggregation, higher_is_better)
        self._say("metric", name, added=added, removed=removed, changed=changed, data=data)

    def post_process(
        self, name: str, *, added: bool = False, removed: bool = False, changed: str = ""
    ) -> None:
        """A post-process rule comes, goes, or gives other outputs (`changed` says how)."""
        self._say("post_process", name, added=added, removed=removed, changed=changed)

    def pairs(
        self,
        category: str = "",
        *,
        output_type: str = "",
        metrics: tuple[str, ...] = (),
        post_process: tuple[str, ...] = (),
        removed: bool = False,
    ) -> None:
        """What may go together: one row comes or goes. With no category, every row so far is of this output type."""
        data = {"output_type": output_type, "metrics": metrics, "post_process": post_process}
        change: Change = "removed" if removed else "added" if category else "changed"
        self.contract.append(ContractOperation("pairs", category, change, data))

    def rule(
        self,
        rule: str,
        *,
        field: str,
        added: bool = False,
        removed: bool = False,
        changed: str = "",
    ) -> None:
        """A rule across fields, named by its id and the field it points at, comes, goes, or says other things."""
        self._say("rule", f"{rule} {field}", added=added, removed=removed, changed=changed)

    def assembly(self, reason: str, *, same_text: bool = False, **sources: object) -> None:
        """A prompt is put together in another way; the sources that changed, by the names `Assembly` has."""
        self.contract.append(AssemblyChange("assembly", "", "changed", sources, reason, same_text))

    def _say(
        self,
        kind: str,
        name: str,
        *,
        added: bool = False,
        removed: bool = False,
        changed: str = "",
        data: Any = None,
    ) -> None:
        change: Change = "removed" if removed else "changed" if changed and not added else "added"
        self.contract.append(ContractOperation(kind, name, change, data, changed))

    # ── The records ──────────────────────────────────────────────────────────────────────────────────────────

    def add(
        self, name: str, value: Any, *, after: str | None = None, first: bool = False, if_absent: bool = False
    ) -> None:
        """Add a field with a fixed value. One that is there already is an error, unless `if_absent`."""
        self._record(Add(name, value, _where(first=first, after=after), if_absent))

    def set(self, name: str, value: Any, *, after: str | None = None, first: bool = False) -> None:
        """Give a field a fixed value; add it where it is not there."""
        self._record(SetField(name, value, _where(first=first, after=after)))

    def remove(self, name: str, reason: str) -> None:
        """Take a field away; the reason is part of the plan a person reads."""
        self._record(RemoveField(name, reason))

    def rename(self, name: str, to: str) -> None:
        """Give a field another name; its place and text stay."""
        self._record(RenameField(name, to))

    def move(
        self,
        name: str,
        to: str,
        *,
        after: str | None = None,
        first: bool = False,
        only: type | None = None,
        otherwise: Any = None,
        drop_empty: bool = False,
    ) -> None:
        """Move a value elsewhere, its text untouched; see `MoveField`."""
        where = _where(first=first, after=after) if first or after else IN_PLACE
        self._record(MoveField(name, to, where, only, otherwise, drop_empty))

    def map(
        self, name: str, table: Mapping[Any, Any], *, rename: str | None = None, keep_others: bool = False
    ) -> None:
        """Replace a value by the one that a table has for it."""
        self._record(MapValues(name, dict(table), rename, keep_others))

    def split(self, name: str, into: tuple[str, ...], by: Callable[[Any], Mapping[str, Any]]) -> None:
        """Replace a field by several."""
        self._record(Split(name, into, by))

    def each(self, function: Callable[[dict[str, Any]], object], *, fields: tuple[str, ...]) -> None:
        """Let a function change each record in place; `fields` names the top-level fields it may change."""
        self._record(Each(function, fields))

    def where(self, **conditions: Any) -> Recorder:
        """A recorder for records whose fields have these values (a tuple: any of them) when its turn comes."""
        wanted = tuple(
            (name, value if isinstance(value, tuple) else (value,)) for name, value in conditions.items()
        )
        return Recorder(self.contract, self.records, (*self._conditions, *wanted))

    def _record(self, operation: RecordOperation) -> None:
        self.records.append(Narrowed(operation, self._conditions) if self._conditions else operation)


def _where(*, first: bool, after: str | None) -> Where:
    return FIRST if first else Where(after=after) if after else LAST
