"""Tests that install or download packages: without a registry they are skipped, and say so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.cli import clean_environment

_NO_REGISTRY = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "Name or service not known",
    "Temporary failure in name resolution",
    "nodename nor servname provided",
    "Network is unreachable",
)


def run_with_registry(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """The standard output of a command that needs the package registry and must succeed where there is one.

    pip is given the settings it has outside the tests: a proxy, a mirror, a certificate. `env` is added to them.
    """
    settings = {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(("PIP_", "SSL_", "REQUESTS_")) or name.lower().endswith("_proxy")
    }
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(**settings, **(env or {})),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(sign in done.stdout + done.stderr for sign in _NO_REGISTRY):
        pytest.skip("NO PACKAGE REGISTRY REACHED: this test did not run")
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout
