"""What the checks of a specification find, each in a copy of a sound project with one thing broken."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.cli import ROOT

from evalspec.check.owned import owned_families
from evalspec.check.spec import SpecCheck, spec_checks, versions
from evalspec.check.spec.fixtures import Spec
from evalspec.errors import Finding
from evalspec.project import Project

ACME = ROOT / "examples" / "acme"
STEP = "acme@v1 to acme@v2"


class Broken(NamedTuple):
    """One thing that is broken: in a file, some text is another one (None: the file is gone)."""

    path: str
    old: str
    new: str | None
    check: str
    rule: str
    place: str


FIXTURES = "fixtures/acme"
V1_V2 = f"{FIXTURES}/migrations/v1_v2"
CASES = {
    "a word that no operation adds": Broken(
        "schemas/acme/v2.py", '"sentiment": "say', '"mood": "", "sentiment": "say',
        f"{STEP}: contract", "chain_differs_from_schema", "migrations/acme/v2.py:49:13",
    ),
    "an operation that does not fit": Broken(
        "migrations/acme/v2.py", 'op.category("sentiment", added=True)', 'op.category("mcq", added=True)',
        f"{STEP}: contract", "chain_differs_from_schema", "migrations/acme/v2.py:37:17",
    ),
    "a clock": Broken(
        "schemas/acme/v2.py", "import re\n", "import re\nimport time\n",
        "schemas/acme/v2.py: imports", "spec_reaches_outside", "schemas/acme/v2.py:10:1",
    ),
    "a network": Broken(
        "migrations/acme/v2.py", "    # the contract\n", "    from urllib.request import urlopen\n",
        "migrations/acme/v2.py: imports", "spec_reaches_outside", "migrations/acme/v2.py:36:5",
    ),
    "a file": Broken(
        "migrations/acme/v2.py", "    # the contract\n", '    words = open("words.txt")\n',
        "migrations/acme/v2.py: imports", "spec_reaches_outside", "migrations/acme/v2.py:36:13",
    ),
    "a later version": Broken(
        "schemas/acme/v1.py", "import re\n", "import re\nfrom . import v2\n",
        "schemas/acme/v1.py: imports", "spec_reaches_outside", "",
    ),
    "another part of the tool": Broken(
        "schemas/acme/v2.py", "import re\n", "import re\nimport evalspec.project\n",
        "schemas/acme/v2.py: imports", "spec_reaches_outside", "schemas/acme/v2.py:10:1",
    ),
    "what is not Python": Broken(
        "schemas/acme/v2.py", "import re\n", "import re re\n",
        "schemas/acme/v2.py: imports", "spec_reaches_outside", "schemas/acme/v2.py:9:1",
    ),
    "a second head": Broken(
        "migrations/acme/v3.py", "", 'revision = "v3"\ndown_revision = "v1"\nprompts = outputs = "unchanged"\n'
        "def upgrade(op): ...\n", "acme: chain", "chain_broken", "migrations/acme/v2.py:1:1",
    ),
    "a version that is not there": Broken(
        "migrations/acme/v3.py", "", 'revision = "v3"\ndown_revision = "v2"\nprompts = outputs = "unchanged"\n'
        "def upgrade(op): ...\n", "acme: chain", "chain_differs_from_schema", "migrations/acme/v3.py:1:12",
    ),
    "a task": Broken(
        f"{FIXTURES}/v1/tasks.jsonl", '"classification"', '"classy"',
        "acme@v1: tasks", "bad_value", f"{FIXTURES}/v1/tasks.jsonl:1:",
    ),
    "a task of another version": Broken(
        f"{FIXTURES}/v2/tasks.jsonl", '"acme@v2"', '"acme@v1"',
        "acme@v2: tasks", "fixture_stale", f"{FIXTURES}/v2/tasks.jsonl:1:1",
    ),
    "no tasks": Broken(
        f"{FIXTURES}/v1/tasks.jsonl", "", None,
        "acme@v1: tasks", "fixture_missing", f"{FIXTURES}/v1:1:1",
    ),
    "a label's rule": Broken(
        f"{FIXTURES}/v1/tasks_bad.labels.json", '"rule": "not_an_object"', '"rule": "too_deep"',
        "acme@v1: bad tasks", "fixture_stale", f"{FIXTURES}/v1/tasks_bad.jsonl:2:1",
    ),
    "a label's field": Broken(
        f"{FIXTURES}/v1/tasks_bad.labels.json", '"duplicate_key", "field": "category"', '"duplicate_key", "field": "x"',
        "acme@v1: bad tasks", "fixture_stale", f"{FIXTURES}/v1/tasks_bad.jsonl:3:1",
    ),
    "no labels": Broken(
        f"{FIXTURES}/v1/tasks_bad.labels.json", "", None,
        "acme@v1: bad tasks", "fixture_missing", f"{FIXTURES}/v1/tasks_bad.jsonl:1:1",
    ),
    "an example of a rule": Broken(
        f"{FIXTURES}/v2/post_process.jsonl", '"output": "  four ', '"output": "four ',
        "acme@v2: post-process examples", "fixture_stale", f"{FIXTURES}/v2/post_process.jsonl:2:1",
    ),
    "an example that is no JSON": Broken(
        f"{FIXTURES}/v2/post_process.jsonl", '{"rule": "none", "input": ""', '{"rule": none, "input": ""',
        "acme@v2: post-process examples", "fixture_stale", f"{FIXTURES}/v2/post_process.jsonl:1:1",
    ),
    "an example of no rule": Broken(
        f"{FIXTURES}/v2/post_process.jsonl", '"rule": "none", "input": "  four', '"rule": "nope", "input": "  four',
        "acme@v2: post-process examples", "fixture_stale", f"{FIXTURES}/v2/post_process.jsonl:2:1",
    ),
    "an example without a key": Broken(
        f"{FIXTURES}/v2/post_process.jsonl", '"input": "  four', '"in": "  four',
        "acme@v2: post-process examples", "fixture_stale", f"{FIXTURES}/v2/post_process.jsonl:2:1",
    ),
    "labels that are none": Broken(
        f"{FIXTURES}/v1/tasks_bad.labels.json", "[", "[3, ",
        "acme@v1: bad tasks", "fixture_stale", f"{FIXTURES}/v1/tasks_bad.labels.json:1:1",
    ),
    "a version that does not load": Broken(
        "schemas/acme/v2.py", "import re\n", "import re\n1 / 0\n",
        "acme@v2: post-process examples", "chain_broken", f"{FIXTURES}/v2:1:1",
    ),
    "a generation of nothing": Broken(
        f"{FIXTURES}/v2/generations.jsonl", '"parcel_001"', '"parcel_999"',
        "acme@v2: generations", "fixture_stale", f"{FIXTURES}/v2/generations.jsonl:",
    ),
    "a byte behind a migration": Broken(
        f"{V1_V2}/after.jsonl", '"task_id": "parcel_001"', '"task_id":  "parcel_001"',
        f"{STEP}: records", "fixture_stale", f"{V1_V2}/after.jsonl:1:1",
    ),
    "a line behind a migration": Broken(
        f"{V1_V2}/after.jsonl", "\n", "\n{}\n",
        f"{STEP}: records", "missing_required", f"{V1_V2}/after.jsonl:2:1",
    ),
    "nothing before a migration": Broken(
        f"{V1_V2}/before.jsonl", "", None,
        f"{STEP}: records", "fixture_missing", f"{V1_V2}:1:1",
    ),
    "a prompt": Broken(
        f"{V1_V2}/prompts.jsonl", "Route the ticket", "Route a ticket",
        f"{STEP}: prompts", "fixture_stale", f"{V1_V2}/prompts.jsonl:1:1",
    ),
    "an output": Broken(
        f"{V1_V2}/outputs.jsonl", '"before": "logistics', '"before": "repairs',
        f"{STEP}: outputs", "fixture_stale", f"{V1_V2}/outputs.jsonl:1:1",
    ),
    "a promise on prompts": Broken(
        "migrations/acme/v2.py", 'prompts = "changes: a ruled line', 'prompts = "unchanged" or "changes: a ruled line',
        f"{STEP}: prompts", "promise_broken", f"{V1_V2}/prompts.jsonl:",
    ),
    "a promise on prompts, for old records": Broken(
        "migrations/acme/v2.py", 'prompts = "changes: a ruled line', 'prompts = "unchanged" or "changes: a ruled line',
        "v1/tasks.jsonl (acme@v1) to acme@v2: upgrade", "promise_broken", f"{FIXTURES}/v1/tasks.jsonl:",
    ),
    "a promise on outputs": Broken(
        "schemas/acme/v2.py", '"extract_label": extract_label}', '"extract_label": extract_label, "none": str.strip}',
        f"{STEP}: outputs", "promise_broken", "migrations/acme/v2.py:1:1",
    ),
    "a change that nothing shows": Broken(
        "migrations/acme/v2.py", 'outputs = "unchanged"', 'outputs = "changes: everything"',
        f"{STEP}: outputs", "fixture_missing", f"{V1_V2}/outputs.jsonl:1:1",
    ),
    "an operation that old records do not take": Broken(
        "migrations/acme/v2.py", "    op.each(", '    op.add("version", 1)\n    op.each(',
        "v1/tasks.jsonl (acme@v1) to acme@v2: upgrade", "cannot_upgrade", f"{FIXTURES}/v1/tasks.jsonl:1:",
    ),
}  # fmt: skip


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example project, worked in."""
    shutil.copytree(ACME, tmp_path / "acme", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path / "acme")
    return tmp_path / "acme"


