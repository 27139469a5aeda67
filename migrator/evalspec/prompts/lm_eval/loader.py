"""Reading YAML files with their includes (lm_eval.md, "Finding and loading YAML")."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import EvalspecError, FormatError
from evalspec.prompts.lm_eval.files import Kept
from evalspec.prompts.lm_eval.yaml_values import read_values

if TYPE_CHECKING:
    from evalspec.prompts.lm_eval.files import Files


class LoadError(EvalspecError):
    """A file cannot be loaded. The harness leaves it out of its index without a word.

    Attributes:
        path: the file at fault, which may be one that was included.
        reason: what is wrong with it.
    """

    exit_code = 1

    def __init__(self, path: str, reason: str, line: int = 1, column: int = 1) -> None:
        self.path = path
        self.reason = reason
        self.line = line
        self.column = column
        super().__init__(f"{path}: {reason}")


class Loaded(NamedTuple):
    """A file with its includes merged in.

    Attributes:
        values: the merged mapping.
        files: every file that went into it, itself first, in the order in which they were reached.
    """

    values: dict[str, Any]
    files: tuple[str, ...]


class Loader:
    """Loads files of one tree. Each is parsed once, however many others include it."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._kept = files if isinstance(files, Kept) else None
        self._own: dict[str, dict[str, Any]] = {}
        self._loaded: dict[str, Loaded | LoadError] = {}
        self._loading: list[str] = []

    def own(self, path: str) -> dict[str, Any]:
        """The mapping that a file itself holds, its `include` too.

        Raises:
            LoadError: there is no such file, or it is not a YAML mapping.
        """
        found = self._own.get(path)
        if found is None:
            data = self.files.read(path)
            if data is None:
                raise LoadError(path, "there is no such file in the tree")
            folder = posixpath.dirname(path)
            kept, key = self._kept.kept_of(path) if self._kept is not None else (None, "")
            found = kept.get((key, folder)) if kept is not None else None
            if found is None:
                try:
                    found = read_values(data, folder)
                except FormatError as problem:
                    raise LoadError(path, problem.message, problem.line, problem.column) from None
                if kept is not None:
                    kept[key, folder] = found
            self._own[path] = found
        return found

    def reached(self) -> set[str]:
        """Every file that was asked for so far, those too that cannot be loaded."""
        return self._own.keys() | self._loaded.keys()

    def load(self, path: str) -> Loaded:
        """A file with its includes: of several the last wins, and the file's own keys win over all.

        Raises:
            LoadError: the file or one it includes cannot be read, or one is reached twice.
        """
        found = self._loaded.get(path)
        if found is None:
            try:
                found = self._load(path)
            except LoadError as problem:
                found = problem
            self._loaded[path] = found
        if isinstance(found, LoadError):
            raise found
        return found

    def _load(self, path: str) -> Loaded:
        own = self.own(path)
        if "include" not in own:
            return Loaded(own, (path,))
        if path in self._loading:
            raise LoadError(path, "the file includes itself")
        self._loading.append(path)
        try:
            return self._merged(path, own)
        finally:
            self._loading.pop()

    def _merged(self, path: str, own: dict[str, Any]) -> Loaded:
        values: dict[str, Any] = {}
        reached = [path]
        seen = {path}
        folder = posixpath.dirname(path)
        for target in self.targets(own):
            if not isinstance(target, str):
                raise LoadError(path, f"an include is a path, not {target!r}")
            name = resolve(folder, target, getattr(self.files, "root", None))
            if name is None:
                raise LoadError(path, f"the include {target} leads out of the tree")
            if name in self._loading:
                raise LoadError(name, "the include leads back to itself")
            below = self.load(name)
            twice = seen.intersection(below.files)
            if twice:
                raise LoadError(min(twice), "the file is reached twice, which the loader takes for a cycle")
            seen.update(below.files)
            reached += below.files
            values.update(below.values)
            values.pop("task_list", None)
        values.update(own)
        del values["include"]
        return Loaded(values, tuple(reached))

    @staticmethod
    def targets(own: dict[str, Any]) -> list[Any]:
        """What a file includes."""
        include = own["include"]
        return include if isinstance(include, list) else [include]

    def source(self, path: str, key: str) -> str | None:
        """The file that a key's value comes from: the file itself, else the last include that has it."""
        own = self.own(path)
        if key in own and key != "include":
            return path
        folder = posixpath.dirname(path)
        for target in reversed(self.targets(own)) if "include" in own else ():
            name = resolve(folder, target, getattr(self.files, "root", None))
            found = self.source(name, key) if name is not None else None
            if found is not None:
                return found
        return None


def resolve(folder: str, target: str, root: str | None = None) -> str | None:
    """An include's path in the tree; None where it leads out of it."""
    if target.startswith("/"):
        if root is None or not target.startswith(root.rstrip("/") + "/"):
            return None
        folder, target = "", target[len(root.rstrip("/")) + 1 :]
    path = posixpath.normpath(posixpath.join(folder, target))
    return None if path == ".." or path.startswith("../") else path
