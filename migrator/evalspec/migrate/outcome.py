"""What a migration did, or would do: per file, per step, and what was wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import counted
from evalspec.tasks.findings import moved

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalspec.errors import Finding
    from evalspec.migrate.migration import Migration
    from evalspec.migrate.rendering import Shown


class ChangedPrompt(NamedTuple):
    """A record whose prompt a step changed, and what it showed before and after."""

    path: str
    line: int
    task: str
    before: Shown
    after: Shown


@dataclass
class StepOutcome:
    """What one migration did to the records that took it.

    Attributes:
        migration: the script.
        records: how many records took it.
        rendered: how many of them were rendered under both versions to see whether their prompt changed.
        changed: how many of those prompts changed.
        unknown: how many could not be rendered.
        reason: why the first of these could not.
        touched: how many records use a post-process rule that gives other outputs now.
        tasks: their ids, where ids are wanted.
        prompts: the first changed prompts of each file, where they are wanted.
    """

    migration: Migration
    records: int = 0
    rendered: int = 0
    changed: int = 0
    unknown: int = 0
    reason: str = ""
    touched: int = 0
    tasks: list[str] = field(default_factory=list)
    prompts: list[ChangedPrompt] = field(default_factory=list)

    @property
    def proved_by(self) -> str:
        """`operations` where no record had to be rendered, `rendering` where each was, `mixed` in between."""
        if self.rendered + self.unknown == 0:
            return "operations"
        return "rendering" if self.rendered == self.records else "mixed"

    def merge(self, other: StepOutcome) -> None:
        """Add what another reader of the same records saw."""
        self.records += other.records
        self.rendered += other.rendered
        self.changed += other.changed
        self.unknown += other.unknown
        self.reason = self.reason or other.reason
        self.touched += other.touched
        self.tasks += other.tasks
        self.prompts += other.prompts

    def counts(self) -> dict[str, Any]:
        """Everything but the script, which does not go from process to process."""
        return {name: value for name, value in vars(self).items() if name != "migration"}

    def sentence(self, name: Callable[[str], str]) -> str:
        """The step in one line: what it did, to how many records, and what became of its promises."""
        migration = self.migration
        records = counted(self.records, "record")
        outcome = f"{records}; {self.prompts_sentence()}; {self.outputs_sentence()}"
        return f"{name(migration.id)}  {migration.title}  {outcome}"

    def prompts_sentence(self) -> str:
        """What became of the promise on prompts."""
        unknown = f", {self.unknown:,} unknown ({self.reason})" if self.unknown else ""
        known = self.records - self.unknown
        if self.migration.prompts.unchanged:
            return f"prompts unchanged, proved on {known:,} by {self.proved_by}{unknown}"
        return f"prompts change ({self.migration.prompts.reason}): {self.changed:,} of {known:,}{unknown}"

    def outputs_sentence(self) -> str:
        """What became of the promise on outputs."""
        if self.migration.outputs.unchanged:
            return "outputs unchanged"
        rules = ", ".join(sorted(self.migration.changed_rules)) or self.migration.outputs.reason
        if not self.touched:
            return f"outputs: no task uses {rules}"
        return f"outputs: {self.touched:,} {'task uses' if self.touched == 1 else 'tasks use'} {rules}"

    def to_dict(self, name: Callable[[str], str] = str) -> dict[str, Any]:
        """The step as `migrate --format json` prints it; `name` shortens ids."""
        return {
            "revision": name(self.migration.id),
            "records": self.records,
            "prompts": {
                "promise": str(self.migration.prompts),
                "proved_by": self.proved_by,
                "changed": self.changed,
                "unknown": self.unknown,
            },
            "outputs": {"promise": str(self.migration.outputs), "tasks": self.tasks},
        }


@dataclass
class FileOutcome:
    """What became of one file.

    Attributes:
        path: the file, as it was named.
        records: how many records it holds, the invalid ones included.
        changed: how many of them are edited.
        written: whether the file was replaced.
        schemas: how many records there were of each version, by id.
        bad: what is wrong with the invalid ones.
        warnings: what is worth a look.
        changes: line, old bytes and new bytes of every edit, where they are wanted.
    """

    path: str
    records: int = 0
    changed: int = 0
    written: bool = False
    schemas: Counter[str] = field(default_factory=Counter)
    bad: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    changes: list[tuple[int, bytes, bytes]] = field(default_factory=list)

    def add(self, other: FileOutcome, lines: int) -> None:
        """Take in what another process made of the next range of the same file, behind so many lines."""
        self.records += other.records
        self.changed += other.changed
        self.schemas += other.schemas
        self.bad += moved(other.bad, lines)
        self.warnings += moved(other.warnings, lines)
        self.changes += [(line + lines, old, new) for line, old, new in other.changes]


@dataclass
class Outcome:
    """What a whole run did.

    Attributes:
        target: the id of the version migrated to.
        files: every file, in order.
        steps: every migration that records took, in the order of the history.
        recovered: what was done about an earlier run that had not ended; empty where there was none.
        backups: where the old bytes are, by file.
    """

    target: str
    files: list[FileOutcome] = field(default_factory=list)
    steps: dict[str, StepOutcome] = field(default_factory=dict)
    recovered: str = ""
    backups: list[tuple[str, str]] = field(default_factory=list)

    def step(self, migration: Migration) -> StepOutcome:
        """The outcome of one migration, made when first needed."""
        found = self.steps.get(migration.id)
        if found is None:
            found = self.steps[migration.id] = StepOutcome(migration)
        return found

    @property
    def schemas(self) -> Counter[str]:
        """How many records there were of each version, over all files."""
        total: Counter[str] = Counter()
        for file in self.files:
            total.update(file.schemas)
        return total

    @property
    def bad(self) -> list[Finding]:
        """What is wrong with invalid records, over all files."""
        return [finding for file in self.files for finding in file.bad]