def checks_of(folder: Path) -> dict[str, SpecCheck]:
    return {check.name: check for check in spec_checks(Project.find(str(folder)))}


@pytest.mark.parametrize("case", CASES)
def test_what_is_broken_is_found_at_its_place(acme: Path, case: str) -> None:
    broken = CASES[case]
    path = acme / broken.path
    if broken.new is None:
        for name in (path.name, "templates.yaml", "pairs.jsonl"):
            (path.parent / name).unlink(missing_ok=True)
    elif broken.old:
        text = path.read_text()
        assert broken.old in text
        path.write_text(text.replace(broken.old, broken.new, 1))
    else:
        path.write_text(broken.new)
    findings = checks_of(acme)[broken.check].findings()
    assert findings
    first = findings[0]
    assert first.rule == broken.rule, findings
    assert f"{first.path}:{first.line}:{first.column}".startswith(broken.place)
    assert first.severity == "error"
    assert first.message
    assert first.fix


def test_the_checks_of_a_sound_project_are_of_its_own_family(acme: Path) -> None:
    assert [family.name for family in owned_families(Project.find(str(acme)))] == ["acme"]
    checks = checks_of(acme)
    assert {check.name: check.findings() for check in checks.values()} == {name: [] for name in checks}
    # A fixture of an ancestor in another family is history, too.
    assert "v1/tasks.jsonl (evalspec@v1) to acme@v2: upgrade" in checks


