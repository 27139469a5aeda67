"""Fixtures exercise what a version changes: each category, metric and post-process rule that comes, changes or goes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.check.owned import owned_families, place_in, step_folder, version_folder
from evalspec.check.rule import Rule
from evalspec.errors import EvalspecError, Place
from evalspec.tasks.fixtures import load_fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.errors import Finding
    from evalspec.migrate.contract_operations import ContractOperation
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project
    from evalspec.schema.family import Family
    from evalspec.schema.schema import Schema
    from evalspec.tasks.fixtures import Fixtures

FIXTURE_MISSING = Rule(
    "fixture_missing",
    "error",
    "A category, metric or post-process rule comes, changes or goes, and no fixture uses it.",
    'op.metric("chrf", added=True)  # and no task in fixtures/acme/v2/tasks.jsonl has that metric\n',
    "add a fixture that uses it",
    group="fixtures",
)
CATEGORY_ALONE = Rule(
    "category_added_alone",
    "error",
    "A new category comes in one version with a metric, a post-process rule and fixture tasks that use them.",
    'op.category("sentiment", added=True)  # and neither a metric nor a post-process rule\n',
    "add, in the same version, a metric and a post-process rule for its answers, and tasks that use them",
    group="fixtures",
)

RULES = (FIXTURE_MISSING, CATEGORY_ALONE)

_WORDS = {"category": "category", "metric": "metric", "post_process": "post-process rule"}
#: An example of a rule is one of at least so many, so that its edges are tried too (records.md, "Fixtures").
_EXAMPLES = 5


class Used(NamedTuple):
    """The words that the tasks of a version's fixtures use, task by task."""

    tasks: tuple[dict[str, set[str]], ...]

    def has(self, kind: str, name: str) -> bool:
        """Whether a task uses the word."""
        return any(name in words[kind] for words in self.tasks)


def used_words(fixtures: Fixtures, schema: Schema) -> Used:
    """What the fixtures of a version use."""
    field, _, inner = schema.declaration.metric_field.partition("[].")

    def of(task: dict[str, Any]) -> dict[str, set[str]]:
        said = task.get(field)
        metrics = {each[inner] for each in said or ()} if inner else {said}
        return {
            "category": {task.get("category", "")},
            "metric": {str(each) for each in metrics},
            "post_process": {task.get("post_process", "")},
        }

    return Used(tuple(of(task) for task in (*fixtures.tasks, *fixtures.templates, *fixtures.pairs)))


def check_exercised(project: Project) -> Iterator[Finding]:
    """What the fixtures of the project's own versions leave out."""
    from evalspec.migrate.migration import load_migrations

    try:
        migrations = {each.id: each for each in load_migrations(project.families)}
    except EvalspecError:
        return  # the chain is broken, which is told
    for family in owned_families(project):
        for version in family.versions:
            migration = migrations.get(f"{family.name}@{version}")
            if migration is None:
                continue
            try:
                yield from _of_step(project, family, family.schema(version), migration)
            except EvalspecError as error:
                yield FIXTURE_MISSING.at(
                    Place(os.path.relpath(version_folder(family, version))), str(error), fix=error.fix
                )


def _of_step(project: Project, family: Family, schema: Schema, migration: Migration) -> Iterator[Finding]:
    families = project.families
    parent = families.schema(migration.parent)
    old, new = load_fixtures(families, parent.id), load_fixtures(families, schema.id)
    before, after = used_words(old, parent), used_words(new, schema)
    said = [each for each in migration.contract if each.kind in _WORDS]
    folder = version_folder(family, schema.version)
    for operation in said:
        place = place_in(migration.path, operation.name)
        what = f"{_WORDS[operation.kind]} {operation.name}"
        uses = before if operation.change == "removed" else after
        owner = parent if operation.change == "removed" else schema
        if not uses.has(operation.kind, operation.name):
            where = os.path.relpath(folder if owner is schema else _fixtures_of(project, parent))
            yield FIXTURE_MISSING.at(
                place,
                f"{what} is {operation.change}, and no fixture task of {owner.id} uses it",
                fix=f"add a task that uses it to {where}/tasks.jsonl",
            )
        if operation.kind == "post_process" and operation.change != "removed":
            yield from _examples(operation, (parent, schema), new, place, folder, project)
    yield from _pair(family, migration)
    yield from _alone(said, after, migration)


def _fixtures_of(project: Project, schema: Schema) -> str:
    return version_folder(project.families.by_name[schema.family], schema.version)


def _examples(
    operation: ContractOperation,
    schemas: tuple[Schema, Schema],
    fixtures: Fixtures,
    place: Place,
    folder: str,
    project: Project,
) -> Iterator[Finding]:
    name, file = operation.name, f"{os.path.relpath(folder)}/post_process.jsonl"
    count = sum(example.rule == name for example in fixtures.post_process)
    if count < _EXAMPLES:
        yield FIXTURE_MISSING.at(
            place,
            f"post-process rule {name} is {operation.change}, and has {count} of {_EXAMPLES} examples",
            fix=f'add lines {{"rule": "{name}", "input": …, "output": …}} to {file}',
        )
    from evalspec.diff.outputs import outputs_between

    parent, schema = schemas
    if operation.change == "changed" and all(name in each.declaration.post_process for each in schemas):
        differs = outputs_between((parent, name), (schema, name), project.families)
        if next(iter(differs), None) is None:
            yield FIXTURE_MISSING.at(
                place,
                f"post-process rule {name} is changed, and no example has another output than under {parent.id}",
                fix=f"add an example that the change is about to {file}",
            )


def _pair(family: Family, migration: Migration) -> Iterator[Finding]:
    folder = step_folder(family, migration)
    for name in ("before.jsonl", "after.jsonl"):
        path = f"{folder}/{name}"
        if not os.path.isfile(path) or not os.path.getsize(path):
            yield FIXTURE_MISSING.at(
                place_in(migration.path, migration.revision),
                f"the step from {migration.parent} to {migration.id} has no {os.path.relpath(path)}",
                fix="add records before and after the step: `evalspec migrate` of the one gives the other",
            )


def _alone(said: list[ContractOperation], after: Used, migration: Migration) -> Iterator[Finding]:
    added = {
        kind: {each.name for each in said if each.kind == kind and each.change == "added"} for kind in _WORDS
    }
    for category in sorted(added["category"]):
        tasks = [words for words in after.tasks if category in words["category"]]
        lacking = [
            _WORDS[kind]
            for kind in ("metric", "post_process")
            if not any(words[kind] & added[kind] for words in tasks)
        ]
        if lacking:
            yield CATEGORY_ALONE.at(
                place_in(migration.path, category),
                f"category {category} is new, and no fixture task of it has a new {' or a new '.join(lacking)}",
            )
