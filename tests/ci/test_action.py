"""`action.yml`: its shell steps as they are, in a scratch repository, with the variables that GitHub sets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cli import ROOT
from support.projects import commit, git, make_project, write_task
from support.registry import run_with_registry
from support.runner import Runner, load

ACTION = load((ROOT / "action.yml").read_text())
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"] if "run" in step}
TOOL = Path(sys.executable).parent / "evalspec"


def offered() -> str:
    """What `evalspec diff --help` tells."""
    return subprocess.run([TOOL, "diff", "--help"], capture_output=True, text=True, check=True).stdout


needs_reports = pytest.mark.skipif(
    "markdown" not in offered() or "html" not in offered(),
    reason="`evalspec diff` HAS NO --format markdown AND html HERE: the steps that use them did not run",
)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A job in a repository whose branch changes a prompt; the tool stands where the step `install` puts it."""
    project = make_project(tmp_path / "project", requires="v3", at="v3")
    git(project, "checkout", "-q", "-b", "topic")
    write_task(project, "v3", version=2, prompt="Compute 12 times 12, ::error::please.\nEOF\nAnswer:")
    commit(project)
    tool = tmp_path / "temp" / "evalspec" / "bin" / "evalspec"
    tool.parent.mkdir(parents=True)
    tool.symlink_to(TOOL)
    base = git(project, "rev-parse", "main").strip()
    return Runner(project, tmp_path / "temp", {"github.event.pull_request.base.sha": base})


def test_no_step_has_an_expression_in_its_script() -> None:
    """A value that stands in a script would be run; each comes as a variable."""
    assert len(STEPS) == 4
    for step in STEPS.values():
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_what_the_outputs_name_is_there() -> None:
    for output in ACTION["outputs"].values():
        assert re.findall(r"steps\.(\w+)\.", output["value"])[0] in STEPS


def test_install_makes_an_environment_of_its_own(tmp_path: Path, root: Path) -> None:
    """The step's own script; where no registry is reached, the helper skips before it."""
    run_with_registry(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        tmp_path,
        "xxhash",
        cwd=tmp_path,
    )
    settings = {
        name: value for name, value in os.environ.items() if name.upper().startswith(("PIP_", "SSL_"))
    }
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "python").symlink_to(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")
    settings["PATH"] = f"{bin_folder}:{os.environ['PATH']}"
    runner = Runner(tmp_path, tmp_path, {"github.action_path": str(root)}, settings)
    code, out = runner.step(STEPS["install"])
    assert code == 0, out
    assert re.search(r"^evalspec \d", out, re.MULTILINE)
    assert (tmp_path / "evalspec" / "bin" / "evalspec").exists()


def test_a_sound_branch_passes(runner: Runner) -> None:
    code, out = runner.step(STEPS["check"])
    assert (code, runner.context["steps.check.outputs.code"]) == (0, "0")
    assert "::error" not in out


def test_what_is_wrong_is_annotated_and_fails_in_the_end(runner: Runner) -> None:
    write_task(runner.workspace, "v1")
    code, out = runner.step(STEPS["check"])
    assert (code, runner.context["steps.check.outputs.code"]) == (0, "1")
    assert "::error file=tasks/sums.jsonl,line=1,col=1,title=version_behind::" in out
    runner.context["steps.diff.outputs.code"] = "0"
    code, out = runner.step(STEPS["verdict"])
    assert (code, out) == (1, "evalspec check ended with 1\n")


def test_arguments_reach_the_check(runner: Runner) -> None:
    runner.context["inputs.args"] = "--require v2 tasks"
    _, out = runner.step(STEPS["check"])
    assert "title=version_ahead::" in out
    runner.context["inputs.args"] = "$(touch owned) ;touch owned"
    runner.step(STEPS["check"])
    assert runner.context["steps.check.outputs.code"] == "2"
    assert not (runner.workspace / "owned").exists()


@pytest.mark.parametrize(
    ("check", "diff", "code"), [("0", "0", 0), ("0", "2", 2), ("3", "0", 3), ("1", "2", 1)]
)
def test_the_verdict_is_the_first_exit_code_that_is_not_0(
    runner: Runner, check: str, diff: str, code: int
) -> None:
    runner.context |= {"steps.check.outputs.code": check, "steps.diff.outputs.code": diff}
    assert runner.step(STEPS["verdict"])[0] == code


@needs_reports
def test_the_changes_go_to_the_summary_the_comment_and_a_page(runner: Runner) -> None:
    code, out = runner.step(STEPS["diff"])
    assert code == 0, out
    assert runner.context["steps.diff.outputs.code"] == "0"
    comment = runner.context["steps.diff.outputs.comment"]
    assert "Compute" in comment
    assert comment.strip() == (runner.temp / "evalspec-report" / "comment.md").read_text().strip()
    assert "Compute" in runner.summary
    assert "<html" in (runner.temp / "evalspec-report" / "prompts.html").read_text()


@needs_reports
def test_a_base_that_is_named_goes_before_that_of_the_pull_request(runner: Runner) -> None:
    runner.context["inputs.base"] = "HEAD"
    runner.step(STEPS["diff"])
    assert "Compute" not in runner.context["steps.diff.outputs.comment"]


@needs_reports
def test_a_base_that_is_not_there_fails_in_the_end(runner: Runner) -> None:
    runner.context["inputs.base"] = "no-such-revision"
    code, out = runner.step(STEPS["diff"])
    assert (code, runner.context["steps.diff.outputs.code"]) == (0, "2")
    assert "no-such-revision" in out
    assert "steps.diff.outputs.comment" not in runner.context
