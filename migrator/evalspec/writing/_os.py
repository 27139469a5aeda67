"""Every system call of a run, through one door.

Tests put a double in the place of `_os.os` and `_os.renaming` that counts the calls, fails one of them or ends the
process before or after it: so each function below looks its call up there, each time. Calls that a signal interrupted
are made again; short writes go on until the last byte.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from evalspec.errors import WriteError, visible
from evalspec.writing import _rename as renaming

if TYPE_CHECKING:
    from collections.abc import Callable

    #: What names a file to the public functions of this package.
    AnyPath = str | os.PathLike[str]

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: One write or read of this many bytes at most, so that an interrupt is answered soon.
CHUNK = 1 << 20
#: So many bytes are written before the system is asked to begin bringing them to the disk.
_BEHIND = 1 << 24

#: What a file system answers that does not know hard links, folder fsync or extended attributes.
_UNSUPPORTED = frozenset(
    [errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EBADF, errno.EISDIR]
)


def again(call: Callable[_P, _R], *args: _P.args, **options: _P.kwargs) -> _R:
    """`call(…)`, made again for as long as a signal interrupts it."""
    while True:
        try:
            return call(*args, **options)
        except InterruptedError:
            continue


def status(path: str | int) -> os.stat_result:
    """The file that a path leads to, symlinks followed, or that is open."""
    return again(os.stat, path)


def link_status(path: str) -> os.stat_result | None:
    """What is at `path` itself, symlinks not followed; None where nothing is."""
    try:
        return again(os.lstat, path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_regular(found: os.stat_result) -> bool:
    """Whether a status is that of a plain file: no folder, FIFO, device, socket or symlink."""
    return stat.S_ISREG(found.st_mode)


def anyone_may_write(folder: str) -> bool:
    """Whether every user of the machine may put files into a folder (`/tmp`)."""
    return sys.platform != "win32" and bool(status(folder).st_mode & stat.S_IWOTH)


def is_of_this_user(found: os.stat_result) -> bool:
    """Whether a file belongs to whom this process runs as."""
    return sys.platform == "win32" or found.st_uid == os.geteuid()


def is_locked_in(found: os.stat_result, folder: str) -> bool:
    """Whether a sticky folder (`/tmp`) forbids this user to replace a file. Its second name could not be removed."""
    if sys.platform == "win32":
        return False
    around = status(folder)
    return bool(around.st_mode & stat.S_ISVTX) and os.geteuid() not in {0, found.st_uid, around.st_uid}


def create(path: str, mode: int = 0o600) -> int:
    """A new file, open for writing, unless told otherwise for its owner alone. An error if anything is at `path`."""
    return again(os.open, path, _flags(os.O_WRONLY | os.O_CREAT | os.O_EXCL), mode)


def open_to_read(path: str) -> int:
    """A file that is there, open for reading; a symlink, or a FIFO nobody writes to, does not lead us astray."""
    return again(os.open, path, _flags(os.O_RDONLY) | getattr(os, "O_NONBLOCK", 0))


def open_to_append(path: str) -> int:
    """A file that is there, open for writing at its end."""
    return again(os.open, path, _flags(os.O_WRONLY | os.O_APPEND))


def _flags(flags: int) -> int:
    return flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read(fd: int, size: int = CHUNK) -> bytes:
    return again(os.read, fd, size)


def write(fd: int, data: bytes | bytearray | memoryview) -> None:
    """All of `data`, in as many writes as it takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[again(os.write, fd, rest[:CHUNK]) :]


def to_end(fd: int) -> int:
    """Move to the end of an open file; where that is."""
    return again(os.lseek, fd, 0, os.SEEK_END)


def move_to(fd: int, position: int) -> None:
    """Have the next read of an open file begin at a byte."""
    again(os.lseek, fd, position, os.SEEK_SET)


def truncate(fd: int, size: int) -> None:
    again(os.ftruncate, fd, size)


def close(fd: int) -> None:
    os.close(fd)


class WriteBehind:
    """Has the system begin to bring what is written to the disk, so that a sync at the end has less to wait for."""

    def __init__(self) -> None:
        self._begun = self._written = 0

    def wrote(self, fd: int, size: int) -> None:
        """Take note of so many bytes more at the end of an open file that has none but such."""
        self._written += size
        if self._written - self._begun >= _BEHIND:
            begin_to_sync(fd, self._begun, self._written - self._begun)
            self._begun = self._written


def begin_to_sync(fd: int, start: int, size: int) -> None:
    """Have the system begin to bring so many bytes from `start` on to the disk, where it can."""
    if hasattr(os, "posix_fadvise"):
        # Linux starts to write such pages, waits for none, and keeps those that are not yet on the disk.
        with suppress(OSError):
            os.posix_fadvise(fd, start, size, os.POSIX_FADV_DONTNEED)


def sync(fd: int) -> None:
    """Bring an open file's bytes to the disk."""
    again(os.fsync, fd)


def sync_path(path: str) -> None:
    """Bring a closed file's bytes to the disk."""
    # Windows syncs only what is open for writing; elsewhere leave to write is not needed.
    fd = open_to_append(path) if sys.platform == "win32" else open_to_read(path)
    try:
        sync(fd)
    finally:
        os.close(fd)


