"""`evalspec check` over the whole tree of lm-eval 0.4.13 beside libyaml, and over ten files beside a bare interpreter.

    python benchmarks/gate.py [--wheels DIR] [--rounds 5]

Libyaml's time is that in which PyYAML's `CSafeLoader` reads and loads every YAML file of the tree, measured inside of
one process; the check's is that of its whole process. Runs are interleaved, each beside the reference of its round; a
figure is the median of the ratios: of the time on the clock, and of the processor time of all processes. *Cold* is
without `.evalspec_cache`, *again* with nothing changed since the last run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from records import STYLES, records
from run import Case, Cost, describe, run
from yaml_corpus import fetch

ROOT = Path(__file__).resolve().parents[1]
TOOL = [sys.executable, "-m", "evalspec"]
TASK = "lm_eval/tasks/arc/arc_easy.yaml"
_LOAD = """
import os, sys, time, json
import yaml
class Loader(yaml.CSafeLoader): pass
Loader.add_multi_constructor("!", lambda loader, suffix, node: None)
count, began, used = 0, time.perf_counter(), time.process_time()
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith((".yaml", ".yml", "_yaml")):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            try:
                yaml.load(data, Loader)
            except yaml.YAMLError:
                continue
            count += 1
print(json.dumps([count, time.perf_counter() - began, time.process_time() - used]))
"""


class Measured(NamedTuple):
    """A case: what is done before each run, the command, and its goal."""

    name: str
    command: list[str]
    goal: str
    before: Callable[[], object] = lambda: None


def git(folder: Path, *words: str) -> None:
    """Run git as somebody."""
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


def cost(command: list[str], folder: Path) -> Cost:
    """Run a check, which may find something."""
    shell = " ".join(f"'{word}'" for word in command)
    return run(Case(command[-1], ["sh", "-c", f"cd '{folder}' && {shell} >/dev/null 2>&1; [ $? -le 1 ]"]))


def compare(cases: list[Measured], folder: Path, reference: Callable[[], Cost], rounds: int) -> None:
    """Print the ratio of each case to the reference of its round."""
    found: dict[str, list[tuple[float, float]]] = {case.name: [] for case in cases}
    for _ in range(rounds):
        base = reference()
        for case in cases:
            case.before()
            took = cost(case.command, folder)
            found[case.name].append((took.wall / base.wall, took.cpu / base.cpu))
    print("| | clock | processor | goal |\n|---|--:|--:|---|")
    for case in cases:
        wall, cpu = (statistics.median(each) for each in zip(*found[case.name], strict=True))
        print(f"| {case.name} | {wall:.2f} | {cpu:.2f} | {case.goal} |")
    print()


def of_tree(folder: Path, wheel: Path, rounds: int) -> None:
    """The whole tree of the harness, in a repository."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    task = folder / TASK
    whole = task.read_bytes()
    counts = []

    def load() -> Cost:
        said = subprocess.run(
            [sys.executable, "-c", _LOAD, str(folder / "lm_eval/tasks")], check=True, capture_output=True
        )
        count, wall, cpu = json.loads(said.stdout)
        counts.append(count)
        return Cost(wall, cpu, 0)

    def cold() -> None:
        task.write_bytes(whole)
        shutil.rmtree(folder / ".evalspec_cache", ignore_errors=True)

    def edit() -> None:
        task.write_bytes(task.read_bytes() + b"# more\n")

    check = [*TOOL, "check", "lm_eval/tasks"]
    cases = [
        Measured("cold", check, "≤ 6 ×", cold),
        Measured("again", check, "≤ 0.5 ×"),
        Measured("`--changed`, one file edited since", [*check, "--changed"], "≤ 0.5 ×", edit),
        Measured("`--changed`, again", [*check, "--changed"], "≤ 0.5 ×"),
    ]
    load()
    print(f"### The whole tree: {counts[0]:,} YAML files\n")
    compare(cases, folder, load, rounds)


def of_ten(folder: Path, rounds: int) -> None:
    """A repository of ten files, with a configuration."""
    every = iter(records(300))
    for number in range(10):
        batch = [next(every) for _ in range(30)]
        (folder / f"{number}.jsonl").write_bytes(
            b"".join(STYLES["canonical"](each) + b"\n" for each in batch)
        )
    (folder / "evalspec.toml").write_text('spec = "evalspec"\ntasks = ["."]\n')
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    check = [*TOOL, "check"]
    cases = [
        Measured(
            "cold", check, "≤ 25 ×", lambda: shutil.rmtree(folder / ".evalspec_cache", ignore_errors=True)
        ),
        Measured("again", check, "≤ 6 ×"),
    ]
    print("### Ten files of 30 records, beside an interpreter that does nothing\n")
    compare(cases, folder, lambda: run(Case("bare", [sys.executable, "-c", "pass"])), 3 * rounds)


def main() -> int:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheels", type=Path, help="where the wheel is, or is kept")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    describe()
    with tempfile.TemporaryDirectory(prefix="evalspec-bench-") as name:
        folder = Path(name)
        for each in ("wheels", "tree", "ten"):
            (folder / each).mkdir()
        of_ten(folder / "ten", args.rounds)
        try:
            [wheel] = fetch(["0.4.13"], args.wheels or folder / "wheels")
        except subprocess.CalledProcessError:
            print("SKIPPED: lm-eval could not be fetched; is there a package registry?", file=sys.stderr)
            return 0
        of_tree(folder / "tree", wheel, args.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
