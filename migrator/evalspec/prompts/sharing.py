"""Lines made by several processes, in the order in which one would make them.

The processes are copies of this one and so have all that was read here: each makes every so-many-th piece of the work
and sends its lines while it goes on, as far ahead as a pipe takes them.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from evalspec.errors import WorkerLost
from evalspec.tasks.workers import may_fork, portable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess


#: A line of whatever kind: it must be plain enough to be sent from process to process.
_Line = TypeVar("_Line")
#: So many lines are sent at once.
_AT_ONCE = 100


def shared_out(pieces: Callable[[int, int], Iterator[Iterable[_Line]]], jobs: int) -> Iterator[_Line]:
    """The lines of all pieces, in order, made by so many processes; by this one where it is alone or may not fork.

    Args:
        pieces: gives the pieces `number`, `number + of`, `number + 2 * of`, … of all, each as its lines.
        jobs: the number of processes.

    Raises:
        Exception: what a piece raised.
        WorkerLost: a process was killed.
    """
    if jobs < 2 or not may_fork():
        yield from chain.from_iterable(pieces(0, 1))
        return
    import multiprocessing

    context = multiprocessing.get_context("fork")
    workers: list[ForkProcess] = []
    pipes: list[Connection] = []
    try:
        for number in range(jobs):
            pipe, far_end = context.Pipe(duplex=False)
            worker = context.Process(
                target=_work, args=(pieces, number, jobs, far_end, (*pipes, pipe)), daemon=True
            )
            worker.start()
            far_end.close()
            workers.append(worker)
            pipes.append(pipe)
        yield from _in_turn(workers, pipes)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _in_turn(workers: list[ForkProcess], pipes: list[Connection]) -> Iterator[Any]:
    """The lines of one piece of each process in turn, until one whose turn it is has no more."""
    while True:
        for worker, pipe in zip(workers, pipes, strict=True):
            more = True
            while more:
                try:
                    said = pipe.recv()
                except EOFError:
                    raise WorkerLost(worker.pid or 0) from None
                if said is None:
                    return
                if isinstance(said, BaseException):
                    raise said
                lines, more = said
                yield from lines


def _work(
    pieces: Callable[[int, int], Iterator[Iterable[Any]]],
    number: int,
    of: int,
    pipe: Connection,
    of_parent: tuple[Connection, ...],
) -> None:
    """A process's share. Ctrl-C is for the parent to answer, which ends this process; so does its end."""
    import signal

    for each in of_parent:
        each.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        for piece in pieces(number, of):
            lines: list[Any] = []
            for line in piece:
                lines.append(line)
                if len(lines) == _AT_ONCE:
                    pipe.send((lines, True))
                    lines = []
            pipe.send((lines, False))
        pipe.send(None)
    except BrokenPipeError:
        return
    except Exception as error:  # noqa: BLE001 - it is raised in the parent
        pipe.send(portable(error))