def sync_folder(folder: str) -> None:
    """Bring a folder's names to the disk; nothing where the platform or the file system cannot."""
    if sys.platform == "win32":
        return
    try:
        fd = again(os.open, folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        # A folder may be written without leave to read it; then its names cannot be synced from here.
        if error.errno in {errno.EACCES, *_UNSUPPORTED}:
            return
        raise
    try:
        again(os.fsync, fd)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(fd)


def replace(source: str, target: str) -> None:
    """Put `source` in the place of `target`, at once."""
    again(os.replace, source, target)


def swap(source: str, target: str) -> bool:
    """Put `source` in the place of `target`, and `target` in its; False where the system or the file system cannot."""
    return _if_possible(renaming.exchange, source, target)


def place(source: str, target: str) -> bool:
    """Put `source` where nothing is; False where the system or the file system cannot tell.

    Raises:
        FileExistsError: something is there.
    """
    return _if_possible(renaming.rename_new, source, target)


def _if_possible(call: Callable[[str, str], None], source: str, target: str) -> bool:
    try:
        again(call, source, target)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return False
        raise
    return True


def remove(path: str) -> bool:
    """Take a file away; False where there was none."""
    try:
        again(os.unlink, path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def make_folder(path: str) -> None:
    again(os.makedirs, path, exist_ok=True)


def keep(source: str, to: str) -> None:
    """A second name `to` for the file `source`; a copy where the file system has no second names."""
    try:
        again(os.link, source, to)
    except OSError as error:
        if error.errno not in {*_UNSUPPORTED, errno.EMLINK, errno.EXDEV}:
            raise
        copy(source, to)


def copy(source: str, to: str) -> None:
    """A new file `to`, on the disk, with the bytes, mode, owner (where allowed) and times of `source`."""
    origin = again(os.open, source, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        fd = create(to)
        try:
            transfer(origin, fd)
            found = status(origin)
            keep_metadata(fd, found, source)
            again(os.utime, to, ns=(found.st_atime_ns, found.st_mtime_ns))
            sync(fd)
        finally:
            os.close(fd)
    finally:
        os.close(origin)


def transfer(source: int, to: int) -> None:
    """The rest of one open file, written to another; inside the kernel where it can."""
    if hasattr(os, "copy_file_range"):
        moved = False
        try:
            while again(os.copy_file_range, source, to, 1 << 27):
                moved = True
        except OSError as error:
            if moved or error.errno not in {*_UNSUPPORTED, errno.EXDEV}:
                raise
        # No bytes at all also is what some file systems answer that cannot; so an end is read, not believed.
    while data := read(source):
        write(to, data)


def keep_metadata(fd: int, like: os.stat_result, source: str) -> None:
    """Give an open file the mode of another, and its owner and attributes as far as this user may.

    Args:
        fd: the open file.
        like: the other file's status.
        source: the other file's path, for its extended attributes (access control lists are among them).
    """
    if sys.platform == "win32":
        return
    own = status(fd)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        # The owner first: changing it clears the set-id bits of the mode.
        for owner in (like.st_uid, -1):
            try:
                again(os.fchown, fd, owner, like.st_gid)
                break
            except OSError as error:
                if error.errno not in {errno.EPERM, errno.EACCES, *_UNSUPPORTED}:
                    raise
    # A file system without modes shows the same one for every file; where they differ they can be set.
    if stat.S_IMODE(status(fd).st_mode) != stat.S_IMODE(like.st_mode):
        again(os.fchmod, fd, stat.S_IMODE(like.st_mode))
    if hasattr(os, "listxattr"):
        _keep_attributes(fd, source)


def _keep_attributes(fd: int, source: str) -> None:
    try:
        names = again(os.listxattr, source)
    except OSError as error:
        if error.errno not in {errno.EACCES, *_UNSUPPORTED}:
            raise
        return
    for name in names:
        try:
            os.setxattr(fd, name, os.getxattr(source, name))
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.ENODATA, *_UNSUPPORTED}:
                raise


#: What went wrong, and what to do about it; `{folder}` is the folder of the file.
_SENTENCES: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("the disk is full", "free some space, then run again"),
    errno.EDQUOT: ("your disk quota is used up", "free some space, then run again"),
    errno.EACCES: (
        "you may not write here",
        "give yourself leave to write to the file and to its folder {folder}, then run again",
    ),
    errno.EPERM: (
        "the system does not allow it",
        "look for a file owner, a sticky folder or an immutable flag in {folder} that forbids it",
    ),
    errno.EROFS: ("it lies on a read-only file system", "copy it to one that can be written, and run there"),
    errno.EXDEV: (
        "it is on another file system than its folder",
        "a file mounted by itself cannot be replaced at once: mount its folder instead",
    ),
    errno.EBUSY: (
        "it is in use by the system",
        "a file mounted by itself cannot be replaced at once: mount its folder instead",
    ),
    errno.ENOENT: ("it is not there", "check the path"),
    errno.ENOTDIR: ("a part of its path is no folder", "check the path"),
    errno.EISDIR: ("it is a folder", "name a file"),
    errno.ELOOP: ("its symlinks lead in a circle", "point the symlink at a file"),
    errno.ENAMETOOLONG: ("its path is too long", "move it to a folder with a shorter path"),
    errno.EIO: ("the disk reported an error", "check the disk, then run again"),
    errno.EFBIG: ("it would become larger than is allowed here", "split the file, or raise the limit"),
    errno.EMFILE: ("too many files are open", "raise the limit (`ulimit -n`), then run again"),
    errno.EEXIST: ("something is at that name already", "move it away, then run again"),
}


def refusal(path: str, error: OSError, *, doing: str = "") -> WriteError:
    """The `WriteError` that tells what the operating system said about `path`, and the next step.

    Args:
        path: the file, as the user named it.
        error: what the system answered.
        doing: what was being done (`"reading it"`), if the sentence needs it.
    """
    sentence, fix = _SENTENCES.get(
        error.errno or 0, (error.strerror or str(error), "remove the cause, then run again")
    )
    folder = os.path.dirname(path) or "."
    return WriteError(
        path, f"{doing}: {sentence}" if doing else sentence, fix=fix.format(folder=visible(folder))
    )
