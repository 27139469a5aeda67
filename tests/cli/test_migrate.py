"""`evalspec migrate`: what it writes, what it prints, and what it refuses."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli import ROOT, Cli, clean_environment
from support.families import write_migration, write_version
from support.files import line
from support.sound import sound

V1 = ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl"
STEPS = (
    "v2  Write prompt assembly down.  {records}; {prompts}; outputs: {touched} extract_letter\n"
    "v3  Let a task be a template over a data set.  {records}; {prompts}; outputs unchanged\n"
)

YAML = """\
# Sums for children.
- task_id: sum   # the first
  category: arithmetic
  prompt: |
    1 + 1?
    Answer:
  targets: ["2"]
  metric_name: exact_match
  post_process: none
  metadata: {version: 4, note: 'kept'}

- task_id: letter
  category: mcq
  prompt: "Which?"
  targets: [B]
  metric_name: exact_match
  few_shot_examples:
    - {prompt: "Who?", completion: A}   # one shot
  post_process: extract_letter
""".replace("  prompt: |\n    1 + 1?\n    Answer:\n", "  prompt: |-\n    1 + 1?\n    Answer:\n")


def steps(number: int, touched: str, by: str = "operations") -> str:
    records = f"{number} record{'' if number == 1 else 's'}"
    prompts = f"prompts unchanged, proved on {number} by {by}"
    return STEPS.format(records=records, prompts=prompts, touched=touched)


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# ── What it writes ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_fixtures_go_from_v1_to_v3(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    shutil.copy(V1, path)
    code, out, err = cli("migrate", "--to", "v3", path)
    assert (code, err) == (0, "")
    assert out == steps(10, "1 task uses") + "10 records to v3 (10 at v1); 1 file written\n"
    code, out, _ = cli("validate", path, "--format", "json")
    assert json.loads(out)["files"][0]["schemas"] == {"v3": 10}
    assert code == 0
    assert files_in(tmp_path) == ["tasks.jsonl"]
    code, out, _ = cli("migrate", "--to", "v3", path)
    assert (code, out) == (0, "0 records to v3 (10 at v3); 0 files written, 1 file already there\n")


def test_yaml_keeps_all_but_the_change(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.yaml"
    path.write_text(YAML)
    assert cli("migrate", "--to", "v3", path).code == 0
    shots = '  fewshot:\n    samples:\n      - {prompt: "Who?", completion: A}   # one shot\n'
    text = path.read_text()
    assert "# Sums for children.\n- spec_version: 3\n  version: 4\n  task_id: sum   # the first\n" in text
    assert "  prompt: |-\n    1 + 1?\n    Answer:\n" in text
    assert "{note: 'kept'}" in text
    assert "# one shot" in text
    assert shots in text
    assert cli("validate", path).out == "2 valid records, 0 errors in 1 file\n"


def test_two_steps_are_one(cli: Cli, tmp_path: Path) -> None:
    for name, text in (("tasks.yaml", YAML.encode()), ("tasks.jsonl", V1.read_bytes())):
        one, two = tmp_path / f"one_{name}", tmp_path / f"two_{name}"
        one.write_bytes(text)
        two.write_bytes(text)
        assert cli("migrate", "--to", "v3", one).code == 0
        assert cli("migrate", "--to", "v2", two).code == 0
        assert cli("migrate", "--to", "+1", two).code == 0
        assert one.read_bytes() == two.read_bytes()
        before = one.read_bytes()
        assert cli("migrate", "--to", "head", one).code == 0
        assert one.read_bytes() == before


def test_versions_may_be_mixed_in_one_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a") + line("b", version="v3") + line("c", version="v2") + b"\r\n" + line("d"))
    code, out, _ = cli("migrate", "--to", "v3", path, "--format", "json")
    result = json.loads(out)
    assert code == 0
    assert result["from"] == {"v1": 2, "v2": 1, "v3": 1}
    assert result["to"] == "v3"
    assert result["files"] == [{"path": str(path), "records": 4, "changed": 3, "written": True}]
    assert [(step["revision"], step["records"]) for step in result["steps"]] == [("v2", 2), ("v3", 3)]
    lines = path.read_bytes().split(b"\n")
    assert [json.loads(text)["spec_version"] for text in lines if text.strip()] == [3, 3, 3, 3]
    assert lines[1] + b"\n" == line("b", version="v3")
    assert lines[3] == b"\r"


def test_unmarked_records_are_of_the_version_that_is_said(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a"))
    code, out, _ = cli("migrate", "--to", "v3", path, "--from", "v2")
    assert code == 1
    assert "missing_required" in out  # v2 has a marker, so no record without one is valid
    assert cli("migrate", "--to", "v3", path, "--from", "v1").code == 0
    assert cli("migrate", "--to", "v3", path, "--from", "v7").code == 2


def test_the_bytes_of_a_file_around_its_records(cli: Cli, tmp_path: Path) -> None:
    """CRLF, blank lines, a missing final newline, a mode, a link: all stay."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    real, link = tmp_path / "real.jsonl", folder / "linked.jsonl"
    real.write_bytes(line("a").replace(b"\n", b"\r\n") + b"\n" + line("b").rstrip(b"\n"))
    real.chmod(0o640)
    link.symlink_to("../real.jsonl")
    assert cli("migrate", "--to", "v3", link).code == 0
    data = real.read_bytes()
    first, blank, last = data.split(b"\n")
    assert first.endswith(b"}\r")
    assert blank == b""
    assert last.endswith(b"}")
    assert (real.stat().st_mode & 0o777, link.readlink()) == (0o640, Path("../real.jsonl"))


