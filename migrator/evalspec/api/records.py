"""The API for single records: validate, migrate, render, and post-process what a model answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.api._shared import RECORD, id_of, judged, project_or_found, upgrade_record, upgrades_to
from evalspec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalspec.errors import Finding
    from evalspec.project import Project


def validate_task(
    record: Mapping[str, Any], *, all_errors: bool = False, project: Project | None = None
) -> list[Finding]:
    """What is wrong with one record; nothing where it is valid.

    Args:
        record: plain data.
        all_errors: every violation, not only the first.
        project: where versions are looked for.

    >>> import evalspec
    >>> task = evalspec.load_fixtures("v3").tasks[0]
    >>> evalspec.validate_task(task)
    []
    >>> [finding] = evalspec.validate_task({**task, "post_process": "extract_letter"})
    >>> finding.rule, finding.message
    ('illegal_pair', 'arithmetic with generate_until does not take the post-process rule extract_letter')
    """
    _, _, found = judged(record, project_or_found(project))
    return found if all_errors else found[:1]


def migrate_record(
    record: Mapping[str, Any], to: str = "head", *, project: Project | None = None
) -> dict[str, Any]:
    """A valid record at another version, as a new dict; its promises are held as in files.

    Args:
        record: plain data, at any version that leads to `to`.
        to: `v3`, `family@v3` or `head`.
        project: where versions and migrations are looked for.

    Raises:
        BadTasks: the record is invalid, or a migration does not fit it.
        BrokenPromise: its prompt changes though a migration promises that none does.
        UnknownVersion: there is no such version.
        UsageError: no migration leads there.

    >>> import evalspec
    >>> task = evalspec.load_fixtures("v1").tasks[0]
    >>> new = evalspec.migrate_record(task, to="v3")
    >>> new["spec_version"], new["fewshot"]["samples"] == task["few_shot_examples"]
    (3, True)
    >>> evalspec.render(new) == evalspec.render(task)
    True
    """
    from evalspec.tasks import refuse_bad

    project = project_or_found(project)
    value, schema, found = judged(record, project)
    refuse_bad(found[:1])
    assert schema is not None, "a valid record has a version"
    problem = upgrade_record(value, schema, upgrades_to(project, id_of(project, to)), RECORD, 1)
    refuse_bad([problem] if problem is not None else [])
    return value


def render(record: Mapping[str, Any], *, project: Project | None = None) -> str:
    r"""The prompt of an inline task, to the byte: its examples and its question as one plain text.

    Raises:
        BadTasks: the record is invalid.
        UsageError: the record is a template, which has a prompt for each row of a data set and none of its own.

    >>> import evalspec
    >>> evalspec.render(evalspec.load_fixtures("v1").tasks[0])
    'Question: 2 + 2\nAnswer: 4\n\nCompute the result. Question: 17 + 24\nAnswer:'
    """
    from evalspec.prompts import text_of
    from evalspec.prompts.records import is_template
    from evalspec.tasks import refuse_bad

    value, schema, found = judged(record, project_or_found(project))
    refuse_bad(found[:1])
    assert schema is not None, "a valid record has a version"
    if is_template(value, schema):
        raise UsageError(
            f"{value['task_id']} is a template: it has a prompt for each row of its data set",
            fix="give rows to `evalspec.prompts.tasks.render_tasks`; `evalspec render` shows a placeholder row",
        )
    return text_of(value, schema.declaration.assembly)


def post_process(text: str, rule: str, schema: str = "head", *, project: Project | None = None) -> str:
    """What a post-process rule makes of a generation. A record's answers belong to the record's own version.

    Raises:
        UnknownRule: the version has no such rule; a `ValueError` that lists its rules.
        UnknownVersion: there is no such version.

    >>> import evalspec
    >>> evalspec.post_process("Answer: C is right", "extract_letter")
    'C'
    >>> evalspec.post_process("Answer: C is right", "extract_letter", schema="v1")
    'A'
    """
    project = project_or_found(project)
    return project.schema(id_of(project, schema)).post_process(text, rule)
