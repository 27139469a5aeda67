"""Findings as annotations of GitHub: a pull request shows each at its line.

An annotation is a line that the runner reads as a command, so what stands in it is escaped twice: made visible as for
a person, then as the runner's own toolkit does it (`escapeData` and `escapeProperty` of `@actions/core`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import counted, cut, visible
from evalspec.report.fingerprints import repository_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.errors import Finding

#: What GitHub shows of each kind for a step; it drops the rest and says nothing.
MOST = 10
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
#: What is shown of a file's text, in code points.
_SHOWN = 200


def github_text(findings: Sequence[Finding]) -> str:
    """At most ten annotations of each severity, the first ones; a last line counts those that are left out."""
    shown = dict.fromkeys(_COMMANDS, 0)
    out = []
    for finding in findings:
        shown[finding.severity] += 1
        if shown[finding.severity] <= MOST:
            out.append(_annotation(finding))
    left = [
        counted(count - MOST, f"more {word}")
        for word, count in zip(("error", "warning", "notice"), shown.values(), strict=True)
        if count > MOST
    ]
    if left:
        out.append(f"… and {', '.join(left)}, not annotated: GitHub shows {MOST} of each kind a step\n")
    return "".join(out)


def _annotation(finding: Finding) -> str:
    at = {
        "file": repository_path(finding.path),
        "line": str(finding.line),
        "col": str(finding.column),
        "title": finding.rule,
    }
    properties = ",".join(f"{key}={_property(value)}" for key, value in at.items())
    what = " ".join(cut(each, _SHOWN) for each in (finding.task, finding.field) if each)
    lines = [f"{what}: {finding.message}" if what else finding.message]
    if finding.text:
        lines.append(f"| {cut(finding.text, _SHOWN)}")
    if finding.fix:
        lines.append(f"fix: {finding.fix}")
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(lines)}\n"


def _data(lines: Sequence[str]) -> str:
    return "%0A".join(_escaped(line) for line in lines)


def _property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    """One line: `visible` has left no CR and no LF, and `%` is what the runner's own escapes begin with."""
    return visible(text).replace("%", "%25")
