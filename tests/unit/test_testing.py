"""`pytest --evalspec`, and the same checks in a test file of the project's own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import ROOT, clean_environment

OWN_FILE = """
import pytest
from evalspec.testing import hold, spec_checks

@pytest.mark.parametrize("check", spec_checks(), ids=lambda check: check.name)
def test_the_specification(check):
    hold(check)
"""


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """A copy of the example project, with a test of its own."""
    folder = tmp_path / "acme"
    shutil.copytree(ROOT / "examples" / "acme", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (folder / "test_own.py").write_text("def test_own():\n    pass\n")
    return folder


def run_pytest(folder: Path, *args: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args]
    done = subprocess.run(
        command, cwd=folder, env=clean_environment(), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_without_the_flag_nothing_is_added(acme: Path) -> None:
    code, out = run_pytest(acme, "--collect-only", "-q")
    assert code == 0
    assert "test_own.py::test_own" in out
    assert "acme@v1" not in out


def test_the_checks_are_tests_of_their_own_behind_the_others(acme: Path) -> None:
    code, out = run_pytest(acme, "--evalspec", "--collect-only", "-q")
    assert code == 0
    ids = out.split("\n\n")[0].splitlines()
    assert ids[0] == "test_own.py::test_own"
    assert {
        "evalspec::acme: chain",
        "evalspec::migrations/acme/v2.py: imports",
        "evalspec::acme@v1: tasks",
        "evalspec::acme@v1: bad tasks",
        "evalspec::acme@v1 to acme@v2: contract",
        "evalspec::evalspec@v3 to acme@v1: prompts",
        "evalspec::v1/tasks.jsonl (evalspec@v1) to acme@v2: upgrade",
    } <= set(ids)


def test_a_sound_project_passes(acme: Path) -> None:
    code, out = run_pytest(acme, "--evalspec", "-q")
    assert code == 0, out


def test_a_failure_is_told_as_the_tool_tells_it(acme: Path) -> None:
    change(acme / "schemas/acme/v2.py", '"sentiment": "say', '"mood": "", "sentiment": "say')
    code, out = run_pytest(acme, "--evalspec", "-k", "contract", "-q")
    assert code == 1
    assert (
        "schemas/acme/v2.py:19:32 - - migration_missing from acme@v1 to acme@v2: category mood is new, and no operation"
        ' adds it\n    | mood\n    fix: add to migrations/acme/v2.py: op.category("mood", added=True)\n'
    ) in out
    assert "Traceback" not in out
    assert "1 failed" in out


def test_a_test_file_of_the_projects_own(acme: Path) -> None:
    (acme / "test_own.py").write_text(OWN_FILE)
    change(acme / "fixtures/acme/v2/post_process.jsonl", '"output": "  four ', '"output": "four ')
    code, out = run_pytest(acme, "-k", "examples or generations", "-q")
    assert code == 1
    assert "post_process.jsonl:2:1 - output fixture_stale none makes" in out
    assert "1 failed, 3 passed" in out


def test_where_there_is_no_project_it_says_so(tmp_path: Path) -> None:
    code, out = run_pytest(tmp_path, "--evalspec")
    assert code == 4
    assert "no project: there is no evalspec.toml" in out
    assert "Traceback" not in out


def test_who_does_not_use_it_pays_for_three_small_modules() -> None:
    """Each pytest that runs beside the tool imports the plugin, so what it imports is counted."""
    code = (
        "import sys, pytest; before = set(sys.modules); import evalspec.testing;"
        "print(*sorted(name for name in set(sys.modules) - before if name.startswith('evalspec')));"
        "print(*set(sys.modules) & {'pydantic', 'yaml', 'ruamel', 'git', 'jinja2', 'msgspec', 'orjson', 'rich'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, heavy = done.stdout.split("\n")[:2]
    assert set(loaded.split()) <= {"evalspec", "evalspec._lazy", "evalspec._version", "evalspec.testing"}
    assert "pydantic" not in heavy
    assert "yaml" not in heavy
