"""The oldest releases that pyproject.toml allows are ones that work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.registry import run_with_registry


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer Pythons have no wheels of the oldest releases")
def test_unit_tests_pass_at_the_lower_bounds(root: Path) -> None:
    out = run_with_registry(sys.executable, root / "tools" / "lower_bounds.py", "-q", cwd=root)
    assert " passed" in out.splitlines()[-1]
    assert out.startswith("lower-bounds: ")
