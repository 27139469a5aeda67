"""Run the real command in a child process, in an environment that the tests know."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: What of the caller's environment a child keeps: where programs are, and what running them takes.
_KEPT = ("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def clean_environment(**more: str) -> dict[str, str]:
    """An environment without the machine's colour, Python and git settings; `more` is added."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    fixed = {
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "XDG_CACHE_HOME": str(Path(tempfile.gettempdir()) / "evalspec-tests"),
    }
    return kept | fixed | more


class Result(NamedTuple):
    """How a command ended and what it wrote; unpacks as `code, out, err`."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Cli:
    """Calls the tool: `cli("validate", path)`.

    Output is decoded as UTF-8 and nothing else: `\\r\\n` stays `\\r\\n`.
    """

    cwd: Path
    env: dict[str, str] = field(default_factory=clean_environment)
    command: tuple[str, ...] = (sys.executable, "-m", "evalspec")

    def __call__(
        self,
        *args: str | os.PathLike[str],
        cwd: Path | None = None,
        stdin: str | bytes = b"",
        env: dict[str, str] | None = None,
        timeout: float = 120,
    ) -> Result:
        """Run the tool with `args` and wait for it.

        Args:
            args: the command line after `evalspec`.
            cwd: the folder to run in; the test's own temporary folder unless said.
            stdin: what the command reads from standard input.
            env: variables to add to the clean environment.
            timeout: seconds after which the command counts as hung.
        """
        done = subprocess.run(
            [*self.command, *(os.fspath(arg) for arg in args)],
            cwd=cwd or self.cwd,
            env=self.env | (env or {}),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
