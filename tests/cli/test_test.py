"""`evalspec test`: the checks of a specification as a table, computed fixtures made anew, and what goes unnoticed."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from support.cli import ROOT, Cli

FIXTURES = "fixtures/acme"


@pytest.fixture
def acme(cli: Cli) -> Cli:
    """The command in a copy of the example project."""
    folder = cli.cwd / "acme"
    shutil.copytree(ROOT / "examples" / "acme", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Cli(folder)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def without(path: Path, *texts: str) -> None:
    """Remove the lines that hold one of the texts."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    left = [line for line in lines if not any(text in line for text in texts)]
    assert left != lines
    path.write_text("".join(left), encoding="utf-8")


def test_a_sound_project_passes_and_every_test_is_named(acme: Cli) -> None:
    code, out, err = acme("test")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["acme:", "chain", "ok"]
    assert lines[-1] == f"{len(lines) - 1} tests passed"
    assert any(line.startswith("acme@v1 to acme@v2: records ") for line in lines)


def test_outside_of_a_project_the_versions_of_the_tool_are_tested(cli: Cli) -> None:
    code, out, _ = cli("test", "evalspec@v1")
    assert code == 0
    assert "evalspec@v1: bad tasks" in out
    assert "evalspec@v3" not in out.replace("to evalspec@v3", "")


def test_a_failure_is_told_with_its_place(acme: Cli) -> None:
    change(acme.cwd / FIXTURES / "v2/post_process.jsonl", '"output": "', '"output": "x')
    code, out, _ = acme("test", "acme@v2: *")
    assert code == 1
    [row] = [line for line in out.splitlines() if line.startswith("acme@v2: post-process examples")]
    assert row.endswith("1 found")
    assert f"{FIXTURES}/v2/post_process.jsonl:" in out
    assert "fixture_stale" in out
    assert out.splitlines()[-1] == "6 tests, 1 failed"
    said = acme("test", "--format", "json").json()
    assert said["summary"]["failed"] == 1
    [failed] = [test for test in said["tests"] if not test["passed"]]
    assert failed["findings"][0]["rule"] == "fixture_stale"
    suite = ET.fromstring(acme("test", "--format", "junit").out)  # noqa: S314 - our own
    assert suite.attrib["failures"] == "1"
    [case] = [each for each in suite if len(each)]
    assert (case.attrib["classname"], case.attrib["name"]) == ("acme@v2", "post-process examples")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["acme@v2: promts"], "did you mean"),
        (["--yes"], "--yes goes with --update"),
        (["--update", "--format", "json"], "--update prints a diff"),
    ],
)
def test_misuse(acme: Cli, words: list[str], said: str) -> None:
    code, out, err = acme("test", *words)
    assert (code, out) == (2, "")
    assert said in err


# ── --update ─────────────────────────────────────────────────────────────────────────────────────────────────


def spoil(folder: Path) -> dict[str, bytes]:
    """Give every kind of computed fixture another content, and return the right ones."""
    step = f"{FIXTURES}/migrations/v1_v2"
    files = [f"{FIXTURES}/v2/post_process.jsonl", f"{FIXTURES}/v2/template_prompts.jsonl"]
    files += [f"{step}/{name}.jsonl" for name in ("after", "prompts", "outputs")]
    before = {name: (folder / name).read_bytes() for name in files}
    change(folder / files[0], '"output": "', '"output": "x')
    change(folder / files[1], '"text": "', '"text": "x')
    change(folder / files[2], '"prompt": "', '"prompt": "x')
    change(folder / files[3], '"after": "', '"after": "x')
    change(folder / files[4], '"after": "', '"after": "x')
    return before


def test_update_shows_the_diff_and_writes_nothing_unasked(acme: Cli) -> None:
    right = spoil(acme.cwd)
    wrong = {name: (acme.cwd / name).read_bytes() for name in right}
    code, out, err = acme("test", "--update")
    assert code == 1
    assert "--yes writes without a question" in err
    for name in right:
        assert f"--- a/{name}\n+++ b/{name}\n" in out
    assert {name: (acme.cwd / name).read_bytes() for name in right} == wrong


