"""A spec project: its configuration, its families, and where things are.

A project is the nearest folder, from the working directory upwards, with an `evalspec.toml` or a `pyproject.toml` that
has a `[tool.evalspec]` table. Without one, the families that ship with the tool are all there is.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from evalspec.errors import UsageError, did_you_mean, visible
from evalspec.schema.family import OWN, Families, Family, Root

if TYPE_CHECKING:
    from evalspec.configuration import Config
    from evalspec.schema.schema import Schema


#: A family whose task files are shown, and that has no schema versions of ours to judge them by.
FOREIGN = "lm-eval"


class Project:
    """What a command works in.

    Attributes:
        folder: the project's folder; None where there is no configuration.
        spec: the family of the task files, or a version of one (`family@version`); empty where none is named.
        families: every family at hand.
        foreign: the configured spec, where it is of a family that is only shown (`lm-eval@0.4.13`); else None.
    """

    def __init__(self, folder: str | None, config: Config | None = None) -> None:
        self.folder = folder
        self._config = config
        self.spec = (config.spec or "") if config else ""
        own = spec_root()
        families = {name: Family(name, own) for name in _family_names(own)}
        if folder is not None:
            root = _root_in(folder)
            families |= {name: Family(name, root) for name in _family_names(root) if name not in families}
        default = self.spec.partition("@")[0] or OWN
        self.foreign = self.spec if default == FOREIGN else None
        if self.foreign is not None:
            self.spec, default = "", OWN
        if default not in families:
            near = did_you_mean(default, list(families)) or f"the families are: {', '.join(families)}"
            raise UsageError(
                f"the project's spec is {visible(default)!r}, and there is no such family", fix=near
            )
        self.families = Families(families, default)

    @classmethod
    def find(cls, start: str | None = None, *, config: str | None = None) -> Project:
        """The project that `start` (default: the working directory) is in, or the one `config` describes.

        Raises:
            UsageError: the configuration cannot be read, or says something unknown.
        """
        path = config or _configuration_above(os.path.abspath(start or os.curdir))
        if path is None:
            return cls(None)
        from evalspec.configuration import read_config

        return cls(os.path.dirname(os.path.abspath(path)), read_config(path))

    @cached_property
    def config(self) -> Config:
        """The configuration, as given or by default; made when it is asked for, as to load it takes a while."""
        from evalspec.configuration import Config

        return self._config or Config()

    @property
    def tasks(self) -> list[str]:
        """The files, folders and globs that are meant where no path is given, from the project's folder."""
        return self._config.tasks if self._config else []

    @property
    def exclude(self) -> list[str]:
        """The globs that are left out of folders."""
        return self._config.exclude if self._config else []

    @property
    def rows(self) -> str:
        """The folder of rows that is configured, from the project's; empty where none is."""
        return (self._config.rows or "") if self._config else ""

    def use(self, spec: str) -> None:
        """Take `family` or `family@version` in place of the configured one.

        Raises:
            UsageError: there is no such family, or version.
        """
        family, _, version = spec.partition("@")
        if family == FOREIGN:
            raise only_shown(spec)
        if family not in self.families.by_name:
            near = did_you_mean(family, list(self.families.by_name))
            known = f"the families are: {', '.join(self.families.by_name)}"
            raise UsageError(f"no family {visible(family)!r}", fix=near or known)
        if version:
            self.families.resolve(spec)
        self.spec = spec
        self.families.default, self.foreign = family, None

    def unmarked(self) -> Schema:
        """The version of a record without a marker: the configured one, or v1 of our own family."""
        return self.families.schema(self.spec if "@" in self.spec else f"{OWN}@v1")

    def schema(self, reference: str) -> Schema:
        """The schema of `v3` or `family@v3`; see `Families.schema`."""
        return self.families.schema(reference)


def only_shown(spec: str) -> UsageError:
    """The refusal to do with a foreign family's files what takes a schema version of ours."""
    return UsageError(
        f"task files of {visible(spec)} can be shown, and nothing else",
        fix="use render, task or tasks; or name the family of the files with --spec",
    )


def spec_root() -> Root:
    """The tool's own three folders: of the checkout this package is read from, else inside the package."""
    package = os.path.dirname(os.path.abspath(__file__))
    checkout = os.path.dirname(os.path.dirname(package))
    # A wheel's package can never lie in a folder called migrator beside these three.
    if os.path.basename(os.path.dirname(package)) == "migrator" and os.path.isdir(
        f"{checkout}/schemas/{OWN}"
    ):
        return _root_in(checkout)
    return _root_in(f"{package}/spec")


def example_root() -> str:
    """The folder of the example project: of the checkout this package is read from, else inside the package."""
    package = os.path.dirname(os.path.abspath(__file__))
    own = os.path.dirname(spec_root().schemas)
    inside = os.path.join(package, "spec")
    return os.path.join(inside, "example") if own == inside else os.path.join(own, "examples", "acme")


def configuration_in(folder: str) -> str | None:
    """The configuration file that lies in a folder itself; None where there is none."""
    for name in ("evalspec.toml", "pyproject.toml"):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and (name == "evalspec.toml" or _has_table(path)):
            return path
    return None


def _configuration_above(folder: str) -> str | None:
    while True:
        path = configuration_in(folder)
        if path is not None:
            return path
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _has_table(path: str) -> bool:
    """True where a `pyproject.toml` speaks of evalspec; a plain search first, so that most are never parsed."""
    try:
        with open(path, "rb") as stream:
            return b"tool.evalspec" in stream.read()
    except OSError:
        return False


def _root_in(folder: str) -> Root:
    return Root(f"{folder}/schemas", f"{folder}/migrations", f"{folder}/fixtures")


def _family_names(root: Root) -> list[str]:
    try:
        entries = sorted(os.listdir(root.schemas))
    except OSError:
        return []
    return [
        name
        for name in entries
        if not name.startswith((".", "_")) and os.path.isdir(f"{root.schemas}/{name}")
    ]
