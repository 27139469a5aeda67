"""Validating task files: what is counted, what is reported, and where."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from support.files import line
from support.migrating import own_project
from xxhash import xxh3_64_intdigest

from evalspec.errors import Finding, WriteError
from evalspec.tasks import FileReport, Reading, format_of, validate_path
from evalspec.tasks.ids import IdHashes, Twins


def check(path: Path, **more: bool) -> FileReport:
    project = own_project()
    return validate_path(str(path), Reading(project.families, project.unmarked(), **more))


def places(report: FileReport) -> list[tuple[int, int, str | None, str | None, str]]:
    return [(found.line, found.column, found.task, found.field, found.rule) for found in report.errors]


def test_a_finding_of_a_jsonl_file_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    lines = [
        line("é", category="nonsense"),
        b"\n",
        line("b").replace(b'["144"]', b'["144", 7]'),
        line("c").replace(b', "post_process": "strip_whitespace"', b""),
        b"  " + line("d", note="x"),
    ]
    path.write_bytes(b"".join(lines))
    texts = [text.decode() for text in lines]
    report = check(path)
    assert places(report) == [
        (1, texts[0].index('"nonsense"') + 1, "é", "category", "bad_value"),
        (3, texts[2].index("7]") + 1, "b", "targets[1]", "bad_type"),
        (4, 1, "c", "post_process", "missing_required"),
        (5, texts[4].index('"x"}') + 1, "d", "note", "unknown_field"),
    ]
    assert (report.valid, dict(report.schemas)) == (0, {"evalspec@v1": 4})
    first = report.errors[0]
    assert (first.text, first.severity, first.path) == ("nonsense", "error", str(path))
    assert first.message
    assert first.fix


def test_a_finding_of_a_yaml_file_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "tasks.yaml"
    path.write_text(
        "# two tasks\n"
        "- task_id: a\n"
        "  category: sums\n"
        "  prompt: 1 + 1?\n"
        "  targets: ['2']\n"
        "  metric_name: f1\n"
        "  post_process: none\n"
        "- {task_id: a, category: arithmetic, prompt: '1?', targets: ['2', 3], metric_name: f1, post_process: none}\n"
    )
    assert places(check(path)) == [
        (3, 13, "a", "category", "bad_value"),
        (8, 67, "a", "targets[1]", "bad_type"),
    ]


@pytest.mark.parametrize("all_errors", [False, True])
def test_the_first_violation_or_all(tmp_path: Path, *, all_errors: bool) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a", category="sums", metric_name="luck", note=1))
    rules = [found.rule for found in check(path, all_errors=all_errors).errors]
    assert rules == (["unknown_field", "bad_value", "bad_value"] if all_errors else ["unknown_field"])


def test_only_valid_records_count_as_seen(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a", category="sums") + line("a") + line("a") + line("a", note=1) + line("b"))
    assert [(line, rule) for line, _, _, _, rule in places(check(path))] == [
        (1, "bad_value"), (3, "duplicate_task_id"), (4, "unknown_field"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", [b"", b"\n", b"\r\n \n", b"\n\n\n"])
def test_no_records_are_no_error(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(text)
    report = check(path)
    assert (report.valid, report.errors, dict(report.schemas)) == (0, [], {})


def test_a_mark_is_an_error_in_jsonl_and_a_warning_in_yaml(tmp_path: Path) -> None:
    jsonl, yaml = tmp_path / "a.jsonl", tmp_path / "a.yaml"
    jsonl.write_bytes(b"\xef\xbb\xbf" + line())
    yaml.write_bytes(b"\xef\xbb\xbf" + line())
    assert [found.rule for found in check(jsonl).errors] == ["byte_order_mark"]
    report = check(yaml)
    assert (report.valid, report.errors) == (1, [])
    assert [(found.rule, found.severity) for found in report.warnings] == [("byte_order_mark", "warning")]


def test_gzip_and_plain_are_one(tmp_path: Path) -> None:
    text = line("a") + line("b", note=1) + line("a")
    plain, zipped = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_bytes(text)
    zipped.write_bytes(gzip.compress(text, mtime=0))
    assert places(check(plain)) == places(check(zipped))
    assert check(plain).valid == check(zipped).valid == 1


@pytest.mark.parametrize(
    ("name", "text", "format_"),
    [
        ("a.jsonl", b"", "jsonl"),
        ("a.ndjson", b"a: b", "jsonl"),
        ("a.YAML", b"{", "yaml"),
        ("a.yml.gz", gzip.compress(b"{", mtime=0), "yaml"),
        ("a.txt", b' \n{"a": 1}', "jsonl"),
        ("a", b"\xef\xbb\xbf{}", "jsonl"),
        ("a", b"# tasks\ntask_id: a\n", "yaml"),
        ("a", b"", "jsonl"),
    ],
)
def test_the_format_shows_in_the_name_or_the_first_bytes(
    tmp_path: Path, name: str, text: bytes, format_: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text)
    assert format_of(str(path)) == format_


def test_what_cannot_be_read_is_told_by_path(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.jsonl"):
        with pytest.raises(WriteError) as caught:
            check(path)
        assert caught.value.path == str(path)
        assert caught.value.fix


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    for stream in (io.BytesIO, Pipe):
        stdin = io.TextIOWrapper(stream(line("a") + line("a") + b"x\n"))
        monkeypatch.setattr(sys, "stdin", stdin)
        report = check(Path("-"))
        assert [found.rule for found in report.errors] == ["duplicate_task_id", "bad_json"]
        assert report.valid == 1


def test_many_findings_keep_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    lines = [
        line(f"t{number % 1900}", **({"note": number} if number % 7 == 0 else {})) for number in range(2000)
    ]
    path.write_bytes(b"".join(lines))
    report = check(path)
    assert [found.line for found in report.errors] == sorted(found.line for found in report.errors)
    twins = [found for found in report.errors if found.rule == "duplicate_task_id"]
    # An id that first came in an invalid record is not taken.
    assert [found.line - 1 for found in twins] == [
        number for number in range(1900, 2000) if number % 7 and (number - 1900) % 7
    ]
    assert report.valid + len(report.errors) == 2000
    assert all(isinstance(found, Finding) for found in report.errors)


def test_equal_hashes_of_different_ids_are_no_twins() -> None:
    hashes = IdHashes()
    hashes.add(["a", "b", "a"])
    assert len(hashes.suspects()) == 1
    twins = Twins(hashes.suspects())
    assert [twins.first_line(task, number) for number, task in enumerate(["a", "b", "a", "a"], 1)] == [
        None, None, 1, 1,
    ]  # fmt: skip
    other = IdHashes()
    other.merge(hashes.dump())
    assert other.suspects() == hashes.suspects()
    # Suspected hashes alone accuse nobody: ids are compared exactly.
    suspected = Twins(frozenset(xxh3_64_intdigest(task.encode()) for task in ("x", "y")))
    assert [suspected.first_line(task, number) for number, task in enumerate(["x", "y", "x"], 1)] == [
        None,
        None,
        1,
    ]


def test_a_page_of_json_is_one_bad_line_after_another(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(json.loads(line()), indent=2) + "\n")
    report = check(path)
    assert report.valid == 0
    assert {found.rule for found in report.errors} == {"bad_json", "not_an_object"}
