"""A result as bytes, to standard output or to `--output` as one whole file; and a result as text, through a pager."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator


@contextmanager
def byte_sink(args: argparse.Namespace) -> Iterator[Callable[[bytes], object]]:
    """A function that takes the result piece by piece; a file appears, or is replaced, when all of it is there."""
    if not args.output:
        sys.stdout.flush()
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    from evalspec.writing import Run

    with Run(os.path.dirname(os.path.realpath(args.output))) as run:
        with run.prepare(args.output, new=not os.path.exists(args.output)) as pending:
            yield pending.write
        run.commit()


def add_pager(parser: argparse.ArgumentParser) -> None:
    """`--no-pager`."""
    parser.add_argument(
        "--no-pager", action="store_true", help="never print through $PAGER, or less, on a terminal"
    )


def write_paged(args: argparse.Namespace, text: str) -> None:
    """Print a whole result, through a pager where somebody sits at a terminal and there is one."""
    pager = "" if args.output or args.no_pager else _pager()
    if not (pager and _page(pager, text)):
        _common.write_output(args, text)


def _pager() -> str:
    """`$PAGER`, else less where it is installed; nothing for `cat`, on a dumb terminal, in a pipe or a file."""
    from shutil import which

    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return ""
    pager = os.environ.get("PAGER", which("less") or "")
    return "" if pager == "cat" else pager


def _page(pager: str, text: str) -> bool:
    """Show a text in a pager; False where the shell did not find it."""
    import signal
    import subprocess

    sys.stdout.flush()
    # As git has it: end at once what fits on one screen, keep colours, and leave the text on the screen.
    environ = {"LESS": "FRX", "LV": "-c", **os.environ}
    with subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environ) as process:  # noqa: S602 - the user's
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the pager's while the pager runs
        try:
            process.communicate(text.encode(errors="backslashreplace"))
        finally:
            signal.signal(signal.SIGINT, before)
    return process.returncode not in (126, 127)