def test_gzip_in_and_out(cli: Cli, tmp_path: Path) -> None:
    plain, zipped = tmp_path / "plain.jsonl", tmp_path / "tasks.jsonl.gz"
    shutil.copy(V1, plain)
    zipped.write_bytes(gzip.compress(V1.read_bytes()))
    code, out, _ = cli("migrate", "--to", "v3", plain, zipped)
    assert code == 0
    assert "20 records to v3 (20 at v1); 2 files written" in out
    assert gzip.decompress(zipped.read_bytes()) == plain.read_bytes()
    yaml = tmp_path / "tasks.yaml.gz"
    yaml.write_bytes(gzip.compress(YAML.encode()))
    (tmp_path / "tasks.yaml").write_text(YAML)
    assert cli("migrate", "--to", "v3", yaml, tmp_path / "tasks.yaml").code == 0
    assert gzip.decompress(yaml.read_bytes()) == (tmp_path / "tasks.yaml").read_bytes()


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.yaml"])
def test_standard_input_to_standard_output(cli: Cli, tmp_path: Path, name: str) -> None:
    text = V1.read_bytes() if name == "tasks.jsonl" else YAML.encode()
    path = tmp_path / name
    path.write_bytes(text)
    code, out, err = cli("migrate", "--to", "v3", "-", stdin=text)
    assert code == 0
    assert "prompts unchanged, proved on" in err
    assert cli("migrate", "--to", "v3", path).code == 0
    assert out.encode() == path.read_bytes()
    assert files_in(tmp_path) == [name]


def test_bad_standard_input_gives_nothing(cli: Cli) -> None:
    code, out, err = cli("migrate", "--to", "v3", "-", stdin=line("a") + b"no record\n")
    assert (code, out) == (1, "")
    assert "-:2:1 - - bad_json" in err
    code, out, _ = cli("migrate", "--to", "v3", "-", "--allow-bad-tasks", stdin=line("a") + b"no record\n")
    assert code == 0
    assert out.splitlines()[1] == "no record"
    for more in (["--diff"], ["--dry-run"], ["--format", "json"], ["other.jsonl"]):
        assert cli("migrate", "--to", "v3", "-", *more).code == 2


