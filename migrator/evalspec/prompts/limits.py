"""Limits on what a template may cost: time, and the size of what it makes.

Time is watched by one timer a run, not one a template: a template that is still the same one after the allowed
time is stopped. Sizes are checked where a template can make much out of little: multiplication, powers,
formatting, joining, padding, and the text as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from evalspec.errors import EvalspecError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

#: Seconds one template may take for one row.
SECONDS = 5.0
#: Characters (or list items) a template may make.
SIZE = 32 * 1024 * 1024
#: Bits an integer may have.
BITS = 1 << 16

_TICK = 0.2


class TemplateLimit(EvalspecError):
    """A template was stopped: it took too long, or made too much."""

    exit_code = 1


class Watch:
    """Stops a template that runs too long. `begin` and `end` bracket each one; `with` starts the timer.

    Only the main thread of a process can be watched (the timer is a signal); elsewhere nothing is.
    """

    __slots__ = ("_depth", "_old", "_seen", "_ticks", "count", "running", "seconds")

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.count = 0
        self.running = False
        self._seen = -1
        self._ticks = 0
        self._depth = 0
        self._old: Any = None

    def __enter__(self) -> Self:
        import signal
        import threading

        self._depth += 1
        if (
            self._depth == 1
            and threading.current_thread() is threading.main_thread()
            and hasattr(signal, "setitimer")
        ):
            self._old = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import signal

        self._depth -= 1
        if self._depth == 0 and self._old is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._old)
            self._old = None

    def _tick(self, _signum: int, _frame: FrameType | None) -> None:
        if not self.running or self.count != self._seen:
            self._seen, self._ticks = self.count, 0
            return
        self._ticks += 1
        if self._ticks * _TICK >= self.seconds:
            self._ticks = 0
            raise TemplateLimit(
                f"the template did not end within {self.seconds:g} seconds",
                fix="simplify the loop or the pattern that takes so long",
            )


def _too_big(what: str) -> TemplateLimit:
    return TemplateLimit(
        f"the template makes too much: {what}", fix="a prompt must stay below 32 MiB of text"
    )


def check_size(size: int, what: str = "text") -> None:
    """Refuse a size above the limit."""
    if size > SIZE:
        raise _too_big(what)


def bounded_binop(operator: str, left: Any, right: Any, plain: Callable[[Any, Any], Any]) -> Any:
    """One arithmetic operation of a template, refused where its result would be huge."""
    if operator == "*":
        for body, times in ((left, right), (right, left)):
            if isinstance(times, int) and isinstance(body, str | list | tuple | bytes):
                check_size(len(body) * times, "repetition")
        _check_product(left, right)
    elif operator == "**" and isinstance(left, int) and isinstance(right, int):
        if left.bit_length() * right > BITS and abs(left) > 1:
            raise _too_big("a power")
    elif operator == "%" and isinstance(left, str):
        check_format(left)
        if "*" in left:
            sizes = [x for x in (right if isinstance(right, tuple) else (right,)) if isinstance(x, int)]
            check_size(max(sizes, default=0), "a padded field")
    elif operator == "+" and isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        check_size(len(left) + len(right), "concatenation")
    return plain(left, right)


def _check_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > BITS:
        raise _too_big("a product")


def check_format(template: str) -> None:
    """Refuse a format whose widths or precisions are huge (`%999999999d`, `{:>999999999}`)."""
    import re

    for number in re.findall(r"[0-9]{6,}", template):
        check_size(int(number[:12]), "a padded field")


def check_call(method: str, owner: str, args: tuple[Any, ...]) -> None:
    """Refuse a call of a string method whose result would be huge."""
    if method in ("ljust", "rjust", "center", "zfill"):
        if args and isinstance(args[0], int):
            check_size(args[0], "padding")
    elif method == "expandtabs":
        if args and isinstance(args[0], int):
            check_size(owner.count("\t") * args[0], "tabs")
    elif method == "replace" and len(args) >= 2 and isinstance(args[0], str) and isinstance(args[1], str):
        found = owner.count(args[0]) if args[0] else len(owner) + 1
        if len(args) > 2 and isinstance(args[2], int) and args[2] >= 0:
            found = min(found, args[2])
        check_size(found * len(args[1]), "replacement")
    elif method == "join" and args and isinstance(args[0], str | list | tuple):
        check_size(len(args[0]) * len(owner) + sum(len(x) for x in args[0] if isinstance(x, str)), "joining")
    elif method == "translate" and args:
        check_size(len(owner) * 64, "translation")
