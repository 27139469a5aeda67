"""What a project's configuration may say, and the reading of it: strict, with the nearest word for an unknown one."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from evalspec.errors import UsageError, did_you_mean, visible
from evalspec.schema.declare import ABSENT, Absent, MinLen, OneOf, Pattern

if TYPE_CHECKING:
    from evalspec.schema.fields import Field


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


def _is_date(text: str) -> bool:
    from datetime import date

    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


#: How a task's own version is written, and so what counts as a move of it.
POLICIES = {
    "any": "another text is another version",
    "integer": "a number, which goes up",
    "number-letter": "a number and a letter, as 2-A: for changed prompts the number goes up",
    "suffix": "the end of the task's id, as -v2: a changed prompt is a task of another name",
}


@dataclass(frozen=True, kw_only=True)
class IgnoreConfig:
    """Findings that a project lives with, `[[ignores]]`.

    Attributes:
        rule: the rule.
        reason: why; it must say something.
        paths: globs of files; every file where there are none.
        tasks: globs of task ids; every task where there are none.
        until: the last day, as 2027-01-31; for ever where none is said.
    """

    rule: str
    reason: Annotated[str, Pattern(lambda text: bool(text.strip()), "say why")]
    paths: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    until: Annotated[str, Pattern(_is_date, "be a date as 2027-01-31")] | Absent = ABSENT


@dataclass(frozen=True, kw_only=True)
class OverrideConfig:
    """Other rules for some files, `[[overrides]]`.

    Attributes:
        paths: globs of the files.
        select: the rules that are looked at there, in place of the project's `select`.
        ignore: rules that are not looked at there, beside the project's `ignore`.
        severity: how bad a rule is there.
    """

    paths: Annotated[list[str], MinLen(1)]
    select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    severity: dict[str, Annotated[str, OneOf(("error", "warning", "info"))]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Config:
    """The configuration table, strict.

    Attributes:
        spec: the family of the project's task files (`acme`), or a version of one (`lm-eval@0.4.13`).
        requires: the version that task files must be at.
        tasks: files, folders and globs, from the project's folder, that are meant where no path is given.
        exclude: globs that are left out of folders.
        views: the views that `--view` can name, and under which prompts are compared and checked.
        rows: a folder of rows for template tasks, as `<task>/<split>.jsonl`.
        select: the rules, or groups of rules, that are looked at; all where there are none.
        ignore: rules, or groups of rules, that are not.
        ignores: findings that the project lives with, each with its reason.
        overrides: other rules for some files.
        severity: how bad a rule is, where that is not the rule's own.
        version_policy: how tasks' own versions are written, or that by family (see `POLICIES`).
        default_branch: the branch that others leave from.
        lock_prompts: the lock holds the fingerprint of every prompt.
        baseline: the file of old findings that do not count.
    """

    spec: Reference | Absent = ABSENT
    requires: Reference | Absent = ABSENT
    tasks: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    views: dict[str, ViewConfig] = field(default_factory=dict)
    rows: str | Absent = ABSENT
    select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    ignores: list[IgnoreConfig] = field(default_factory=list)
    overrides: list[OverrideConfig] = field(default_factory=list)
    severity: dict[str, Annotated[str, OneOf(("error", "warning", "info"))]] = field(default_factory=dict)
    version_policy: str | dict[str, str] = "any"
    default_branch: str | Absent = ABSENT
    lock_prompts: bool = False
    baseline: str | Absent = ABSENT

    def policy(self, family: str) -> str:
        """How the own versions of a family's tasks are written."""
        said = self.version_policy
        return said if isinstance(said, str) else said.get(family, "any")


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


def _refuse(path: str, fields: tuple[Field, ...], data: Any) -> None:
    """Say what is wrong with a configuration.

    Raises:
        UsageError: something is.
    """
    from evalspec.schema.declare import Shape
    from evalspec.schema.explain import explain_fields

    for violation in explain_fields("the configuration", Shape("configuration", Config), fields, data):
        message = f"{visible(path)}: {visible(violation.field)}: {violation.message}"
        raise UsageError(message, fix=violation.fix)


def _checked(path: str, data: Any) -> Config:
    from evalspec.schema.fields import fields_of
    from evalspec.schema.struct import accepts_fields

    fields = fields_of(Config)
    if not accepts_fields("Config", fields, data):
        _refuse(path, fields, data)
    policies = data.get("version_policy", "any")
    for policy in policies.values() if isinstance(policies, dict) else [policies]:
        if policy not in POLICIES:
            known = f"the policies are: {', '.join(POLICIES)}"
            raise UsageError(
                f"{visible(path)}: version_policy: no policy {visible(policy)!r}",
                fix=did_you_mean(policy, list(POLICIES)) or known,
            )
    made = {
        "views": {name: ViewConfig(**settings) for name, settings in data.get("views", {}).items()},
        "ignores": [IgnoreConfig(**each) for each in data.get("ignores", [])],
        "overrides": [OverrideConfig(**each) for each in data.get("overrides", [])],
    }
    return Config(**{**data, **made})
