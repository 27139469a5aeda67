"""`templates/gitlab-ci.yml`: the script of its job as it is, in a scratch repository, with GitLab's variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.cli import ROOT, clean_environment
from support.projects import commit, git, make_project, write_task
from support.runner import load

JOB = load((ROOT / "templates" / "gitlab-ci.yml").read_text())["evalspec"]
TOOL = Path(sys.executable).parent / "evalspec"
#: The lines that want a form of `evalspec diff` which may not be there yet.
HAS_HTML = (
    "html" in subprocess.run([TOOL, "diff", "--help"], capture_output=True, text=True, check=True).stdout
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose branch changes a prompt, and raises the version of its task."""
    project = make_project(tmp_path / "project", requires="v3", at="v3")
    git(project, "checkout", "-q", "-b", "topic")
    write_task(project, "v3", version=2, prompt="Compute 12 times 12.\nAnswer:")
    commit(project)
    return project


def run_job(project: Path, **variables: str) -> tuple[int, str]:
    """The job's script in one shell, as the runner of GitLab has it."""
    tools = project.parent / "bin"
    tools.mkdir(exist_ok=True)
    if not (tools / "evalspec").exists():
        (tools / "evalspec").symlink_to(TOOL)
    base = git(project, "rev-parse", "main").strip()
    fixed = {name: str(value) for name, value in JOB["variables"].items()}
    done = subprocess.run(
        ["bash", "-c", "set -eo pipefail\n" + "\n".join(JOB["script"])],
        cwd=project,
        env=clean_environment(
            **fixed
            | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "PATH": f"{tools}:{os.environ['PATH']}"}
            | variables
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_reports_are_those_that_the_job_keeps(project: Path) -> None:
    write_task(project, "v1")
    code, out = run_job(project)
    assert code == 1
    assert "version_behind" in out
    reports = JOB["artifacts"]["reports"]
    issues = json.loads((project / reports["codequality"]).read_text())
    [issue] = [each for each in issues if each["check_name"] == "version_behind"]
    assert issue["location"] == {"path": "tasks/sums.jsonl", "lines": {"begin": 1}}
    suites = ET.fromstring((project / reports["junit"]).read_text())  # noqa: S314 - our own printer wrote it
    assert suites.attrib["failures"] == "1"


@pytest.mark.skipif(not HAS_HTML, reason="`evalspec diff` HAS NO --format html HERE: this test did not run")
def test_a_sound_branch_passes_and_its_changes_are_a_page(project: Path) -> None:
    code, out = run_job(project)
    assert code == 0, out
    (page,) = JOB["artifacts"]["paths"]
    assert "Compute" in (project / page).read_text()


def test_arguments_reach_the_check(project: Path) -> None:
    code, out = run_job(project, EVALSPEC_ARGS="--require v2 tasks")
    assert code == 1
    assert "version_ahead" in out


def test_a_base_that_is_not_there_fails(project: Path) -> None:
    assert run_job(project, CI_MERGE_REQUEST_DIFF_BASE_SHA="no-such-revision")[0] == 2


def test_on_the_default_branch_there_is_the_check_alone(project: Path) -> None:
    git(project, "checkout", "-q", "--detach", "main")
    code, out = run_job(project, CI_MERGE_REQUEST_DIFF_BASE_SHA="")
    assert code == 0, out
    assert not (project / "prompts.html").exists()
