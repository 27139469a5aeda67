"""Run the unit tests with every dependency at its lower bound (`make lower-bounds`).

The bounds are read from pyproject.toml, so the promise there and what is tested cannot part. The
environment is `.lower-bounds/` and is made anew when the bounds change.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".lower-bounds"
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*>=\s*(?P<bound>[0-9.]+)(?:\s*,\s*<[0-9.]+)?")


def pins(requirements: list[str]) -> list[str]:
    """Each requirement pinned to its lower bound.

    Raises:
        SystemExit: a requirement has no lower bound.
    """
    found = []
    for requirement in requirements:
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None:
            sys.exit(f"lower-bounds: {requirement!r} has no lower bound; write it as NAME>=VERSION")
        found.append(f"{match['name']}=={match['bound']}")
    return found


def install(wanted: list[str], tools: list[str]) -> Path:
    """The interpreter of an environment that has exactly `wanted`, the test tools and this checkout."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / ".installed"
    content = "\n".join([str(ROOT), sys.version, *wanted, *tools])
    if not (stamp.exists() and stamp.read_text(encoding="utf-8") == content):
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted, *tools], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
        stamp.write_text(content, encoding="utf-8")
    return python


def main() -> int:
    """Make the environment and run the unit tests in it; the exit status is pytest's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = pins(project["dependencies"])
    print("lower-bounds:", *wanted, flush=True)
    command = [
        str(install(wanted, project["optional-dependencies"]["test"])),
        "-m",
        "pytest",
        "tests/unit",
        *sys.argv[1:],
    ]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
