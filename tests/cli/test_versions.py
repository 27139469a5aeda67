"""`evalspec history`, `heads`, `current`, `show` and `schema`: what versions there are, and what is in them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from support.cli import ROOT, Cli
from support.sound import sound

from evalspec.project import Project

V1 = ROOT / "fixtures" / "evalspec" / "v1"
V3 = ROOT / "fixtures" / "evalspec" / "v3"
ACME = ROOT / "examples" / "acme"

HISTORY = """\
* evalspec@v3 (head)  revises evalspec@v2
|   Let a task be a template over a data set.
|   prompts: unchanged
|   outputs: unchanged
|
* evalspec@v2  revises evalspec@v1
|   Write prompt assembly down.
|   prompts: unchanged
|   outputs: changes: extract_letter prefers a letter standing alone
|
* evalspec@v1
    Version v1: inline tasks (records.md, "v1 · inline tasks").
"""


# ── history and heads ────────────────────────────────────────────────────────────────────────────────────────


def test_history_is_a_graph_newest_first(cli: Cli) -> None:
    assert cli("history") == (0, HISTORY, "")


def test_a_project_shows_its_family_above_the_one_it_comes_from(cli: Cli) -> None:
    out = cli("history", cwd=ACME).out
    assert out.startswith("* acme@v2 (head)  revises acme@v1\n|   Tell the parts of a prompt apart")
    assert "* acme@v1  revises evalspec@v3\n" in out
    assert out.endswith(HISTORY)


def test_a_way_is_shown_by_itself(cli: Cli) -> None:
    out = cli("history", "v1..v2").out
    assert out == HISTORY[HISTORY.index("* evalspec@v2") :]
    assert cli("history", "v2..").out.startswith("* evalspec@v3 (head)")
    assert "evalspec@v1\n" not in cli("history", "v2..").out.replace("revises evalspec@v1", "")
    ids = [each["id"] for each in cli("history", "v2..v3", "--format", "json").json()["versions"]]
    assert ids == ["evalspec@v3", "evalspec@v2"]
    for wrong in ("v3..v1", "v2", "v1..v9"):
        result = cli("history", wrong)
        assert (result.code, result.out) == (2, ""), wrong
        assert "fix: " in result.err


def test_a_version_may_be_named_by_its_beginning(cli: Cli) -> None:
    assert cli("show", "ac@v2", cwd=ACME).out == cli("show", "acme@v2", cwd=ACME).out
    assert cli("show", "evalspec@v3").out == cli("show", "e@v3").out
    for several in ("v", "acme@v", "e@v"):
        result = cli("show", several, cwd=ACME)
        assert (result.code, result.out) == (2, ""), several
        assert "unknown schema version" in result.err


def branched(cli: Cli) -> Path:
    """acme, and a second family that comes from evalspec@v2."""
    folder = cli.cwd / "acme"
    shutil.copytree(ACME, folder)
    for kind in ("schemas", "migrations"):
        (folder / kind / "other").mkdir()
    shutil.copy(ROOT / "schemas" / "evalspec" / "v1.py", folder / "schemas" / "other" / "v1.py")
    (folder / "migrations" / "other" / "v1.py").write_text(
        '"""Go another way."""\n'
        'revision = "v1"\ndown_revision = "evalspec@v2"\nprompts = "unchanged"\noutputs = "unchanged"\n\n\n'
        "def upgrade(op):\n    op.set('spec_version', 'other@v1', first=True)\n"
    )
    return folder


def test_branches_are_drawn_side_by_side(cli: Cli) -> None:
    out = cli("history", cwd=branched(cli)).out
    stars = [line for line in out.splitlines() if "*" in line.partition("  ")[0] or "/" in line[:6]]
    assert [line.split("  ")[0] for line in stars] == [
        "* acme@v2 (head)",
        "* acme@v1",
        "| * other@v1 (head)",
        "* | evalspec@v3 (head)",
        "|/",
        "* evalspec@v2",
        "* evalspec@v1",
    ]


def test_verbose_lists_the_operations(cli: Cli) -> None:
    out = cli("history", "--verbose").out
    assert "|     + category word_problem added\n" in out
    assert "|     > move few_shot_examples to fewshot.samples\n" in out


def test_history_as_json(cli: Cli) -> None:
    versions = cli("history", "--format", "json").json()["versions"]
    assert [version["id"] for version in versions] == ["evalspec@v3", "evalspec@v2", "evalspec@v1"]
    assert [version["head"] for version in versions] == [True, False, False]
    assert [version["parent"] for version in versions] == ["evalspec@v2", "evalspec@v1", None]
    assert versions[1]["outputs"] == "changes: extract_letter prefers a letter standing alone"
    assert {"sign": "~", "text": "set spec_version = 3"} in versions[0]["operations"]["records"]


def test_two_heads_are_misuse_that_names_the_files(cli: Cli) -> None:
    folder = branched(cli)
    shutil.copy(folder / "schemas" / "other" / "v1.py", folder / "schemas" / "other" / "v2.py")
    script = (folder / "migrations" / "other" / "v1.py").read_text()
    (folder / "migrations" / "other" / "v2.py").write_text(script.replace('"v1"', '"v2"'))
    for command in ("history", "heads"):
        code, out, err = cli(command, cwd=folder)
        assert (code, out) == (2, "")
        assert "migrations/other/v1.py" in err
        assert "migrations/other/v2.py" in err


def test_heads(cli: Cli) -> None:
    assert cli("heads") == (0, "evalspec@v3\n", "")
    assert cli("heads", cwd=ACME).out == "evalspec@v3\nacme@v2\n"
    assert cli("heads", "--format", "json", cwd=ACME).json() == {"evalspec": "evalspec@v3", "acme": "acme@v2"}


# ── current ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_current_says_the_version_and_counts_where_there_are_several(cli: Cli) -> None:
    shutil.copy(V1 / "tasks.jsonl", cli.cwd / "a.jsonl")
    both = [sound("v1", "arithmetic"), sound("v3", "mcq"), sound("v3", "summary"), {"spec_version": 9}]
    (cli.cwd / "b.jsonl").write_text("".join(json.dumps(record) + "\n" for record in both))
    (cli.cwd / "c.jsonl").write_bytes(b"")
    paths = ("a.jsonl", "b.jsonl", "c.jsonl", V3 / "templates.yaml")
    code, out, _ = cli("current", *paths)
    assert code == 0
    assert out == (
        f"a.jsonl: v1\nb.jsonl: 1 at v1, 2 at v3, 1 at no known version\nc.jsonl: no records\n{paths[3]}: v3\n"
    )
    files = cli("current", *paths, "--format", "json").json()["files"]
    assert files[1] == {"path": "b.jsonl", "schemas": {"v1": 1, "v3": 2}, "unknown": 1}


def test_current_of_a_project(cli: Cli) -> None:
    assert cli("current", cwd=ACME).out == "tasks/tickets.yaml: v1\ntasks/weights.jsonl: v1\n"


# ── show and schema ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_page_names_everything_that_the_version_declares(cli: Cli, version: str, form: str) -> None:
    code, out, _ = cli("show", version, "--format", form)
    assert code == 0
    schema = Project.find(str(ROOT)).schema(version)
    declared = schema.declaration
    said = " ".join(out.replace("\\_", "_").split())
    for word in [*schema.field_names, *declared.categories, *declared.metrics, *declared.post_process]:
        assert word in said
    for meaning in declared.categories.values():
        assert " ".join(meaning.split()).replace("_", "_") in said
    for rule in declared.rules:
        assert rule.id in said
    for name, source in declared.assembly._asdict().items():
        assert source is None or name in said


def test_the_page_fits_its_width_but_for_long_words(cli: Cli) -> None:
    lines = cli("show", "v3").out.splitlines()
    tables = lines[lines.index("Categories") :]
    assert max(map(len, tables)) <= 110


def test_show_takes_the_head_unless_told_and_a_family(cli: Cli) -> None:
    assert cli("show").out.startswith("evalspec@v3\n===========\n")
    assert cli("show", cwd=ACME).out.startswith("acme@v2\n")
    assert cli("show", "evalspec@v2", "--format", "markdown").out.startswith("# evalspec@v2\n")
    contract = cli("show", "v2", "--format", "json").json()
    assert contract["schema"] == "evalspec@v2"
    assert contract["contract"]["field"]["inline.output_type"]["required"] is True


def test_schema_export_is_json_schema(cli: Cli) -> None:
    said = cli("schema", "export", "v3").json()
    assert said["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert said["title"] == "evalspec@v3"
    assert cli("schema", "export", "v3", "--output", "v3.json")[:2] == (0, "")
    assert json.loads((cli.cwd / "v3.json").read_bytes()) == said
    assert cli("schema", "export", cwd=ACME).json()["title"] == "acme@v2"


def test_misuse_has_a_suggestion(cli: Cli) -> None:
    code, _, err = cli("schema", "exprot", "v3")
    assert code == 2
    assert "did you mean 'export'?" in err
    for command in (("show", "v33"), ("schema", "export", "v33")):
        code, _, err = cli(*command)
        assert code == 2
        assert "did you mean 'v3'?" in err


def test_an_edit_of_the_same_length_in_the_same_second_is_seen(cli: Cli) -> None:
    # Python's own rule for bytecode is the source's size and its time in whole seconds.
    folder = branched(cli)
    migration = folder / "migrations" / "other" / "v1.py"
    cli.env.pop("PYTHONDONTWRITEBYTECODE", None)
    assert "Go another way." in cli("history", cwd=folder).out
    stamp = migration.stat().st_mtime_ns
    migration.write_text(migration.read_text().replace("another", "a third"))
    os.utime(migration, ns=(stamp, stamp))
    assert "Go a third way." in cli("history", cwd=folder).out


def test_bytecode_of_a_module_that_has_rested_is_kept(cli: Cli) -> None:
    folder = branched(cli)
    migration = folder / "migrations" / "other" / "v1.py"
    os.utime(migration, (1_700_000_000, 1_700_000_000))
    cli.env.pop("PYTHONDONTWRITEBYTECODE", None)
    cli("history", cwd=folder)
    assert list(migration.parent.glob("__pycache__/v1.*.pyc"))
