"""Families of schema versions, and how a version's module is found and loaded.

Modules load as `evalspec.spec.<family>.<version>`, from wherever the family's folder is, so versions of a family import
each other relatively (design.md, "Layout"). A version's code runs when the version is first asked for, not before.
"""

from __future__ import annotations

import re
import sys
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import UnknownVersion, UsageError, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from typing_extensions import Buffer

    from evalspec.schema.schema import Schema

#: The family whose unmarked records are v1, and whose markers are integers.
OWN = "evalspec"

#: Seconds without an edit until a module's time stamp tells its next edit from this one (it counts whole seconds).
_RESTED = 2


class Root(NamedTuple):
    """A spec project's three folders."""

    schemas: str
    migrations: str
    fixtures: str


class Family:
    """A line of schema versions.

    Attributes:
        name: the family's name, as in `name@v1`.
        root: the three folders it lives in.
    """

    def __init__(self, name: str, root: Root) -> None:
        self.name = name
        self.root = root
        self._schemas: dict[str, Schema] = {}
        self._versions: tuple[str, ...] | None = None

    def __reduce__(self) -> tuple[type[Family], tuple[str, Root]]:
        return Family, (self.name, self.root)  # code does not travel: another process loads it where it is

    def put(self, schemas: Mapping[str, Schema]) -> None:
        """Take these for the family's versions, by name, in place of what their modules declare."""
        self._schemas = dict(schemas)

    @property
    def versions(self) -> tuple[str, ...]:
        """The names of the versions whose modules are there, by number."""
        if self._versions is None:
            stems = (name.removesuffix(".py") for name in _listed(f"{self.root.schemas}/{self.name}"))
            names = [_version_name(stem) for stem in stems if re.fullmatch(r"v\d+(_\d+)*", stem)]
            self._versions = tuple(sorted(names, key=version_number))
        return self._versions

    def schema(self, version: str) -> Schema:
        """The schema version of that name.

        Raises:
            UnknownVersion: there is none.
            UsageError: its module does not load, or declares no version.
        """
        if version not in self._schemas:
            if version not in self.versions:
                raise UnknownVersion(
                    f"{self.name}@{version}", [f"{self.name}@{name}" for name in self.versions]
                )
            from evalspec.schema.declare import Declaration
            from evalspec.schema.schema import Schema

            folder = f"{self.root.schemas}/{self.name}"
            module = load_module(folder, self.name, module_name(version))
            declared = getattr(module, "version", None)
            path = f"{folder}/{module_name(version)}.py"
            if not isinstance(declared, Declaration):
                raise UsageError(f"{path} declares no version", fix="end it with `version = Declaration(…)`")
            self._schemas[version] = Schema(self.name, version, declared, path)
        return self._schemas[version]


class Families:
    """Every family at hand, and which version a record or a person means.

    Attributes:
        by_name: the families, the project's own last.
        default: the family that a bare `v3` is looked for in first.
    """

    def __init__(self, families: Mapping[str, Family], default: str = OWN) -> None:
        self.by_name = dict(families)
        self.default = default

    def __reduce__(self) -> tuple[type[Families], tuple[dict[str, Family], str]]:
        return Families, (self.by_name, self.default)

    def schema(self, reference: str) -> Schema:
        """The schema of `v3`, or of `family@v3` (design.md, "Layout": a bare id is the project's, else ours).

        Raises:
            UnknownVersion: no family has it.
        """
        family, version = self.resolve(reference)
        return self.by_name[family].schema(version)

    def resolve(self, reference: str) -> tuple[str, str]:
        """The family and the version that `reference` names, whole or by the beginnings of their names.

        Raises:
            UnknownVersion: there is no such version, or it may be one of several.
        """
        family, at, version = reference.rpartition("@")
        candidates = [family] if at else list(dict.fromkeys([self.default, OWN]))
        for name in candidates:
            if name in self.by_name and version in self.by_name[name].versions:
                return name, version
        begun = [
            (name, each)
            for name in (self.by_name if at else candidates)
            for each in (self.by_name[name].versions if name in self.by_name else ())
            if version and name.startswith(family if at else "") and each.startswith(version)
        ]
        if len(begun) == 1:
            return begun[0]
        raise UnknownVersion(reference, list(self.known()))

    def known(self) -> Iterator[str]:
        """Every version there is, the default family's by bare name."""
        for name, family in self.by_name.items():
            for version in family.versions:
                yield version if name == self.default else f"{name}@{version}"

    def short(self, id_: str) -> str:
        """A version's id without its family, where the family is the default one."""
        return id_.removeprefix(f"{self.default}@")

    def of_marker(self, marker: object) -> Schema | None:
        """The schema whose records carry `marker` as their `spec_version`; None where there is no such."""
        if type(marker) is int:
            reference = f"{OWN}@v{written(marker)}"
        elif isinstance(marker, str) and "@" in marker:
            reference = marker
        else:
            return None
        family, _, version = reference.rpartition("@")
        if family not in self.by_name or version not in self.by_name[family].versions:
            return None
        schema = self.by_name[family].schema(version)
        return schema if schema.marker == marker else None


def version_number(version: str) -> tuple[int, ...]:
    """The numbers in a version's name, for ordering: `v2` is (2,), `0.4.13` is (0, 4, 13)."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def module_name(version: str) -> str:
    """The module a version lives in: `v2` in `v2`, `0.4.13` in `v0_4_13`."""
    return version if version.startswith("v") else "v" + version.replace(".", "_")


def _version_name(stem: str) -> str:
    return stem[1:].replace("_", ".") if "_" in stem else stem


def _listed(folder: str) -> list[str]:
    import os

    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


class _SettledLoader(SourceFileLoader):
    """Keeps a module's bytecode only once its source has rested.

    Python takes bytecode for current where the source has the size and the second it had; an edit of the same length
    within that second (a draft mended by a script, a checkout) would go unseen.
    """

    def set_data(self, path: str, data: Buffer, *, _mode: int = 0o666) -> None:
        import os
        import time

        if time.time() - os.stat(self.path).st_mtime > _RESTED:
            super().set_data(path, data, _mode=_mode)


def load_module(folder: str, family: str, name: str) -> ModuleType:
    """Import `folder/name.py` as `evalspec.spec.<family>.<name>`.

    Two projects in one process may have families of one name; the second one's package gets a name of its own.

    Raises:
        UsageError: the module does not load; the message says where.
    """
    import importlib.util

    package = f"evalspec.spec.{family.replace('-', '_')}"
    while package in sys.modules and list(sys.modules[package].__path__) != [folder]:
        package += "_"
    if package not in sys.modules:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [folder]
        sys.path_importer_cache[folder] = FileFinder(folder, (_SettledLoader, [".py"]))
        sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        return importlib.import_module(f"{package}.{name}")
    except UsageError:
        raise
    except Exception as error:
        line = _line_of(error, folder)
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"{folder}/{name}.py{line}: {reason}", fix="mend the module") from error


def _line_of(error: BaseException, folder: str) -> str:
    """`:line` of the innermost frame inside `folder`."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f":{error.lineno}"
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(folder):
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line
