"""What `docs/ci.md` tells people to write works: its second workflow is run, its names are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.cli import ROOT
from support.runner import Runner, load

PAGE = (ROOT / "docs" / "ci.md").read_text()
#: Stands for GitHub's own client: writes down how it was called, and answers with the numbers of pull requests.
GH = """#!/bin/sh
printf '%s\\n' "$@" >> "$RUNNER_TEMP/calls"
if [ "$1" = api ]; then printf "$NUMBERS"; fi
"""


def examples() -> list[Any]:
    return [load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "comment.md").write_text("$(touch owned)\n" + "x" * 70_000)
    context = {"github.event.workflow_run.head_sha": "abc123", "github.repository": "a/b"}
    environ = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "NUMBERS": "17\\n"}
    return Runner(tmp_path, tmp_path, context, environ)


def comment_step() -> dict[str, Any]:
    (workflow,) = [
        each for each in examples() if isinstance(each, dict) and "comment" in each.get("jobs", {})
    ]
    step: dict[str, Any] = workflow["jobs"]["comment"]["steps"][-1]
    return step


def test_the_second_workflow_comments_on_the_pull_request_of_the_commit(runner: Runner) -> None:
    code, out = runner.step(comment_step())
    assert code == 0, out
    calls = (runner.temp / "calls").read_text()
    assert '.[] | select(.head.sha == "abc123") | .number' in calls
    assert "pr\ncomment\n17\n--edit-last\n" in calls
    assert len((runner.workspace / "body.md").read_text()) == 65_000
    assert not (runner.workspace / "owned").exists()


def test_where_the_pull_request_is_gone_nothing_is_posted(runner: Runner) -> None:
    runner.environ["NUMBERS"] = ""
    code, out = runner.step(comment_step())
    assert (code, out) == (0, "no open pull request has this commit any more\n")
    assert "comment" not in (runner.temp / "calls").read_text()


def test_no_workflow_runs_with_rights_on_what_strangers_wrote() -> None:
    for example in examples():
        assert "pull_request_target" not in str(example)
    assert "${{" not in comment_step()["run"]


def test_the_page_names_every_format_hook_input_and_rule() -> None:
    from evalspec.check import spec
    from evalspec.cli._findings import FORMATS

    hooks = [hook["id"] for hook in load((ROOT / ".pre-commit-hooks.yaml").read_text())]
    inputs = load((ROOT / "action.yml").read_text())["inputs"]
    rules = re.findall(r"^    (\w+) {2,}", spec.__doc__ or "", re.MULTILINE)
    assert len(rules) == 10
    for name in (*FORMATS, *inputs, *rules):
        assert f"| `{name}` |" in PAGE
    for hook in hooks:
        assert f"id: {hook}" in PAGE
