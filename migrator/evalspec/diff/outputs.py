"""What a migration changes in post-processed outputs, on the fixtures' sample generations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalspec.tasks.fixtures import load_fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.migrate.migration import Migration
    from evalspec.schema.family import Families
    from evalspec.schema.schema import Schema
    from evalspec.tasks.fixtures import Fixtures


class OutputChange(NamedTuple):
    """A generation of which a post-process rule makes something else after a migration.

    Attributes:
        rule: the rule.
        task: the fixture task whose generation it is; empty for an example of the rule itself.
        generation: what the model wrote.
        before: the output under the version before.
        after: the output under the version that the migration makes.
    """

    rule: str
    task: str
    generation: str
    before: str
    after: str


def changed_outputs(migration: Migration, families: Families) -> list[OutputChange]:
    """Every sample whose output a migration changes, whether it says so or not.

    The samples are those of both versions' fixtures: the generations of tasks that use a rule, and the inputs of the
    rule's own examples. Rules that only one of the two versions has are passed over.
    """
    before, after = families.schema(migration.parent), families.schema(migration.id)
    shared = [name for name in before.declaration.post_process if name in after.declaration.post_process]
    samples: dict[tuple[str, str], str] = {}
    for schema in (before, after):
        for rule, text, task in _samples(load_fixtures(families, schema.id)):
            if rule in shared:
                samples.setdefault((rule, text), task)
    return [
        change
        for (rule, text), task in samples.items()
        if (change := _changed((before, rule), (after, rule), text, task)) is not None
    ]


#: A schema version, and a post-process rule of it.
Rule = tuple["Schema", str]


def outputs_between(before: Rule, after: Rule, families: Families) -> Iterator[OutputChange]:
    """The samples of either rule, from the fixtures of its version, of which the two make different outputs."""
    texts = dict.fromkeys(
        text
        for schema, rule in (before, after)
        for name, text, _ in _samples(load_fixtures(families, schema.id))
        if name == rule
    )
    for text in texts:
        change = _changed(before, after, text, "")
        if change is not None:
            yield change


def _changed(before: Rule, after: Rule, text: str, task: str) -> OutputChange | None:
    old, new = (schema.post_process(text, rule) for schema, rule in (before, after))
    return OutputChange(after[1], task, text, old, new) if old != new else None


def _samples(fixtures: Fixtures) -> list[tuple[str, str, str]]:
    """Rule, text and task of every sample."""
    tasks = [*fixtures.tasks, *fixtures.templates]
    rules = {task["task_id"]: task["post_process"] for task in tasks}
    return [
        (rules[sample.task_id], sample.text, sample.task_id)
        for sample in fixtures.generations
        if sample.task_id in rules
    ] + [(example.rule, example.input, "") for example in fixtures.post_process]
