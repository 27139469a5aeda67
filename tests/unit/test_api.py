"""The Python API: everything that a runner needs from `import evalspec`."""

from __future__ import annotations

import copy
import doctest
import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from support.sound import sound

import evalspec
from evalspec.api import files, records, versions

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures" / "evalspec"
ACME = ROOT / "examples" / "acme"
GOLDEN = "Question: 2 + 2\nAnswer: 4\n\nCompute the result. Question: 17 + 24\nAnswer:"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def acme() -> evalspec.Project:
    return evalspec.Project.find(str(ACME))


def written(name: str, *tasks: dict[str, Any]) -> Path:
    path = Path(name)
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    return path


def frozen(value: Any) -> Any:
    """The same data where nothing can be assigned to."""
    if isinstance(value, dict):
        return MappingProxyType({key: frozen(item) for key, item in value.items()})
    return tuple(map(frozen, value)) if isinstance(value, list) else value


# ── The module ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("module", [files, records, versions])
def test_the_examples_in_the_docstrings_are_true(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_everything_that_is_promised_is_there_and_documented() -> None:
    assert sorted(evalspec.__all__) == evalspec.__all__
    for name in evalspec.__all__:
        value = getattr(evalspec, name)
        assert name in dir(evalspec)
        if callable(value):
            assert value.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = evalspec.nothing  # type: ignore[attr-defined]


def test_importing_it_imports_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import evalspec; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['evalspec', 'evalspec._lazy']"


@pytest.mark.slow
def test_the_types_are_what_the_documentation_says(tmp_path: Path) -> None:
    program = tmp_path / "uses.py"
    program.write_text(
        "from typing import Any, assert_type\n"
        "import evalspec\n"
        "valid, errors = evalspec.validate_file('t.jsonl')\n"
        "assert_type(valid, list[dict[str, Any]])\n"
        "assert_type(errors, list[evalspec.Finding])\n"
        "assert_type(evalspec.validate_task({}), list[evalspec.Finding])\n"
        "assert_type(evalspec.migrate_record({}, to='v3'), dict[str, Any])\n"
        "assert_type(evalspec.migrate_files(['a'], to='v3', dry_run=True), evalspec.Outcome)\n"
        "assert_type(evalspec.render({}), str)\n"
        "assert_type(evalspec.post_process('x', 'none'), str)\n"
        "assert_type(evalspec.load('t.jsonl'), list[dict[str, Any]])\n"
        "assert_type(evalspec.load_fixtures('v1'), evalspec.Fixtures)\n"
        "task = evalspec.TaskSpec.model_validate({})\n"
        "try:\n    pass\nexcept evalspec.BadTasks as error:\n"
        "    assert_type(error.findings, tuple[evalspec.Finding, ...])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


# ── Files ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_validate_file_gives_two_lists(version: str) -> None:
    result = evalspec.validate_file(FIXTURES / version / "tasks.jsonl")
    valid, errors = result
    assert errors == result.errors == []
    assert valid == list(evalspec.load_fixtures(version).tasks)
    bad = evalspec.validate_file(FIXTURES / version / "tasks_bad.jsonl")
    assert [error.rule for error in bad.errors] == [bad.rule for bad in evalspec.load_fixtures(version).bad]
    assert len(bad.valid) == 1


def test_a_twin_is_an_error_and_all_errors_are_wanted_or_not() -> None:
    path = written("t.jsonl", sound("v1", "mcq"), sound("v1", "mcq"), {"task_id": "x"})
    valid, errors = evalspec.validate_file(path)
    assert len(valid) == 1
    assert [error.rule for error in errors] == ["duplicate_task_id", "missing_required"]
    assert len(evalspec.validate_file(path, all_errors=True).errors) == 6


def test_validate_file_reads_yaml_and_says_what_it_cannot_read() -> None:
    valid, _ = evalspec.validate_file(str(FIXTURES / "v3" / "templates.yaml"))
    assert [task["task_id"] for task in valid] == [
        "tides_letters",
        "pronoun_gap",
        "kitchen_sums",
        "opposites",
    ]
    with pytest.raises(evalspec.WriteError):
        evalspec.validate_file("nowhere.jsonl")


def test_load_upgrades_in_memory_and_leaves_the_file() -> None:
    path = written("t.jsonl", sound("v1", "mcq"), sound("v2", "summary"), sound("v3", "code_exec"))
    before, stamp = path.read_bytes(), path.stat().st_mtime_ns
    tasks = evalspec.load(path)
    assert [task["spec_version"] for task in tasks] == [3, 3, 3]
    assert [task["task_id"] for task in tasks] == ["mcq_001", "summary_001", "code_exec_001"]
    assert tasks[2] == sound("v3", "code_exec")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, stamp)
    assert [entry.name for entry in Path().iterdir()] == ["t.jsonl"]


def test_load_takes_templates_and_other_versions() -> None:
    assert len(evalspec.load(FIXTURES / "v3" / "templates.yaml")) == 4
    assert evalspec.load(FIXTURES / "v1" / "tasks.jsonl", schema="v1") == list(
        evalspec.load_fixtures("v1").tasks
    )
    assert evalspec.load(FIXTURES / "v1" / "tasks.jsonl", "v2")[0]["spec_version"] == 2
    with pytest.raises(evalspec.UsageError, match="cannot go back"):
        evalspec.load(FIXTURES / "v3" / "tasks.jsonl", "v2")
    with pytest.raises(evalspec.UnknownVersion):
        evalspec.load(FIXTURES / "v3" / "tasks.jsonl", "v9")


def test_load_refuses_bad_tasks_unless_allowed() -> None:
    path = written("t.jsonl", sound("v1", "mcq"), {"task_id": "x"})
    with pytest.raises(evalspec.BadTasks, match="1 error") as caught:
        evalspec.load(path)
    assert [(found.line, found.rule) for found in caught.value.findings] == [(2, "missing_required")]
    assert len(evalspec.load(path, allow_bad_tasks=True)) == 1


def test_a_record_that_no_migration_fits_is_bad_too() -> None:
    record = sound("v2", "arithmetic") | {"metadata": {"version": -1}}
    assert evalspec.validate_task(record) == []
    path = written("t.jsonl", sound("v2", "mcq"), record)
    try:
        loaded = evalspec.load(path)
    except evalspec.BadTasks as error:
        assert [(found.line, found.rule) for found in error.findings] == [(2, "cannot_upgrade")]
        assert len(evalspec.load(path, allow_bad_tasks=True)) == 1
    else:
        assert [evalspec.validate_task(task) for task in loaded] == [[], []]


def test_migrate_files_writes_and_a_dry_run_does_not() -> None:
    path = written("t.jsonl", sound("v1", "mcq"), sound("v1", "summary"))
    before = path.read_bytes()
    outcome = evalspec.migrate_files(path, to="v3", dry_run=True)
    assert [(file.path, file.records, file.changed, file.written) for file in outcome.files] == [
        ("t.jsonl", 2, 2, False)
    ]
    assert path.read_bytes() == before
    outcome = evalspec.migrate_files([path], to="+1")
    assert (outcome.target, outcome.files[0].written) == ("evalspec@v2", True)
    assert outcome.steps["evalspec@v2"].tasks == ["mcq_001"]
    assert evalspec.migrate_files().target == "evalspec@v3"
    assert evalspec.load(path, schema="v3") == evalspec.validate_file(path).valid
    assert evalspec.migrate_files(path, to="v3").files[0].changed == 0


def test_migrate_files_leaves_a_file_with_bad_tasks_alone_unless_allowed() -> None:
    path = written("t.jsonl", sound("v1", "mcq"), {"task_id": "x"})
    before = path.read_bytes()
    outcome = evalspec.migrate_files(path, to="v3")
    assert [found.rule for found in outcome.bad] == ["missing_required"]
    assert path.read_bytes() == before
    evalspec.migrate_files(path, to="v3", allow_bad_tasks=True)
    first, second = path.read_bytes().splitlines()
    assert json.loads(first)["spec_version"] == 3
    assert second == before.splitlines()[1]


def test_migrate_files_needs_files() -> None:
    with pytest.raises(evalspec.UsageError, match="no task file"):
        evalspec.migrate_files()
    with pytest.raises(evalspec.UsageError, match="standard input"):
        evalspec.migrate_files("-")


# ── Records ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_validate_task_reads_the_version_of_the_record() -> None:
    for version in ("v1", "v2", "v3"):
        assert evalspec.validate_task(sound(version, "shots")) == []
    (finding,) = evalspec.validate_task(sound("v1", "shots") | {"spec_version": 7})
    assert (finding.rule, finding.field, finding.task) == (
        "version_unknown",
        "spec_version",
        "arithmetic_001",
    )
    assert [found.rule for found in evalspec.validate_task({"task_id": "x"}, all_errors=True)] == [
        "missing_required"
    ] * 5
    assert len(evalspec.validate_task({"task_id": "x"})) == 1
    assert evalspec.validate_task(["no", "mapping"])[0].rule == "not_an_object"  # type: ignore[arg-type]


def test_records_are_never_changed() -> None:
    for version in ("v1", "v2", "v3"):
        for base in ("arithmetic", "mcq", "code_exec", "classification", "summary", "shots"):
            record = sound(version, base)
            before = copy.deepcopy(record)
            locked = frozen(record)
            assert evalspec.validate_task(locked) == []
            assert evalspec.migrate_record(locked) == evalspec.migrate_record(record)
            assert evalspec.render(locked) == evalspec.render(record)
            assert record == before


def test_a_migrated_record_shares_nothing_with_the_old_one() -> None:
    record = sound("v3", "shots")
    new = evalspec.migrate_record(record, to="v3")
    assert new == record
    new["fewshot"]["samples"][0]["prompt"] = "other"
    assert record == sound("v3", "shots")


def test_migrate_record_goes_step_by_step_or_at_once() -> None:
    record = sound("v1", "shots")
    at_once = evalspec.migrate_record(record, to="v3")
    assert at_once == evalspec.migrate_record(evalspec.migrate_record(record, to="v2"), to="v3")
    assert next(iter(at_once)) == "spec_version"
    assert evalspec.render(at_once) == evalspec.render(record)


def test_migrate_record_refuses_what_is_invalid_and_the_way_back() -> None:
    with pytest.raises(evalspec.BadTasks) as caught:
        evalspec.migrate_record(sound("v1", "mcq") | {"targets": ["F"]})
    assert [(found.rule, found.field) for found in caught.value.findings] == [("bad_value", "targets")]
    with pytest.raises(evalspec.UsageError, match="cannot go back"):
        evalspec.migrate_record(sound("v3", "mcq"), to="v1")


def test_render_gives_the_golden_prompt_at_every_version() -> None:
    task = evalspec.load_fixtures("v1").tasks[0]
    for version in ("v1", "v2", "v3"):
        assert evalspec.render(evalspec.migrate_record(task, to=version)) == GOLDEN


def test_render_refuses_invalid_records_and_templates() -> None:
    with pytest.raises(evalspec.BadTasks):
        evalspec.render({"prompt": "x"})
    with pytest.raises(evalspec.UsageError, match="is a template"):
        evalspec.render(sound("v3", "template"))


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_post_process_gives_what_the_fixtures_say(version: str) -> None:
    for example in evalspec.load_fixtures(version).post_process:
        assert evalspec.post_process(example.input, example.rule, schema=version) == example.output


def test_an_unknown_rule_is_a_value_error_that_lists_the_rules() -> None:
    with pytest.raises(ValueError, match="strip_whitespace, lower, extract_letter") as caught:
        evalspec.post_process("x", "extract")
    assert isinstance(caught.value, evalspec.UnknownRule)
    assert "extract_number" in caught.value.known
    with pytest.raises(evalspec.UnknownRule):
        evalspec.post_process("x", "extract_number", schema="v2")


# ── Versions ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_task_spec_is_the_model_of_the_heads_inline_records() -> None:
    task = evalspec.TaskSpec.model_validate(sound("v3", "shots"))
    assert task.model_dump()["version"] == 1
    assert set(evalspec.TaskSpec.model_fields) >= {"prompt", "targets", "metrics", "fewshot"}
    with pytest.raises(ValueError, match="category"):
        evalspec.TaskSpec.model_validate(sound("v3", "shots") | {"category": "none"})


def test_load_fixtures_gives_every_kind() -> None:
    fixtures = evalspec.load_fixtures("v3")
    assert fixtures.schema == "evalspec@v3"
    assert {task["task_id"] for task in fixtures.templates} == set(fixtures.rows)
    tasks = {task["task_id"] for task in [*fixtures.tasks, *fixtures.templates]}
    assert {sample.task_id for sample in fixtures.generations} <= tasks
    assert all(bad.data and bad.rule for bad in fixtures.bad)
    assert evalspec.load_fixtures("v1").rows == {}
    with pytest.raises(evalspec.UnknownVersion) as caught:
        evalspec.load_fixtures("v7")
    assert "v3" in caught.value.known


def test_json_schema_is_the_versions_own() -> None:
    assert evalspec.json_schema("v2")["title"] == "evalspec@v2"
    assert evalspec.json_schema()["title"] == "evalspec@v3"


def test_a_project_brings_its_own_family(acme: evalspec.Project) -> None:
    tasks = evalspec.load_fixtures("acme@v1", project=acme).tasks
    assert evalspec.json_schema(project=acme)["title"] == "acme@v2"
    path = written("t.jsonl", *tasks)
    loaded = evalspec.load(path, project=acme)
    assert {task["spec_version"] for task in loaded} == {"acme@v2"}
    assert evalspec.validate_file(path, project=acme).errors == []
    assert {found.rule for found in evalspec.validate_file(path).errors} == {"version_unknown"}
    ours = evalspec.migrate_record(sound("v1", "shots"), to="acme@v2", project=acme)
    assert evalspec.validate_task(ours, project=acme) == []
    assert evalspec.post_process("x", "none", project=acme) == "x"


def test_the_working_directory_decides_where_no_project_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ACME)
    assert evalspec.json_schema()["title"] == "acme@v2"
