"""Prompts beside the real lm-evaluation-harness 0.4.13, and its tree of tasks beside libyaml, in one run.

    python benchmarks/prompts.py [--tasks 12] [--rows 200] [--rounds 3]

Every figure is a ratio of processor time, taken in turn in processes of their own, the median over the rounds. The
harness is installed from PyPI into its own environment, as for `make conformance`. Both sides get the same tasks, drawn
over all folders of its catalogue, and the same made-up rows; the time is that for the texts and requests of all rows of
tasks that are built.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/conformance/lm_eval"))

SHOTS = 5
POOL = 100
SAMPLERS = ("default", "first_n")


# ── What is rendered ─────────────────────────────────────────────────────────────────────────────────────────


def jobs_of(tree: Path, count: int, rows: int) -> list[dict[str, Any]]:
    """Tasks drawn over all folders that render on both sides, with their rows."""
    from compare import bare, catalogue, why_unknown
    from synthetic import rows_for

    from evalspec.prompts.config import task_config
    from evalspec.prompts.sandbox import Sandbox

    found = catalogue(tree)
    names = sorted(found)
    random.Random(11).shuffle(names)
    sandbox, jobs, folders = Sandbox(), [], set()
    for name in names:
        folder = Path(found[name]["path"]).relative_to(tree).parts[0]
        settings = bare(found[name]["settings"])
        if folder in folders or why_unknown(settings) or "num_fewshot" in settings:
            continue
        config = task_config(settings)
        if config.eval_split is None or config.output_type == "loglikelihood_rolling":
            continue
        keys = ("training_split", "validation_split", "test_split", "fewshot_split", "fewshot_config")
        settings = {key: value for key, value in settings.items() if key not in (*keys, "metric_list")}
        settings |= {"test_split": "test", "fewshot_split": "train"}
        splits = {
            "test": rows_for(config, sandbox, "test", rows),
            "train": rows_for(config, sandbox, "train", POOL),
        }
        job = {"name": name, "settings": settings, "splits": splits, "shots": SHOTS}
        if _renders(job):
            jobs.append(job)
            folders.add(folder)
        if len(jobs) == count:
            break
    return jobs


def _renders(job: dict[str, Any]) -> bool:
    try:
        json.dumps(job)
        return all(row.prompt for sampler in SAMPLERS for row in _rows(job, sampler))
    except Exception:  # noqa: BLE001 - a task that made-up rows do not fit is no case
        return False


def _rows(job: dict[str, Any], sampler: str) -> Any:
    """The rows of a task that has been built, to be rendered one by one."""
    from evalspec.prompts.config import task_config
    from evalspec.prompts.render import TaskLabel, render_template
    from evalspec.prompts.rows import RowsInMemory
    from evalspec.prompts.sandbox import Sandbox
    from evalspec.prompts.tasks import LM_EVAL, RowOptions, TaskSpec, build
    from evalspec.prompts.view import View

    config = task_config({**job["settings"], "fewshot_config": {"sampler": sampler}})
    spec = TaskSpec(job["name"], LM_EVAL, None, lambda: config)
    options, view = RowOptions(RowsInMemory(job["splits"])), View(shots=job["shots"])
    task, label = build(config, spec, view, options, Sandbox(), TaskLabel(job["name"], LM_EVAL, None))
    return render_template(task, label, view, parts=False)


# ── What each process measures ───────────────────────────────────────────────────────────────────────────────


def measure_render(path: str) -> dict[str, tuple[float, int]]:
    """Our processor seconds for all texts and requests, and the number of rows."""
    jobs = json.loads(Path(path).read_text(encoding="utf-8"))
    out = {}
    for sampler in SAMPLERS:
        seconds, count = 0.0, 0
        for job in jobs:
            rows = _rows(job, sampler)
            began = time.process_time()
            count += sum(1 for _ in rows)
            seconds += time.process_time() - began
        out[sampler] = (seconds, count)
    return out


def measure_tree(folder: str) -> dict[str, float]:
    """Processor seconds for reading a tree, for resolving and for rendering all of it, and for libyaml's work."""
    import yaml

    from evalspec.prompts.lines import Wanted
    from evalspec.prompts.lm_eval import FolderFiles, Index
    from evalspec.prompts.lm_eval.open_tree import open_tree
    from evalspec.prompts.tree_lines import TreeJob, render_tree

    class Loader(yaml.CSafeLoader):
        """PyYAML's safe loader over libyaml, that takes any tag for nothing."""

    Loader.add_multi_constructor("!", lambda *_: None)
    kept: dict[str, bytes] = {}

    class Recorded(FolderFiles):
        """A folder that notes what is read of it."""

        def read(self, name: str) -> bytes | None:
            data = super().read(name)
            kept[name] = data or b""
            return data

    Index([Recorded(folder)])
    read = list(kept.values())
    kept.clear()
    out: dict[str, float] = {"files": len(read)}
    began = time.process_time()
    for data in read:
        for _ in yaml.parse(data, Loader):
            pass
    out["events"] = time.process_time() - began
    began = time.process_time()
    for data in read:
        yaml.load(data, Loader)  # noqa: S506 - a safe loader
    out["load"] = time.process_time() - began
    del read
    began = time.process_time()
    tree = open_tree([folder])
    tasks = tree.select([])
    out["resolve"] = time.process_time() - began
    began = time.process_time()
    job = TreeJob(tree, tuple(tasks), Wanted(parts=False))
    out["rendered"] = sum(1 for _ in render_tree(job))
    out["render"] = time.process_time() - began
    return out


