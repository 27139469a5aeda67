"""What a comparison of prompts found, as JUnit's XML: a failure for each change, an error for what may have changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalspec.errors import counted, cut, visible
from evalspec.report.diff_text import IDS, SAYS, cause_line, compared_line, edit_text, reach

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from evalspec.diff.model import Comparison

#: What no XML 1.0 document may hold, though Unicode has it.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE = 400


def diff_junit(comparison: Comparison) -> str:
    """The report as one test suite; of nothing changed, one test that passed."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    suite = Element(
        "testsuite",
        name="evalspec diff",
        tests=str(max(1, len(comparison.groups) + len(comparison.unknown_groups))),
        failures=str(len(comparison.groups)),
        errors=str(len(comparison.unknown_groups)),
    )
    _tell(SubElement(suite, "properties"), "compared", compared_line(comparison))
    for group in comparison.groups:
        case = SubElement(suite, "testcase", classname=f"prompts.{group.change}", name=_name(group.tasks))
        said = f"{reach(group)}: {SAYS[group.change]}, from {cut(cause_line(group.cause), _LINE)}"
        failure = SubElement(case, "failure", type=group.change, message=_allowed(said))
        failure.text = _allowed(f"\n{said}\n{edit_text(group)}")
    for unknown in comparison.unknown_groups:
        case = SubElement(suite, "testcase", classname="prompts.unknown", name=_name(unknown.tasks))
        cause = f", from {cut(cause_line(unknown.cause), _LINE)}" if unknown.cause is not None else ""
        said = (
            f"may change {counted(unknown.prompts, 'prompt')}: {cut(visible(unknown.reason), _LINE)}{cause}"
        )
        SubElement(case, "error", type="unknown", message=_allowed(said))
    if comparison.is_empty:
        SubElement(suite, "testcase", classname="prompts", name="no prompt changes")
    indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"


def _tell(properties: Element, name: str, value: str) -> None:
    from xml.etree.ElementTree import SubElement

    SubElement(properties, "property", name=name, value=_allowed(value))


def _name(tasks: tuple[str, ...]) -> str:
    more = f" and {len(tasks) - IDS:,} more" if len(tasks) > IDS else ""
    return _allowed(", ".join(cut(visible(task)) for task in tasks[:IDS]) + more)


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub(lambda match: f"\\u{{{ord(match[0]):04X}}}", text)
