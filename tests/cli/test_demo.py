"""What `make demo` runs ends well, says what it should, and changes nothing of the checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.cli import ROOT, clean_environment


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in READ}


READ = {".jsonl", ".yaml", ".yml", ".py", ".toml"}


def test_the_demo(tmp_path: Path) -> None:
    script = tmp_path / "evalspec"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evalspec "$@"\n')
    script.chmod(0o755)
    environment = clean_environment()
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    before = snapshot(ROOT / "examples") | snapshot(ROOT / "fixtures")
    done = subprocess.run(
        ["bash", str(ROOT / "examples" / "demo.sh")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )
    out = done.stdout.decode()
    assert done.returncode == 0, out + done.stderr.decode()
    assert snapshot(ROOT / "examples") | snapshot(ROOT / "fixtures") == before
    told = [
        "10 valid records, 0 errors in 1 file",
        "1 valid record, 174 errors in 1 file",
        "prompts unchanged, proved on 59",
        "tasks use extract_letter",
        "59 records to v3 (59 at v1); 8 files written",
        "prompts change (a ruled line between examples",
        "Done.",
    ]
    places = [out.find(words) for words in told]
    assert -1 not in places, out
    assert places == sorted(places)
