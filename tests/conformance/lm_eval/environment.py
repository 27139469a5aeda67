"""The environment in which the real harness runs: made once, kept under the temporary folder of the machine."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

#: What the harness's task code imports; its models, and the torch they need, stay out.
WITHOUT_DEPENDENCIES = ("lm-eval==0.4.13",)
NEEDED = (
    "datasets>=4,<6",
    "dill",
    "evaluate",
    "jinja2>=3.1.6",
    "more-itertools",
    "numpy",
    "pytablewriter",
    "sacrebleu",
    "scikit-learn",
    "sqlitedict",
    "tqdm",
    "transformers>=5",
    "typing-extensions",
    "word2number",
)


def folder() -> Path:
    """Where the environment is kept: `EVALSPEC_CONFORMANCE_ENV`, or a folder named after what is in it."""
    given = os.environ.get("EVALSPEC_CONFORMANCE_ENV")
    if given:
        return Path(given)
    told = " ".join((sys.version, *WITHOUT_DEPENDENCIES, *NEEDED))
    name = f"evalspec-lm-eval-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    return Path(tempfile.gettempdir()) / name


def make() -> Path:
    """The Python of the environment, which is made first where it is not there yet."""
    place = folder()
    python = place / "bin" / "python"
    done = place / ".complete"
    place.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{place}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, "--no-deps", *WITHOUT_DEPENDENCIES], check=True)
            subprocess.run([*pip, *NEEDED], check=True)
            done.touch()
    return python


def tasks(python: Path) -> Path:
    """The folder of the harness's own tasks."""
    code = "import importlib.util as u; print(u.find_spec('lm_eval').submodule_search_locations[0])"
    said = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return Path(said.stdout.strip()) / "tasks"
