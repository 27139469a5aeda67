"""Findings as the services of CI take them, and that nothing from a file is more there than text."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from evalspec.errors import Finding, Severity
from evalspec.report import github_text, gitlab_text, junit_text, sarif_text

FINDING = Finding(
    rule="bad_value",
    severity="error",
    path="tasks/a.jsonl",
    line=3,
    column=14,
    task="arith_003",
    field="metric_name",
    message="must be one of exact_match, f1",
    text="exact",
    fix="write exact_match",
)
#: What a stranger may write into a task file, or call one.
HOSTILE = "\r\n::error file=x::owned\n##[add-path]/x%0A::stop-commands::x]]>\x00\x1b[2J\u202e<b>&\"'\ufffe\uffff\ud800"
PRINTERS = {"github": github_text, "gitlab": gitlab_text, "sarif": sarif_text, "junit": junit_text}


def many(count: int, severity: Severity = "error") -> list[Finding]:
    return [FINDING._replace(line=number, severity=severity) for number in range(1, count + 1)]


def hostile(*names: str) -> Finding:
    return Finding(**{**FINDING.to_dict(), **dict.fromkeys(names, HOSTILE)})  # type: ignore[arg-type]


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own printer wrote it


# ── All of them ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("service", PRINTERS)
@pytest.mark.parametrize("name", ["path", "task", "field", "message", "text", "fix", "rule"])
def test_what_is_printed_has_no_character_that_hides_or_moves_others(service: str, name: str) -> None:
    said = PRINTERS[service]([hostile(name)])
    assert not set("\x00\x1b\r\u202e\ud800") & set(said)
    said.encode()


@pytest.mark.parametrize("service", PRINTERS)
def test_nothing_found_is_a_whole_document_too(service: str) -> None:
    said = PRINTERS[service]([])
    match service:
        case "github":
            assert said == ""
        case "gitlab":
            assert json.loads(said) == []
        case "sarif":
            assert sarif_of([])["results"] == []
        case _:
            assert parsed(said).attrib["tests"] == "0"


# ── GitHub ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_annotation_has_the_place_the_rule_and_the_next_step() -> None:
    assert github_text([FINDING]) == (
        "::error file=tasks/a.jsonl,line=3,col=14,title=bad_value::"
        "arith_003 metric_name: must be one of exact_match, f1%0A| exact%0Afix: write exact_match\n"
    )


def test_what_would_end_a_property_or_begin_an_escape_is_escaped() -> None:
    said = github_text([FINDING._replace(path="./a:b,c%0A.jsonl", message="100% sure", text="", fix="")])
    assert said == (
        "::error file=a%3Ab%2Cc%250A.jsonl,line=3,col=14,title=bad_value::arith_003 metric_name: 100%25 sure\n"
    )


@pytest.mark.parametrize("name", ["path", "task", "field", "message", "text", "fix", "rule"])
def test_a_file_cannot_give_the_runner_a_command(name: str) -> None:
    said = github_text([hostile(name)])
    assert said.startswith("::error file=")
    assert said.count("\n") == 1
    # As the runner reads it back: the properties have no more parts than we wrote.
    properties = re.fullmatch(r"::error (.*?)::(.*)\n", said)
    assert properties is not None
    assert [part.partition("=")[0] for part in properties[1].split(",")] == ["file", "line", "col", "title"]


def test_ten_of_each_kind_and_a_last_line_that_counts_the_rest() -> None:
    said = github_text([*many(12), *many(3, "warning"), *many(11, "info")]).splitlines()
    assert [line.split(" ")[0] for line in said[:-1]] == ["::error"] * 10 + ["::warning"] * 3 + [
        "::notice"
    ] * 10
    assert (
        said[-1] == "… and 2 more errors, 1 more notice, not annotated: GitHub shows 10 of each kind a step"
    )


# ── GitLab ───────────────────────────────────────────────────────────────────────────────────────────────────


def gitlab_fingerprints(findings: list[Finding]) -> list[str]:
    return [issue["fingerprint"] for issue in json.loads(gitlab_text(findings))]


def test_an_issue_of_gitlab() -> None:
    (issue,) = json.loads(gitlab_text([FINDING._replace(path="./tasks/a.jsonl")]))
    assert re.fullmatch("[0-9a-f]{40}", issue.pop("fingerprint"))
    assert issue == {
        "description": "arith_003 metric_name: must be one of exact_match, f1 (fix: write exact_match)",
        "check_name": "bad_value",
        "severity": "major",
        "location": {"path": "tasks/a.jsonl", "lines": {"begin": 3}},
    }


def test_a_fingerprint_stays_while_lines_move_and_counts_change() -> None:
    before = FINDING._replace(message="the same id as in line 12; 1,204 records")
    after = before._replace(line=90, column=2, message="the same id as in line 99; 7 records")
    assert gitlab_fingerprints([before]) == gitlab_fingerprints([after])


@pytest.mark.parametrize("name", ["rule", "path", "task", "field", "message", "text"])
def test_another_finding_has_another_fingerprint(name: str) -> None:
    other = FINDING._replace(**{name: "other"})
    assert gitlab_fingerprints([FINDING]) != gitlab_fingerprints([other])


def test_findings_that_are_the_same_are_numbered() -> None:
    names = gitlab_fingerprints(many(3))
    assert len(set(names)) == 3
    assert gitlab_fingerprints(many(2)) == names[:2]


# ── SARIF ────────────────────────────────────────────────────────────────────────────────────────────────────


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def each(items: dict[str, Any], *, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


MESSAGE = closed(["text"], text={"type": "string", "minLength": 1})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
INDEX = {"type": "integer", "minimum": 0}
FROM_ONE = {"type": "integer", "minimum": 1}
TEXT = {"type": "string"}
#: Of the published schema (errata 01) what the printer uses, closed as it is there, with what GitHub asks for besides.
SARIF = closed(
    ["$schema", "version", "runs"],
    **{
        "$schema": {
            "const": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
        }
    },
    version={"const": "2.1.0"},
    runs=each(
        closed(
            ["tool", "results"],
            tool=closed(
                ["driver"],
                driver=closed(
                    ["name", "version", "rules"],
                    name=TEXT,
                    version=TEXT,
                    rules={"uniqueItems": True}
                    | each(closed(["id"], id=TEXT, shortDescription=MESSAGE, help=MESSAGE)),
                ),
            ),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            invocations=each(
                closed(
                    ["executionSuccessful"],
                    executionSuccessful={"type": "boolean"},
                    toolExecutionNotifications=each(closed(["message"], level=LEVEL, message=MESSAGE)),
                )
            ),
            results=each(
                closed(
                    ["message", "ruleId", "locations"],
                    ruleId=TEXT,
                    ruleIndex=INDEX,
                    level=LEVEL,
                    message=MESSAGE,
                    occurrenceCount=FROM_ONE,
                    partialFingerprints={"type": "object", "additionalProperties": TEXT},
                    locations=each(
                        closed(
                            ["physicalLocation"],
                            physicalLocation=closed(
                                ["artifactLocation", "region"],
                                artifactLocation=closed(
                                    ["uri"],
                                    # RFC 3986: a reference has no white space, no control and only whole escapes.
                                    uri={"pattern": r"^([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})*$"},
                                    uriBaseId=TEXT,
                                ),
                                region=closed(
                                    ["startLine"],
                                    startLine=FROM_ONE,
                                    startColumn=FROM_ONE,
                                    snippet=closed(["text"], text=TEXT),
                                ),
                            ),
                            logicalLocations=each(closed(["name"], name=TEXT, kind=TEXT)),
                        ),
                        least=1,
                    ),
                )
            ),
        ),
        least=1,
    ),
)


def sarif_of(findings: list[Finding], **options: Any) -> Any:
    """The run of a log that is as the schema wants it."""
    log = json.loads(sarif_text(findings, **options))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    (run,) = log["runs"]
    return run


def test_a_result_has_a_place_a_rule_and_the_rule_its_help() -> None:
    run = sarif_of([FINDING], rules={"bad_value": ("A word is of the vocabulary.", "write one of it")})
    (result,) = run["results"]
    name = result.pop("partialFingerprints")["evalspecGroup/v1"]
    assert re.fullmatch("[0-9a-f]{40}", name)
    assert result == {
        "ruleId": "bad_value",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "must be one of exact_match, f1\nfix: write exact_match"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "tasks/a.jsonl", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 3, "startColumn": 14, "snippet": {"text": "exact"}},
                },
                "logicalLocations": [
                    {"name": "arith_003", "kind": "task"},
                    {"name": "metric_name", "kind": "field"},
                ],
            }
        ],
        "occurrenceCount": 1,
    }
    assert run["tool"]["driver"]["rules"] == [
        {
            "id": "bad_value",
            "shortDescription": {"text": "A word is of the vocabulary."},
            "help": {"text": "A word is of the vocabulary.\n\nfix: write one of it"},
        }
    ]


def test_each_result_points_to_its_rule_and_an_unknown_rule_has_its_id() -> None:
    run = sarif_of([FINDING._replace(rule=rule) for rule in ("b", "a", "b")])
    rules = run["tool"]["driver"]["rules"]
    assert rules == [{"id": "a"}, {"id": "b"}]
    assert [rules[each["ruleIndex"]]["id"] for each in run["results"]] == ["b", "a"]


def test_findings_that_say_the_same_are_one_result_with_their_places() -> None:
    (result,) = sarif_of(many(7), places=5)["results"]
    lines = [place["physicalLocation"]["region"]["startLine"] for place in result["locations"]]
    assert (lines, result["occurrenceCount"]) == ([1, 2, 3, 4, 5], 7)


def test_a_group_keeps_its_fingerprint_while_its_places_come_and_go() -> None:
    def names(findings: list[Finding]) -> list[str]:
        return [each["partialFingerprints"]["evalspecGroup/v1"] for each in sarif_of(findings)["results"]]

    other = FINDING._replace(message="must be a number")
    assert names(many(7)) == names(many(7)[3:]) == names([*many(2), other])[:1]
    assert len(set(names([FINDING, other, FINDING._replace(severity="warning")]))) == 3


def test_what_does_not_fit_is_counted() -> None:
    different = [FINDING._replace(message=f"no {number}") for number in range(5003)]
    run = json.loads(sarif_text(different))["runs"][0]
    assert len(run["results"]) == 5000
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "5,000 of 5,003 results are here"
    few = sarif_of([*different[:2], *different[:2]], most=1, places=1)
    assert [each["message"]["text"] for each in few["invocations"][0]["toolExecutionNotifications"]] == [
        "1 of 2 results are here",
        "a result has 1 place at most; occurrenceCount tells how many there are",
    ]
    assert sarif_of(different[:2], most=2)["invocations"][0]["toolExecutionNotifications"] == []


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("./a b/ü:%.jsonl", {"uri": "a%20b/%C3%BC%3A%25.jsonl", "uriBaseId": "%SRCROOT%"}),
        ("/a/b.jsonl", {"uri": "file:///a/b.jsonl"}),
        ("a\udcff.jsonl", {"uri": "a%FF.jsonl", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_a_path_is_a_uri(path: str, uri: dict[str, str]) -> None:
    (result,) = sarif_of([FINDING._replace(path=path)])["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == uri


@pytest.mark.parametrize("name", ["path", "task", "field", "message", "text", "fix", "rule"])
def test_a_hostile_file_makes_a_valid_log(name: str) -> None:
    assert len(sarif_of([hostile(name)])["results"]) == 1


# ── JUnit ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_suite_for_each_file_and_a_case_for_each_rule() -> None:
    warning = FINDING._replace(rule="byte_order_mark", severity="warning", path="b.jsonl")
    said = parsed(junit_text([*many(2), FINDING._replace(rule="bad_type"), warning], ["good.jsonl"]))
    assert said.attrib == {"name": "evalspec", "tests": "4", "failures": "2", "errors": "0"}
    shape = {
        suite.attrib["name"]: {
            case.attrib["name"]: [part.tag for part in case] for case in suite.findall("testcase")
        }
        for suite in said
    }
    assert shape == {
        "good.jsonl": {"evalspec": []},
        "tasks/a.jsonl": {"bad_value": ["failure"], "bad_type": ["failure"]},
        "b.jsonl": {"byte_order_mark": ["system-out"]},
    }
    told = said.find("testsuite[@name='tasks/a.jsonl']/testcase[@name='bad_value']/failure")
    assert told is not None
    assert told.attrib == {"message": "must be one of exact_match, f1", "type": "bad_value"}
    assert (told.text or "").startswith("tasks/a.jsonl:1:14 arith_003 metric_name bad_value must be one of")
    assert (told.text or "").count("fix: write exact_match") == 2


@pytest.mark.parametrize("name", ["path", "task", "field", "message", "text", "fix", "rule"])
def test_a_hostile_file_makes_well_formed_xml(name: str) -> None:
    said = parsed(junit_text([hostile(name)]))
    assert [part.tag for part in said.iter()] == ["testsuites", "testsuite", "testcase", "failure"]
