"""The gate, as a team meets it: a project of its own, a pull request that breaks it in four ways, and the way out."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from support.cli import Cli

if TYPE_CHECKING:
    from pathlib import Path

BASE = """\
dataset_path: made/up
output_type: generate_until
test_split: test
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
generation_kwargs:
  until: ["\\n"]
metadata:
  version: 1.0
"""
CONFIG = """\
spec = "acme"
requires = "acme@v1"
tasks = ["tasks", "harness"]
ignore = ["lint"]
"""


def git(cli: Cli, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=cli.cwd, env=cli.env, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def commit(cli: Cli) -> None:
    git(cli, "add", "-A")
    git(cli, "commit", "-q", "-m", "more")


def edit(path: Path, old: str, new: str, count: int = 1) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")


def found(cli: Cli, *words: str) -> list[dict[str, Any]]:
    result = cli("check", "--format", "json", *words)
    findings: list[dict[str, Any]] = json.loads(result.out)["findings"]
    assert result.code == int(any(each["severity"] == "error" for each in findings))
    return findings


def rules(cli: Cli, *words: str) -> list[str]:
    return [each["rule"] for each in found(cli, *words)]


def paste(cli: Cli, migration: Path) -> None:
    """Add the operations that the findings name to a migration."""
    fixes = [each["fix"] for each in found(cli) if each["rule"] == "migration_missing"]
    where = f"add to {migration.relative_to(cli.cwd)}: "
    assert fixes
    assert all(fix.startswith(where) for fix in fixes)
    operations = "".join(f"    {fix.removeprefix(where)}\n" for fix in fixes)
    edit(migration, "    # the records", f"{operations}    # the records")


@pytest.fixture
def project(cli: Cli) -> Path:
    """A project of a team called acme, with records and a tree of the harness, committed on main."""
    git(cli, "init", "-q", "-b", "main")
    assert cli("init", "--name", "acme").code == 0
    (cli.cwd / "evalspec.toml").write_text(CONFIG, encoding="utf-8")
    harness = cli.cwd / "harness"
    harness.mkdir()
    (harness / "_base.yaml").write_text(BASE, encoding="utf-8")
    for name in "ab":
        (harness / f"{name}.yaml").write_text(f"include: _base.yaml\ntask: demo_{name}\n", encoding="utf-8")
    commit(cli)
    return cli.cwd


def test_a_new_project_passes(cli: Cli, project: Path) -> None:
    assert found(cli) == []
    assert (project / "evalspec.lock").read_text().count("\nschema acme@v1 s1:sha256:") == 1
    said = json.loads(cli("check", "--format", "json").out)
    assert said["summary"] == {"files": 4, "tasks": 3, "errors": 0, "warnings": 0}
    assert said["compared"]["head"] == "the working tree"
    assert cli("lock", "--check").code == 0


def test_a_pull_request_that_breaks_four_things_and_the_way_out(cli: Cli, project: Path) -> None:
    # The second version is released on main, and files are at it.
    assert cli("revision", "-m", "nothing yet").code == 0
    edit(project / "evalspec.toml", "acme@v1", "acme@v2")
    assert cli("migrate", "--to", "acme@v2", "tasks").code == 0
    assert cli("lock").code == 0
    commit(cli)
    assert found(cli) == []
    git(cli, "checkout", "-q", "-b", "work")

    # (a) A third version with a new metric, of which no migration speaks.
    assert cli("revision", "-m", "add metric chrf").code == 0
    edit(project / "schemas/acme/v3.py", "METRICS = {**v2.version.metrics}",
         'METRICS = {**v2.version.metrics, "chrf": Metric()}')  # fmt: skip
    edit(
        project / "schemas/acme/v3.py",
        "import Distinct, Exactly, MinLen",
        "import Distinct, Exactly, Metric, MinLen",
    )
    edit(project / "evalspec.toml", "acme@v2", "acme@v3")
    # (b) A released version is edited.
    edit(project / "schemas/acme/v2.py", "PAIRS = (*v1.version.pairs,)", "PAIRS = v1.version.pairs[1:]")
    # (c) A delimiter changes in a base, and no version moves.
    edit(project / "harness/_base.yaml", "metadata:", 'target_delimiter: "\\n"\nmetadata:')
    # (d) One file stays at the second version.
    git(cli, "add", "-A")
    by_rule = {each["rule"]: each for each in found(cli)}
    assert sorted(rules(cli)) == [
        "migration_missing", "prompt_changed_silently", "released_schema_changed", "version_behind"
    ]  # fmt: skip
    missing = by_rule["migration_missing"]
    assert (missing["path"], "chrf" in missing["message"]) == ("schemas/acme/v3.py", True)
    assert by_rule["released_schema_changed"]["path"] == "schemas/acme/v2.py"
    assert "evalspec revision" in by_rule["released_schema_changed"]["fix"]
    silent = by_rule["prompt_changed_silently"]
    assert (silent["path"], silent["line"]) == ("harness/_base.yaml", 8)
    assert "2 tasks (demo_a, demo_b)" in silent["message"]
    behind = by_rule["version_behind"]
    assert (behind["path"], behind["fix"]) == (
        "tasks/example.jsonl", "evalspec migrate --to v3 tasks/example.jsonl"
    )  # fmt: skip

    # The way out, by what the findings say.
    git(cli, "checkout", "-q", "main", "--", "schemas/acme/v2.py")
    edit(project / "harness/_base.yaml", "version: 1.0", "version: 2.0")
    migration = project / "migrations/acme/v3.py"
    paste(cli, migration)
    left = {each["rule"] for each in found(cli)}
    assert left == {"fixture_missing", "version_behind"}
    edit(project / "schemas/acme/v3.py", "PAIRS = (*v2.version.pairs,)",
         'PAIRS = (*v2.version.pairs, Pair("summary", ("chrf",), ("none",), "generate_until"))')  # fmt: skip
    edit(project / "schemas/acme/v3.py", "MinLen, OneOf", "MinLen, OneOf, Pair")
    paste(cli, migration)
    task = {
        "spec_version": "acme@v3", "version": 1, "task_id": "chrf_001", "category": "summary",
        "output_type": "generate_until", "prompt": "Sum up: it rained.\nSummary:", "targets": ["Rain."],
        "metrics": [{"name": "chrf", "aggregation": "mean", "higher_is_better": True}], "post_process": "none",
    }  # fmt: skip
    with (project / "fixtures/acme/v3/tasks.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(task) + "\n")
    assert cli("migrate", "--to", "v3", "tasks").code == 0
    assert found(cli) == []
    assert cli("lock").code == 0
    assert "schema acme@v3" in (project / "evalspec.lock").read_text()
    commit(cli)
    assert found(cli) == []


def test_accepting_a_change_holds_until_the_next_one(cli: Cli, project: Path) -> None:
    (project / "changelog.d").mkdir()
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    assert rules(cli) == ["prompt_changed_silently"]
    assert cli("accept", "nowhere", "--reason", "x").code == 2
    assert cli("accept", "demo_*", "--reason", "shorter, and looked at").code == 0
    assert "demo_a plain=p1:sha256:" in (project / "evalspec.lock").read_text()
    [fragment] = (project / "changelog.d").iterdir()
    assert "shorter, and looked at" in fragment.read_text()
    assert rules(cli) == []
    # What shows only between examples, and how answers are scored, is part of what was accepted.
    edit(project / "harness/_base.yaml", "metadata:", 'fewshot_delimiter: "---"\nmetadata:')
    assert rules(cli) == ["prompt_changed_silently", "prompt_changed_silently"]


def test_versions_that_move(cli: Cli, project: Path) -> None:
    edit(project / "harness/_base.yaml", "version: 1.0", "version: 2.0")
    assert rules(cli) == ["version_moved_for_nothing"] * 2
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    assert rules(cli) == []
    edit(project / "harness/_base.yaml", "version: 2.0", "version: 0.5")
    assert set(rules(cli)) == {"version_went_down", "prompt_changed_silently"}


@pytest.mark.parametrize(
    ("policy", "before", "after", "silent"),
    [
        ("number-letter", "2-A", "2-B", True),
        ("number-letter", "2-A", "3-A", False),
        ("integer", "1", "2", False),
        ("any", "a", "b", False),
        ("suffix", "1", "2", True),
    ],
)
def test_policies(cli: Cli, project: Path, policy: str, before: str, after: str, silent: bool) -> None:
    edit(project / "harness/_base.yaml", "version: 1.0", f"version: {before}")
    with (project / "evalspec.toml").open("a") as file:
        file.write(f'version_policy = {{ lm-eval = "{policy}" }}\n')
    commit(cli)
    edit(project / "harness/_base.yaml", f"version: {before}", f"version: {after}")
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    assert ("prompt_changed_silently" in rules(cli, "--base", "HEAD")) is silent


def test_a_changed_function_is_opaque(cli: Cli, project: Path) -> None:
    utils = project / "harness/utils.py"
    utils.write_text("def text(doc):\n    return doc['q']\n", encoding="utf-8")
    edit(project / "harness/_base.yaml", '"Question: {{question}}\\nAnswer:"', "!function utils.text")
    commit(cli)
    edit(utils, "doc['q']", "doc['q'].strip()")
    [finding] = found(cli, "--base", "HEAD")
    assert finding["rule"] == "opaque_change"
    assert "may change 2 prompts of 2 tasks (demo_a, demo_b)" in finding["message"]
    assert cli("accept", "demo_a", "demo_b", "--reason", "a strip").code == 0
    assert found(cli, "--base", "HEAD") == []
    edit(utils, ".strip()", ".lstrip()")
    assert rules(cli, "--base", "HEAD") == ["opaque_change"]


def test_the_lock_refuses_to_change_what_is_released(cli: Cli, project: Path) -> None:
    schema = project / "schemas/acme/v1.py"
    edit(schema, '"""White space gone at both ends."""', '"""No white space at either end."""  # as it was')
    assert rules(cli) == []  # a docstring or a comment is free
    edit(schema, "return text.strip()", "return text.lstrip()")
    assert "released_schema_changed" in rules(cli)
    code, _, err = cli("lock")
    assert code == 1
    assert "released_schema_changed" in err
    lock = project / "evalspec.lock"
    edit(lock, "schema acme@v1 s1:sha256:", "schema acme@v1 s1:sha256:0")
    assert "lock_changed" in rules(cli)
    lock.write_text("<<<<<<< ours\n", encoding="utf-8")
    code, _, err = cli("check")
    assert code == 2
    assert "evalspec.lock:1: no line of a lock" in err
    assert "keep the lines of both branches" in err


def test_locked_prompts(cli: Cli, project: Path) -> None:
    with (project / "evalspec.toml").open("a") as file:
        file.write("lock_prompts = true\n")
    assert cli("lock", "--check").code == 1
    assert cli("lock").code == 0
    text = (project / "evalspec.lock").read_text()
    assert "\nprompt demo_a 1.0 plain=p1:sha256:" in text
    assert text.splitlines()[1:] == sorted(text.splitlines()[1:])
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    code, out, _ = cli("lock", "--check")
    assert (code, "prompt demo_a is locked as it was" in out) == (1, True)


def test_two_heads_and_a_missing_parent(cli: Cli, project: Path) -> None:
    assert cli("revision", "-m", "second").code == 0
    edit(project / "migrations/acme/v2.py", 'down_revision = "v1"', 'down_revision = "v7"')
    [finding] = [each for each in found(cli, "--no-base") if each["rule"] == "chain_broken"]
    assert finding["path"] == "migrations/acme/v2.py"
    assert "acme@v7, which is not there" in finding["message"]
    (project / "migrations/acme/v2.py").unlink()
    assert "migration_missing" in rules(cli, "--no-base")


def test_a_category_that_comes_alone(cli: Cli, project: Path) -> None:
    assert cli("revision", "-m", "a category").code == 0
    edit(
        project / "schemas/acme/v2.py",
        "{**v1.version.categories}",
        '{**v1.version.categories, "poem": "a poem"}',
    )
    edit(
        project / "migrations/acme/v2.py",
        "    # the records",
        '    op.category("poem", added=True)\n    # the records',
    )
    alone = [each for each in found(cli) if each["rule"] == "category_added_alone"]
    assert [(each["path"], each["line"]) for each in alone] == [("migrations/acme/v2.py", 25)]
    assert "no fixture task of it has a new metric or a new post-process rule" in alone[0]["message"]


def test_a_schema_that_does_not_load(cli: Cli, project: Path) -> None:
    edit(project / "schemas/acme/v1.py", '"mcq": "choose one letter",', "")
    [finding] = found(cli)
    assert finding["rule"] == "schema_unreadable"
    assert "a pair speaks of 'mcq'" in finding["message"]


def test_ignores(cli: Cli, project: Path) -> None:
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    edit(project / "harness/_base.yaml", 'doc_to_text: "Q: {{question}}\\nAnswer:"',
         'doc_to_text: "Q: {{question}}\\nAnswer:"  # evalspec: ignore[prompt_changed_silently] looked at')  # fmt: skip
    assert rules(cli) == []
    edit(project / "harness/_base.yaml", "Q:", "Question:")
    assert rules(cli) == ["unused_ignore"]
    edit(
        project / "harness/_base.yaml",
        "ignore[prompt_changed_silently] looked at",
        "ignore[prompt_changed_silently]",
    )
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    assert rules(cli) == ["prompt_changed_silently", "unused_ignore"]  # without a reason it hides nothing
    edit(project / "harness/_base.yaml", "  # evalspec: ignore[prompt_changed_silently]", "")
    config = project / "evalspec.toml"
    with config.open("a") as file:
        file.write('[[ignores]]\nrule = "prompt_changed_silently"\nreason = "tried"\npaths = ["harness/*"]\n')
    assert rules(cli) == []
    with config.open("a") as file:
        file.write('until = "2020-01-01"\n')
    assert rules(cli) == ["expired_ignore", "prompt_changed_silently"]
    edit(config, 'until = "2020-01-01"\n', "")
    edit(config, 'rule = "prompt_changed_silently"', 'rule = "prompt_changed_silenty"')
    code, _, err = cli("check")
    assert (code, "did you mean 'prompt_changed_silently'?" in err) == (2, True)


def test_select_ignore_severity_and_overrides(cli: Cli, project: Path) -> None:
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    config = project / "evalspec.toml"
    before = config.read_text()
    for more, expected in (
        ('severity = { prompt_changed_silently = "warning" }\n', [("prompt_changed_silently", "warning")]),
        ('select = ["chain"]\n', []),
        ('[[overrides]]\npaths = ["harness"]\nignore = ["prompts"]\n', []),
        ('[[overrides]]\npaths = ["tasks"]\nignore = ["prompts"]\n', [("prompt_changed_silently", "error")]),
    ):
        config.write_text(before + more)
        assert [(each["rule"], each["severity"]) for each in found(cli)] == expected


def test_a_baseline(cli: Cli, project: Path) -> None:
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    assert cli("baseline").code == 0
    assert found(cli, "--baseline", "evalspec-baseline.jsonl") == []
    edit(project / "harness/_base.yaml", "metadata:", 'fewshot_delimiter: "---"\nmetadata:')
    assert len(found(cli, "--baseline", "evalspec-baseline.jsonl")) == 1
    assert cli("check", "--baseline", "nowhere").code == 2


def test_only_what_was_changed(cli: Cli, project: Path) -> None:
    edit(project / "tasks/example.jsonl", '"acme@v1"', '"acme@v9"')
    commit(cli)
    edit(project / "harness/_base.yaml", "Question:", "Q:")
    assert set(rules(cli, "--base", "HEAD")) == {"version_unknown", "prompt_changed_silently"}
    assert rules(cli, "--base", "HEAD", "--changed") == ["prompt_changed_silently"]
    git(cli, "stash", "-q")
    assert rules(cli, "--base", "HEAD", "--staged", "--changed") == []


def test_a_fresh_project(cli: Cli) -> None:
    git(cli, "init", "-q", "-b", "main")
    assert cli("init", "--fresh", "--name", "tiny").code == 0
    commit(cli)
    assert found(cli) == []
    assert cli("revision", "-m", "more").code == 0
    assert found(cli) == []
    assert cli("migrate", "--to", "tiny@v2", "tasks").code == 0
    code, _, err = cli("init", "--fresh", "--name", "tiny")
    assert (code, "is there already" in err) == (2, True)
    assert cli("init", "elsewhere", "--name", "Not a name").code == 2


def test_the_configured_rows_count(cli: Cli, project: Path) -> None:
    with (project / "evalspec.toml").open("a") as file:
        file.write('rows = "kept"\n')
    rows = project / "kept/demo_a/test.jsonl"
    rows.parent.mkdir(parents=True)
    rows.write_text('{"question": "1 + 1?", "answer": "2"}\n')
    commit(cli)
    rows.write_text('{"question": "1 + 2?", "answer": "3"}\n')
    silent = [each for each in found(cli, "--base", "HEAD") if each["rule"] == "prompt_changed_silently"]
    assert silent
    assert {each["task"] for each in silent} == {"demo_a"}


def test_autogenerate_says_what_the_schema_does(cli: Cli, project: Path) -> None:
    assert cli("revision", "--autogenerate").code == 2  # the head is released
    assert cli("revision").code == 2
    assert cli("revision", "-m", "a category with its metric and rule").code == 0
    assert cli("revision", "--autogenerate").out == "migrations/acme/v2.py: 0 operations added\n"
    schema, migration = project / "schemas/acme/v2.py", project / "migrations/acme/v2.py"
    edit(schema, "{**v1.version.categories}", '{**v1.version.categories, "poem": "a poem"}')
    edit(schema, "{**v1.version.metrics}", '{**v1.version.metrics, "chrf": Metric()}')
    edit(schema, "{**v1.version.post_process}", '{**v1.version.post_process, "last_line": last_line}')
    edit(
        schema,
        "(*v1.version.pairs,)",
        '(*v1.version.pairs[1:], Pair("poem", ("chrf",), ("last_line",), "generate_until"))',
    )
    edit(
        schema,
        "import Distinct, Exactly, MinLen, OneOf",
        "import Distinct, Exactly, Metric, MinLen, OneOf, Pair",
    )
    edit(
        schema,
        "CATEGORIES =",
        "def last_line(text):\n    return text.strip().rpartition('\\n')[2]\n\n\nCATEGORIES =",
    )
    before = migration.read_text()
    code, out, _ = cli("revision", "--autogenerate")
    assert code == 0
    assert 'op.category("poem", added=True)' in out
    assert 'changed="poem is new"' not in out
    assert (
        'op.pairs("poem", output_type="generate_until", metrics=("chrf",), post_process=("last_line",))'
        in out
    )
    assert "removed=True" in out
    after = migration.read_text()
    assert [line for line in after.splitlines() if line in before.splitlines()] == before.splitlines()
    assert not {"migration_missing", "chain_differs_from_schema"} & set(rules(cli))
    assert cli("revision", "--autogenerate").out == "migrations/acme/v2.py: 0 operations added\n"


def test_a_new_word_is_told_once_and_a_category_needs_a_pair(cli: Cli, project: Path) -> None:
    assert cli("revision", "-m", "add metric chrf").code == 0
    schema = project / "schemas/acme/v2.py"
    edit(schema, "METRICS = {**v1.version.metrics}", 'METRICS = {**v1.version.metrics, "chrf": Metric()}')
    edit(
        schema,
        "CATEGORIES = {**v1.version.categories}",
        'CATEGORIES = {**v1.version.categories, "poem": "verse"}',
    )
    edit(schema, "Exactly, MinLen", "Exactly, Metric, MinLen")
    told = [each["message"] for each in found(cli) if each["rule"] == "migration_missing"]
    assert [message.partition(": ")[2].split(" is new")[0] for message in told] == [
        "category poem",
        "metric chrf",
    ]
    assert cli("revision", "--autogenerate").code == 0
    assert "migration_missing" not in rules(cli)
    tasks = project / "fixtures/acme/v2/tasks.jsonl"
    record = json.loads(tasks.read_text(encoding="utf-8").splitlines()[0])
    record |= {"task_id": "poem_001", "category": "poem"}
    with tasks.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    [illegal] = [each for each in found(cli) if each["rule"] == "illegal_pair"]
    assert illegal["fix"] == "the schema version has no pair of poem: declare one beside its others"
