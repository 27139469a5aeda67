"""Versions, migrations and prompt diffs for the task files of LLM evaluations.

A runner needs no more than this module:

    valid, errors = evalspec.validate_file("tasks.jsonl")
    tasks = evalspec.load("tasks.jsonl")                    upgraded in memory, the file untouched
    prompt = evalspec.render(tasks[0])
    answer = evalspec.post_process(generation, tasks[0]["post_process"])

Everything is imported when it is first asked for. Errors are `EvalspecError` and its kinds; what is wrong with task
files is told as `Finding`.
"""

from evalspec._lazy import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalspec._version import __version__
    from evalspec.api import (
        TaskSpec,
        Validated,
        json_schema,
        load,
        load_fixtures,
        migrate_files,
        migrate_record,
        post_process,
        render,
        validate_file,
        validate_task,
    )
    from evalspec.errors import (
        BadTasks,
        BrokenPromise,
        EvalspecError,
        Finding,
        FindingsError,
        FormatError,
        GuardHeld,
        HistoryError,
        Place,
        UnknownRule,
        UnknownVersion,
        UsageError,
        WriteError,
    )
    from evalspec.migrate.outcome import Outcome
    from evalspec.project import Project
    from evalspec.tasks.fixtures import Fixtures

_HOME = {
    "BadTasks": "errors",
    "BrokenPromise": "errors",
    "EvalspecError": "errors",
    "Finding": "errors",
    "FindingsError": "errors",
    "Fixtures": "tasks.fixtures",
    "FormatError": "errors",
    "GuardHeld": "errors",
    "HistoryError": "errors",
    "Outcome": "migrate.outcome",
    "Place": "errors",
    "Project": "project",
    "TaskSpec": "api",
    "UnknownRule": "errors",
    "UnknownVersion": "errors",
    "UsageError": "errors",
    "Validated": "api",
    "WriteError": "errors",
    "__version__": "_version",
    "json_schema": "api",
    "load": "api",
    "load_fixtures": "api",
    "migrate_files": "api",
    "migrate_record": "api",
    "post_process": "api",
    "render": "api",
    "validate_file": "api",
    "validate_task": "api",
}

__getattr__ = lazily(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


__all__ = [
    "BadTasks",
    "BrokenPromise",
    "EvalspecError",
    "Finding",
    "FindingsError",
    "Fixtures",
    "FormatError",
    "GuardHeld",
    "HistoryError",
    "Outcome",
    "Place",
    "Project",
    "TaskSpec",
    "UnknownRule",
    "UnknownVersion",
    "UsageError",
    "Validated",
    "WriteError",
    "__version__",
    "json_schema",
    "load",
    "load_fixtures",
    "migrate_files",
    "migrate_record",
    "post_process",
    "render",
    "validate_file",
    "validate_task",
]
