"""What a rule of the gate is, and the finding that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import Finding, cut

if TYPE_CHECKING:
    from evalspec.errors import Place, Severity


class Rule(NamedTuple):
    """One rule, as `evalspec rules` lists it and `evalspec explain` tells it.

    Attributes:
        id: its stable name, whole words in snake case.
        severity: `error`, `warning` or `info`; a finding may be told as less or more, where its message says why.
        purpose: what the rule is for, one sentence.
        example: the text of a minimal file that breaks it.
        fix: the next step, one sentence.
        group: what the rule is about; the table is sorted by it.
        fixable: `evalspec check --fix` can mend it without a change to any prompt.
    """

    id: str
    severity: Severity
    purpose: str
    example: str
    fix: str
    group: str = "lint"
    fixable: bool = False

    def at(
        self,
        place: Place,
        message: str,
        *,
        task: str | None = None,
        field: str | None = None,
        text: str = "",
        fix: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule; the fix and the severity are the rule's own unless others are given."""
        return Finding(
            self.id, severity or self.severity, *place, task, field, message, cut(text), fix or self.fix
        )

    def to_dict(self) -> dict[str, object]:
        """The rule as the JSON object that `evalspec rules --format json` prints."""
        return self._asdict()
