"""Both sides of a comparison: jobs for the harness, our own answers, and what differs."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synthetic import rows_for

from evalspec.prompts.chat import ChatTemplate
from evalspec.prompts.config import TaskConfig, task_config
from evalspec.prompts.lm_eval.files import FolderFiles
from evalspec.prompts.lm_eval.groups import resolve_task
from evalspec.prompts.lm_eval.index import TASK, Index
from evalspec.prompts.problems import FunctionRef
from evalspec.prompts.rows import RowsInMemory
from evalspec.prompts.sandbox import Sandbox
from evalspec.prompts.tasks import RowOptions, TaskSpec, render_tasks
from evalspec.prompts.view import View

JUDGE = Path(__file__).with_name("judge.py")
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
NOT_ABOUT_PROMPTS = ("process_results", "filter_list", "should_decontaminate", "custom_dataset")
FUNCTION_FIELDS = (
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "doc_to_image",
    "doc_to_audio",
    "description",
)


@dataclass
class Table:
    """What a comparison came to."""

    tasks: int = 0
    cases: int = 0
    rows: int = 0
    equal: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    different: list[str] = field(default_factory=list)

    def text(self) -> str:
        lines = [
            f"tasks {self.tasks}   cases {self.cases}   rows {self.rows}   equal {self.equal}",
            *(f"unknown: {reason}: {count} tasks" for reason, count in sorted(self.unknown.items())),
            *self.different[:40],
        ]
        return "\n".join(lines)


def catalogue(tasks: Path) -> dict[str, dict[str, Any]]:
    """The settings of every task of the harness that is not a Python class, by name."""
    index = Index([FolderFiles(str(tasks))])
    found = {}
    for entry in index.of_kind(TASK):
        task = resolve_task(index, entry)
        found[str(task.name)] = {"path": str(tasks / entry.path), "settings": task.settings}
    return found


def why_unknown(settings: dict[str, Any]) -> str | None:
    """The field that is a function, so that no prompt can be rendered without running it."""
    few = settings.get("fewshot_config") or {}
    for name in FUNCTION_FIELDS:
        if isinstance(settings.get(name), FunctionRef):
            return f"{name} is a function"
        if isinstance(few.get(name), FunctionRef):
            return f"fewshot_config.{name} is a function"
    for name in ("samples", "sampler"):
        if isinstance(few.get(name), FunctionRef):
            return f"fewshot_config.{name} is a function"
    return None


def bare(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without what has no part in a prompt (the judge leaves out the same)."""
    left = {key: value for key, value in settings.items() if key not in (*NOT_ABOUT_PROMPTS, "process_docs")}
    if isinstance(left.get("fewshot_config"), dict):
        left["fewshot_config"] = {k: v for k, v in left["fewshot_config"].items() if k != "process_docs"}
    return left


def splits_for(config: TaskConfig, sandbox: Sandbox, count: int) -> dict[str, list[dict[str, Any]]]:
    names = [config.training_split, config.validation_split, config.test_split, config.fewshot.split]
    count = max(count, (config.num_fewshot or 0) + 4)
    return {name: rows_for(config, sandbox, name, count) for name in dict.fromkeys(names) if name is not None}


def cases(chat: str) -> list[dict[str, Any]]:
    """0, 2 and the task's own number of examples; plain and both kinds of chat; with and without an instruction."""
    return [
        {"shots": shots, "system": system, "limit": 4, **how}
        for shots in (0, 2, None)
        for system in (None, "You are a careful assistant.")
        for how in ({}, {"chat": chat, "multiturn": True}, {"chat": chat, "multiturn": False})
    ]


def view_of(case: dict[str, Any]) -> View:
    chat = ChatTemplate("given", case["chat"], TOKENS) if case.get("chat") else None
    return View(
        chat=chat,
        multiturn=case.get("multiturn", True),
        system=case.get("system"),
        shots=case["shots"],
        limit=case.get("limit"),
        rank=case.get("rank", 0),
        world_size=case.get("world_size", 1),
        seed=case.get("seed"),
    )


