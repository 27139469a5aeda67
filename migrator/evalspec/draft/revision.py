"""The draft of a family's next version: a schema that changes nothing yet, its migration, and their fixtures."""

from __future__ import annotations

import json
import os
import re
import typing
from typing import TYPE_CHECKING, Any

from evalspec.errors import UsageError
from evalspec.schema.family import module_name, version_number

if TYPE_CHECKING:
    from evalspec.project import Project
    from evalspec.schema.declare import Shape
    from evalspec.schema.family import Family
    from evalspec.schema.schema import Schema

_SCHEMA = '''\
"""Version {family}@{new}: {message}.

What is not named here is as in {old}. Change what this version changes; `evalspec check` says what the migration and
the fixtures then lack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evalspec.schema import {imports}

from . import {old_module}

CATEGORIES = {{**{old_module}.version.categories}}

METRICS = {{**{old_module}.version.metrics}}

POST_PROCESS = {{**{old_module}.version.post_process}}

PAIRS = ({pairs},)

{entry}
@dataclass(frozen=True, kw_only=True)
class Changed:
    """The fields that are not what they were in {old}."""

    spec_version: Annotated[{kind}, Exactly({marker})]
    category: Annotated[str, OneOf(CATEGORIES)]
    {metric}
    post_process: Annotated[str, OneOf(POST_PROCESS)]

{records}

{names} = {old_module}.version.shapes

version = {old_module}.version._replace(
    marker={marker},
    shapes=({shapes}),
    categories=CATEGORIES,
    metrics=METRICS,
    post_process=POST_PROCESS,
    pairs=PAIRS,
)
'''

_ENTRY = '''
@dataclass(frozen=True)
class {name}({old_module}.{name}):
    """One metric of a task."""

    {inner}: Annotated[str, OneOf(METRICS)]

'''

_RECORD = '''
@dataclass(frozen=True, kw_only=True)
class {name}(Changed, {old_module}.{name}):
    """{doc}"""
'''

_MIGRATION = '''\
"""{title}.

Revision: {new}
Revises: {old}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspec.migrate import Recorder

revision = "{new}"
down_revision = "{old}"
prompts = "unchanged"
outputs = "unchanged"


def upgrade(op: Recorder) -> None:
    """From {family}@{old} to {family}@{new}."""
    # the contract: op.category, op.metric, op.post_process, op.pairs, op.field, op.rule, op.assembly
{contract}
    # the records: op.add, op.remove, op.rename, op.move, op.set, op.map, op.each
    op.set("spec_version", {marker}, first=True)
'''


def draft_revision(project: Project, message: str) -> list[str]:
    """Draft the next version of the project's family and return the files that were written.

    Args:
        project: the project; its default family is the one that gets a version.
        message: what the version is about, a few words.

    Raises:
        UsageError: the project has no family of its own, or the message says nothing.
        WriteError: a file cannot be written.
    """
    from evalspec.check.owned import owned_families
    from evalspec.writing import write_file

    message = " ".join(message.split()).rstrip(".")
    if not message:
        raise UsageError("a revision needs a message", fix='say what it is about: -m "add metric chrf"')
    family = next((each for each in owned_families(project) if each.name == project.families.default), None)
    if family is None or not family.versions:
        raise UsageError(
            "the project has no schema versions of its own", fix="make a project that has: evalspec init"
        )
    old = family.schema(family.versions[-1])
    new = f"v{version_number(old.version)[0] + 1}"
    files = {
        f"{family.root.schemas}/{family.name}/{module_name(new)}.py": _schema(old, new, message),
        f"{family.root.migrations}/{family.name}/{module_name(new)}.py": _migration(old, new, message),
    }
    written = []
    for path, text in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, text.encode())
        written.append(path)
    written += _fixtures(family, old, new)
    return [os.path.relpath(path) for path in written]


def _marker(old: Schema, new: str) -> int | str:
    return version_number(new)[0] if isinstance(old.marker, int) else f"{old.family}@{new}"


