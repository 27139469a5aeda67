"""A spec project: its configuration, its families, and where things are.

A project is the nearest folder, from the working directory upwards, with an `evalspec.toml` or a `pyproject.toml` that
has a `[tool.evalspec]` table. Without one, the families that ship with the tool are all there is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from evalspec.errors import UsageError, did_you_mean, visible
from evalspec.schema.declare import ABSENT, Absent, Pattern
from evalspec.schema.family import OWN, Families, Family, Root

if TYPE_CHECKING:
    from evalspec.schema.schema import Schema


#: A family whose task files are shown, and that has no schema versions of ours to judge them by.
FOREIGN = "lm-eval"


def _is_reference(text: str) -> bool:
    return bool(text) and text.split() == [text]


Reference = Annotated[str, Pattern(_is_reference, "be a family, a version or family@version")]


@dataclass(frozen=True, kw_only=True)
class ViewConfig:
    """A view of the configuration, `[views.<name>]`: what is left out is as in a plain view.

    Attributes:
        chat: the chat template: a built-in's name, or a file, from the project's folder.
        multiturn: each example is a turn of its own.
        single_turn: the opposite of `multiturn`, as the flag says it.
        system: a system instruction.
        shots: the number of examples.
        limit: the row to stop before; below 1, a share of the rows.
        rank: which of `world_size` processes renders.
        world_size: over how many processes the rows are dealt out.
        seed: the seed of the example draws.
        tokenizer_name: the tokenizer's name, as it stands in the harness's request-cache key.
        tokenizer: a `tokenizer.json` that shows where prompts are cut, from the project's folder.
    """

    chat: str | Absent = ABSENT
    multiturn: bool | Absent = ABSENT
    single_turn: bool | Absent = ABSENT
    system: str | Absent = ABSENT
    shots: int | Absent = ABSENT
    limit: float | Absent = ABSENT
    rank: int | Absent = ABSENT
    world_size: int | Absent = ABSENT
    seed: int | Absent = ABSENT
    tokenizer_name: str | Absent = ABSENT
    tokenizer: str | Absent = ABSENT


@dataclass(frozen=True, kw_only=True)
class Config:
    """The configuration table, strict.

    Attributes:
        spec: the family of the project's task files (`acme`), or a version of one (`lm-eval@0.4.13`).
        requires: the version that task files must be at.
        tasks: files, folders and globs, from the project's folder, that are meant where no path is given.
        exclude: globs that are left out of folders.
        views: the views that `--view` can name.
    """

    spec: Reference | Absent = ABSENT
    requires: Reference | Absent = ABSENT
    tasks: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    views: dict[str, ViewConfig] = field(default_factory=dict)


class Project:
    """What a command works in.

    Attributes:
        folder: the project's folder; None where there is no configuration.
        config: the configuration, as given or by default.
        families: every family at hand.
        foreign: the configured spec, where it is of a family that is only shown (`lm-eval@0.4.13`); else None.
    """

    def __init__(self, folder: str | None, config: Config) -> None:
        self.folder = folder
        self.config = config
        own = spec_root()
        families = {name: Family(name, own) for name in _family_names(own)}
        if folder is not None:
            root = _root_in(folder)
            families |= {name: Family(name, root) for name in _family_names(root) if name not in families}
        spec = "" if isinstance(config.spec, Absent) else config.spec
        default = spec.partition("@")[0] or OWN
        self.foreign = spec if default == FOREIGN else None
        if self.foreign is not None:
            self.config, default = replace(config, spec=ABSENT), OWN
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
            return cls(None, Config())
        return cls(os.path.dirname(os.path.abspath(path)), read_config(path))

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
        self.config = replace(self.config, spec=spec)
        self.families.default, self.foreign = family, None

    def unmarked(self) -> Schema:
        """The version of a record without a marker: the configured one, or v1 of our own family."""
        spec = "" if isinstance(self.config.spec, Absent) else self.config.spec
        return self.families.schema(spec if "@" in spec else f"{OWN}@v1")

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


def read_config(path: str) -> Config:
    """The configuration in an `evalspec.toml`, or in the `[tool.evalspec]` of a `pyproject.toml`.

    Raises:
        UsageError: it cannot be read, is no TOML, or has an unknown or unsound entry.
    """
    import tomllib

    try:
        with open(path, "rb") as stream:
            data: Any = tomllib.load(stream)
    except OSError as error:
        raise UsageError(f"{visible(path)}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{visible(path)}: {error}", fix="it must be TOML") from None
    if os.path.basename(path) == "pyproject.toml":
        data = data.get("tool", {}).get("evalspec", {})
    return _checked(path, data)


def _checked(path: str, data: Any) -> Config:
    from evalspec.schema.declare import Shape
    from evalspec.schema.explain import explain_fields
    from evalspec.schema.fields import fields_of

    fields = fields_of(Config)
    for violation in explain_fields("the configuration", Shape("configuration", Config), fields, data):
        message = f"{visible(path)}: {visible(violation.field)}: {violation.message}"
        raise UsageError(message, fix=violation.fix)
    views = {name: ViewConfig(**settings) for name, settings in data.get("views", {}).items()}
    return Config(**{**data, "views": views})


def _configuration_above(folder: str) -> str | None:
    while True:
        for name in ("evalspec.toml", "pyproject.toml"):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (name == "evalspec.toml" or _has_table(path)):
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