@pytest.fixture
def unsteady(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every migration adds a blank line to the file."""
    from evalspec.migrate import run

    real = run.migrate_paths

    def migrate_paths(paths: list[str], *args: object) -> object:
        outcome = real(paths, *args)  # type: ignore[arg-type]
        with Path(paths[0]).open("a") as stream:
            stream.write("\n")
        return outcome

    monkeypatch.setattr(run, "migrate_paths", migrate_paths)
    return


@pytest.mark.usefixtures("unsteady")
def test_an_upgrade_that_goes_on_changing_is_found(acme: Path) -> None:
    (finding,) = checks_of(acme)["v1/tasks.jsonl (acme@v1) to acme@v2: upgrade"].findings()
    assert (finding.rule, finding.path) == ("upgrade_not_repeatable", f"{FIXTURES}/v1/tasks.jsonl")


def stale_prompt(folder: Path, old: str, new: str) -> list[Finding]:
    """What is found where the prompts of our own templates are not those on file."""
    shutil.copytree(ROOT / "fixtures" / "evalspec" / "v3", folder / "v3")
    golden = folder / "v3" / "template_prompts.jsonl"
    assert old in golden.read_text()
    golden.write_text(golden.read_text().replace(old, new, 1))
    return versions.check_prompts(Spec(Project(None)), "evalspec@v3", str(folder / "v3"))


def test_the_prompts_of_our_templates_are_those_on_file(tmp_path: Path) -> None:
    assert stale_prompt(tmp_path, "", "") == []


@pytest.mark.parametrize(("old", "new"), [('"text": "', '"text": "!'), ('"row": 0', '"row": 7')])
def test_a_prompt_or_a_row_of_a_template_that_is_another_is_found(tmp_path: Path, old: str, new: str) -> None:
    (finding,) = stale_prompt(tmp_path, old, new)
    assert (finding.rule, finding.line) == ("fixture_stale", 1)
