"""Findings as JUnit XML, which nearly every CI service shows: a suite for each file, a case for each rule it breaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalspec.errors import visible
from evalspec.report.findings import finding_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.errors import Finding


def junit_text(findings: Sequence[Finding], files: Iterable[str] = ()) -> str:
    """An XML document; a case fails where a finding is an error, and tells lesser ones as its output.

    Args:
        findings: in the order in which they are told.
        files: every file that was looked at; one without findings is a suite with one case that passes.
    """
    from xml.etree import ElementTree as ET

    by_file: dict[str, dict[str, list[Finding]]] = {path: {} for path in files}
    for finding in findings:
        by_file.setdefault(finding.path, {}).setdefault(finding.rule, []).append(finding)
    failed = sum(_fails(group) for rules in by_file.values() for group in rules.values())
    count = sum(max(1, len(rules)) for rules in by_file.values())
    top = ET.Element("testsuites", name="evalspec", tests=str(count), failures=str(failed), errors="0")
    for path, rules in by_file.items():
        name = _safe(path)
        suite = ET.SubElement(
            top,
            "testsuite",
            name=name,
            tests=str(max(1, len(rules))),
            failures=str(sum(map(_fails, rules.values()))),
            errors="0",
        )
        for rule, group in rules.items():
            case = ET.SubElement(
                suite, "testcase", classname=name, name=_safe(rule), file=name, line=str(group[0].line)
            )
            told = ET.SubElement(case, "failure" if _fails(group) else "system-out")
            if _fails(group):
                told.attrib = {"message": _safe(group[0].message), "type": _safe(rule)}
            told.text = _allowed("".join(map(finding_text, group)))
        if not rules:
            ET.SubElement(suite, "testcase", classname=name, name="evalspec", file=name)
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=False) + "\n"


def tests_junit_text(tests: Sequence[tuple[str, Sequence[Finding]]]) -> str:
    """An XML document of tests: one suite, a case for each, which fails where something was found.

    Args:
        tests: each test's name, and what it found.
    """
    from xml.etree import ElementTree as ET

    suite = ET.Element(
        "testsuite",
        name="evalspec test",
        tests=str(len(tests)),
        failures=str(sum(bool(found) for _, found in tests)),
        errors="0",
    )
    for name, found in tests:
        about, _, what = name.rpartition(": ")
        case = ET.SubElement(suite, "testcase", classname=_safe(about or "evalspec"), name=_safe(what))
        if found:
            told = ET.SubElement(case, "failure", message=_safe(found[0].message), type=_safe(found[0].rule))
            told.text = _allowed("".join(map(finding_text, found)))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def _fails(group: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in group)


def _safe(text: str) -> str:
    return _allowed(visible(text))


def _allowed(text: str) -> str:
    """`text`, which `visible` has made, without the last two code points that XML 1.0 does not have."""
    return re.sub("[\ufffe\uffff]", lambda found: f"\\u{{{ord(found[0]):04X}}}", text)
