"""The arguments that say how prompts are shown and which rows they are made of, for `render` and `task`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from evalspec.cli import _common
from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    import argparse

    from evalspec.prompts.view import View

_SETTINGS = (
    "shots",
    "chat",
    "single_turn",
    "system",
    "limit",
    "rank",
    "world_size",
    "seed",
    "tokenizer_name",
    "tokenizer",
)


def add_views(parser: argparse.ArgumentParser) -> None:
    """How prompts are shown."""
    views = parser.add_argument_group("views")
    views.add_argument(
        "--view", action="append", default=[], metavar="NAME", help="a view of the configuration (repeatable)"
    )
    views.add_argument("--shots", type=natural, metavar="N", help="examples before the question (the task's)")
    views.add_argument(
        "--chat",
        metavar="NAME|PATH[#NAME]",
        help="a chat template: chatml, headers, inst, strict, a .jinja file or a tokenizer_config.json",
    )
    views.add_argument("--single-turn", action="store_true", help="all examples in one user message")
    views.add_argument("--system", metavar="TEXT", help="a system instruction")
    views.add_argument("--seed", type=int, metavar="N", help="the seed of the example draws (1234)")
    views.add_argument("--tokenizer-name", metavar="NAME", help="the tokenizer's name, for --cache-key")
    views.add_argument(
        "--tokenizer",
        metavar="PATH",
        help="a local tokenizer.json: show where it cuts, and the joins it does not cut at (extra `tokens`)",
    )


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Which rows template tasks are rendered over."""
    rows = parser.add_argument_group(
        "rows of template tasks", "an inline task has no rows: it is one prompt, whatever is said here"
    )
    rows.add_argument("--rows", metavar="FILE.jsonl", help="the rows of the one task that is rendered")
    rows.add_argument("--rows-dir", metavar="DIR", help="rows at DIR/<task>/<split>.jsonl")
    rows.add_argument(
        "--rows-are-docs", action="store_true", help="the rows are what process_docs gives already"
    )
    rows.add_argument(
        "--limit", type=number, metavar="N", help="the row to stop before; below 1, a share of the rows"
    )
    rows.add_argument(
        "--rank", type=natural, metavar="N", help="which of the harness's processes is meant (0)"
    )
    rows.add_argument("--world-size", type=_common.positive, metavar="N", help="of how many processes (1)")
    rows.add_argument(
        "--trust-code",
        action="store_true",
        help="run the Python functions of tasks, in a process with limits",
    )


def flags_of(args: argparse.Namespace) -> dict[str, Any]:
    """What was said of the view, as a configured view says it."""
    given = {name: getattr(args, name, None) for name in _SETTINGS}
    return {name: value for name, value in given.items() if value is not None and value is not False}


def tell_of_clocks(args: argparse.Namespace, views: tuple[View, ...]) -> None:
    """Say on standard error which chat templates ask for the date, which stands still here."""
    if args.quiet:
        return
    from evalspec.prompts.chat import FROZEN_NOW

    for view in views:
        if view.chat is not None and (names := view.chat.clock):
            date = "-".join(f"{number:02}" for number in FROZEN_NOW[:3])
            said = {"strftime_now": f"strftime_now says {date}", "date_string": "date_string is not given"}
            sys.stderr.write(
                f"{visible(view.name)}: the chat template asks for the date, so its text is another one on another "
                f"day; here {', '.join(said[name] for name in names)}\n"
            )


def natural(text: str) -> int:
    """A whole number from 0."""
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def number(text: str) -> int | float:
    """A number from 0; whole where it is written so."""
    value = int(text) if text.isdecimal() else float(text)
    if not 0 <= value < float("inf"):
        raise ValueError(text)
    return value


def named_tasks(given: list[str]) -> tuple[str, ...]:
    """The names and patterns of `--task`; `@FILE` has one a line.

    Raises:
        UsageError: a file cannot be read, or names nothing.
    """
    names: list[str] = []
    for word in given:
        if not word.startswith("@"):
            names.append(word)
            continue
        path = word[1:]
        try:
            with open(path, encoding="utf-8") as file:
                read = [line.strip() for line in file]
        except (OSError, UnicodeDecodeError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else "not UTF-8"
            raise UsageError(
                f"--task: {visible(path)}: {reason}", fix="@FILE has a task's name on each line"
            ) from None
        listed = [name for name in read if name and not name.startswith("#")]
        if not listed:
            raise UsageError(
                f"--task: {visible(os.path.basename(path))} names no task", fix="write a name a line"
            )
        names += listed
    return tuple(dict.fromkeys(names))