def test_folders_and_patterns(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("a.jsonl", "deep/b.jsonl", "deep/er/c.ndjson", "deep/notes.md", "deep/er/other.jsonl"):
        (tmp_path / name).write_bytes(line() if "o" not in Path(name).stem else b'{"some": "data"}\n')
    code, out, err = cli("migrate", "--to", "v3", "deep", "--dry-run")
    assert code == 0
    assert "2 records to v3 (2 at v1); 2 files would be written" in out
    assert "skipped" in err
    code, out, _ = cli("migrate", "--to", "v3", "**/*.jsonl", "--dry-run")
    assert "2 records to v3" in out
    code, out, _ = cli("migrate", "--to", "v3")
    assert (code, "3 files written" in out) == (0, True)
    assert (tmp_path / "deep/er/other.jsonl").read_bytes() == b'{"some": "data"}\n'


# ── What it shows ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.yaml", "lines.jsonl"])
def test_a_diff_is_what_a_run_does(cli: Cli, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    mixed = b"".join(line(f"t{n}", version=("v1", "v3", "v3", "v3", "v3")[n % 5]) for n in range(40))
    text = {"tasks.jsonl": V1.read_bytes(), "tasks.yaml": YAML.encode(), "lines.jsonl": mixed.rstrip(b"\n")}[
        name
    ]
    path.write_bytes(text)
    code, out, _ = cli("migrate", "--to", "v3", name, "--diff")
    assert code == 0
    assert path.read_bytes() == text
    assert files_in(tmp_path) == [name]
    patch = out[: out.index("\nv2  Write") + 1]
    subprocess.run(["patch", "-p1", "--binary", "-o", "patched"], input=patch.encode(), cwd=tmp_path, check=True,
                   capture_output=True)  # fmt: skip
    assert cli("migrate", "--to", "v3", name).code == 0
    assert (tmp_path / "patched").read_bytes() == path.read_bytes()


def test_a_dry_run_says_what_a_run_says(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    shutil.copy(V1, path)
    dry = cli("migrate", "--to", "v3", path, "--dry-run")
    assert path.read_bytes() == V1.read_bytes()
    wet = cli("migrate", "--to", "v3", path)
    assert dry.code == wet.code == 0
    assert dry.out.replace("would be written", "written") == wet.out


def test_rendering_on_request(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    shutil.copy(V1, path)
    code, out, _ = cli("migrate", "--to", "v3", path, "--prove", "all")
    assert code == 0
    assert out.startswith(steps(10, "1 task uses", "rendering"))


def test_the_tasks_whose_outputs_change_are_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a") + line("b", base="mcq") + line("c", base="mcq") + line("d"))
    result = cli("migrate", "--to", "v3", path, "--format", "json").json()
    assert result["bad"] == []
    assert result["steps"][0] == {
        "revision": "v2",
        "records": 4,
        "prompts": {"promise": "unchanged", "proved_by": "operations", "changed": 0, "unknown": 0},
        "outputs": {
            "promise": "changes: extract_letter prefers a letter standing alone",
            "tasks": ["b", "c"],
        },
    }


def test_a_report(cli: Cli, tmp_path: Path) -> None:
    path, report = tmp_path / "tasks.jsonl", tmp_path / "report.md"
    path.write_bytes(line("a", metadata={"version": 3}) + line("b|`x`", base="mcq"))
    assert cli("migrate", "--to", "v3", path, "--report", report).code == 0
    text = report.read_text()
    for part in ("v3", "tasks.jsonl", "extract_letter", "metrics", "version", "prompts unchanged"):
        assert part in text
    assert files_in(tmp_path) == ["report.md", "tasks.jsonl"]


@pytest.mark.parametrize("flag", ["--report", "--output"])
def test_a_report_that_cannot_be_written_stops_first(cli: Cli, tmp_path: Path, flag: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a"))
    for where in (tmp_path / "nowhere" / "report.md", tmp_path):
        code, _, err = cli("migrate", "--to", "v3", path, flag, where)
        assert code == 1
        assert str(where) in err
        assert path.read_bytes() == line("a")


# ── What it refuses ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_with_a_bad_record_is_left_alone(cli: Cli, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(line("a"))
    text = line("a") + line("b", category="nonsense") + line("c")
    bad.write_bytes(text)
    code, out, _ = cli("migrate", "--to", "v3", bad, good)
    assert code == 1
    assert f"{bad}:2:" in out
    assert "b category bad_value" in out
    assert "1 record to v3 (4 at v1); 1 file written, 1 file left alone\n" in out
    assert "--allow-bad-tasks" in out
    assert bad.read_bytes() == text
    assert good.read_bytes() != line("a")


def test_all_files_or_none(cli: Cli, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(line("a"))
    bad.write_bytes(line("b", category="nonsense"))
    summary = "0 records to v3 (2 at v1); 0 files {}, 1 file left alone, 1 file held back (--atomic run)\n"
    for more, verb in ((["--dry-run"], "would be written"), ([], "written")):
        code, out, _ = cli("migrate", "--to", "v3", "--atomic", "run", good, bad, *more)
        assert code == 1
        assert summary.format(verb) in out
    assert good.read_bytes() == line("a")
    assert files_in(tmp_path) == ["bad.jsonl", "good.jsonl"]
    result = cli("migrate", "--to", "v3", "--atomic", "run", good, bad, "--format", "json").json()
    assert [file["written"] for file in result["files"]] == [False, False]
    code, _, _ = cli("migrate", "--to", "v3", "--atomic", "run", good, bad, "--allow-bad-tasks")
    assert code == 0
    assert good.read_bytes().startswith(b'{"spec_version": 3')
    assert bad.read_bytes() == line("b", category="nonsense")


def test_bad_records_are_carried_over_on_request(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    bad = [
        b"{not json\r\n",
        b'{"task_id": "x"}\n',
        line("a", base="mcq"),
        b"\xff\xfe\n",
        line("n", metadata={"version": -1}),
    ]
    path.write_bytes(line("a") + b"".join(bad) + line("b"))
    code, out, _ = cli("migrate", "--to", "v3", path, "--allow-bad-tasks", "--format", "json")
    assert code == 0
    result = json.loads(out)
    assert [(finding["rule"], finding["line"]) for finding in result["bad"]] == [
        ("bad_json", 2), ("missing_required", 3), ("duplicate_task_id", 4), ("bad_encoding", 5), ("cannot_upgrade", 6),
    ]  # fmt: skip
    assert "version" in result["bad"][-1]["message"]
    lines = path.read_bytes().splitlines(keepends=True)
    assert lines[1:6] == bad
    assert [json.loads(text)["task_id"] for text in (lines[0], lines[6])] == ["a", "b"]
    again = cli("migrate", "--to", "v3", path, "--allow-bad-tasks", "--format", "json").json()
    assert [file["changed"] for file in again["files"]] == [0]


def test_the_second_of_two_ids_is_bad_wherever_it_stands(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    lines = [line(f"t{number}", prompt="x" * 500) for number in range(1000)]
    lines[900] = line("t3", prompt="the same id")
    path.write_bytes(b"".join(lines))
    code, out, _ = cli("migrate", "--to", "v3", path)
    assert code == 1
    assert "tasks.jsonl:901:13 t3 task_id duplicate_task_id the task id is already that of line 4" in out
    assert path.read_bytes() == b"".join(lines)
    assert cli("migrate", "--to", "v3", path, "--allow-bad-tasks").code == 0
    after = path.read_bytes().splitlines(keepends=True)
    assert after[900] == lines[900]
    assert all(text.startswith(b'{"spec_version": 3') for at, text in enumerate(after) if at != 900)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "v1"], "cannot go back from evalspec@v3 to evalspec@v1"),
        (["--to", "v9"], "unknown schema version 'v9'"),
        (["--to", "acme@v1"], "unknown schema version 'acme@v1'"),
        (["--to", "+1"], "+1 from evalspec@v3 is past the head"),
        (["--to", ""], "unknown schema version"),
        ([], "--to"),
        (["--to", "v3", "--atomic", "all"], "invalid choice: 'all'"),
        (["--to", "v3", "--jobs", "0"], "--jobs"),
        (["--to", "v3", "--spec", "acme"], "no family 'acme'"),
        (["--to", "v3", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_misuse_is_told_with_a_next_step(
    cli: Cli, tmp_path: Path, arguments: list[str], message: str
) -> None:
    path = tmp_path / "tasks.jsonl"
    text = line(version="v3")
    path.write_bytes(text)
    code, out, err = cli("migrate", *arguments, path)
    assert (code, out) == (2, "")
    assert message in err
    assert "fix: " in err
    assert path.read_bytes() == text


def test_a_relative_version_needs_one_version(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a") + line("b", version="v2"))
    code, _, err = cli("migrate", "--to", "+1", path)
    assert code == 2
    assert "+1 needs records of one version; these are at evalspec@v1, evalspec@v2" in err
    path.write_bytes(line("b", version="v2"))
    assert cli("migrate", "--to", "+1", path).code == 0
    assert json.loads(path.read_bytes())["spec_version"] == 3


# ── A broken promise ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A project whose migration promises unchanged prompts and changes the quizzes'."""
    write_version(tmp_path)
    write_version(tmp_path, "v2")
    write_migration(tmp_path, 'op.where(category="quiz").set("prompt", "1 + 1 =\\u200b ?")')
    for number, kinds in enumerate((("sum", "sum"), ("sum", "quiz", "quiz"), ("quiz",))):
        records = [
            {"spec_version": "team@v1", "task_id": f"{kind}{at}", "category": kind, "prompt": "1 + 1?",
             "targets": ["2"], "post_process": "none", "metric_name": "exact_match"}
            for at, kind in enumerate(kinds)
        ]  # fmt: skip
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


@pytest.mark.parametrize(
    "more", [[], ["--dry-run"], ["--diff"], ["--atomic", "run"], ["--allow-bad-tasks"], ["--prove", "all"]]
)
def test_a_broken_promise_writes_nothing(cli: Cli, team: Path, more: list[str]) -> None:
    before = {path.name: path.read_bytes() for path in team.glob("*.jsonl")}
    code, out, err = cli("migrate", "--to", "team@v2", "0.jsonl", "1.jsonl", "2.jsonl", *more)
    assert (code, out) == (1, "")
    assert (
        "1.jsonl:2:1 quiz1 - promise_broken team@v2 promises unchanged prompts, and changes this one" in err
    )
    assert f'mend {team}/migrations/team/v2.py, or promise `prompts = "changes: …"`' in err
    assert "from character 6 (line 1)" in err
    assert "- 1·+·1⟦⟧?\n" in err
    assert "+ 1·+·1⟦·=\\u{200B}·⟧?\n" in err
    assert "U+200B" in err
    assert "\u200b" not in err
    assert {path.name: path.read_bytes() for path in team.glob("*.jsonl")} == before
    assert not list(team.glob(".*"))


def test_a_change_that_is_said_goes_through(cli: Cli, team: Path) -> None:
    script = team / "migrations" / "team" / "v2.py"
    script.write_text(script.read_text().replace('prompts = "unchanged"', 'prompts = "changes: clearer"'))
    code, out, _ = cli("migrate", "--to", "team@v2", "0.jsonl", "1.jsonl", "2.jsonl")
    assert code == 0
    assert "prompts change (clearer): 3 of 6" in out


def test_a_migration_that_fails_on_a_record_names_it(cli: Cli, team: Path) -> None:
    above = "def fail(record):\n    return record['nothing']\n"
    write_migration(team, 'op.each(fail, fields=("prompt",))', above=above)
    before = (team / "1.jsonl").read_bytes()
    code, out, err = cli("migrate", "--to", "v2", "1.jsonl")
    assert code == 1, err
    assert "1.jsonl:1:1 sum0 prompt cannot_upgrade team@v2: `fail` failed: KeyError: 'nothing'" in out
    assert (team / "1.jsonl").read_bytes() == before


def test_a_migration_that_makes_an_invalid_record_names_the_rule(cli: Cli, team: Path) -> None:
    write_migration(team, 'op.set("category", "nonsense")')
    code, out, _ = cli("migrate", "--to", "v2", "0.jsonl")
    assert code == 1
    assert "0.jsonl:1:1 sum0 category cannot_upgrade team@v2 makes category bad_value" in out


@pytest.mark.parametrize("name", ["0.jsonl", "0.yaml"])
@pytest.mark.parametrize("value", ["{1, 2}", "object()", "float('nan')", "'\\ud800'", "{1: 2}", "1j"])
def test_a_value_that_no_file_can_hold(cli: Cli, team: Path, name: str, value: str) -> None:
    above = f"def fill(record):\n    record['metadata'] = {{'x': {value}}}\n"
    write_migration(team, 'op.each(fill, fields=("metadata",))', above=above)
    records = [json.loads(text) for text in (team / "0.jsonl").read_text().splitlines()]
    (team / "0.yaml").write_text(json.dumps(records[0]) + "\n")
    before = (team / name).read_bytes()
    code, out, err = cli("migrate", "--to", "v2", name)
    assert code == 1, err
    assert f"{name}:1:1" in out
    assert "0 files written, 1 file left alone" in out
    assert (team / name).read_bytes() == before


# ── Where files cannot be written, and interrupts ────────────────────────────────────────────────────────────


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where one may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
    if (
        os.geteuid()
        or not shutil.which("mount")
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("NOT TESTED: no disk can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_keeps_the_old_bytes(cli: Cli, small_disk: Path) -> None:
    path = small_disk / "tasks.jsonl"
    text = b"".join(line(f"t{at}") for at in range(200))
    path.write_bytes(text)
    code, out, err = cli("migrate", "--to", "v3", path)
    assert (code, out) == (1, "")
    assert "tasks.jsonl: the disk is full" in err
    assert "fix: " in err
    assert path.read_bytes() == text
    assert files_in(small_disk) == ["tasks.jsonl"]


def test_a_folder_that_may_only_be_read(cli: Cli, small_disk: Path) -> None:
    path = small_disk / "tasks.jsonl"
    path.write_bytes(line("a"))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    code, out, err = cli("migrate", "--to", "v3", path)
    assert (code, out) == (1, "")
    assert str(small_disk) in err
    assert "fix: " in err
    assert path.read_bytes() == line("a")
    assert cli("migrate", "--to", "v3", path, "--dry-run").code == 0
    assert cli("migrate", "--to", "v3", "-", stdin=path.read_bytes()).code == 0
    assert files_in(small_disk) == ["tasks.jsonl"]


def test_a_file_that_may_only_be_read(cli: Cli, tmp_path: Path) -> None:
    """It is not replaced by way of its folder, not even for root: whoever took the right away meant it."""
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a"))
    path.chmod(0o444)
    code, out, err = cli("migrate", "--to", "v3", path)
    assert (code, out) == (1, "")
    assert "tasks.jsonl: it is read-only" in err
    assert path.read_bytes() == line("a")
    assert files_in(tmp_path) == ["tasks.jsonl"]


def test_backups_are_kept_and_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a"))
    code, out, _ = cli("migrate", "--to", "v3", path, "--backup", tmp_path / "old")
    assert code == 0
    assert f"backup of {path}: " in out
    copy = Path(out[out.index("backup of ") :].split(": ", 1)[1].strip())
    assert copy.is_relative_to(tmp_path / "old")
    assert copy.read_bytes() == line("a")


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_an_interrupt_leaves_files_whole(tmp_path: Path, number: int, code: int, word: str) -> None:
    paths = [tmp_path / f"{at}.jsonl" for at in range(4)]
    text = b"".join(line(f"t{at}", metadata={"n": at}) for at in range(30_000))
    for path in paths:
        path.write_bytes(text)
    command = [
        sys.executable,
        "-m",
        "evalspec",
        "migrate",
        "--to",
        "v3",
        "--jobs",
        "1",
        "--prove",
        "all",
        *paths,
    ]
    with subprocess.Popen(
        command,
        env=clean_environment(),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list(tmp_path.glob(".*")) and child.poll() is None:
            time.sleep(0.005)
        assert child.poll() is None
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (code, "")
    assert err.endswith(f"evalspec: {word}; every file is whole\n")
    assert all(path.read_bytes() == text for path in paths)
    assert files_in(tmp_path) == [path.name for path in paths]


def test_no_reader_no_complaint(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"".join(line(f"t{at}") for at in range(3000)))
    command = [sys.executable, "-m", "evalspec", "migrate", "--to", "v3", "--diff", path]
    with subprocess.Popen(
        command, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        err = child.stderr.read()
    assert (child.returncode, err) == (141, "")


def test_help_has_examples(cli: Cli) -> None:
    code, out, _ = cli("migrate", "--help")
    assert code == 0
    assert "examples:\n  evalspec migrate --to v3 tasks/\n" in out


def test_a_family_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    shutil.copytree(ROOT / "examples" / "acme", folder, ignore=shutil.ignore_patterns("__pycache__"))
    record = sound("v3", "arithmetic") | {"description": "Add."}
    (folder / "new.jsonl").write_text(json.dumps(record) + "\n")
    code, out, _ = cli("migrate", "--to", "v2", "new.jsonl", cwd=folder)
    assert code == 0
    assert "1 record to v2 (1 at evalspec@v3); 1 file written" in out
    after = json.loads((folder / "new.jsonl").read_text())
    assert (after["spec_version"], after["description"]) == ("acme@v2", "Add.\n\n")


def test_a_second_run_waits_and_then_says_who_holds_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a"))
    holder = (
        "import sys; from evalspec.writing import Run\n"
        "with Run(sys.argv[1]): print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        done = subprocess.run(
            [sys.executable, "-m", "evalspec", "migrate", "--to", "v3", path],
            env=clean_environment(), cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 75, done.stderr
        assert str(other.pid) in done.stderr
        assert path.read_bytes() == line("a")
        other.communicate("")
    assert subprocess.run(
        [sys.executable, "-m", "evalspec", "migrate", "--to", "v3", path],
        env=clean_environment(), cwd=tmp_path, capture_output=True, check=False,
    ).returncode == 0  # fmt: skip