def test_update_makes_computed_fixtures_what_they_were(acme: Cli) -> None:
    right = spoil(acme.cwd)
    assert acme("test").code == 1
    code, out, err = acme("test", "--update", "--yes")
    assert (code, "5 files written" in err) == (0, True)
    assert out.splitlines()[-1].endswith("tests passed")
    assert {name: (acme.cwd / name).read_bytes() for name in right} == right
    assert "up to date" in acme("test", "--update").err


@pytest.mark.parametrize(("answer", "written"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_update_asks_on_a_terminal(acme: Cli, answer: bytes, written: bool) -> None:
    right = spoil(acme.cwd)
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        done = subprocess.run(
            [*acme.command, "test", "--update"],
            cwd=acme.cwd,
            env=acme.env,
            stdin=theirs,
            capture_output=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"write 5 files? [y/N]" in done.stderr
    assert done.returncode == (0 if written else 1)
    assert ({name: (acme.cwd / name).read_bytes() for name in right} == right) is written


# ── --mutate ─────────────────────────────────────────────────────────────────────────────────────────────────


def weak(cli: Cli, *words: str) -> list[dict[str, Any]]:
    result = cli("test", "--mutate", *words, "--format", "json")
    findings: list[dict[str, Any]] = [
        each for test in json.loads(result.out)["tests"] for each in test["findings"]
    ]
    assert {each["rule"] for each in findings} <= {"fixture_weak"}
    assert result.code == bool(findings)
    return findings


def drop_pair(folder: Path) -> None:
    without(folder / FIXTURES / "v2/pairs.jsonl", '"pair_sentiment_001"')


def drop_bad_word(folder: Path) -> None:
    change(folder / FIXTURES / "v2/tasks_bad.jsonl", '"bleurt"', '"bleu_4"')
    change(folder / FIXTURES / "v2/tasks_bad.labels.json", '"bad_value", "field": "metrics[0].name"',
           '"illegal_pair", "field": "metrics[0].name"')  # fmt: skip


def drop_examples(folder: Path) -> None:
    path = folder / FIXTURES / "v2/post_process.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    left = [row for row in rows if row["rule"] != "extract_label" or row["output"] == row["input"]]
    assert left != rows
    path.write_text("".join(json.dumps(row) + "\n" for row in left), encoding="utf-8")


def drop_delimiter(folder: Path) -> None:
    for name in ("before", "after", "prompts"):
        without(folder / FIXTURES / f"migrations/v1_v2/{name}.jsonl", '"parcel_lines"')


def drop_rule(folder: Path) -> None:
    """The last bad task of its kind becomes another one."""
    labels = folder / FIXTURES / "v2/tasks_bad.labels.json"
    change(labels, '"not_allowed", "field": "choices"', '"unknown_field", "field": "options"')
    lines = (folder / FIXTURES / "v2/tasks_bad.jsonl").read_text(encoding="utf-8")
    row = next(line for line in lines.splitlines() if '"stray_choices_001"' in line)
    change(folder / FIXTURES / "v2/tasks_bad.jsonl", row, row.replace('"choices"', '"options"'))


@pytest.mark.parametrize(
    ("edit", "place", "said"),
    [
        (drop_pair, "schemas/acme/v2.py:39:", "sentiment (generate_until) could no longer go with"),
        (drop_bad_word, "schemas/acme/v", "metrics[].name could be any text"),
        (drop_examples, "schemas/acme/v2.py:34:", "post-process rule extract_label could"),
        (drop_delimiter, "schemas/acme/v1.py:", "the target_delimiter of prompts could not be read from"),
        (drop_rule, "schemas/acme/v1.py:", "rule not_allowed of choices (is_left_out) could be gone"),
    ],
)  # fmt: skip
def test_what_no_fixture_would_notice_is_told_with_its_place(
    acme: Cli, edit: Any, place: str, said: str
) -> None:
    edit(acme.cwd)
    found = [each for each in weak(acme, "acme@v2: mutations") if said in each["message"]]
    assert found
    for each in found:
        assert f"{each['path']}:{each['line']}:".startswith(place)
        assert "acme@v2 would tell" in each["message"]
        assert each["fix"].startswith("add a")


def test_an_operation_and_an_entry_of_a_table_that_no_pair_of_records_shows(acme: Cli) -> None:
    path = acme.cwd / "migrations/acme/v2.py"
    change(
        path,
        "    # the records\n",
        '    # the records\n    op.map("metadata.level", {"low": 1, "high": 2}, keep_others=True)\n',
    )
    found = weak(acme, "acme@v2: mutations")
    assert [(each["path"], each["line"]) for each in found] == 3 * [
        ("migrations/acme/v2.py", found[0]["line"])
    ]
    messages = " ".join(each["message"] for each in found)
    assert "could leave out: map metadata.level" in messages
    assert "could lack low" in messages
    assert "could lack high" in messages


def test_nothing_is_mutated_where_a_test_fails(acme: Cli) -> None:
    change(acme.cwd / FIXTURES / "v2/post_process.jsonl", '"output": "', '"output": "x')
    code, out, err = acme("test", "--mutate")
    assert code == 1
    assert "nothing was mutated" in err
    assert "mutations" not in out


@pytest.mark.slow
def test_the_fixtures_of_the_tool_and_of_the_example_notice_every_change(acme: Cli) -> None:
    assert weak(acme) == []
    assert weak(Cli(ROOT)) == []


def test_the_prompts_of_a_first_version_are_fixtures_too(cli: Cli) -> None:
    assert cli("init", "--fresh", "--name", "tiny").code == 0
    found = [each for each in weak(cli) if "of prompts could" in each["message"]]
    assert found
    assert all("prompts.jsonl" in each["fix"] for each in found)
    folder = cli.cwd / "fixtures/tiny/v1"
    tasks = (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    task = json.loads(tasks[0]) | {
        "task_id": "whole",
        "description": "Add up.\n",
        "examples": [
            {"prompt": "1 + 1 =", "completion": "2"},
            {"prompt": "2 + 3 =", "completion": "5"},
        ],
    }
    (folder / "pairs.jsonl").write_text(json.dumps(task) + "\n", encoding="utf-8")
    names = [json.loads(line)["task_id"] for line in tasks] + ["whole"]
    lines = [json.dumps({"task_id": name, "text": ""}) + "\n" for name in names]
    (folder / "prompts.jsonl").write_text("".join(lines), encoding="utf-8")
    assert cli("test").code == 1
    assert cli("test", "--update", "--yes").code == 0
    [*_, last] = map(json.loads, (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines())
    assert last["text"].startswith("Add up.\n1 + 1 = 2\n\n2 + 3 = 5\n\n")
    assert [each for each in weak(cli) if "of prompts could" in each["message"]] == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("v1/tasks.jsonl", '"task_id"', '"taskid"'),
        ("v1/generations.jsonl", '"text"', '"txt"'),
        ("v1/post_process.jsonl", '"rule": "', '"rule": 3, "x": "'),
        ("v1/tasks_bad.labels.json", '"rule"', '"r"'),
        ("v1/templates.yaml", "  task_id:", "  taskid:"),
        ("migrations/v1_v2/outputs.jsonl", '"task_id": "', '"task_id": 3, "x": "'),
    ],
)
def test_a_fixture_of_another_shape_is_a_finding_and_no_fault(
    acme: Cli, name: str, old: str, new: str
) -> None:
    change(acme.cwd / FIXTURES / name, old, new)
    for words in (["test"], ["check"], ["test", "--update"]):
        code, out, err = acme(*words)
        assert code == 1, err
        assert "internal error" not in err
        assert "fixture" in out + err
