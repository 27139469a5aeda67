"""Runs the shell steps of a GitHub workflow or action as the runner does: same shell, same files, same variables."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from support.cli import clean_environment


def load(text: str) -> Any:
    """A workflow or an action, as data."""
    return yaml.safe_load(text)


@dataclass
class Runner:
    """A job on a machine of GitHub.

    Attributes:
        workspace: the folder that the steps run in.
        temp: the runner's folder for files of the job.
        context: what expressions give (`inputs.base`), by name; a name that is not there is empty.
        environ: variables of the job.
    """

    workspace: Path
    temp: Path
    context: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)

    def step(self, step: Mapping[str, Any]) -> tuple[int, str]:
        """Run a step; its outputs go to the context. The exit code, and what it printed."""
        files = {name: self.temp / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        files["GITHUB_OUTPUT"].write_text("")
        files["GITHUB_STEP_SUMMARY"].touch()
        variables = {name: self.value(str(value)) for name, value in step.get("env", {}).items()}
        script = self.temp / "step.sh"
        script.write_text(step["run"])
        assert step.get("shell", "bash") == "bash"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.workspace,
            env=clean_environment(
                GITHUB_ACTIONS="true",
                RUNNER_TEMP=str(self.temp),
                **{name: str(path) for name, path in files.items()},
                **self.environ,
                **variables,
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        for name, value in outputs_of(files["GITHUB_OUTPUT"].read_text()).items():
            self.context[f"steps.{step.get('id', '')}.outputs.{name}"] = value
        return done.returncode, done.stdout + done.stderr

    def value(self, text: str) -> str:
        """A text with its expressions evaluated: names, and `||` between them."""

        def evaluated(found: re.Match[str]) -> str:
            names = [name.strip() for name in found[1].split("||")]
            assert all(re.fullmatch(r"[\w.-]+", name) for name in names), found[0]
            return next((self.context[name] for name in names if self.context.get(name)), "")

        return re.sub(r"\$\{\{(.*?)\}\}", evaluated, text)

    @property
    def summary(self) -> str:
        """What the steps have written to the job's summary."""
        return (self.temp / "github_step_summary").read_text()


def outputs_of(text: str) -> dict[str, str]:
    """A file of outputs, read as the runner reads it: `name=value`, or `name<<END`, lines, `END`."""
    outputs: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if found := re.fullmatch(r"([\w-]+)<<(.+)", line):
            block = []
            for inner in lines:
                if inner == found[2]:
                    break
                block.append(inner)
            else:
                raise AssertionError(f"{found[1]} has no end")
            outputs[found[1]] = "\n".join(block)
        elif line:
            name, equals, value = line.partition("=")
            assert equals, line
            outputs[name] = value
    return outputs
