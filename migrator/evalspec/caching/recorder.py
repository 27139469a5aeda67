"""What a run reads of the world, watched while it goes on: through Python's audit events and in the place of `os.stat`.

Every dependence is told before it is read, so that what changes meanwhile is seen as a change later. What is read by
processes that are forked is told by them through a file; what git reads is told when it is first started. A run that
does what cannot be told (another program, the network, a data set of a library) is not kept.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from evalspec.caching.git_state import IN_FOLDERS, git_reads, ignored_folders, top_of
from evalspec.caching.states import STATES
from evalspec.caching.store import users_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

_OS_STAT, _OS_LSTAT = os.stat, os.lstat
#: What is no file of anybody's.
_OF_SYSTEM = ("/proc/", "/sys/", "/dev/")
#: Libraries that read data sets past Python's own functions.
_READ_BY_THEMSELVES = frozenset(["datasets", "pyarrow", "huggingface_hub"])


class Recorder:
    """Watches this process, and those forked from it, from `start` to `stop`.

    Attributes:
        told: the state of each path that something depends on, by kind and path.
        refused: why the run cannot be kept; empty where it can.

    Args:
        folder: where results are kept; nothing depends on what is in it.
    """

    def __init__(self, folder: str) -> None:
        self.told: dict[tuple[str, str], str] = {}
        self.refused = ""
        self._here = os.getcwd()
        self._process = os.getpid()
        self._top = top_of(self._here)
        own = (*_OF_SYSTEM, folder, users_folder())
        self._own: tuple[str, ...] = tuple(each for each in own if each)
        self._read: set[Any] = set()
        self._ignoring: set[str] = set()
        self._on = False
        self._nested = False
        self._shared: IO[bytes] | None = None
        self._git = False
        self._events: dict[str, Callable[..., None]] = {
            "open": self._opened,
            "os.listdir": self._listed,
            "os.scandir": self._listed,
            "evalspec.read": self._content,
            "evalspec.working_tree": self._working_tree,
            "tempfile.mkdtemp": self._made,
            "tempfile.mkstemp": self._made,
            "subprocess.Popen": self._started,
            "import": self._imported,
            "os.chdir": lambda *_: self._refuse("another folder"),
            "socket.connect": lambda *_: self._refuse("the network"),
        }

    def start(self) -> None:
        """Begin; what was imported before counts as read."""
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if path:
                self.depend("content", path)
        self._on = True
        sys.addaudithook(self._heard)
        os.stat = self._stat
        os.lstat = self._lstat
        for names in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            names |= {new for new, old in ((os.stat, _OS_STAT), (os.lstat, _OS_LSTAT)) if old in names}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def stop(self) -> None:
        """End; what forked processes told is in `told` then."""
        self._on = False
        os.stat, os.lstat = _OS_STAT, _OS_LSTAT
        if self._shared is not None:
            self._shared.seek(0)
            for line in self._shared.read().decode("utf-8", "surrogateescape").split("\0\n")[:-1]:
                kind, path, state = line.split("\0")
                if kind == "refused":
                    self._refuse(path)
                elif self.told.setdefault((kind, path), state) != state:
                    self._refuse("a file that changed")
            self._shared.close()

    def depend(self, kind: str, path: str) -> None:
        """Something depends on a path in one of the ways that `states.STATES` tells."""
        path = os.path.join(self._here, path)
        key = (kind, path)
        if key in self.told or path.startswith(self._own):
            return
        self._nested = True
        try:
            state = self.told[key] = STATES[kind](path, time.time_ns())
        finally:
            self._nested = False
        if os.getpid() != self._process:
            self._tell(kind, path, state)

    # ── What happens ─────────────────────────────────────────────────────────────────────────────────────────

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if self._on and not self._nested and event in self._events:
            self._events[event](*args)

    def _opened(self, path: Any, mode: str | None, flags: int) -> None:
        if isinstance(path, int) or (
            flags & (os.O_WRONLY | os.O_RDWR) if mode is None else not mode.startswith("r")
        ):
            return  # to write to
        if path not in self._read:
            self._read.add(path)
            self._content(path)

    def _content(self, path: Any) -> None:
        path = os.fsdecode(path)
        if path.endswith(".pyc"):
            folder, name = os.path.split(path)
            if os.path.basename(folder) == "__pycache__":
                path = os.path.join(os.path.dirname(folder), f"{name.partition('.')[0]}.py")
        self.depend("content", path)

    def _listed(self, path: Any) -> None:
        if isinstance(path, int):
            return  # a folder that is removed, file by file
        folder = os.path.join(self._here, os.fsdecode(path if path is not None else os.curdir))
        self.depend("listing", folder)
        inside = os.path.normpath(folder)
        while self._top and f"{inside}/".startswith(f"{self._top}/") and inside not in self._ignoring:
            self._ignoring.add(inside)
            for name in IN_FOLDERS:
                self.depend("content", f"{inside}/{name}")
            inside = os.path.dirname(inside)

    def _working_tree(self, top: str, names: list[str]) -> None:
        """All that git tracks in a working tree, and every folder in which it looks for what it does not track."""
        self._nested = True
        try:
            ignored = ignored_folders(top)
        finally:
            self._nested = False
        if ignored is None:
            self._refuse("a working tree that git does not list")
            return
        if os.getpid() != self._process:
            self._refuse("a working tree that a forked process looks at")
            return
        state, now = STATES["content"], time.time_ns()
        for name in names:  # of which there are many, so not by `depend`
            key = ("content", f"{top}/{name}")
            if key not in self.told:
                self.told[key] = state(key[1], now)
        for folder, inner, _ in os.walk(top):  # which is heard
            inner[:] = [each for each in inner if each != ".git" and f"{folder}/{each}" not in ignored]

    def _made(self, path: str) -> None:
        self._nested = True
        try:
            self._own += (path, os.path.realpath(path))
        finally:
            self._nested = False

    def _started(self, executable: Any, args: Any, *_: object) -> None:
        if os.path.basename(os.fsdecode(executable)) not in ("git", "git.exe"):
            self._refuse(f"another program: {args}")
        elif not self._git:
            self._git = self._nested = True
            reads = list(git_reads(self._here))
            self._nested = False
            for kind, path in reads:
                self.depend(kind, path)

    def _imported(self, module: str, *_: object) -> None:
        if module in _READ_BY_THEMSELVES:
            self._refuse(f"data of {module}")

    def _stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if not isinstance(path, int) and dir_fd is None and self._on and not self._nested:
            self.depend("existence" if follow_symlinks else "link", os.fsdecode(path))
        return _OS_STAT(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    def _lstat(self, path: Any, *, dir_fd: int | None = None) -> os.stat_result:
        if not isinstance(path, int) and dir_fd is None and self._on and not self._nested:
            self.depend("link", os.fsdecode(path))
        return _OS_LSTAT(path, dir_fd=dir_fd)

    def _refuse(self, why: str) -> None:
        self.refused = self.refused or why
        if os.getpid() != self._process:
            self._tell("refused", why, "")

    # ── Processes that are forked ────────────────────────────────────────────────────────────────────────────

    def _before_fork(self) -> None:
        if self._shared is not None or not self._on:
            return
        import fcntl
        from tempfile import TemporaryFile

        self._shared = TemporaryFile(buffering=0)  # noqa: SIM115 - closed in `stop`
        flags = fcntl.fcntl(self._shared, fcntl.F_GETFL)
        fcntl.fcntl(self._shared, fcntl.F_SETFL, flags | os.O_APPEND)

    def _tell(self, kind: str, path: str, state: str) -> None:
        assert self._shared is not None
        self._shared.write(f"{kind}\0{path}\0{state}\0\n".encode("utf-8", "surrogateescape"))
