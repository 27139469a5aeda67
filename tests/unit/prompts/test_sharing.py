"""Lines made by several processes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from evalspec.errors import UsageError, WorkerLost
from evalspec.prompts import sharing
from evalspec.prompts.lines import Line
from evalspec.prompts.sharing import shared_out

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are shared out over copies of this process, also where a test runner has threads in it."""
    if not sys.platform.startswith("linux"):
        pytest.skip("processes are forked on Linux only")
    monkeypatch.setattr(sharing, "may_fork", lambda: True)


PIECES = [[Line({"task": f"{piece}.{number}"}) for number in range(piece % 7 * 60)] for piece in range(20)]


def pieces(number: int, of: int) -> Iterator[list[Line]]:
    yield from PIECES[number::of]


@pytest.mark.parametrize("jobs", [1, 2, 3, 30])
def test_lines_come_in_the_order_of_their_pieces(jobs: int) -> None:
    assert list(shared_out(pieces, jobs)) == [line for piece in PIECES for line in piece]


def test_what_a_piece_raises_is_raised_here_in_its_turn() -> None:
    def failing(number: int, of: int) -> Iterator[list[Line]]:
        for at in range(number, 20, of):
            if at == 9:
                raise UsageError("no more", fix="stop")
            yield PIECES[at]

    got: list[Line] = []
    with pytest.raises(UsageError, match="no more") as caught:
        got.extend(shared_out(failing, 3))
    assert caught.value.fix == "stop"
    lines = shared_out(failing, 3)
    before = [next(lines) for piece in PIECES[:9] for _ in piece]
    assert before == [line for piece in PIECES[:9] for line in piece]


def test_a_process_that_is_killed_is_told_of() -> None:
    here = os.getpid()

    def killed(number: int, of: int) -> Iterator[list[Line]]:
        yield PIECES[1]
        if number == of - 1 and os.getpid() != here:
            os._exit(9)
        yield PIECES[2]

    with pytest.raises(WorkerLost):
        list(shared_out(killed, 2))


def test_what_is_not_wanted_any_more_is_ended() -> None:
    def endless(_number: int, _of: int) -> Iterator[list[Line]]:
        while True:
            yield PIECES[6]

    lines = shared_out(endless, 2)
    assert next(lines).task == "6.0"
    lines.close()  # type: ignore[attr-defined]
