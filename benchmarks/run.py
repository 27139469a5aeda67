"""Speed and memory of whole commands, beside their references in the same run.

    python benchmarks/run.py [--records 300000] [--rounds 5] [--only jsonl,memory,start,gate,yaml,prompts,changes]

The JSONL reference is a bare loop of `orjson.loads` and `orjson.dumps` over the same lines; that of the start is an
interpreter that does nothing. Runs are interleaved, and a figure is the median over the rounds of a command's time
divided by the reference's in that round: of the time on the clock, and of the processor time of all its processes,
which other work on the machine disturbs less. The start is measured through a script installed from a wheel.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from records import STYLES, records, write

ROOT = Path(__file__).resolve().parents[1]

_REFERENCE = """
import sys, orjson
with open(sys.argv[1], "rb") as lines, open(sys.argv[2], "wb") as out:
    for line in lines:
        out.write(orjson.dumps(orjson.loads(line)))
        out.write(b"\\n")
"""


class Cost(NamedTuple):
    """What one run took: seconds on the clock, seconds of processors, peak memory of its largest process in MB."""

    wall: float
    cpu: float
    memory: float


class Case(NamedTuple):
    """A command, and what is copied to where it finds it before each run."""

    name: str
    command: list[str]
    goal: str = ""
    fresh: tuple[Path, Path] | None = None


def run(case: Case) -> Cost:
    """Run a command once; a child that fails ends the benchmark."""
    if case.fresh:
        shutil.copyfile(*case.fresh)
    os.sync()  # what earlier runs wrote is not this one's to wait for
    began = time.perf_counter()
    # Compiled modules are kept, as where the tool is installed.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(case.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=kept) as child:
        assert child.stderr is not None
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{case.name}: exit {child.returncode}\n{said.decode()}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / unit)


def compare(cases: list[Case], rounds: int) -> None:
    """Print each case beside the first."""
    costs: list[list[Cost]] = [[] for _ in cases]
    for _ in range(rounds):
        for case, found in zip(cases, costs, strict=True):
            found.append(run(case))
    print("| | clock | processor | peak MB | goal (clock) |\n|---|---|---|---|---|")
    for case, found in zip(cases, costs, strict=True):
        wall = statistics.median(one.wall / base.wall for one, base in zip(found, costs[0], strict=True))
        cpu = statistics.median(one.cpu / base.cpu for one, base in zip(found, costs[0], strict=True))
        memory = max(one.memory for one in found)
        print(f"| {case.name} | {wall:.2f} | {cpu:.2f} | {memory:.0f} | {case.goal} |")
    seconds = statistics.median(one.wall for one in costs[0])
    print(f"\n{cases[0].name}: {seconds:.3f} s on the clock (median).\n")


def jsonl(folder: Path, count: int, rounds: int) -> None:
    """Validate and migrate one large file, in three ways of writing it."""
    tool = [sys.executable, "-m", "evalspec"]
    for style in STYLES:
        source, copy = folder / f"{style}.jsonl", folder / "copy.jsonl"
        write(source, count, style)
        migrate = [*tool, "migrate", "--quiet", "--to", "v3", str(copy)]
        validate = [*tool, "validate", "--quiet", str(source)]
        one = "1.7" if style == "canonical" else "3"
        cases = [
            Case(
                "orjson loads + dumps",
                [sys.executable, "-c", _REFERENCE, str(source), str(folder / "out")],
                "1",
            ),
            Case("validate, one process", [*validate, "--jobs", "1"]),
            Case("validate, two processes", [*validate, "--jobs", "2"], "1.0"),
            Case("migrate v1 → v3, one process", [*migrate, "--jobs", "1"], one, (source, copy)),
            Case("migrate v1 → v3, two processes", [*migrate, "--jobs", "2"], "1.0", (source, copy)),
        ]
        size = source.stat().st_size / count
        print(f"### {count:,} records, {style} ({size:.0f} bytes a record)\n")
        compare(cases if style == "canonical" else [*cases[:2], cases[3]], rounds)
        source.unlink()
    (folder / "copy.jsonl").unlink()


def memory(folder: Path, count: int) -> None:
    """Peak memory at two sizes, and so what a record costs."""
    path = folder / "memory.jsonl"
    peaks = []
    for number in (count // 3, count):
        write(path, number)
        command = [
            sys.executable,
            "-m",
            "evalspec",
            "migrate",
            "--quiet",
            "--to",
            "v3",
            str(path),
            "--jobs",
            "1",
        ]
        peaks.append(run(Case("migrate", command)).memory)
    each = (peaks[1] - peaks[0]) * (1 << 20) / (count - count // 3)
    print("### Memory of `migrate`, one process\n")
    print(f"{peaks[1]:.0f} MB at {count:,} records (goal: 64), {peaks[0]:.0f} MB at {count // 3:,}:", end=" ")
    print(f"{each:.0f} bytes a record (goal: 20).\n")


def start(folder: Path, rounds: int) -> None:
    """The start of the installed script, and small jobs."""
    bin_ = folder / "venv" / "bin"
    commands = [
        [sys.executable, "-m", "venv", str(folder / "venv")],
        [str(bin_ / "python"), "-m", "pip", "install", "--quiet", "--upgrade", "pip"],
        [str(bin_ / "python"), "-m", "pip", "install", "--quiet", str(ROOT)],
    ]
    for command in commands:
        if subprocess.run(command, check=False).returncode:
            print("### Start: skipped, as no package registry can be reached\n")
            return
    every = iter(records(300))
    for number in range(10):
        batch = [next(every) for _ in range(30)]
        dumps = STYLES["canonical"]
        (folder / f"{number}.jsonl").write_bytes(b"".join(dumps(record) + b"\n" for record in batch))
        (folder / f"{number}.yaml").write_bytes(STYLES["spaced"](batch[0]) + b"\n")
    tool = str(bin_ / "evalspec")
    compare_start = [
        Case("an interpreter that does nothing", [str(bin_ / "python"), "-c", "pass"], "1"),
        Case("evalspec --version", [tool, "--version"], "1.8"),
        Case("validate, ten JSONL files of 30 records", [tool, "validate", *_files(folder, "jsonl")], "5.5"),
        Case("validate, ten YAML files", [tool, "validate", *_files(folder, "yaml")], "7"),
    ]
    print("### Start\n")
    compare(compare_start, 5 * rounds)


def _files(folder: Path, suffix: str) -> list[str]:
    return [str(folder / f"{number}.{suffix}") for number in range(10)]


def describe() -> None:
    """The machine, in a line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"
    print(
        f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()},",
        end=" ",
    )
    print(f"load average {load} at the beginning.\n")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="jsonl,memory,start,gate,yaml,prompts,changes")
    args = parser.parse_args()
    wanted = args.only.split(",")
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    describe()
    with tempfile.TemporaryDirectory(prefix="evalspec-bench-") as name:
        folder = Path(name)
        if "jsonl" in wanted:
            jsonl(folder, args.records, args.rounds)
        if "memory" in wanted:
            memory(folder, args.records)
        if "start" in wanted:
            start(folder, args.rounds)
    if "gate" in wanted:
        print("### The gate\n")
        subprocess.run([sys.executable, str(ROOT / "benchmarks/gate.py")], check=False)
    if "yaml" in wanted:
        print("### YAML corpus\n")
        subprocess.run([sys.executable, str(ROOT / "benchmarks/yaml_corpus.py")], check=False)
    if "prompts" in wanted:
        print("\n### Prompts\n")
        subprocess.run([sys.executable, str(ROOT / "benchmarks/prompts.py")], check=False)
    if "changes" in wanted:
        print("\n### Changes\n")
        subprocess.run([sys.executable, str(ROOT / "benchmarks/changes.py")], check=False)


if __name__ == "__main__":
    main()
