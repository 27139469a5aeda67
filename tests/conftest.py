"""Settings and fixtures of every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.cli import ROOT, Cli

# The same examples every time, so that a red test is red for everybody; `make fuzz` draws new ones.
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", deadline=None, max_examples=5000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command, run in the test's own folder: `code, out, err = cli("validate", path)`."""
    return Cli(tmp_path)


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT
