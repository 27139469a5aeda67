"""Pieces of work shared out over processes, and their results in the order of the pieces.

Where it is safe (Linux, and a process that has no threads, whose locks a fork could leave held for ever) a worker is
forked, and so has everything that is loaded here. Elsewhere it is a fresh interpreter that is sent the work and its
piece by pickle. Either way it sends its result back through a pipe, so results should be small; bulk goes to files.

A worker ignores Ctrl-C, which the parent answers by ending it; and it ends by itself, within a chunk of work, when its
parent is gone.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

from evalspec.errors import MAX_DIGITS, EvalspecError, WorkerLost

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Self

    #: Told the number of bytes done since it was last told.
    Tell = Callable[[int], object]

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")

#: Progress is sent each time so many bytes are done.
_TOLD_AT_ONCE = 1 << 20
#: Bytes before each message that give its length.
_HEADER = 8


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers(Generic[_Piece, _Result]):
    """Does `work(piece, tell)` for every piece, several at a time, each in a process of its own.

    Used as a context, at whose end every worker that is still at work is ended.

    Args:
        work: a function of a module, or a `partial` of one; it, its pieces and its results can be pickled.
        pieces: taken one by one, when a worker is free.
        count: how many workers there are at a time.
        advance: told of the bytes that workers have done.
        fork: whether workers are forked; by default, where that is safe.
    """

    def __init__(
        self,
        work: Callable[[_Piece, Tell], _Result],
        pieces: Iterable[_Piece],
        count: int,
        *,
        advance: Tell | None = None,
        fork: bool | None = None,
    ) -> None:
        self._work = work
        self._pieces = enumerate(pieces)
        self._count = count
        self._advance = advance
        self._fork = may_fork() if fork is None else fork
        self._busy: dict[int, _Forked | _Fresh] = {}
        self._answers: dict[int, _Result | BaseException] = {}
        self._next = 0
        self._at_end = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._busy.values():
            worker.end()
        self._busy.clear()

    def result(self, meanwhile: Callable[[], object] | None = None) -> _Result:
        """The result of the next piece, once it is there.

        Args:
            meanwhile: done again and again until then, whenever a worker tells how far it is.

        Raises:
            BaseException: what the work raised on that piece, or what kept the piece from being made.
            WorkerLost: its worker was killed.
            IndexError: there was no such piece.
        """
        self._employ()
        while self._next not in self._answers:
            if self._next not in self._busy:
                raise IndexError(self._next)
            self._listen()
            self._employ()
            if meanwhile is not None:
                meanwhile()
        answer = self._answers.pop(self._next)
        self._next += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _employ(self) -> None:
        """Give pieces to workers that are free; not many more than are waited for, as results take room."""
        while (
            not self._at_end
            and len(self._busy) < self._count
            and len(self._busy) + len(self._answers) < 4 * self._count
        ):
            number = self._next + len(self._busy) + len(self._answers)
            try:
                number, piece = next(self._pieces)
            except StopIteration:
                self._at_end = True
            except Exception as error:  # noqa: BLE001 - raised when the turn of this piece comes
                self._answers[number] = error
                self._at_end = True
            else:
                start = _Forked if self._fork else _Fresh
                self._busy[number] = start(self._work, piece)

    def _listen(self) -> None:
        """Take in one message of each worker that has one."""
        for number in self._speaking():
            worker = self._busy[number]
            message = _receive(worker.stream)
            match message:
                case ("told", size):
                    if self._advance is not None:
                        self._advance(size)
                    continue
                case ("done", result):
                    self._answers[number] = result
                case ("failed", error):
                    self._answers[number] = error
                case _:
                    self._answers[number] = WorkerLost(worker.pid)
            del self._busy[number]
            worker.end()

    def _speaking(self) -> list[int]:
        if sys.platform == "win32":  # which cannot wait for several pipes
            return [self._next]
        import select

        streams = {worker.stream.fileno(): number for number, worker in self._busy.items()}
        return [streams[fd] for fd in select.select(list(streams), [], [])[0]]


def may_fork() -> bool:
    """True on Linux in a process that has one thread."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


# ── The two kinds of worker ──────────────────────────────────────────────────────────────────────────────────


