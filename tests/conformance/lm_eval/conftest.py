"""The real harness, for the tests of this folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def harness() -> Path:
    """The Python with lm-evaluation-harness 0.4.13 in it. Without an index there is no judge: skipped."""
    import environment

    try:
        return environment.make()
    except subprocess.CalledProcessError as problem:
        pytest.skip(f"lm-eval 0.4.13 could not be installed, so nothing was compared: {problem}")
