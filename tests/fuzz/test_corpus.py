"""Every seed of the fuzzer, and so every input that once broke a promise, holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
SEEDS = sorted(path for path in CORPUS.rglob("*") if path.is_file())


def test_every_target_has_seeds() -> None:
    assert {path.parent.name for path in SEEDS} == set(TARGETS)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_seed_keeps_every_promise(seed: Path) -> None:
    good = TARGETS[seed.parent.name](seed.read_bytes())
    assert good == (not seed.name.startswith("bad-"))
