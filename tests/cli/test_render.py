"""`evalspec render`: the bytes of prompts, alone, in a row, and as JSON lines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from support.cli import ROOT, Cli

V1 = ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl"
V3 = ROOT / "fixtures" / "evalspec" / "v3"
GOLDEN = "Question: 2 + 2\nAnswer: 4\n\nCompute the result. Question: 17 + 24\nAnswer:"


def expected(folder: Path) -> dict[str, str]:
    """The prompts that the migration fixtures write down."""
    lines = (folder / "prompts.jsonl").read_bytes().splitlines()
    return {said["task_id"]: said["before"] for said in map(json.loads, lines)}


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def record(task: str = "one", **fields: Any) -> dict[str, Any]:
    return {
        "task_id": task,
        "category": "arithmetic",
        "prompt": "1 + 1 =",
        "targets": ["2"],
        "metric_name": "exact_match",
        "post_process": "none",
    } | fields


def test_one_prompt_is_printed_to_the_byte(cli: Cli) -> None:
    assert cli("render", V1, "--task", "arith_001") == (0, GOLDEN, "")


def test_bytes_are_not_translated(cli: Cli) -> None:
    prompt = "tab\there\r\ncafé ☕ \u2028 end"
    done = subprocess.run(
        [*cli.command, "render", jsonl(cli.cwd / "t.jsonl", record(prompt=prompt))],
        env=cli.env,
        capture_output=True,
        check=True,
    )
    assert done.stdout == prompt.encode()


def test_several_prompts_have_a_line_before_each(cli: Cli) -> None:
    path = jsonl(cli.cwd / "t.jsonl", record("one"), record("two", prompt="x\n--- y"))
    assert cli("render", path).out == "--- one\n1 + 1 =\n--- two\nx\n--- y"


def test_null_ends_each_prompt(cli: Cli) -> None:
    path = jsonl(cli.cwd / "t.jsonl", record("one"), record("two", prompt="é"))
    assert cli("render", "-0", path).out == "1 + 1 =\0é\0"
    assert cli("render", "--null", path, "--task", "one").out == "1 + 1 =\0"


def test_json_lines_are_ascii_and_have_these_keys(cli: Cli) -> None:
    path = jsonl(cli.cwd / "t.jsonl", record("one"), record("two", prompt="é"))
    code, out, _ = cli("render", "--format", "json", path)
    assert code == 0
    assert out.isascii()
    line = {"path": str(path), "line": 2, "task": "two", "schema": "v1", "version": None, "text": "é"}
    second = json.loads(out.splitlines()[1])
    assert second.items() >= line.items()
    assert list(second) == [
        *["path", "line", "task", "schema", "version", "split", "row", "view", "text", "messages", "system"],
        *["shots", "target", "choices", "output_type", "requests", "parts", "unknown"],
    ]
    assert second["messages"] == [{"role": "user", "content": "é"}]
    assert second["requests"] == [{"type": "generate_until", "context": "é", "generation": {"until": []}}]
    written = path.read_text().splitlines()[1].index('"\\u00e9"')
    assert second["parts"] == [
        {
            "kind": "question",
            "text": "é",
            "origin": {"path": str(path), "line": 2, "column": written + 1, "key": "prompt"},
        }
    ]


def test_the_written_down_prompts_are_what_is_printed(cli: Cli) -> None:
    for step in ("v1_v2", "v2_v3"):
        folder = ROOT / "fixtures" / "evalspec" / "migrations" / step
        out = cli("render", folder / "before.jsonl", "--format", "json").out
        assert {line["task"]: line["text"] for line in map(json.loads, out.splitlines())} == expected(folder)


def test_a_task_has_its_own_version_and_place_in_a_yaml_file(cli: Cli) -> None:
    out = cli("render", V3 / "tasks.yaml", "--task", "arith_002", "--format", "json").out
    (line,) = map(json.loads, out.splitlines())
    assert (line["schema"], line["version"]) == ("v3", 2)
    written = (V3 / "tasks.yaml").read_text(encoding="utf-8").splitlines()
    assert written[line["line"] - 1].startswith("- ")
    assert (
        line["text"]
        == json.loads(cli("render", V3 / "tasks.jsonl", "--task", "arith_002", "--format", "json").out)[
            "text"
        ]
    )


def test_a_template_is_shown_with_a_placeholder_row_and_that_is_said(cli: Cli) -> None:
    code, out, err = cli("render", V3 / "templates.yaml", "--task", "opposites")
    assert code == 0
    assert out == (
        "Name the opposite.\nword: hot\nopposite: cold\n--\nword: früh\nopposite: spät\n--\nword: ⟨word⟩\nopposite:"
    )
    assert "opposites is a template: shown with a placeholder row" in err
    assert cli("render", "-q", V3 / "templates.yaml", "--task", "opposites").err == ""


def test_a_template_that_no_made_up_row_fits_is_unknown_with_its_reason(cli: Cli) -> None:
    code, out, err = cli("render", V3 / "templates.yaml", "--format", "json")
    lines = {line["task"]: line for line in map(json.loads, out.splitlines())}
    assert code == 0
    assert lines["tides_letters"]["placeholder"] is True
    assert "⟨question⟩" in lines["tides_letters"]["text"]
    assert lines["pronoun_gap"]["text"] is None
    assert "no rows" in lines["pronoun_gap"]["unknown"]
    assert "pronoun_gap" in err
    assert "unknown_prompt" in err


def test_an_invalid_record_refuses_all_unless_allowed(cli: Cli) -> None:
    path = jsonl(cli.cwd / "t.jsonl", record("one"), record("two", category="maths"), record("one"))
    code, out, err = cli("render", path)
    assert (code, out) == (1, "")
    assert f"{path}:2:" in err
    assert "duplicate_task_id" in err
    assert "--allow-bad-tasks" in err
    assert cli("render", path, "--allow-bad-tasks")[:2] == (0, "1 + 1 =")


def test_nothing_is_printed_where_only_a_later_file_is_bad(cli: Cli) -> None:
    good = jsonl(cli.cwd / "a.jsonl", record())
    bad = jsonl(cli.cwd / "b.jsonl", record(targets=[]))
    assert cli("render", good, bad)[:2] == (1, "")


def test_standard_input_is_read(cli: Cli) -> None:
    assert cli("render", "-", stdin=json.dumps(record())).out == "1 + 1 ="


def test_a_task_that_is_not_there_is_misuse_with_a_suggestion(cli: Cli) -> None:
    code, out, err = cli("render", V1, "--task", "arith_01")
    assert (code, out) == (2, "")
    assert "did you mean 'arith_001'?" in err


def test_output_goes_to_a_file_that_is_whole_or_not_there(cli: Cli) -> None:
    assert cli("render", V1, "--task", "arith_001", "--output", "p.txt")[:2] == (0, "")
    assert (cli.cwd / "p.txt").read_bytes() == GOLDEN.encode()
    assert cli("render", V1, "--task", "nothing", "--output", "q.txt").code == 2
    assert not (cli.cwd / "q.txt").exists()


def test_help_has_examples_and_a_misspelt_flag_a_suggestion(cli: Cli) -> None:
    code, out, _ = cli("render", "--help")
    assert code == 0
    assert "examples:\n  evalspec render" in out
    code, _, err = cli("render", "--nul")
    assert code == 2
    assert "did you mean '--null'?" in err