def _schema(old: Schema, new: str, message: str) -> str:
    declared = old.declaration
    module = module_name(old.version)
    field, _, inner = declared.metric_field.partition("[].")
    names = [shape.record.__name__ for shape in declared.shapes]
    imports = ["Exactly", "OneOf"]
    entry, metric = "", f"{field}: Annotated[str, OneOf(METRICS)]"
    if inner:
        item = _item_of(declared.shapes[0], field)
        entry = _ENTRY.format(name=item.__name__, old_module=module, inner=inner)
        metric = f'{field}: Annotated[list[{item.__name__}], MinLen(1), Distinct("{inner}")]'
        imports += ["Distinct", "MinLen"]
    variables = [f"_{shape.name}" for shape in declared.shapes]
    marker = _marker(old, new)
    replaced = [
        f"{variable}._replace(record={name})" for variable, name in zip(variables, names, strict=True)
    ]
    return _SCHEMA.format(
        family=old.family,
        new=new,
        old=old.version,
        old_module=module,
        message=message,
        imports=", ".join(sorted(imports)),
        pairs=f"*{module}.version.pairs",
        entry=entry,
        kind=type(marker).__name__,
        marker=json.dumps(marker),
        metric=metric,
        records="\n".join(
            _RECORD.format(
                name=name,
                old_module=module,
                doc=(shape.record.__doc__ or "A record.").strip().partition("\n")[0],
            )
            for name, shape in zip(names, declared.shapes, strict=True)
        ),
        names=f"({variables[0]},)" if len(variables) == 1 else ", ".join(variables),
        shapes=", ".join(replaced) + ("," if len(replaced) == 1 else ""),
    )


def _item_of(shape: Shape, field: str) -> type[Any]:
    """The class of the items of a field that is a list of objects."""
    hint = typing.get_type_hints(shape.record)[field]
    item: type[Any] = typing.get_args(hint)[0]
    return item


def _migration(old: Schema, new: str, message: str) -> str:
    marker = _marker(old, new)
    type_ = f"integer {marker}" if isinstance(marker, int) else f"text {marker!r}"
    several = len(old.declaration.shapes) > 1
    where = [f', shape="{shape.name}"' if several else "" for shape in old.declaration.shapes]
    lines = [
        f'    op.field("spec_version", type="{type_}", required=True{shape}, changed="the marker")'
        for shape in where
    ]
    title = message[:1].upper() + message[1:]
    return _MIGRATION.format(
        title=title,
        new=new,
        old=old.version,
        family=old.family,
        contract="\n".join(lines),
        marker=json.dumps(marker),
    )


# ── Fixtures ─────────────────────────────────────────────────────────────────────────────────────────────────


def _fixtures(family: Family, old: Schema, new: str) -> list[str]:
    """The old version's fixtures under the new marker, and the step between the two."""
    from evalspec.check.owned import version_folder
    from evalspec.writing import write_file

    before, after = version_folder(family, old.version), version_folder(family, new)
    written = []
    for above, _, names in sorted(os.walk(before)):
        for name in sorted(names):
            with open(os.path.join(above, name), "rb") as file:
                data = file.read()
            path = os.path.join(after, os.path.relpath(os.path.join(above, name), before))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_file(path, _stamped(data, old, new))
            written.append(path)
    tasks = os.path.join(before, "tasks.jsonl")
    if os.path.isfile(tasks):
        with open(tasks, "rb") as file:
            data = file.read()
        folder = (
            f"{family.root.fixtures}/{family.name}/migrations/{module_name(old.version)}_{module_name(new)}"
        )
        os.makedirs(folder, exist_ok=True)
        step = {
            "before.jsonl": data,
            "after.jsonl": _stamped(data, old, new),
            "prompts.jsonl": _prompts(data, old),
            "outputs.jsonl": _outputs(family, old, data),
        }
        for name, text in step.items():
            write_file(os.path.join(folder, name), text)
            written.append(os.path.join(folder, name))
    return written


def _stamped(data: bytes, old: Schema, new: str) -> bytes:
    """Fixtures with the new marker in place of the old one."""
    was, now = json.dumps(old.marker).encode(), json.dumps(_marker(old, new)).encode()
    pattern = (
        rb'("?spec_version"?\s*:\s*)(?:'
        + re.escape(was)
        + rb"|"
        + re.escape(was.strip(b'"'))
        + rb")(?![\w@.])"
    )
    return re.sub(pattern, lambda found: found[1] + now, data)


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _prompts(data: bytes, old: Schema) -> bytes:
    from evalspec.prompts import text_of

    rows = []
    for line in filter(None, data.split(b"\n")):
        task = json.loads(line)
        text = text_of(task, old.declaration.assembly)
        rows.append({"task_id": task["task_id"], "before": text, "after": text})
    return _lines(rows)


def _outputs(family: Family, old: Schema, data: bytes) -> bytes:
    from evalspec.check.owned import version_folder

    rules = {
        task["task_id"]: task["post_process"] for task in map(json.loads, filter(None, data.split(b"\n")))
    }
    rows = []
    path = os.path.join(version_folder(family, old.version), "generations.jsonl")
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            for said in map(json.loads, filter(str.strip, file)):
                rule = rules.get(said["task_id"])
                if rule is not None:
                    output = old.post_process(said["text"], rule)
                    rows.append(
                        {"task_id": said["task_id"], "rule": rule, "generation": said["text"],
                         "before": output, "after": output}
                    )  # fmt: skip
    return _lines(rows)
