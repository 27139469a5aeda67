"""The command line: parses arguments, calls one function, prints its result.

One module a command, imported when that command is called. Exit codes are those of design.md, "Command line".
"""

from __future__ import annotations

import sys

#: Every command, with the line that `evalspec --help` shows; its module has the same name, `-` written `_`.
COMMANDS = {
    "validate": "say which records are valid, and what is wrong with the others",
    "migrate": "upgrade task files to another schema version",
    "plan": "print what migrate would do, and with which promises",
    "render": "print the prompts that a model would see",
    "tasks": "list tasks, groups and tags, with their versions and files",
    "task": "print one task's settings with the places they come from, or its prompt as a page",
    "diff": "show what would change in prompts and outputs",
    "log": "show the commits in which one task's prompts changed",
    "check": "fail where a task file is not as the project requires",
    "test": "run the fixtures, promises and chain of a spec project, and say what they would not notice",
    "init": "make a spec project: schema versions of your own",
    "revision": "draft the next schema version, its migration and its fixtures",
    "lock": "release the schema versions and migrations that there are",
    "accept": "record that changed prompts were looked at",
    "baseline": "write the findings that there are to a file, so that only new ones fail",
    "rules": "list the rules of check",
    "explain": "tell what a rule of check is for, with an example and the next step",
    "post-process": "run a post-process rule on a text",
    "history": "show the schema versions and the migrations between them",
    "heads": "print each family's newest version",
    "current": "print the versions that task files are at",
    "show": "print a schema version's contract as a page",
    "schema": "export a schema version as JSON Schema",
    "recover": "finish, or undo, a run that was killed",
    "completion": "print a completion script for a shell",
}

INTERRUPTED = 130

#: What is run again and again on files of which few change, and only prints: it is printed again where nothing did.
_REPEATED = frozenset(["check", "diff", "log"])

_TAKEN_WITH_EVERY_COMMAND = "-q, -v, --config FILE and --help go with every command"


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments[:1] in (["--version"], ["-V"]):
        from evalspec._version import __version__

        sys.stdout.write(f"evalspec {__version__}\n")
        return 0
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        if len(arguments) > 1:
            return main([arguments[1], "--help"])
        sys.stdout.write(usage())
        return 0 if arguments else 2
    try:
        return _run_command(arguments) if argv is not None else _run_as_process(arguments)
    except KeyboardInterrupt:
        # One that passed through code made from a string (a named tuple's) counts as unhandled: Python would end as if
        # killed by the signal, whatever we return. Running a string again clears that.
        exec("")  # noqa: S102 - a constant
        sys.stderr.write("evalspec: interrupted; every file is whole\n")
        return INTERRUPTED


def _run_command(arguments: list[str]) -> int:
    from evalspec.cli._run import run

    return run(arguments[0], arguments[1:])


def _run_as_process(arguments: list[str]) -> int:
    """Run where the process is ours: little that a command makes is cyclic, and nothing is taken apart at the end."""
    import gc

    from evalspec.errors import MAX_DIGITS

    gc.set_threshold(100_000)
    sys.set_int_max_str_digits(MAX_DIGITS)
    try:
        if arguments[0] not in _REPEATED:
            return _run_command(arguments)
        from evalspec.caching.replay import replayed

        return replayed(arguments, lambda: _run_command(arguments))
    finally:
        gc.freeze()


def usage() -> str:
    """What `evalspec --help` prints."""
    width = max(map(len, COMMANDS)) + 2
    lines = "".join(f"  {name:<{width}}{help_}\n" for name, help_ in COMMANDS.items())
    return (
        "usage: evalspec COMMAND [ARGUMENT ...]\n\n"
        "Versions, migrations and prompt diffs for the task files of LLM evaluations.\n\n"
        f"commands:\n{lines}\n"
        f"{_TAKEN_WITH_EVERY_COMMAND};\n"
        "`evalspec COMMAND --help` has examples, `evalspec --version` prints the version.\n\n"
        "examples:\n"
        "  evalspec validate tasks/\n"
        "  evalspec migrate --to v3 tasks/ --dry-run\n"
        "  evalspec check --require v3 tasks/\n"
    )