# ── The run ──────────────────────────────────────────────────────────────────────────────────────────────────


def asked(command: list[str | Path]) -> Any:
    """What a process prints, as JSON."""
    quiet = {**os.environ, "TQDM_DISABLE": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=quiet)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        kind, path = args.measure
        print(json.dumps(measure_render(path) if kind == "render" else measure_tree(path)))
        return 0
    import environment

    try:
        python = environment.make()
    except subprocess.CalledProcessError:
        print("SKIPPED: lm-eval 0.4.13 could not be installed; is there a package registry?", file=sys.stderr)
        return 0
    tree = environment.tasks(python)
    harness: list[str | Path] = [python, "-W", "ignore", ROOT / "benchmarks/prompts_harness.py"]
    ours: list[str | Path] = [sys.executable, __file__, "--measure"]
    with tempfile.TemporaryDirectory() as folder:
        jobs = Path(folder) / "jobs.json"
        jobs.write_text(json.dumps(jobs_of(tree, args.tasks, args.rows)), encoding="utf-8")
        rendered, trees = [], []
        for _ in range(args.rounds):
            rendered.append((asked([*harness, "render", jobs]), asked([*ours, "render", jobs])))
            trees.append((asked([*harness, "index"]), asked([*ours, "tree", tree])))
    _print_rendered(rendered, args)
    _print_tree(trees)
    return 0


def _print_rendered(rounds: list[tuple[Any, Any]], args: argparse.Namespace) -> None:
    print(f"{args.tasks} tasks, {args.rows} rows each, {SHOTS} examples out of {POOL}\n")
    print("| examples | harness, prompts/s | evalspec, prompts/s | ratio | goal |\n|---|--:|--:|--:|--:|")
    for sampler, name, goal in (("default", "drawn at random", 80), ("first_n", "the first", 500)):
        speeds = [
            [rows / seconds for seconds, rows in (theirs[sampler], ours[sampler])] for theirs, ours in rounds
        ]
        ratio = statistics.median(ours / theirs for theirs, ours in speeds)
        theirs, ours = (statistics.median(each) for each in zip(*speeds, strict=True))
        print(f"| {name} | {theirs:,.0f} | {ours:,.0f} | {ratio:,.0f} × | ≥ {goal} × |")


def _print_tree(rounds: list[tuple[Any, Any]]) -> None:
    found = rounds[0][1]
    print(f"\n{found['files']:,} YAML files, {found['rendered']:,} tasks\n")
    print("| | seconds | × libyaml's events | × PyYAML's load with libyaml | goal |\n|---|--:|--:|--:|--:|")
    for key, name, goal in (
        ("resolve", "read and resolve all", "≤ 2.5 ×"),
        ("render", "render all with placeholder rows", "≤ 60 ×"),
    ):
        seconds = statistics.median(ours[key] for _, ours in rounds)
        events = statistics.median(ours[key] / ours["events"] for _, ours in rounds)
        load = statistics.median(ours[key] / ours["load"] for _, ours in rounds)
        print(f"| {name} | {seconds:.2f} | {events:.2f} | {load:.2f} | {goal} |")
    index = statistics.median(theirs[0] / ours["resolve"] for theirs, ours in rounds)
    print(
        f"\nThe harness's own index takes {index:.1f} × as long as reading and resolving all (goal: ≥ 5 ×)."
    )


if __name__ == "__main__":
    sys.exit(main())
