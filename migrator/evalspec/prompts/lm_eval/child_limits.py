"""What a process that runs trusted code may do: compute and read, but not write, connect, or start others."""

from __future__ import annotations

import os
import sys
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_LARGEST_FILE = 1 << 30
_FORBIDDEN = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn")
_WRITES = (
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.utime",
    "shutil.rmtree",
    "shutil.move",
    "shutil.copyfile",
)


def confine(memory: int, scratch: str) -> None:
    """Give up what trusted code has no need of, as far as the platform can.

    Args:
        memory: bytes of address space that are left.
        scratch: the one folder in which files may be written (libraries keep temporary ones); it is thrown away.
    """
    _no_network()
    _limit(memory)
    sys.dont_write_bytecode = True
    inside = os.path.realpath(scratch).rstrip("/") + "/"

    def allowed(path: Any) -> bool:
        if isinstance(path, int) or path == os.devnull:
            return True
        try:
            return os.path.realpath(os.fsdecode(path)).startswith(inside)
        except (TypeError, ValueError):
            return False

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            writes = (isinstance(mode, str) and any(letter in mode for letter in "wax+")) or (
                isinstance(flags, int) and bool(flags & 0o3)
            )
            if writes and not allowed(path):
                raise PermissionError(f"a task's code may not write files: {path!r}")
        elif event in _FORBIDDEN:
            raise PermissionError("a task's code may not use the network")
        elif event in _STARTS:
            raise PermissionError("a task's code may not start processes")
        elif event in _WRITES and not all(allowed(arg) for arg in args if isinstance(arg, str | bytes)):
            raise PermissionError(f"a task's code may not change files: {event}")

    sys.addaudithook(refuse)


def _no_network() -> None:
    """Leave the network's namespace, where the kernel lets an ordinary process do so."""
    if sys.platform != "linux":
        return
    import ctypes

    try:
        library: Any = ctypes.CDLL(None, use_errno=True)
        if library.unshare(_CLONE_NEWNET) != 0:
            library.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
    except (OSError, AttributeError):
        return


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):
            continue
