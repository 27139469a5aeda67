"""What a project's configuration may say, and the reading of it: strict, with the nearest word for an unknown one."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Annotated, Any

from evalspec.errors import UsageError, visible
from evalspec.schema.declare import ABSENT, Absent, Pattern


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
