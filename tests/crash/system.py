# ruff: noqa: PTH123
"""A double of the operating system that stops, fails or meddles at one chosen system call.

It takes the place of `evalspec.writing._os.os` and `.renaming` in a forked child, so that everything a run does to
files passes through it. The parent counts the calls of an undisturbed run first; each of them, and each side of it,
is an instant.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import signal
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.writing import _os, _rename

if TYPE_CHECKING:
    from collections.abc import Callable

#: The calls that change something, or that bring it to the disk.
CHANGING = frozenset(
    {
        "open",
        "write",
        "fsync",
        "replace",
        "exchange",
        "rename_new",
        "unlink",
        "link",
        "ftruncate",
        "copy_file_range",
    }
    | {"fchmod", "fchown", "utime", "makedirs", "close"}
)
#: Those that only look; they fail too.
LOOKING = frozenset({"stat", "lstat", "read", "listxattr"})

#: The exit status of a child that stopped itself with `os._exit`.
STOPPED = 42


class Instant(NamedTuple):
    """Where a child is disturbed: at which call (from 0), on which side of it, and how.

    `side` is `before`, `after` or, for a write, `short`: half of it is done. `how` is `exit` (`os._exit`), `kill`
    (SIGKILL), the name of an error (`ENOSPC`; with a `*`, all calls of that name fail from then on), or the
    name of a signal (`SIGINT`), sent to the child itself.
    """

    call: int
    name: str
    side: str
    how: str


class Double:
    """`os`, disturbed at one instant; with none it counts."""

    def __init__(self, instant: Instant | None, act: Callable[[], None] | None = None, **always: int) -> None:
        self.instant = instant
        self.act = act
        self.always = always
        self.calls: list[str] = []
        self.failing: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(os if hasattr(os, name) else _rename, name)
        if name not in CHANGING and name not in LOOKING:
            return value

        def call(*args: Any, **options: Any) -> Any:
            return self._call(name, value, args, options)

        return call

    def _call(self, name: str, real: Callable[..., Any], args: Any, options: Any) -> Any:
        number = len(self.calls)
        self.calls.append(name)
        code = self.always.get(name) or self.failing.get(name)
        if code:
            real = _failing(code)
        if self.instant is None or number != self.instant.call:
            return real(*args, **options)
        side = self.instant.side
        if side == "short":
            self._half(real, args)
        if side in {"before", "short"}:
            self._disturb(name, args)
        try:
            return real(*args, **options)
        finally:
            if side == "after":
                self._disturb(name, args)

    @staticmethod
    def _half(real: Callable[..., Any], args: Any) -> None:
        fd, data = args
        real(fd, data[: len(data) // 2])

    def _disturb(self, name: str, args: Any) -> None:
        assert self.instant is not None
        how = self.instant.how
        if self.act is not None:
            self.act()
        elif how == "exit":
            os._exit(STOPPED)
        elif how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif how.startswith("SIG"):
            os.kill(os.getpid(), getattr(signal, how))
        else:
            code = getattr(errno, how.rstrip("*"))
            if how.endswith("*"):
                self.failing[name] = code
            raise _error(code, args)


def _failing(code: int) -> Callable[..., Any]:
    def fail(*args: Any, **_: Any) -> Any:
        raise _error(code, args)

    return fail


def _error(code: int, args: Any) -> OSError:
    path = args[0] if args and isinstance(args[0], str) else None
    return OSError(code, os.strerror(code), path)


class Ending(NamedTuple):
    """How a child ended: its exit status (negative: the signal), the calls it made, and what it returned or
    raised (the error's class, sentence and next step)."""

    status: int
    calls: tuple[str, ...]
    result: Any
    error: tuple[str, str, str] | None


def in_child(
    work: Callable[[], Any],
    instant: Instant | None = None,
    *,
    act: Callable[[], None] | None = None,
    user: int | None = None,
    **always: int,
) -> Ending:
    """Do `work` in a forked child under the double, and wait for its end.

    Args:
        work: what to do; its result comes back if it can be pickled.
        instant: where to disturb it.
        act: what to do at the instant, in place of a stop: somebody else's meddling.
        user: give up root for this user id first.
        always: errors (by number) that a call of this name always ends in.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        double = Double(instant, act, **always)
        status, result, error = 0, None, None
        try:
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _os.os = _os.renaming = double
            try:
                result = work()
            except BaseException as raised:  # noqa: BLE001 -- the parent judges it
                error = (type(raised).__name__, str(raised), getattr(raised, "fix", ""))
                status = getattr(raised, "exit_code", 130 if isinstance(raised, KeyboardInterrupt) else 99)
            with contextlib.suppress(OSError), open(writer, "wb") as out:
                out.write(pickle.dumps((tuple(double.calls), result, error)))
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as told:
        data = told.read()
    _, waited = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(waited)
    calls, result, error = pickle.loads(data) if data else ((), None, None)  # noqa: S301 -- our own child's
    return Ending(status, calls, result, error)


def instants(
    calls: tuple[str, ...], hows: tuple[str, ...], names: frozenset[str] = CHANGING
) -> list[Instant]:
    """Every instant of a run that made these calls."""
    found = []
    for number, name in enumerate(calls):
        if name in names:
            sides = ("before", "short", "after") if name == "write" else ("before", "after")
            found += [Instant(number, name, side, how) for side in sides for how in hows]
    return found
