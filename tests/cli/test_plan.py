"""`evalspec plan`: what a migration would do, with nothing written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.cli import ROOT, Cli

ACME = ROOT / "examples" / "acme"


@pytest.fixture
def tasks(cli: Cli) -> Path:
    """A file at v1, one at v2 and one at v3."""
    folder = cli.cwd / "tasks"
    folder.mkdir()
    for version in ("v1", "v2", "v3"):
        path = folder / f"{version}.jsonl"
        shutil.copyfile(ROOT / "fixtures" / "evalspec" / version / "tasks.jsonl", path)
    return folder


def test_it_tells_files_steps_and_promises(cli: Cli, tasks: Path) -> None:
    before = {path: path.read_bytes() for path in tasks.iterdir()}
    counts = {path.stem: len(path.read_bytes().splitlines()) for path in tasks.iterdir()}
    code, out, _ = cli("plan", "--to", "v3", tasks)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].endswith(f"v1.jsonl: {counts['v1']} at v1")
    assert lines[1].endswith(f"v2.jsonl: {counts['v2']} at v2")
    assert lines[2] == f"v2  Write prompt assembly down.  {counts['v1']} records"
    assert lines[3] == "    prompts: unchanged, to be proved by the operations"
    assert lines[4] == "    outputs: changes: extract_letter prefers a letter standing alone"
    assert lines[5].startswith("v3  ")
    assert lines[5].endswith(f"  {counts['v1'] + counts['v2']} records")
    assert lines[-1] == f"{counts['v1'] + counts['v2']} records in 2 files to v3; 1 file already there"
    assert "set spec_version" not in out
    assert "    set spec_version = 3\n" in cli("plan", "--to", "v3", tasks, "--verbose").out
    assert {path: path.read_bytes() for path in tasks.iterdir()} == before
    assert sorted(path.name for path in cli.cwd.iterdir()) == ["tasks"]


def test_what_it_says_is_what_migrate_then_does(cli: Cli, tasks: Path) -> None:
    planned = json.loads(cli("plan", "--to", "head", tasks, "--format", "json").out)
    done = json.loads(cli("migrate", "--to", "head", tasks, "--format", "json").out)
    assert planned["to"] == done["to"]
    assert [(each["revision"], each["records"]) for each in planned["steps"]] == [
        (each["revision"], each["records"]) for each in done["steps"]
    ]
    assert [each["prompts"] for each in planned["steps"]] == [
        each["prompts"]["promise"] for each in done["steps"]
    ]
    assert [each["proved_by"] for each in planned["steps"]] == [
        each["prompts"]["proved_by"] for each in done["steps"]
    ]
    written = {each["path"] for each in done["files"] if each["written"]}
    assert {each["path"] for each in planned["files"] if [*each["schemas"]] != ["v3"]} == written
    again = json.loads(cli("plan", "--to", "head", tasks, "--format", "json").out)
    assert again["steps"] == []


def test_a_step_that_changes_prompts_says_so(cli: Cli) -> None:
    out = cli("plan", "--to", "head", cwd=ACME).out
    assert "    prompts: changes: a ruled line between examples" in out


def test_invalid_records_are_counted_and_backwards_is_refused(cli: Cli, tasks: Path) -> None:
    with (tasks / "v1.jsonl").open("ab") as file:
        file.write(b"{}\n")
    result = cli("plan", "--to", "v2", tasks / "v1.jsonl")
    assert result.code == 0
    assert "; 1 invalid record\n" in result.out
    back = cli("plan", "--to", "v2", tasks / "v3.jsonl")
    assert (back.code, back.out) == (2, "")
    assert "cannot go back" in back.err
    missing = cli("plan", "--to", "v9", tasks)
    assert missing.code == 2
    assert "fix: " in missing.err
