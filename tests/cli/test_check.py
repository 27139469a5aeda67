"""`evalspec check`: the gate on the version of task files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from support.cli import ROOT, Cli
from support.sound import sound

V1 = ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl"
V3 = ROOT / "fixtures" / "evalspec" / "v3"
ACME = ROOT / "examples" / "acme"


def mixed(folder: Path) -> Path:
    """Two records at v3, a blank line, one at v1 and two at v2."""
    records = [
        sound("v3", "arithmetic") | {"task_id": "a"},
        sound("v3", "arithmetic") | {"task_id": "b"},
        None,
        sound("v1", "arithmetic") | {"task_id": "c"},
        sound("v2", "arithmetic") | {"task_id": "d"},
        sound("v2", "arithmetic") | {"task_id": "e"},
    ]
    path = folder / "mixed.jsonl"
    path.write_text("".join(("" if record is None else json.dumps(record)) + "\n" for record in records))
    return path


def test_files_at_the_version_pass(cli: Cli) -> None:
    code, out, _ = cli("check", "--require", "v3", V3 / "tasks.jsonl", V3 / "templates.yaml")
    assert code == 0
    assert out == "2 files with 16 records, all valid and at v3\n"


def test_a_task_in_two_files(cli: Cli) -> None:
    code, out, _ = cli("check", V3 / "tasks.jsonl", V3 / "tasks.yaml", "--format", "json")
    assert code == 1
    found = json.loads(out)["findings"]
    assert {each["rule"] for each in found} == {"task_id_in_two_files"}
    assert {each["path"] for each in found} == {str(V3 / "tasks.yaml")}
    assert len(found) == 12
    assert f"{V3 / 'tasks.jsonl'}:1 has a task of this id" in found[0]["message"]


def test_a_file_that_is_behind_has_one_finding_at_its_first_such_record(cli: Cli) -> None:
    path = mixed(cli.cwd)
    code, out, _ = cli("check", "--require", "v3", path, "--format", "json")
    assert code == 1
    said = json.loads(out)
    assert said["required"] == "v3"
    assert [each["rule"] for each in said["findings"]] == ["mixed_versions", "version_behind"]
    assert (
        said["findings"][0]["message"]
        == "its records are at several versions: 1 at v1 and 2 at v2 and 2 at v3"
    )
    assert said["findings"][1:] == [
        {
            "rule": "version_behind",
            "severity": "error",
            "path": str(path),
            "line": 4,
            "column": 1,
            "task": "c",
            "field": "spec_version",
            "message": "1 record is at v1, 2 records are at v2; v3 is required",
            "text": "",
            "fix": f"evalspec migrate --to v3 {path}",
        }
    ]
    assert said["files"] == [
        {
            "path": str(path),
            "format": "jsonl",
            "schemas": {"v1": 1, "v2": 2, "v3": 2},
            "valid": 5,
            "errors": 0,
        }
    ]


def test_the_fix_it_names_makes_it_pass(cli: Cli) -> None:
    path = cli.cwd / "my tasks.jsonl"
    shutil.copy(V1, path)
    code, out, _ = cli("check", "--require", "v3", path)
    assert code == 1
    assert f"fix: evalspec migrate --to v3 '{path}'" in out
    assert cli("migrate", "--to", "v3", path).code == 0
    assert cli("check", "--require", "v3", path).code == 0


def test_each_file_has_its_own_finding(cli: Cli) -> None:
    shutil.copy(V1, cli.cwd / "a.jsonl")
    (cli.cwd / "b.jsonl").write_bytes(V1.read_bytes().replace(b"_00", b"_10"))
    (cli.cwd / "c.yaml").write_bytes((V3 / "tasks.yaml").read_bytes().replace(b"_00", b"_20"))
    code, out, _ = cli("check", "--require", "v3")
    assert code == 1
    assert out.count("version_behind") == 2
    assert out.endswith("2 findings in 2 of 3 files; v3 is required\n")


def test_the_schemas_own_findings_count(cli: Cli) -> None:
    path = cli.cwd / "t.jsonl"
    path.write_text(json.dumps(sound("v3", "arithmetic") | {"targets": []}) + "\n")
    code, out, _ = cli("check", "--require", "v3", path)
    assert code == 1
    assert "bad_value" in out
    assert "version_behind" not in out


def test_an_invalid_record_can_be_the_first_that_is_behind(cli: Cli) -> None:
    path = cli.cwd / "t.yaml"
    path.write_text("- task_id: broken\n- {task_id: also}\n")
    code, out, _ = cli("check", "--require", "v3", path)
    assert code == 1
    assert f"{path}:1:3 broken spec_version version_behind 2 records are at v1; v3 is required\n" in out
    assert "missing_required" in out


def test_a_file_past_the_version_is_not_at_it_either(cli: Cli) -> None:
    code, out, _ = cli("check", "--require", "v2", V3 / "tasks.jsonl")
    assert code == 1
    assert "version_ahead 12 records are at v3; v2 is required" in out
    assert "fix: require v3" in out


def test_the_configuration_can_require(cli: Cli) -> None:
    code, out, _ = cli("check", cwd=ACME)
    assert code == 1
    assert "tasks/weights.jsonl:1:1 weights_001 spec_version version_behind" in out
    assert cli("check", "--require", "v1", cwd=ACME).code == 0


def test_with_nothing_required_the_rules_count_alone(cli: Cli) -> None:
    code, out, _ = cli("check", V1)
    assert (code, out) == (0, "1 file with 10 records, all valid\n")
    path = cli.cwd / "t.jsonl"
    path.write_text(json.dumps(sound("v1", "arithmetic") | {"prompt": "Add:\u200b 1 + 1"}) + "\n")
    code, out, _ = cli("check", path)
    assert code == 0
    assert "invisible_character" in out
    assert out.endswith("1 file with 1 record, all valid; 1 warning\n")


def test_an_unknown_version_is_misuse_with_a_suggestion(cli: Cli) -> None:
    code, _, err = cli("check", "--require", "v33", V1)
    assert code == 2
    assert "did you mean 'v3'?" in err


def test_standard_input_and_an_empty_file(cli: Cli) -> None:
    assert cli("check", "--require", "v1", "-", stdin=V1.read_bytes()).code == 0
    assert cli("check", "--require", "v3", "-", stdin=V1.read_bytes()).code == 1
    assert cli("check", "--require", "v3", "-", stdin=b"").code == 0
