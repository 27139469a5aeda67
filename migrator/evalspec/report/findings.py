"""Findings, one after another: for a person and for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import Place, cut, visible
from evalspec.report.console import plain

if TYPE_CHECKING:
    from evalspec.errors import Finding
    from evalspec.report.console import Paint

#: What is shown of a file's text, in code points.
_SHOWN = 100
#: What stands for a task or a field that is not known, so that the columns stay.
_NONE = "-"


def finding_text(finding: Finding, *, paint: Paint = plain) -> str:
    """A finding as lines: `path:line:column task field rule message`, the offending text, the next step.

    A warning says that it is one before its message. Everything is escaped; the text ends with a line end.
    """
    place = paint(str(Place(finding.path, finding.line, finding.column)), "strong")
    task = cut(visible(finding.task), _SHOWN) if finding.task else _NONE
    field = cut(visible(finding.field), _SHOWN) if finding.field else _NONE
    rule = paint(visible(finding.rule), finding.severity)
    kind = "" if finding.severity == "error" else f"{finding.severity}: "
    out = [f"{place} {task} {field} {rule} {kind}{visible(finding.message)}\n"]
    if finding.text:
        out.append(f"    | {cut(visible(finding.text), _SHOWN)}\n")
    if finding.fix:
        out.append(paint(f"    fix: {visible(finding.fix)}", "faint") + "\n")
    return "".join(out)


def finding_json(finding: Finding) -> str:
    """A finding as a JSON object in one ASCII line: the text in it is the file's own, escaped by JSON alone."""
    import json

    return json.dumps(finding.to_dict())
