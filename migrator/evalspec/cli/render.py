"""Print the prompts that a model would see, to the byte.

One prompt is printed as it is, with nothing added; several have a line `--- TASK` before each. A template task is shown
with a placeholder row: a column `question` reads ⟨question⟩.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from evalspec.cli import _common, _output
from evalspec.errors import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from evalspec.project import Project
    from evalspec.prompts import RecordPrompt

EXAMPLES = """
render tasks.jsonl --task arith_001
render tasks/ -0 | xargs -0 -n 1 sha256sum
render tasks/ --format json > prompts.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument(
        "--task", action="append", default=[], metavar="ID", help="only this task (repeatable)"
    )
    parser.add_argument(
        "-0", "--null", action="store_true", help="a NUL behind each prompt, and nothing else"
    )
    parser.add_argument(
        "--allow-bad-tasks", action="store_true", help="leave invalid records out instead of refusing"
    )
    _common.add_format(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Render, print, and return the exit code."""
    project = _common.find_project(args)
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project)
    from evalspec.prompts import render_files
    from evalspec.tasks import open_tasks

    failed = False

    def told() -> Iterator[RecordPrompt]:
        nonlocal failed
        for prompt in render_files(files, frozenset(args.task)):
            failed |= _tell(args, prompt)
            yield prompt

    with (
        _common.progress(args, "reading", paths) as advance,
        open_tasks(paths, reading, allow_bad=args.allow_bad_tasks, advance=advance) as files,
        _output.byte_sink(args) as write,
    ):
        if args.format == "json":
            for prompt in told():
                write(_line(project, prompt))
        elif args.null:
            for prompt in told():
                for text in prompt.texts:
                    write(text.encode() + b"\0")
        else:
            _write_texts(write, told())
    return 1 if failed else 0


def _tell(args: argparse.Namespace, prompt: RecordPrompt) -> bool:
    """Say on standard error what there is to say of a prompt; True where it failed to render."""
    from evalspec.report import Console, finding_text

    if prompt.findings:
        console = Console(sys.stderr)
        for finding in prompt.findings:
            if finding.severity == "error" or not args.quiet:
                console.write(finding_text(finding, paint=console.paint))
    if prompt.placeholder and prompt.texts and not args.quiet:
        sys.stderr.write(f"{visible(prompt.task)} is a template: shown with a placeholder row\n")
    return any(finding.severity == "error" for finding in prompt.findings)


def _write_texts(write: Callable[[bytes], object], prompts: Iterator[RecordPrompt]) -> None:
    """The first prompt waits until it is known whether it stays alone."""
    waiting: tuple[str, str] | None = None
    several = False
    for prompt in prompts:
        for text in prompt.texts:
            if waiting is not None:
                write(_headed(*waiting, first=not several))
                several = True
            waiting = prompt.task, text
    if waiting is not None:
        write(_headed(*waiting, first=False) if several else waiting[1].encode())


def _headed(task: str, text: str, *, first: bool) -> bytes:
    return f"{'' if first else chr(10)}--- {visible(task)}\n{text}".encode()


def _line(project: Project, prompt: RecordPrompt) -> bytes:
    import json

    texts = prompt.texts
    line: dict[str, Any] = {
        "path": prompt.path,
        "line": prompt.line,
        "task": prompt.task,
        "schema": project.families.short(prompt.schema.id),
        "version": prompt.version,
        "text": (texts[0] if len(texts) == 1 else list(texts)) if texts else None,
    }
    if prompt.placeholder:
        line["placeholder"] = True
    if prompt.unknown:
        line["unknown"] = prompt.unknown
    return json.dumps(line).encode() + b"\n"
