"""A run that was made before: what it printed, as long as nothing that it depended on is another thing now."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from evalspec.caching.git_state import ELSEWHERE, top_of
from evalspec.caching.store import FOLDER, Cache, users_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TextIO

    from evalspec.caching.recorder import Recorder

#: Words with which a run does more than print, or reads what cannot be read twice.
_NOT_WITH = frozenset(["--fix", "--watch", "--output", "--no-cache", "--help", "-h", "-"])
#: Exit codes of a run that went to its end.
_ENDED = (0, 1)
_BROKEN_PIPE = 141
#: Variables that may change what a run prints: names, and beginnings of names.
_VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "HOME", "PATH", "TZ", "LANG", "TMPDIR")
_BEGINNINGS = ("GIT_", "HF_", "LC_", "PYTHON", "XDG_", "EVALSPEC")


def replayed(words: Sequence[str], run: Callable[[], int]) -> int:
    """What a command did before, printed again; else the command is run, and what it did is kept.

    Args:
        words: the command line.
        run: runs it; prints to `sys.stdout` and `sys.stderr`, and returns the exit code.
    """
    folder = "" if _unfit(words) else _folder()
    if not folder:
        return run()
    kept, key = Cache(folder), _key(words)
    code = _again(kept.read(key))
    if code is not None:
        return code
    kept.prepare()
    from evalspec.caching.recorder import Recorder

    recorder = Recorder(folder)
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = said = _Tee(out), _Tee(err)
    recorder.start()
    try:
        code = run()
    finally:
        recorder.stop()
        sys.stdout, sys.stderr = out, err
    if code in _ENDED and not recorder.refused and not any(each.refused for each in said):
        body = _body(recorder, code, *("".join(each.said) for each in said))
        if body is not None:
            kept.write(key, body)
    return code


class _Tee:
    """A stream that keeps what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.said: list[str] = []
        self.refused = False

    def write(self, text: str) -> int:
        count = self._stream.write(text)
        self.said.append(text)
        return count

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            self.refused = True
        return getattr(self._stream, name)


def _unfit(words: Sequence[str]) -> bool:
    named = {word.partition("=")[0] for word in words}
    return not _NOT_WITH.isdisjoint(named) or any(os.environ.get(name) for name in ELSEWHERE)


def _folder() -> str:
    """Where results are kept: at the top of the repository, else of the project, else where the user keeps caches.

    Empty where they are not kept: where a link stands in its place, and where there is no home.
    """
    try:
        here = os.getcwd()
    except OSError:
        return ""
    top = top_of(here) or _project(here)
    folder = os.path.join(top, FOLDER) if top else users_folder()
    return "" if os.path.islink(folder) else folder


def _project(folder: str) -> str:
    while not any(os.path.isfile(f"{folder}/{name}") for name in ("evalspec.toml", "pyproject.toml")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _key(words: Sequence[str]) -> str:
    """All that the output depends on which is no file: the day is that by which ignores expire."""
    streams = [
        (each.isatty(), getattr(each, "encoding", ""), getattr(each, "errors", ""), _width(each))
        for each in (sys.stdout, sys.stderr)
    ]
    variables = sorted(
        each for each in os.environ.items() if each[0] in _VARIABLES or each[0].startswith(_BEGINNINGS)
    )
    python = (sys.version, sys.executable, sys.path, sys.flags[:])
    return repr(("run", words, os.getcwd(), python, streams, variables, time.strftime("%Y-%m-%d"), __file__))


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):
        return 0


def _again(body: bytes | None) -> int | None:
    """Print what a body holds and return its exit code; None where something is not as it was."""
    if body is None:
        return None
    import json

    try:
        code, out, err, files, told, others = json.loads(body)
    except ValueError:
        return None
    from evalspec.caching.states import is_still

    now = time.time_ns()
    if _told_of(files) != told or not all(is_still(state, kind, path, now) for kind, path, state in others):
        return None
    try:
        for stream, text in ((sys.stderr, err), (sys.stdout, out)):
            stream.write(text)
            stream.flush()
    except BrokenPipeError:  # whoever read it has gone, and Python would complain once more at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return int(code)


def _body(recorder: Recorder, code: int, out: str, err: str) -> bytes | None:
    """A run as bytes; None where it has texts that have no form in UTF-8.

    Most of what a run depends on are files that have rested: of these there are only the names, and one digest.
    """
    import json

    files: list[tuple[str, str, str]] = []
    others: list[tuple[str, str, str]] = []
    for (kind, path), state in recorder.told.items():
        rested = kind == "content" and state[0].isdigit()
        (files if rested else others).append((kind, path, state))
    told = _digest([state for _, _, state in files])
    try:
        return json.dumps([code, out, err, [path for _, path, _ in files], told, others]).encode("ascii")
    except ValueError:
        return None


def _told_of(paths: Sequence[str]) -> str:
    """The digest of what is told now of files that had rested; empty where one is gone."""
    from evalspec.caching.states import told

    stat = os.stat
    try:
        return _digest([told(stat(path)) for path in paths])
    except (OSError, ValueError):
        return ""


def _digest(states: Sequence[str]) -> str:
    from hashlib import blake2b

    return blake2b("\n".join(states).encode(), digest_size=20).hexdigest()
