"""The oldest releases that pyproject.toml allows are ones that work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import clean_environment


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer Pythons have no wheels of the oldest releases")
def test_unit_tests_pass_at_the_lower_bounds(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, root / "tools" / "lower_bounds.py", "-q"],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
