"""`evalspec check` and `validate` print for the services of CI, from files that are as bad as can be."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.cli import ROOT, Cli
from support.sound import sound

V1 = ROOT / "fixtures" / "evalspec" / "v1"
COMMANDS = [("check", "--require", "v3"), ("validate",)]
by_command = pytest.mark.parametrize("command", COMMANDS, ids=["check", "validate"])


@pytest.fixture
def bad(cli: Cli) -> Path:
    """A file with one bad record, whose id would be commands to a runner."""
    path = cli.cwd / "bad.jsonl"
    record = sound("v3", "arithmetic") | {"task_id": "x\n::error::owned", "category": "no,such:one%0A"}
    path.write_text(json.dumps(record) + "\n")
    return path


@by_command
def test_github(cli: Cli, bad: Path, command: tuple[str, ...]) -> None:
    code, out, _ = cli(*command, bad.name, "--format", "github")
    assert code == 1
    assert out.startswith("::error file=bad.jsonl,line=1,col=")
    assert all(line.startswith("::error file=bad.jsonl,line=1,") for line in out.splitlines())


@by_command
def test_gitlab(cli: Cli, bad: Path, command: tuple[str, ...]) -> None:
    code, out, _ = cli(*command, bad.name, "--format", "gitlab")
    assert code == 1
    assert {issue["location"]["path"] for issue in json.loads(out)} == {"bad.jsonl"}


@by_command
def test_sarif_to_a_file(cli: Cli, bad: Path, command: tuple[str, ...]) -> None:
    code, out, _ = cli(*command, bad.name, "--format", "sarif", "--output", "out.sarif")
    assert (code, out) == (1, "")
    (run,) = json.loads((cli.cwd / "out.sarif").read_text())["runs"]
    assert {result["level"] for result in run["results"]} == {"error"}


@by_command
def test_junit_has_the_files_that_pass_too(cli: Cli, bad: Path, command: tuple[str, ...]) -> None:
    good = cli.cwd / "good.jsonl"
    good.write_text(json.dumps(sound("v3", "arithmetic")) + "\n")
    code, out, _ = cli(*command, good.name, bad.name, "--format", "junit")
    assert code == 1
    suites = ET.fromstring(out).findall("testsuite")  # noqa: S314 - our own printer wrote it
    assert [(suite.attrib["name"], suite.attrib["failures"] != "0") for suite in suites] == [
        ("good.jsonl", False),
        ("bad.jsonl", True),
    ]


@pytest.mark.parametrize("service", ["github", "gitlab", "sarif", "junit"])
def test_what_passes_exits_with_0(cli: Cli, service: str) -> None:
    assert cli("check", "--require", "v1", V1 / "tasks.jsonl", "--format", service).code == 0
