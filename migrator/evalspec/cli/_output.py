"""Bytes as a result: to standard output as they are, or to `--output` as one whole file."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

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
    import os

    from evalspec.writing import Run

    with Run(os.path.dirname(os.path.realpath(args.output))) as run:
        with run.prepare(args.output, new=not os.path.exists(args.output)) as pending:
            yield pending.write
        run.commit()
