"""Whatever a file holds, `validate` and `migrate` end in its rule and never in a traceback, and leave it alone."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from support.cli import Cli
from support.files import HOSTILE, line

from evalspec.cli import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", HOSTILE)
def test_the_rule_is_named(here: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    data, rule, number = HOSTILE[name]
    (here / name).write_bytes(data)
    began = time.monotonic()
    code = main(["validate", "--format", "json", name])
    out, err = capsys.readouterr()
    assert code == 1, err
    assert time.monotonic() - began < 10
    if not rule:
        assert name in err
        return
    first = json.loads(out)["errors"][0]
    assert (first["rule"], first["line"], first["path"]) == (rule, number, name)
    assert first["message"]
    assert first["fix"]
    assert [path.name for path in here.iterdir()] == [name]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("more", [[], ["--prove", "all", "--diff"]], ids=["plain", "prove all"])
def test_migrate_leaves_it_alone(
    here: Path, capsys: pytest.CaptureFixture[str], name: str, more: list[str]
) -> None:
    data, rule, _ = HOSTILE[name]
    (here / name).write_bytes(data)
    assert main(["migrate", "--to", "v3", name, *more]) == 1
    out, err = capsys.readouterr()
    assert rule in out + err
    assert "internal error" not in err
    assert (here / name).read_bytes() == data
    assert [path.name for path in here.iterdir()] == [name]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.endswith(".jsonl")])
def test_bad_lines_are_carried_over_byte_for_byte(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    data, _, _ = HOSTILE[name]
    good = line("good")
    (here / name).write_bytes(good + data + b"\n" + line("last"))
    assert main(["migrate", "--to", "v3", name, "--allow-bad-tasks"]) == 0
    capsys.readouterr()
    lines = (here / name).read_bytes().split(b"\n")
    before = (good + data + b"\n" + line("last")).split(b"\n")
    assert len(lines) == len(before)
    changed = [number for number, pair in enumerate(zip(before, lines, strict=True)) if pair[0] != pair[1]]
    for number in changed:
        assert lines[number].startswith(b'{"spec_version": 3, '), number
        assert json.loads(lines[number])["metrics"]
    assert changed[0] == 0
    assert changed[-1] == len(before) - 2


def test_a_line_of_100_megabytes(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(line("a"))
        file.write(b'{"x": "')
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n')
        file.write(line("b"))
    size = path.stat().st_size
    code, out, err = cli("validate", path)
    assert (code, err) == (1, "")
    assert "long.jsonl:2:1" in out
    assert "line_too_long" in out
    assert out.endswith("2 valid records, 1 error in 1 file\n")
    code, out, _ = cli("migrate", "--to", "v3", path)
    assert code == 1
    assert path.stat().st_size == size
    code, out, _ = cli("migrate", "--to", "v3", path, "--allow-bad-tasks")
    assert code == 0
    with path.open("rb") as file:
        assert file.readline().startswith(b'{"spec_version": 3')
        assert file.read(7) == b'{"x": "'
        rest = file.read()
    assert rest.count(b"x") >= 100 << 20
    assert rest[: 100 << 20].strip(b"x") == b""
    assert rest[100 << 20 :].startswith(b'"}\n{"spec_version": 3')


def test_a_longer_line_by_leave(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a", prompt="x" * 3000))
    assert cli("validate", path, "--max-line", "1K").code == 1
    assert cli("validate", path, "--max-line", "4K").code == 0
    path.write_bytes(line("a", prompt="x" * (17 << 20)))
    assert cli("validate", path).code == 1
    assert cli("validate", path, "--max-line", "32M").code == 0


def test_yaml_limits_and_their_flags(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "tasks.yaml"
    text = "task_id: a\ncategory: arithmetic\nprompt: 1 + 1?\ntargets: ['2']\nmetric_name: f1\npost_process: none\n"
    path.write_text(f"{text}metadata: {{a: {'[' * 120}{']' * 120}}}\n")
    code, out, _ = cli("validate", path)
    assert code == 1
    assert "more than 100 deep" in out
    assert "raise the limit (--max-depth)" in out
    assert cli("validate", path, "--max-depth", "200").code == 0
    path.write_text(text + "# " + "x" * 5000 + "\n")
    code, out, _ = cli("validate", path, "--max-yaml", "4K")
    assert code == 1
    assert "too_large the file has more than 4,096 bytes" in out
    assert "raise the limit (--max-yaml)" in out
    assert cli("validate", path, "--max-yaml", "8K").code == 0
    path.write_text(f"{text}metadata: {{a: &a [1, 2, 3], b: [*a, *a, *a]}}\n")
    assert "alias_bomb" in cli("validate", path, "--max-nodes", "20").out
    assert cli("validate", path, "--max-nodes", "100").code == 0
    path.write_text(text)  # 13 keys and values, and their mapping
    code, out, _ = cli("validate", path, "--max-nodes", "13")
    assert code == 1
    assert "too_large the file holds more than 13 values" in out
    assert "raise the limit (--max-nodes)" in out
    assert cli("validate", path, "--max-nodes", "14").code == 0


@pytest.mark.parametrize("command", [["validate"], ["migrate", "--to", "v3"]])
def test_what_is_no_file(cli: Cli, tmp_path: Path, command: list[str]) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to("nowhere.jsonl")
    for name, codes in {
        "pipe.jsonl": (1, 2), "folder.jsonl": (2,), "missing.jsonl": (2,), "loop.jsonl": (1, 2),
        "dangling.jsonl": (1, 2), "": (2,), "/dev/zero": (1, 2), "no*match.jsonl": (2,), "a\nb": (2,),
    }.items():  # fmt: skip
        code, out, err = cli(*command, name, timeout=20)
        assert code in codes, (name, err)
        assert out == ""
        assert "fix: " in err, name
        assert "Traceback" not in err
    assert "\\n" in err  # the last name, shown without its line end


def test_what_is_printed_of_a_file_is_escaped(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m.jsonl"
    path.write_bytes(line("a\u202eb", category="\x1b[2Jmcq\u200b") + b"\x1b[0m\n")
    code, out, _ = cli("validate", path)
    assert code == 1
    assert not [char for char in out if ord(char) in (0x1B, 0x202E, 0x200B)]
    assert "\\x1b[31m.jsonl:1" in out
    assert "\\u{202E}" in out


#: More digits than Python writes unless it is told to.
_LONG = "9" * 5000


@pytest.mark.parametrize(
    "where",
    [
        f'"metadata": {{"x": {_LONG}}}',
        f'"metadata": {{"version": {_LONG}}}',
        f'"metadata": {_LONG}',
        f'"metadata": {{"x": [{_LONG}]}}, "metric_name": "nope"',
        f'"spec_version": {_LONG}',
        f'"targets": [{_LONG}]',
        f'"category": {_LONG}',
    ],
)
def test_a_long_integer_stops_nothing(cli: Cli, tmp_path: Path, where: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(line("a"))
    (tmp_path / "t.jsonl").write_bytes(line("t").rstrip().removesuffix(b"}") + f", {where}}}\n".encode())
    for command in (
        ["validate", "--format", "json"], ["validate"], ["migrate", "--to", "v3", "--dry-run", "--diff"],
        ["render", "--format", "json"], ["current"], ["check", "--require", "v3"], ["check", "--format", "sarif"],
        ["task", "t"], ["task", "t", "--prompt"], ["diff", "--from", "v1", "--to", "v3"],
        ["diff", "--no-index", "a.jsonl"],
    ):  # fmt: skip
        code, _, err = cli(*command, "t.jsonl")
        assert code in {0, 1, 2}, (command, err)
        assert "internal error" not in err
