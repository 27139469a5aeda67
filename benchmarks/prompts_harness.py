"""The harness's side of `prompts.py`, run with the Python of its environment; nothing of evalspec is imported here.

python prompts_harness.py render JOBS.json     processor seconds for all requests of each task and way
python prompts_harness.py index                processor seconds for the harness's index of its own tree
"""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import datasets
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks import TaskManager

logging.disable(logging.CRITICAL)


def build(job: dict[str, Any], sampler: str) -> Any:
    """A task of the harness over the job's rows."""
    splits = {name: datasets.Dataset.from_list(rows) for name, rows in job["splits"].items()}
    datasets.load_dataset = lambda *_, **__: splits
    task = ConfigurableTask(config={**job["settings"], "fewshot_config": {"sampler": sampler}})
    task.set_config("num_fewshot", job["shots"])
    task.set_fewshot_seed(seed=1234)
    return task


def render(jobs: list[dict[str, Any]], sampler: str) -> tuple[float, int]:
    """Seconds of processor time for all requests of all tasks once they are built, and the number of rows."""
    seconds, rows = 0.0, 0
    for job in jobs:
        task = build(job, sampler)
        began = time.process_time()
        task.build_all_requests(rank=0, world_size=1, apply_chat_template=False, fewshot_as_multiturn=False)
        seconds += time.process_time() - began
        rows += len({instance.doc_id for instance in task.instances})
    return seconds, rows


def main() -> None:
    """Print what was asked for as JSON."""
    if sys.argv[1] == "index":
        began = time.process_time()
        manager = TaskManager()
        print(json.dumps([time.process_time() - began, len(manager.all_tasks)]))
        return
    datasets.disable_progress_bars()
    jobs = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    print(json.dumps({sampler: render(jobs, sampler) for sampler in ("default", "first_n")}))


if __name__ == "__main__":
    main()
