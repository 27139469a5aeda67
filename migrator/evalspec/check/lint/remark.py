"""What a rule has to say of a task, before the field that it is about has been found in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evalspec.check.rule import Rule
    from evalspec.errors import Finding, Place, Severity


class Remark(NamedTuple):
    """A finding without its place.

    Attributes:
        rule: the rule.
        field: the field that it is about, by its dotted name.
        message: what is the case, one sentence.
        text: the offending text.
        fix: the next step, where it is not the rule's own.
        severity: how bad it is, where that is not the rule's own.
        anchors: fields that stand in for `field` where no file has it (it is a default), the nearest first.
    """

    rule: Rule
    field: str
    message: str
    text: str = ""
    fix: str = ""
    severity: Severity | None = None
    anchors: tuple[str, ...] = ()

    def at(self, place: Place, task: str) -> Finding:
        """The finding, once the place is known."""
        return self.rule.at(
            place,
            self.message,
            task=task,
            field=self.field,
            text=self.text,
            fix=self.fix,
            severity=self.severity,
        )
