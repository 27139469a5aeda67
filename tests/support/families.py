"""Small projects with a family of their own, written into a test's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalspec.project import Project

_SCHEMA = '''
"""Version {version} of a small family."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from evalspec.schema import (
    ABSENT, Absent, Assembly, Constant, Declaration, Exactly, FromField, Ge, MaxLen, Metric, MinLen, OneOf, Pair,
    Pattern, Rule, Shape,
)

{above}

@dataclass(frozen=True)
class Example:
    """One worked example."""

    prompt: str
    completion: str


@dataclass(frozen=True, kw_only=True)
class Task:
    """A record."""

    spec_version: Annotated[str, Exactly("team@{version}")]
    task_id: Annotated[str, MinLen(1)]
    category: Annotated[str, OneOf(("sum", "quiz"))]
    post_process: Annotated[str, OneOf(("none", "lower"))]
    metric_name: Annotated[str, OneOf(("exact_match",))]
{fields}


def none(text: str) -> str:
    """Unchanged."""
    return text


def lower(text: str) -> str:
    """Lower case."""
    return text.{lower}()


version = Declaration(
    shapes=(Shape("inline", Task),),
    categories={{"sum": "a sum", "quiz": "a question"}},
    metrics={{"exact_match": Metric()}},
    post_process={{"none": none, "lower": lower}},
    pairs=tuple(Pair(category, ("exact_match",), ("none", "lower")) for category in ("sum", "quiz")),
    rules=({rules}),
    assembly=Assembly({assembly}),
    marker="team@{version}",
)
'''
FIELDS = ("prompt: str", "targets: list[str]", "examples: list[Example] = field(default_factory=list)",
          "metadata: dict[str, Any] = field(default_factory=dict)")  # fmt: skip
ASSEMBLY = 'question="prompt", examples="examples"'

_MIGRATION = '''
"""{title}.

Revision: {revision}
Revises: {parent}
"""

revision = "{revision}"
down_revision = "{parent}"
prompts = "{prompts}"
outputs = "{outputs}"

{above}

def upgrade(op):
{upgrade}
'''


def write_version(
    folder: Path,
    version: str = "v1",
    *,
    fields: tuple[str, ...] = FIELDS,
    more: tuple[str, ...] = (),
    assembly: str = ASSEMBLY,
    rules: str = "",
    above: str = "",
    lower: str = "lower",
) -> None:
    """Write a version of the family `team`, and the configuration that makes the folder its project.

    Args:
        folder: the project's folder.
        version: the version's name.
        fields: the record's fields besides the marker, the id and the vocabularies, as source lines.
        more: fields to add to these.
        assembly: the arguments of the assembly, as source.
        rules: the rules across fields, as source.
        above: source to stand before the record.
        lower: the method that the rule `lower` calls.
    """
    (folder / "evalspec.toml").write_text('spec = "team"\n')
    path = folder / "schemas" / "team" / f"{version}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"    {line}" for line in (*fields, *more))
    text = _SCHEMA.format(
        version=version, fields=lines, assembly=assembly, rules=rules, above=above, lower=lower
    )
    path.write_text(text.lstrip("\n"))


def write_migration(
    folder: Path,
    upgrade: str,
    *,
    revision: str = "v2",
    parent: str = "v1",
    prompts: str = "unchanged",
    outputs: str = "unchanged",
    above: str = "",
    same_text: bool = True,
    name: str | None = None,
) -> Path:
    """Write the script that makes a version; it stamps the marker and then does what `upgrade` says, line by line."""
    path = folder / "migrations" / "team" / f"{name or revision}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f'op.assembly("said anew", same_text={same_text})',
        f'op.set("spec_version", "team@{revision}", first=True)',
        *upgrade.strip().splitlines(),
    ]
    text = _MIGRATION.format(
        title="A step", revision=revision, parent=parent, prompts=prompts, outputs=outputs, above=above,
        upgrade="\n".join(f"    {line}" for line in lines),
    )  # fmt: skip
    path.write_text(text.lstrip("\n"))
    return path


def project_in(folder: Path) -> Project:
    return Project.find(str(folder))


def team_record(version: str = "v1", **more: Any) -> dict[str, Any]:
    """A valid record of the family, with the given fields added or changed."""
    return {
        "spec_version": f"team@{version}",
        "task_id": "t1",
        "category": "sum",
        "post_process": "none",
        "metric_name": "exact_match",
        "prompt": "1 + 1?",
        "targets": ["2"],
        **more,
    }
