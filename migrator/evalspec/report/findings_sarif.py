"""Findings as SARIF 2.1.0, for GitHub code scanning and for editors.

A service takes 5,000 results at most, so findings that say the same are one result with several places; what does not
fit is counted in a notification of the run (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec._version import __version__
from evalspec.errors import counted, cut, visible
from evalspec.report.fingerprints import numbered, repository_path, without_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalspec.errors import Finding

#: How many results are printed, and how many places of each.
MOST_RESULTS, MOST_PLACES = 5000, 100
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
#: What is shown of a file's text, in code points.
_SHOWN = 200


def sarif_text(
    findings: Sequence[Finding],
    rules: Mapping[str, tuple[str, str]] | None = None,
    *,
    most: int = MOST_RESULTS,
    places: int = MOST_PLACES,
) -> str:
    """One run, as a JSON object.

    Args:
        findings: in the order in which they are told.
        rules: the purpose and the fix of each rule, by its id; a rule that is not there has its id alone.
        most: how many results at most.
        places: how many places of a result at most; `occurrenceCount` tells how many there are.
    """
    import json

    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.rule, finding.severity, finding.message, finding.fix)
        groups.setdefault(key, []).append(finding)
    used = sorted({finding.rule for finding in findings})
    names = numbered([rule, without_numbers(message), fix] for rule, _, message, fix in groups)
    results = [
        _result(group, used.index(group[0].rule), name, places)
        for group, name in zip(groups.values(), names, strict=True)
    ]
    driver = {
        "name": "evalspec",
        "version": __version__,
        "rules": [_rule(rule, (rules or {}).get(rule)) for rule in used],
    }
    notes = [
        *_note(len(results) > most, f"{most:,} of {counted(len(results), 'result')} are here"),
        *_note(
            any(len(group) > places for group in groups.values()),
            f"a result has {counted(places, 'place')} at most; occurrenceCount tells how many there are",
        ),
    ]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results[:most],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: str, told: tuple[str, str] | None) -> dict[str, Any]:
    if told is None:
        return {"id": visible(rule)}
    purpose, fix = map(visible, told)
    return {
        "id": visible(rule),
        "shortDescription": {"text": purpose},
        "help": {"text": f"{purpose}\n\nfix: {fix}" if fix else purpose},
    }


def _result(group: Sequence[Finding], index: int, name: str, places: int) -> dict[str, Any]:
    first = group[0]
    said = visible(first.message)
    return {
        "ruleId": visible(first.rule),
        "ruleIndex": index,
        "level": _LEVELS[first.severity],
        "message": {"text": f"{said}\nfix: {visible(first.fix)}" if first.fix else said},
        "locations": [_location(finding) for finding in group[:places]],
        "occurrenceCount": len(group),
        "partialFingerprints": {"evalspecGroup/v1": name},
    }


def _location(finding: Finding) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(1, finding.line), "startColumn": max(1, finding.column)}
    if finding.text:
        region["snippet"] = {"text": visible(cut(finding.text, _SHOWN))}
    place: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(finding.path), "region": region}
    }
    names = (("task", finding.task), ("field", finding.field))
    logical = [{"name": visible(cut(name, _SHOWN)), "kind": kind} for kind, name in names if name]
    if logical:
        place["logicalLocations"] = logical
    return place


def _artifact(path: str) -> dict[str, str]:
    """A path as a URI: relative to the top of the repository unless it is absolute."""
    from urllib.parse import quote

    # A byte that is no UTF-8 is in a path as Python has it; what no file can be called is made visible.
    try:
        name = repository_path(path).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        name = visible(path).encode()
    uri = quote(name)  # a colon too, or a first segment with one would read as a scheme
    return {"uri": f"file://{uri}"} if uri.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _note(wanted: bool, text: str) -> list[dict[str, Any]]:
    return [{"level": "warning", "message": {"text": text}}] if wanted else []
