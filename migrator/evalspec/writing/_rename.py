"""Renaming that loses nothing, which Python's `os` does not offer: Linux's `renameat2`.

Elsewhere, and on a file system that cannot, the calls end in an `OSError` (ENOSYS, EINVAL), as the system call does.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_REPLACE, _EXCHANGE = 1, 2  # include/uapi/linux/fs.h
_HERE = -100  # AT_FDCWD: relative paths start at the current folder


def exchange(path: str, other: str) -> None:
    """Give each of two files the other's name, in one step.

    Raises:
        OSError: as for a renaming (one of them is not there: ENOENT), or the system cannot.
    """
    _rename(path, other, _EXCHANGE)


def rename_new(path: str, to: str) -> None:
    """Give a file a name that nothing has.

    Raises:
        OSError: as for a renaming, something has the name (EEXIST), or the system cannot.
    """
    _rename(path, to, _NO_REPLACE)


def _rename(path: str, to: str, flags: int) -> None:
    code = _renameat2()(os.fsencode(path), os.fsencode(to), flags)
    if code:
        raise OSError(code, os.strerror(code), path, None, to)


@cache
def _renameat2() -> Callable[[bytes, bytes, int], int]:
    """The system's call; what it returns is the error's number, or 0."""
    if sys.platform != "linux":
        return lambda *_: errno.ENOSYS
    import ctypes

    # A C library older than the call (glibc 2.28) does not have it.
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return lambda *_: errno.ENOSYS
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def rename(path: bytes, to: bytes, flags: int) -> int:
        return ctypes.get_errno() if call(_HERE, path, _HERE, to, flags) else 0

    return rename
