"""What a person should know of a template task before its scores are compared (prompting.md, "Checked at load").

Nothing here is an error of the harness: it renders all of it without a word.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.prompts.problems import Unknown
from evalspec.prompts.requests import continuation_delimiter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.errors import Severity
    from evalspec.prompts.docs import Docs
    from evalspec.prompts.template import Row, TemplateTask
    from evalspec.prompts.view import View

#: So many rows are looked at; what is true of a task shows in its first rows or hardly ever.
ROWS = 100


class Check(NamedTuple):
    """Something to know about a task.

    Attributes:
        rule: the rule's id.
        severity: how bad it is.
        field: the field it is about.
        row: the first row that shows it; None where it is true of the task as a whole.
        message: what is the case, one sentence.
        fix: the next step.
    """

    rule: str
    severity: Severity
    field: str
    row: int | None
    message: str
    fix: str


def check_task(task: TemplateTask, data: Docs, view: View) -> list[Check]:
    """Everything there is to know of a task under one view, each rule once.

    Args:
        task: the task with its rows.
        data: where its rows and its pool came from.
        view: how it is shown; run it for each view of the project.
    """
    found: dict[str, Check] = {}
    for check in (*_of_settings(task, data), *_of_rows(task, view)):
        found.setdefault(check.rule, check)
    return list(found.values())


def _of_settings(task: TemplateTask, data: Docs) -> Iterator[Check]:
    config = task.config
    if data.fell_back is not None:
        test = data.fell_back == config.test_split
        yield Check(
            "fewshot_fallback",
            "error" if test and config.num_fewshot else "warning",
            "fewshot_split",
            None,
            f"no pool of examples is named, so they are drawn from split {data.fell_back!r}"
            + (", which is the one that is evaluated" if test else ""),
            "name a fewshot_split",
        )
    elif config.fewshot.split is not None and config.fewshot.split == data.split:
        yield Check(
            "fewshot_from_test",
            "warning",
            "fewshot_split",
            None,
            f"the examples are drawn from split {data.split!r}, the one that is evaluated",
            "draw them from another split",
        )
    own = config.generation_kwargs if config.output_type == "generate_until" else None
    if isinstance(own, dict) and own.get("until") in ([], [config.fewshot_delimiter]):
        yield Check(
            "implicit_stop",
            "warning",
            "generation_kwargs",
            None,
            f"the generation has no stop string of its own; it stops at {own.get('until')!r}",
            "say where a generation ends: generation_kwargs.until",
        )


def _of_rows(task: TemplateTask, view: View) -> Iterator[Check]:
    for number, doc, shots in islice(task.draws(view), ROWS):
        try:
            row = task.read(doc, shots)
        except Unknown:
            return
        except Exception as problem:  # noqa: BLE001 - a row that fails is told of where it is rendered
            if "doc_to_choice" in str(getattr(problem, "field", "")):
                yield Check(
                    "choices_do_not_parse",
                    "error",
                    "doc_to_choice",
                    number,
                    f"the choices of row {number} are no list: {problem}",
                    "let doc_to_choice give a list for every row",
                )
            continue
        yield from _of_row(task, row, view, number)


def _of_row(task: TemplateTask, row: Row, view: View, number: int) -> Iterator[Check]:
    yield from _types(task, row, number)
    yield from _seams(task, row, view, number)
    shots = [task.shot(at) for at in row.shots]
    if any(shot.a is None or shot.a == "" for shot in shots):
        yield Check(
            "empty_shot_target",
            "warning",
            "doc_to_target",
            number,
            f"an example of row {number} has no answer, so the next text is glued to its question",
            "give every example an answer, or put it into doc_to_text with a line end",
        )
    first = shots[0].q if shots else row.q
    description = row.description
    told = isinstance(first, str) and description and first and not view.as_chat
    if told and not (description[-1].isspace() or first[0].isspace()):
        yield Check(
            "glued_parts",
            "warning",
            "description",
            number,
            "nothing stands between the description and what follows it",
            "end the description in a line end or a space",
        )
    if any(shot.q == row.q and not task.multiple_input for shot in shots):
        yield Check(
            "fewshot_leak",
            "error",
            "fewshot_split",
            number,
            f"row {number} is shown its own question, with the answer, as an example",
            "draw the examples from a split that is not evaluated",
        )


def _types(task: TemplateTask, row: Row, number: int) -> Iterator[Check]:
    target = row.a
    spec = task.config.doc_to_target
    if isinstance(target, list) and isinstance(spec, str) and spec not in task.fields.features:
        yield Check(
            "target_type_changes",
            "warning",
            "doc_to_target",
            number,
            f"the target of row {number} is a text that reads as a list, and becomes one",
            "give a list as a column, or a text that does not begin with a bracket",
        )
    several = isinstance(row.q, int) and task.config.doc_to_choice is not None
    inputs_differ = several != bool(task.multiple_input)
    targets_differ = isinstance(target, list) != bool(task.multiple_target)
    if (inputs_differ or targets_differ) and not isinstance(target, Unknown):
        yield Check(
            "first_row_decides",
            "error",
            "doc_to_text" if inputs_differ else "doc_to_target",
            number,
            f"row {number} has inputs or targets of another kind than row 0, which decides for all",
            "let the field give the same kind for every row",
        )


def _seams(task: TemplateTask, row: Row, view: View, number: int) -> Iterator[Check]:
    """The white space between what is shown and the choices that are scored."""
    config = task.config
    choices: Any = row.c
    if config.output_type != "multiple_choice" or task.multiple_input or not isinstance(choices, list):
        return
    delimiter = continuation_delimiter(config.target_delimiter, config.gen_prefix, chat=view.as_chat)
    before = row.gen_prefix or (row.q if not view.as_chat else " ")
    for choice in choices:
        scored = f"{delimiter}{choice}"
        if not isinstance(before, str) or not before or not str(choice):
            continue
        left = before[-1].isspace() + scored[: len(delimiter)][-1:].isspace() + str(choice)[0].isspace()
        if left > 1:
            yield Check(
                "double_space_join",
                "warning",
                "target_delimiter",
                number,
                f"the choice {str(choice)[:40]!r} is scored after two pieces of white space",
                "keep the space in the delimiter or in the choices, not in both",
            )
        elif left == 0:
            yield Check(
                "no_space_join",
                "warning",
                "target_delimiter",
                number,
                f"the choice {str(choice)[:40]!r} is scored with no white space before it",
                "put a space into target_delimiter, unless the language has none",
            )
    if view.as_chat and not view.multiturn and row.shots and delimiter != task.few.target_delimiter:
        yield Check(
            "shown_not_scored",
            "warning",
            "target_delimiter",
            number,
            f"the examples show {task.few.target_delimiter!r} before an answer, and {delimiter!r} is scored",
            "show examples as turns of their own, or accept the difference knowingly",
        )