def ask(
    python: Path, jobs: list[dict[str, Any]], folder: Path, *, processes: int = 2
) -> dict[str, dict[str, Any]]:
    """The harness's answers, by job name."""
    running = []
    for number in range(processes):
        mine = jobs[number::processes]
        asked, said = folder / f"jobs{number}.jsonl", folder / f"answers{number}.jsonl"
        asked.write_text("".join(json.dumps(job) + "\n" for job in mine), encoding="utf-8")
        log = (folder / f"judge{number}.log").open("w")
        running.append(
            (
                subprocess.Popen([python, "-W", "ignore", JUDGE, asked, said], stdout=log, stderr=log),
                said,
                log,
            )
        )
    answers = {}
    for process, said, log in running:
        code = process.wait()
        log.close()
        assert code == 0, Path(log.name).read_text()[-2000:]
        for line in said.read_text(encoding="utf-8").splitlines() if said.exists() else ():
            found = json.loads(line)
            answers[found["name"]] = found
    return answers


def compare(job: dict[str, Any], settings: dict[str, Any], answer: dict[str, Any], table: Table) -> None:
    """Render the job ourselves and note every difference."""
    name = job["name"]
    sandbox = Sandbox()
    options = RowOptions(RowsInMemory(job["splits"]), are_docs=job.get("rows_are_docs", True))
    table.tasks += 1
    for number, case in enumerate(job["cases"]):
        table.cases += 1
        spec = TaskSpec(name, "lm-eval@0.4.13", None, lambda: task_config(settings))
        rows = list(render_tasks([spec], [view_of(case)], options, sandbox=sandbox))
        where = f"{name} { ({**case, 'chat': bool(case.get('chat'))}) }"
        if "load_error" in answer:
            table.rows += 1
            got = rows[0].error.type if rows[0].error else "no error"
            if got == answer["load_error"] and rows[0].row is None:
                table.equal += 1
            else:
                table.different.append(
                    f"{where}: load error {answer['load_error']} ({answer['message']}), ours {got}"
                )
            continue
        theirs = answer["cases"][number]
        problem = _rows_differ(rows, theirs)
        table.rows += max(len(theirs["contexts"]), 1)
        if problem is None:
            table.equal += max(len(theirs["contexts"]), 1)
        else:
            table.different.append(f"{where}: {problem}")


def _rows_differ(rows: list[Any], theirs: dict[str, Any]) -> str | None:
    error = next((row.error.type for row in rows if row.error), None)
    if any(row.unknown for row in rows):
        return f"unknown: {next(row.unknown for row in rows if row.unknown)}"
    if error != theirs.get("error"):
        said = next((row.error for row in rows if row.error), None)
        return f"error {theirs.get('error')}, ours {said}"
    ours = [row.to_dict() for row in rows if row.prompt]
    contexts = theirs["contexts"]
    if error is None and len(ours) != len(contexts):
        return f"{len(contexts)} rows, ours {len(ours)}"
    for mine, context in zip(ours, contexts, strict=False):
        if mine["text"] != context:
            return f"row {mine['row']}: {context!r}, ours {mine['text']!r}"
        joined = "".join(part["text"] for part in mine["parts"])
        first = mine["text"] if isinstance(mine["text"], str) else mine["text"][0]
        if joined != first:
            return f"row {mine['row']}: the parts give {joined!r}, not {first!r}"
    made = [
        [row.row, [[r.type, list(r.arguments())] for r in row.prompt.requests]] for row in rows if row.prompt
    ]
    made = [each for each in made if each[1]]
    if error is None and json.loads(json.dumps(made)) != theirs["requests"]:
        return f"requests {theirs['requests'][:1]!r}, ours {made[:1]!r}"
    return None


def job_for(name: str, found: dict[str, Any], chat: str, sandbox: Sandbox) -> dict[str, Any] | None:
    """A job for a task of the catalogue; None where the task has no split to evaluate or cannot be configured."""
    try:
        config = task_config(bare(found["settings"]))
    except (TypeError, ValueError):
        return None
    if config.eval_split is None:
        return None
    return {
        "name": name,
        "path": found["path"],
        "splits": splits_for(config, sandbox, 12),
        "cases": cases(chat),
    }
