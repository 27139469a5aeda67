"""Interrupts: told as exceptions, and held back while files change places.

Ctrl-C is `KeyboardInterrupt` (exit 130), as everywhere in Python. SIGTERM, which by default ends a process with no
clean-up at all, becomes `Terminated` (exit 143) inside `interruptible()`, so a run takes its temps away first.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class Terminated(BaseException):
    """SIGTERM reached the process. Not an `Exception`: no handler of errors swallows it."""

    exit_code = 143


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this, SIGTERM raises `Terminated`; outside the main thread it changes nothing."""
    import signal

    process = os.getpid()

    def terminate(number: int, frame: FrameType | None) -> None:
        del frame
        if os.getpid() != process:  # a forked worker: it has nothing to tidy, and ends as it would have
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        raise Terminated

    before = _install({signal.SIGTERM: terminate})
    try:
        yield
    finally:
        _install(before)


@contextmanager
def held() -> Iterator[None]:
    """Within this, SIGINT and SIGTERM wait; at its end the first that came is delivered."""
    import signal

    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)

    # A signal that the caller ignores (`nohup`, a shell's background job) stays ignored.
    numbers = [
        number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN
    ]
    before = _install(dict.fromkeys(numbers, note))
    try:
        yield
    finally:
        _install(before)
        if came:
            signal.raise_signal(came[0])


def import_held(name: str) -> None:
    """Import a compiled module with SIGINT and SIGTERM held, if it is not yet there.

    An exception that a signal handler raises while msgspec (0.23 at least) sets itself up is swallowed there, and
    the half of it that is left ends the process with a segmentation fault at its first use.
    """
    import sys
    from importlib import import_module

    if name not in sys.modules:
        with held():
            import_module(name)


def _install(handlers: dict[signal.Signals, Handler]) -> dict[signal.Signals, Handler]:
    """Put signal handlers in place and return those that were; none outside the main thread."""
    import signal

    before: dict[signal.Signals, Handler] = {}
    for number, handler in handlers.items():
        try:
            old = signal.signal(number, handler)
        except ValueError:  # not the main thread, as Python says it
            return {}
        # None: installed by C code, which Python can neither name nor put back.
        before[number] = signal.SIG_DFL if old is None else old
    return before


if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers
