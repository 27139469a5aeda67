"""A progress bar for long work: on a terminal only, never in a pipe."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    import rich.progress

#: Seconds of work before a bar appears: what is done by then needs none.
_DELAY = 0.5
#: Seconds between two drawings.
_EVERY = 0.1


class Progress:
    """A bar on standard error that is gone when the work is done.

    Used as a context; `advance` is cheap enough to be called for every chunk. The bar has no thread of its own, so
    worker processes may be forked while it stands.

    Args:
        label: what is being done.
        total: bytes to be done; None where nobody knows.
        enabled: False for `--quiet`.
        stream: where it is drawn; standard error unless given.
        delay: seconds before it appears.
        clock: gives seconds.
    """

    def __init__(
        self,
        label: str,
        total: int | None = None,
        *,
        enabled: bool = True,
        stream: TextIO | None = None,
        delay: float = _DELAY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._enabled = enabled and os.environ.get("TERM") != "dumb" and self._stream.isatty()
        self._clock = clock
        self._next = clock() + delay
        self._done = 0
        self._bar: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def advance(self, size: int) -> None:
        """So many more bytes are done."""
        self._done += size
        if self._enabled and self._clock() >= self._next:
            self._next = self._clock() + _EVERY
            self._draw()

    def close(self) -> None:
        """Take the bar away; safe to call twice."""
        self._enabled = False
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self) -> None:
        if self._bar is None:
            self._bar = self._new_bar()
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=self._total, completed=self._done)
        elif self._task is not None:
            self._bar.update(self._task, completed=self._done, refresh=True)

    def _new_bar(self) -> rich.progress.Progress:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(file=self._stream),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
