"""Results, kept in `.evalspec_cache/` at the top of the working tree.

Whoever asks says by a key all that a result depends on. The folder ignores itself, is bounded, may be deleted at any
time and shared by processes: a file appears whole or not at all, and what is damaged or of another make is not there.
Entries are signed with a secret of this user on this machine, so one that came with a checkout says nothing.
"""

from __future__ import annotations

import os
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = ".evalspec_cache"
#: The recipe of keys and of what is kept under them; another one finds nothing of this one.
_RECIPE = b"evalspec-c2\n"
#: An entry's largest size, and that of all of them, in bytes.
_LARGEST, _BOUND = 32_000_000, 128_000_000
_DIGEST, _SECRET = 16, 32

_Value = TypeVar("_Value")


class Cache:
    """Keeps plain data by key. Nothing that goes wrong here is an error: what cannot be kept is made again.

    Args:
        folder: where entries are; made when something is first kept.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make what keeping takes, where it is not there yet."""
        try:
            _secret() or _new_secret()
        except OSError:
            return

    def get(self, key: str, build: Callable[[Any], _Value]) -> _Value | None:
        """What was kept under a key; None where there is nothing.

        Args:
            key: what it depends on.
            build: makes the value of plain data.
        """
        body = self.read(key)
        if body is None:
            return None
        import msgspec

        try:
            return build(msgspec.msgpack.decode(body))
        except (msgspec.DecodeError, TypeError, ValueError, LookupError, AssertionError, RecursionError):
            return None

    def read(self, key: str) -> bytes | None:
        """The bytes that were kept under a key; None where there are none."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                data = file.read(_LARGEST + 1000)
            os.utime(path)  # the ones that are used go last
        except OSError:
            return None
        start = len(_RECIPE) + _DIGEST
        body = data[start:]
        secret = _secret()
        return body if secret and data[:start] == _RECIPE + _signature(secret, key, body) else None

    def put(self, key: str, value: _Value, build: Callable[[Any], _Value]) -> None:
        """Keep a value, if plain data holds all of it.

        Args:
            key: what it depends on.
            value: the value; named tuples count as plain.
            build: makes the value again of plain data.
        """
        import msgspec

        try:
            body = msgspec.msgpack.encode(value)
            if len(body) > _LARGEST or build(msgspec.msgpack.decode(body)) != value:
                return
        except (TypeError, ValueError, OverflowError, RecursionError):  # what msgpack has no form for
            return
        self.write(key, body)

    def write(self, key: str, body: bytes) -> None:
        """Keep bytes under a key."""
        if len(body) > _LARGEST:
            return
        try:
            secret = _secret() or _new_secret()
            self._write(self._path(key), _RECIPE + _signature(secret, key, body) + body)
            self._prune()
        except OSError:
            return

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, blake2b(key.encode(), digest_size=20).hexdigest())

    def _write(self, path: str, data: bytes) -> None:
        from tempfile import mkstemp

        os.makedirs(self.folder, exist_ok=True)
        ignore = os.path.join(self.folder, ".gitignore")
        if not os.path.exists(ignore):
            with open(ignore, "w", encoding="ascii") as file:
                file.write("*\n")
        handle, temporary = mkstemp(dir=self.folder)
        try:
            with open(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    def _prune(self) -> None:
        """Remove what was used least lately, until a quarter of the bound is free."""
        found = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name != ".gitignore":
                    about = entry.stat(follow_symlinks=False)
                    found.append((about.st_mtime_ns, about.st_size, entry.path))
        total = sum(size for _, size, _ in found)
        if total <= _BOUND:
            return
        for _, size, path in sorted(found):
            if total <= _BOUND * 3 // 4:
                break
            os.unlink(path)
            total -= size


def users_folder() -> str:
    """Where this user keeps caches, of this tool; empty where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "evalspec") if os.path.isabs(base) else ""


def _secret() -> bytes:
    """What only this user has, on this machine; empty where there is none yet, or another's."""
    path = os.path.join(users_folder(), "secret")
    try:
        with open(path, "rb") as file:
            about = os.fstat(file.fileno())
            own = not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & 0o077)
            found = file.read(_SECRET + 1)
    except OSError:
        return b""
    return found if own and len(found) == _SECRET else b""


def _new_secret() -> bytes:
    """Make the secret.

    Raises:
        OSError: it cannot be kept.
    """
    folder = users_folder()
    if not folder:
        raise FileNotFoundError("there is no home")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "secret")
    temporary = f"{path}.{os.getpid()}"
    made = os.urandom(_SECRET)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(made)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return made


def _signature(secret: bytes, key: str, body: bytes) -> bytes:
    return blake2b(key.encode() + b"\n" + body, digest_size=_DIGEST, key=secret).digest()


def key_of(*parts: object) -> str:
    """A key of all that a result depends on, with what this tool itself is made of."""
    return repr((tool(), parts))


@cache
def tool() -> tuple[str, ...]:
    """What makes results: this package, each of its modules as it is now, and what it renders and reads with."""
    import sys
    from importlib.util import find_spec

    from evalspec._version import __version__

    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    modules = blake2b(digest_size=16)
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            about = os.stat(os.path.join(folder, name))
            modules.update(f"{name} {about.st_size} {about.st_mtime_ns}\n".encode())
    # Their versions, that is: to ask for these takes longer than much of what is kept.
    places = [spec.origin for name in ("jinja2", "yaml") if (spec := find_spec(name)) and spec.origin]
    others = [f"{about.st_size} {about.st_mtime_ns}" for about in map(os.stat, places)]
    return (__version__, modules.hexdigest(), sys.version, *places, *others)


def digest_of_files(folders: list[str]) -> str:
    """A digest of every file below folders: names and bytes."""
    found = blake2b(digest_size=16)
    for top in folders:
        for folder, inner, names in os.walk(top):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    data = file.read()
                found.update(f"{os.path.relpath(path, top)} {len(data)}\n".encode("utf-8", "surrogatepass"))
                found.update(data)
    return found.hexdigest()