class _Forked:
    """A worker that is a copy of this process."""

    def __init__(self, work: Callable[[Any, Tell], Any], piece: object) -> None:
        reading, writing = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _be_worker(work, piece, writing, parent)
        os.close(writing)
        self.stream: BinaryIO = open(reading, "rb", buffering=0)  # noqa: SIM115 - closed by `end`

    def end(self) -> None:
        """Kill it, if it is still there, and let go of it."""
        import signal

        self.stream.close()
        os.kill(
            self.pid, signal.SIGKILL
        )  # it is ours until it is waited for, so it cannot be another's number
        os.waitpid(self.pid, 0)


def _be_worker(work: Callable[[Any, Tell], Any], piece: object, writing: int, parent: int) -> None:
    """Do a piece of work in a forked child, and end without any of the parent's clean-up."""
    import signal

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with open(writing, "wb", buffering=0) as stream:
            _answer(work, piece, stream, parent)
    finally:
        os._exit(0)


class _Fresh:
    """A worker that is an interpreter of its own."""

    def __init__(self, work: Callable[[Any, Tell], Any], piece: object) -> None:
        import subprocess

        code = f"import sys; sys.path[:] = {sys.path!r}; from evalspec.tasks.workers import serve; serve()"
        self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - our own interpreter and text
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            **_apart(),
        )
        self.pid = self._process.pid
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.stream: BinaryIO = self._process.stdout  # type: ignore[assignment]
        with self._process.stdin as stdin:
            _send(stdin, (work, piece, os.getpid()))  # type: ignore[arg-type]

    def end(self) -> None:
        """Kill it, if it is still there, and let go of it."""
        self.stream.close()
        self._process.kill()
        self._process.wait()


def _apart() -> dict[str, Any]:
    """How a process is started that a Ctrl-C at the terminal does not reach."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}


def serve() -> None:
    """What a fresh interpreter does: take work from standard input, answer on standard output."""
    sys.set_int_max_str_digits(MAX_DIGITS)
    stream = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)  # noqa: SIM115 - open to the end
    work, piece, parent = _receive(sys.stdin.buffer)
    _answer(work, piece, stream, parent)


# ── What they say to each other ──────────────────────────────────────────────────────────────────────────────


def _answer(work: Callable[[Any, Tell], Any], piece: object, stream: BinaryIO, parent: int) -> None:
    """Do the work and send its result, or what it raised."""
    left = _TOLD_AT_ONCE

    def tell(size: int) -> None:
        nonlocal left
        if hasattr(os, "getppid") and sys.platform != "win32" and os.getppid() != parent:
            os._exit(1)
        left -= size
        if left <= 0:
            _send(stream, ("told", _TOLD_AT_ONCE - left))
            left = _TOLD_AT_ONCE

    try:
        result = work(piece, tell)
        if left < _TOLD_AT_ONCE:
            _send(stream, ("told", _TOLD_AT_ONCE - left))
        _send(stream, ("done", result))
    except BaseException as error:  # noqa: BLE001 - it is raised in the parent
        _send(stream, ("failed", portable(error)))


def _send(stream: BinaryIO, message: object) -> None:
    data = pickle.dumps(message)
    rest = memoryview(len(data).to_bytes(_HEADER, "big") + data)
    while rest:
        rest = rest[stream.write(rest) :]


def _receive(stream: BinaryIO) -> Any:
    """The next message; None where its sender ended before it was whole."""
    header = _exactly(stream, _HEADER)
    if header is None:
        return None
    data = _exactly(stream, int.from_bytes(header, "big"))
    return None if data is None else pickle.loads(data)  # noqa: S301 - from our own worker


def _exactly(stream: BinaryIO, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        block = stream.read(size - len(data))
        if not block:
            return None
        data += block
    return bytes(data)


def portable(error: BaseException) -> BaseException:
    """An error in a form that goes through a pipe: itself, or for a fault nobody foresaw, its whole story."""
    try:
        if isinstance(error, EvalspecError) and pickle.dumps(error):
            return error
    except Exception as unforeseen:  # noqa: BLE001 - whatever it holds, it is told
        unforeseen.__context__ = error
        error = unforeseen
    import traceback

    return RuntimeError("in a worker process:\n" + "".join(traceback.format_exception(error)))
