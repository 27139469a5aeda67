"""`evalspec diff`: what migrating would change in prompts and outputs, with nothing written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from support.cli import ROOT, Cli

V1 = ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl"
ACME = ROOT / "examples" / "acme"
ACME_V1 = ACME / "fixtures" / "acme" / "v1" / "tasks.jsonl"


def a_project(cli: Cli, prompts: str) -> Path:
    """acme, with another promise on prompts of its second version."""
    folder = cli.cwd / "acme"
    shutil.copytree(ACME, folder)
    script = folder / "migrations" / "acme" / "v2.py"
    lines = script.read_text(encoding="utf-8").splitlines(keepends=True)
    lines = [f"prompts = {prompts!r}\n" if line.startswith("prompts = ") else line for line in lines]
    script.write_text("".join(lines), encoding="utf-8")
    return folder


def steps(said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["revision"]: step for step in said["steps"]}


def test_unchanged_prompts_and_the_outputs_of_a_changed_rule(cli: Cli) -> None:
    before = V1.read_bytes()
    code, out, _ = cli("diff", "--from", "v1", "--to", "v3", V1)
    assert code == 0
    assert V1.read_bytes() == before
    assert "10 at v1, in 1 file, against v3\n" in out
    assert "prompts unchanged, proved on 10 by rendering" in out
    assert "tasks whose outputs v2 can change: 1\n    mcq_001\n" in out
    assert "    extract_letter  ‘Answer: C is right’: ‘A’ → ‘C’\n" in out


def test_json_has_each_step_with_examples(cli: Cli) -> None:
    code, out, _ = cli("diff", "--to", "v3", V1, "--format", "json")
    said = json.loads(out)
    assert code == 0
    assert (said["from"], said["to"], said["bad"]) == ({"v1": 10}, "v3", [])
    assert said["files"] == [{"path": str(V1), "records": 10}]
    v2, v3 = steps(said)["v2"], steps(said)["v3"]
    assert v2["prompts"] == {
        "promise": "unchanged", "proved_by": "rendering", "changed": 0, "unknown": 0, "examples": []
    }  # fmt: skip
    assert v2["outputs"]["tasks"] == ["mcq_001"]
    example = {
        "rule": "extract_letter", "task": None, "generation": "Answer: C is right", "before": "A", "after": "C"
    }  # fmt: skip
    assert example in v2["outputs"]["examples"]
    assert {sample["rule"] for sample in v2["outputs"]["examples"]} == {"extract_letter"}
    assert v3["outputs"]["examples"] == []


def test_a_changed_prompt_is_shown_at_its_first_difference(cli: Cli) -> None:
    code, out, _ = cli("diff", "--from", "acme@v1", "--to", "acme@v2", ACME_V1, cwd=ACME)
    assert code == 0
    assert "prompts that v2 changes: 2\n" in out
    assert f"{ACME_V1}:3:1 weights_001\n5 characters, 5 bytes more, from character 130 (line 3)\n" in out
    assert "⟦---⏎⏎⟧" in out
    said = cli("diff", "--to", "acme@v2", ACME_V1, "--format", "json", cwd=ACME).json()
    examples = steps(said)["v2"]["prompts"]["examples"]
    assert [example["task"] for example in examples] == ["parcel_001", "weights_001"]
    assert examples[1]["after"].replace("---\n\n", "") == examples[1]["before"]


def test_the_first_twenty_changes_are_shown_and_the_rest_counted(cli: Cli) -> None:
    lines = [json.loads(line) for line in ACME_V1.read_bytes().splitlines() if line.strip()]
    weights = next(task for task in lines if task["task_id"] == "weights_001")
    copies = [weights | {"task_id": f"w{number}"} for number in range(25)]
    path = cli.cwd / "many.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in copies), encoding="utf-8")
    out = cli("diff", "--to", "acme@v2", path, cwd=ACME).out
    assert "prompts that v2 changes: 25\n" in out
    assert out.count("5 characters, 5 bytes more") == 20
    assert "… and 5 more\n" in out


def test_exit_code_says_whether_anything_changes(cli: Cli) -> None:
    prompts_only = cli.cwd / "plain.jsonl"
    keep = [line for line in V1.read_bytes().splitlines(keepends=True) if b'"extract_letter"' not in line]
    prompts_only.write_bytes(b"".join(keep))
    code, out, _ = cli("diff", "--to", "v3", prompts_only, "--exit-code")
    assert code == 0
    assert "no prompt changes, and no output of these tasks\n" in out
    assert cli("diff", "--to", "v3", V1, "--exit-code").code == 1
    assert cli("diff", "--to", "v3", V1).code == 0


def test_a_broken_promise_is_shown_with_the_first_prompt(cli: Cli) -> None:
    folder = a_project(cli, "unchanged")
    code, out, err = cli("diff", "--to", "v2", "fixtures/acme/v1/tasks.jsonl", cwd=folder)
    assert (code, out) == (1, "")
    assert "promise_broken" in err
    assert "⟦" in err


def test_migrate_shows_the_first_prompt_of_a_broken_promise_too(cli: Cli) -> None:
    folder = a_project(cli, "unchanged")
    path = folder / "fixtures" / "acme" / "v1" / "tasks.jsonl"
    before = path.read_bytes()
    code, _, err = cli("migrate", "--to", "v2", path, cwd=folder)
    assert code == 1
    assert "promise_broken" in err
    assert "12 characters, 12 bytes more, from character 61 (line 1)" in err
    assert path.read_bytes() == before


def test_invalid_records_refuse_it_unless_allowed(cli: Cli) -> None:
    path = cli.cwd / "t.jsonl"
    path.write_bytes(V1.read_bytes() + b'{"task_id": "x"}\n')
    code, out, err = cli("diff", "--to", "v3", path)
    assert (code, out) == (1, "")
    assert "missing_required" in err
    code, out, _ = cli("diff", "--to", "v3", path, "--allow-bad-tasks")
    assert code == 0
    assert "missing_required" in out
    assert "10 records; prompts unchanged" in out


def test_from_says_what_unmarked_records_are(cli: Cli) -> None:
    code, _, err = cli("diff", "--from", "v2", "--to", "v3", V1)
    assert code == 1
    assert "missing_required" in err


def test_misuse_is_said_with_a_next_step(cli: Cli) -> None:
    assert cli("diff", V1).code == 2
    code, _, err = cli("diff", "--to", "v33", V1)
    assert code == 2
    assert "did you mean" in err
    code, _, err = cli("diff", "--to", "v1", ROOT / "fixtures" / "evalspec" / "v3" / "tasks.jsonl")
    assert code == 2
    assert "cannot go back" in err


def test_help_and_output(cli: Cli) -> None:
    code, out, _ = cli("diff", "--help")
    assert code == 0
    assert "examples:\n" in out
    assert "  evalspec diff --from v1 --to v3 tasks/\n" in out
    assert cli("diff", "--to", "v3", V1, "--output", "said.txt")[:2] == (0, "")
    assert "against v3" in (cli.cwd / "said.txt").read_text(encoding="utf-8")


def test_the_report_of_a_migration_holds_the_same_prompts_and_outputs(cli: Cli) -> None:
    path = cli.cwd / "t.jsonl"
    path.write_bytes(ACME_V1.read_bytes())
    assert (
        cli("migrate", "--to", "acme@v2", path, "--dry-run", "--report", cli.cwd / "acme.md", cwd=ACME).code
        == 0
    )
    text = (cli.cwd / "acme.md").read_text(encoding="utf-8")
    assert "weights_001" in text
    assert "⟦---⏎⏎⟧" in text
    path.write_bytes(V1.read_bytes())
    assert cli("migrate", "--to", "v3", path, "--dry-run", "--report", "r.md").code == 0
    assert "Answer: C is right" in (cli.cwd / "r.md").read_text(encoding="utf-8")
