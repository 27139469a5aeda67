"""SIGINT and SIGTERM: exit 130 and 143, held while files change places."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from evalspec.writing import Terminated, held, interruptible

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _as_in_a_terminal() -> Iterator[None]:
    """A shell's background job starts with SIGINT ignored; and no test here may end the tests."""

    def unexpected(number: int, _frame: object) -> None:
        raise AssertionError(f"signal {number} came through")

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, unexpected),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_sigterm_is_told_as_an_exception_and_only_within() -> None:
    before = signal.getsignal(signal.SIGTERM)
    tidied = []
    with pytest.raises(Terminated) as caught, interruptible():  # noqa: PT012 -- it tidies up within
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            tidied.append(True)
    assert caught.value.exit_code == 143
    assert tidied
    assert not isinstance(caught.value, Exception)
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_forked_worker_ends_by_sigterm_as_it_would_have() -> None:
    with interruptible():
        child = os.fork()
        if child == 0:
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM


def test_signals_wait_while_held() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 -- when it comes is what is tested
        with held():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            done.append("inside")
        done.append("outside")
    assert done == ["inside"]
    with pytest.raises(Terminated), interruptible(), held():
        signal.raise_signal(signal.SIGTERM)


def test_nested_holds_deliver_at_the_outer_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), held():  # noqa: PT012 -- when it comes is what is tested
        with held():
            signal.raise_signal(signal.SIGINT)
        done.append("between")
    assert done == ["between"]


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_a_thread_nothing_is_changed() -> None:
    seen: list[object] = []

    def work() -> None:
        with interruptible(), held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
