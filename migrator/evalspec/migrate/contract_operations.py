"""Contract operations: what a migration says of the schema. They touch no record.

Replayed over the contract of one version they must give the contract of the next (`evalspec.migrate.replay`), so that
"the schema changed without a migration" can be decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Change = Literal["added", "removed", "changed"]
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


@dataclass(frozen=True)
class ContractOperation:
    """One change of the contract.

    Attributes:
        kind: what changes: `field`, `shape`, `category`, `metric`, `post_process`, `pairs`, `rule`, `assembly`.
        name: which one of its kind.
        change: whether it comes, goes or becomes another.
        data: what the contract then says of it; its form belongs to the kind.
        reason: why, or what is different.
    """

    kind: str
    name: str
    change: Change
    data: Any = None
    reason: str = ""

    @property
    def sign(self) -> str:
        """`+`, `-` or `~`."""
        return _SIGNS[self.change]

    def describe(self) -> str:
        """What it says, as half a sentence."""
        words = f"{self.kind.replace('_', '-')} {self.name} {self.change}".replace("  ", " ")
        return f"{words}: {self.reason}" if self.reason else words


@dataclass(frozen=True)
class AssemblyChange(ContractOperation):
    """A prompt is assembled anew; `same_text` where that gives every old record the text it had."""

    same_text: bool = False
