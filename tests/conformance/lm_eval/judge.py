"""Runs the real lm-evaluation-harness 0.4.13 over jobs, in an environment of its own.

    python judge.py JOBS.jsonl ANSWERS.jsonl

A job is a task with its rows and the cases to render; an answer says, case by case, which contexts and requests
the harness made, or what it raised. Nothing of this project is imported here.
"""
# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ARG001, S106 - it speaks to the harness, whose own functions say nothing of their types

from __future__ import annotations

import functools
import json
import logging
import math
import sys
from pathlib import Path

import datasets
import jinja2
from lm_eval import utils
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks._yaml_loader import load_yaml

logging.disable(logging.CRITICAL)

#: What a job may leave out of the real task, because it needs the network or has no part in the prompt.
NOT_ABOUT_PROMPTS = ("process_results", "filter_list", "metric_list", "should_decontaminate")


class Dropped(Exception):
    """A `!function` that the job does not want."""


def plain_settings(path: str, *, functions: bool) -> dict:
    """The task's YAML as the harness's own loader reads it, its functions loaded or as text."""
    settings = load_yaml(path, resolve_func=functions)
    for key in ("tag", "group", "task_list"):
        settings.pop(key, None)
    return settings


def load_dataset_from(splits: dict[str, list[dict]]):
    def load(path=None, name=None, **_):
        return {split: datasets.Dataset.from_list(rows) for split, rows in splits.items()}

    return load


@functools.cache
def tokenizer(source: str):
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    )
    made.chat_template = source
    made.bos_token, made.eos_token = "<s>", "</s>"
    return made


def chat_function(source: str):
    """What the Hugging Face model of the harness does with messages, over the real `apply_chat_template`."""

    def apply(messages, add_generation_prompt=True):
        def once(chat):
            return tokenizer(source).apply_chat_template(
                chat,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=not add_generation_prompt,
            )

        try:
            return once(messages)
        except jinja2.exceptions.TemplateError:
            return once([message for message in messages if message["role"] != "system"])

    return apply


def build(job: dict) -> ConfigurableTask:
    settings = (
        job["settings"]
        if "settings" in job
        else plain_settings(job["path"], functions=job.get("functions", False))
    )
    metrics = settings.get("metric_list")
    for key in NOT_ABOUT_PROMPTS:
        settings.pop(key, None)
    if any(
        isinstance(metric, dict) and metric.get("metric") == "acc_mutual_info" for metric in metrics or ()
    ):
        settings["metric_list"] = [{"metric": "acc_mutual_info"}]
    if job.get("rows_are_docs", True):
        settings.pop("process_docs", None)
        if isinstance(settings.get("fewshot_config"), dict):
            settings["fewshot_config"].pop("process_docs", None)
    settings.pop("custom_dataset", None)
    datasets.load_dataset = load_dataset_from(job["splits"])
    return ConfigurableTask(config=settings)


def sample_size(task: ConfigurableTask, limit):
    """What the evaluator makes of a limit before it builds requests."""
    if limit is None:
        return None
    return math.ceil(len(task.eval_docs) * limit) if limit < 1.0 else int(limit)


def render(task: ConfigurableTask, own_shots, case: dict) -> dict:
    contexts = []
    real = type(task).fewshot_context

    def recording(doc, *args, **kwargs):
        made = real(task, doc, *args, **kwargs)
        contexts.append(made)
        return made

    task.fewshot_context = recording
    task.set_config("num_fewshot", own_shots)
    # What `simple_evaluate` does with a task before it is run.
    if case["shots"] is not None:
        if own_shots != 0:
            task.set_config("num_fewshot", case["shots"])
    elif own_shots is None:
        task.set_config("num_fewshot", 0)
    task.set_fewshot_seed(seed=case.get("seed", 1234))
    chat = case.get("chat")
    try:
        task.build_all_requests(
            limit=sample_size(task, case.get("limit")),
            rank=case.get("rank", 0),
            world_size=case.get("world_size", 1),
            system_instruction=case.get("system"),
            apply_chat_template=bool(chat),
            fewshot_as_multiturn=case.get("multiturn", True) if chat else False,
            chat_template=chat_function(chat) if chat else None,
        )
    except Exception as problem:  # noqa: BLE001 - whatever it raises is the answer
        return {"contexts": contexts, "error": type(problem).__name__}
    rows: dict[int, list] = {}
    for instance in task.instances:
        rows.setdefault(instance.doc_id, []).append([instance.request_type, list(instance.args)])
    return {"contexts": contexts, "requests": [[number, made] for number, made in rows.items()]}


def answer(job: dict) -> dict:
    try:
        task = build(job)
    except Exception as problem:  # noqa: BLE001 - whatever it raises is the answer
        return {"name": job["name"], "load_error": type(problem).__name__, "message": str(problem)[:300]}
    own = task.config.num_fewshot
    return {
        "name": job["name"],
        "multiple_input": task.multiple_input,
        "multiple_target": task.multiple_target,
        "cases": [render(task, own, case) for case in job["cases"]],
    }


def main(jobs: str, answers: str) -> None:
    if "--compile-anew" not in sys.argv:
        # The harness compiles every template for every row. The result is the same compiled once, and much sooner.
        utils.env.from_string = functools.lru_cache(maxsize=4096)(utils.env.from_string)
    datasets.disable_progress_bars()
    with Path(jobs).open(encoding="utf-8") as asked, Path(answers).open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(answer(json.loads(line))) + "\n" for line in asked)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
