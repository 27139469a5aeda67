"""What shows when a task is rendered: over its first rows, or over one that is made up from its templates."""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from evalspec.check.lint.joins import joins, way_of
from evalspec.check.lint.remark import Remark
from evalspec.check.lint.shots import FEWSHOT_LEAK, POOL_TOO_SMALL, STOP_IN_PROMPT
from evalspec.check.rule import Rule
from evalspec.prompts.context_parts import context_parts
from evalspec.prompts.problems import Unknown
from evalspec.prompts.prompt import Prompt
from evalspec.prompts.requests import continuation_delimiter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.template import Row, TemplateTask
    from evalspec.prompts.view import View

TARGET_TYPE_CHANGES = Rule(
    "target_type_changes",
    "warning",
    "A target that is a text reads as a list, and the harness makes one of it.",
    "task: lists\ntest_split: test\ndoc_to_text: '{{question}}'\ndoc_to_target: '[1, 2]'\n",
    "give a list as a column, or a text that does not begin with a bracket",
)
FIRST_ROW_DECIDES = Rule(
    "first_row_decides",
    "error",
    "Rows have inputs or targets of different kinds, and the first row decides for all of them.",
    "task: lists\ntest_split: test\ndoc_to_text: '{{question}}'\ndoc_to_target: answers\n",
    "let the field give the same kind for every row",
)
CHOICES_UNPARSABLE = Rule(
    "choices_unparsable",
    "error",
    "The text that doc_to_choice gives is no list that Python can read.",
    "task: letters\noutput_type: multiple_choice\ntest_split: test\ndoc_to_text: '{{question}}'\n"
    "doc_to_target: 0\ndoc_to_choice: 'A, B'\n",
    "let doc_to_choice give a list for every row",
)
GOLD_NOT_IN_CHOICES = Rule(
    "gold_not_in_choices",
    "error",
    "The right answer is none of the choices, so a row can never be right.",
    "task: letters\noutput_type: multiple_choice\ntest_split: test\ndoc_to_text: '{{question}}'\n"
    "doc_to_target: 2\ndoc_to_choice: [A, B]\n",
    "let doc_to_target name one of the choices, or its number from 0",
)
SPACE_FROM_ROW = Rule(
    "space_from_row",
    "warning",
    "A value of a row brings white space to the edge of a question or of an answer that is compared.",
    "task: articles\ntest_split: test\ndoc_to_text: '{{question}}'\ndoc_to_target: '{{answer}}'\n",
    "strip it: {{question.strip()}}, or the rows themselves",
)
RULES = (TARGET_TYPE_CHANGES, FIRST_ROW_DECIDES, CHOICES_UNPARSABLE, GOLD_NOT_IN_CHOICES, SPACE_FROM_ROW)

#: So many rows are looked at; what is true of a task shows in its first rows or hardly ever.
ROWS = 100
_WEIGHT = {"info": 0, "warning": 1, "error": 2}
#: A value that was made up.
_MADE_UP = re.compile("⟨[^⟨⟩]*⟩")
#: So many characters at the end of a text show how it ends.
_EDGE = 40
#: So many letters make a word that a model would repeat.
_WORD = 4
_GENERATION = "generation_kwargs"


def rendered(task: TemplateTask, view: View) -> list[Remark]:
    """Everything that shows in a task's first rows under one view, each rule once."""
    return once(_of_rows(task, view))


def once(remarks: Iterable[Remark]) -> list[Remark]:
    """One remark of each rule and field: the first of those that weigh most."""
    found: dict[tuple[str, str], Remark] = {}
    for remark in remarks:
        before = found.setdefault((remark.rule.id, remark.field), remark)
        if (
            _WEIGHT[remark.severity or remark.rule.severity]
            > _WEIGHT[before.severity or before.rule.severity]
        ):
            found[remark.rule.id, remark.field] = remark
    return list(found.values())


def _of_rows(task: TemplateTask, view: View) -> Iterator[Remark]:
    scored = continuation_delimiter(task.config.target_delimiter, task.config.gen_prefix, chat=view.as_chat)
    way = way_of(task.config, scored, made_up=task.made_up)
    for number, doc, shots in islice(task.draws(view), ROWS):
        try:
            try:
                row = task.read(doc, shots)
            except Exception:
                if not task.made_up:
                    raise
                row = task.read(doc, ())  # a made-up example may not fit where a made-up row does
        except Unknown:
            return
        except Exception as problem:  # noqa: BLE001 - a row that fails is told of where it is rendered
            yield from _failed(problem, number, shots)
            continue
        yield from _of_row(task, row, view, number)
        if task.multiple_input:
            continue
        try:
            context = task.fewshot_context(row, view)
            parts = context_parts(task, row, context, view, number)
        except Exception:  # noqa: BLE001, S112 - as above
            continue
        choices = tuple(row.c) if isinstance(row.c, list | tuple) else None
        prompt = Prompt(
            context.text, (), parts, choices=choices, output_type=task.config.output_type, shots=row.shots
        )
        yield from joins(prompt, view, way)


def _failed(problem: Exception, number: int, shots: Any) -> Iterator[Remark]:
    if problem is shots:
        yield Remark(
            POOL_TOO_SMALL, "num_fewshot", f"the examples cannot be drawn: {problem}", anchors=("fewshot",)
        )
        return
    field = str(getattr(problem, "field", ""))
    if field.endswith("doc_to_choice"):
        yield Remark(CHOICES_UNPARSABLE, field, f"the choices of row {number} are no list: {problem}")


def unbuilt(problem: Exception, config: TaskConfig, *, made_up: bool) -> Iterator[Remark]:
    """What there is to say of a task that the harness cannot build over its first row.

    A made-up row may not fit a template; what is no template fails for every row.
    """
    field = str(getattr(problem, "field", ""))
    if made_up and any("{" in str(each) for each in (config.doc_to_choice, config.doc_to_target)):
        return
    if field.endswith("doc_to_choice"):
        yield Remark(CHOICES_UNPARSABLE, field, f"the choices are no list: {problem}")
    elif isinstance(problem, IndexError):
        yield Remark(
            GOLD_NOT_IN_CHOICES, "doc_to_target", f"the target is the number of no choice: {problem}"
        )


def _of_row(task: TemplateTask, row: Row, view: View, number: int) -> Iterator[Remark]:
    yield from _types(task, row, number)
    yield from _gold(task, row, number)
    yield from _space(task, row, number)
    config = task.config
    shots = [task.shot(at) for at in row.shots]
    if not task.made_up and any(shot.q == row.q and not task.multiple_input for shot in shots):
        message = f"row {number} is shown its own question, with the answer, as an example"
        yield Remark(FEWSHOT_LEAK, "fewshot_split", message, anchors=("test_split", "validation_split"))
    if config.output_type == "generate_until" and isinstance(config.generation_kwargs, dict):
        until = config.generation_kwargs.get("until")
        stops = [until] if isinstance(until, str) else [each for each in until or () if isinstance(each, str)]
        yield from stopped(stops, [shot.a for shot in shots], _GENERATION)
        if view.as_chat and not shots and isinstance(row.q, str):
            yield from _told(stops, row.q)


def stopped(stops: list[str], answers: list[Any], generation: str) -> Iterator[Remark]:
    """Stop strings inside answers that are shown or expected.

    Args:
        stops: the stop strings.
        answers: the answers.
        generation: the field with the settings of the generation.
    """
    for stop, answer in product(stops, answers):
        text = answer[0] if isinstance(answer, list) and answer else answer
        if not stop or not isinstance(text, str):
            continue
        text = _MADE_UP.sub("⟨⟩", text)
        at = text.find(stop, len(text) - len(text.lstrip()))
        if at >= 0 and text[at + len(stop) :].strip():
            message = (
                f"an answer of the task holds the stop string {stop!r}: one like it would be cut off there"
            )
            yield _stop(message, text[max(0, at - 30) : at + 30], generation)
            return


def _told(stops: list[str], question: str) -> Iterator[Remark]:
    """Stop strings that a chat model reads in the question, and ends at once if it begins by repeating it."""
    for stop in stops:
        if sum(map(str.isalpha, stop)) >= _WORD and stop.strip() in question:
            message = (
                f"the question holds the stop string {stop!r}: a chat model that repeats it says nothing more"
            )
            yield _stop(message, stop, _GENERATION)
            return


def _stop(message: str, text: str, generation: str) -> Remark:
    return Remark(STOP_IN_PROMPT, f"{generation}.until", message, text, anchors=(generation, "doc_to_target"))


def _types(task: TemplateTask, row: Row, number: int) -> Iterator[Remark]:
    target, spec = row.a, task.config.doc_to_target
    if isinstance(target, list) and isinstance(spec, str) and spec not in task.fields.features:
        message = f"the target of row {number} is a text that reads as a list, and becomes one"
        yield Remark(TARGET_TYPE_CHANGES, "doc_to_target", message, str(target))
    several = isinstance(row.q, int) and task.config.doc_to_choice is not None
    inputs_differ = several != bool(task.multiple_input)
    targets_differ = isinstance(target, list) != bool(task.multiple_target)
    if (inputs_differ or targets_differ) and not isinstance(target, Unknown):
        message = f"row {number} has inputs or targets of another kind than row 0, which decides for all"
        yield Remark(FIRST_ROW_DECIDES, "doc_to_text" if inputs_differ else "doc_to_target", message)


def _gold(task: TemplateTask, row: Row, number: int) -> Iterator[Remark]:
    if task.config.output_type != "multiple_choice" or not isinstance(row.c, list) or task.multiple_input:
        return
    if task.made_up and not _is_fixed(task, row):
        return
    for target in row.a if isinstance(row.a, list) else [row.a]:
        if isinstance(target, bool) or not isinstance(target, int | str):
            continue
        is_one = -len(row.c) <= target < len(row.c) if isinstance(target, int) else target in row.c
        if not is_one:
            message = f"the target of row {number}, {target!r}, is none of the {len(row.c)} choices"
            yield Remark(GOLD_NOT_IN_CHOICES, "doc_to_target", message, str(target))


def _space(task: TemplateTask, row: Row, number: int) -> Iterator[Remark]:
    """White space at an edge that the template does not have there, and so the row has.

    Of a task that generates: a text that is scored is joined to the question, where other rules look.
    """
    if task.made_up or task.config.output_type != "generate_until":
        return
    config = task.config
    for field, spec, text in (
        ("doc_to_text", config.doc_to_text, row.q),
        ("doc_to_target", config.doc_to_target, row.a),
    ):
        if not isinstance(text, str) or not isinstance(spec, str) or not text.strip():
            continue
        template = "" if spec in task.fields.features else spec
        begins = text[0].isspace() and not template[:1].isspace()
        ends = text[-1].isspace() and not template[-1:].isspace()
        if begins or ends:
            what = "the question" if field == "doc_to_text" else "the answer"
            where = "begins and ends" if begins and ends else "begins" if begins else "ends"
            shown = text if begins else text[-_EDGE:]
            yield Remark(
                SPACE_FROM_ROW, field, f"{what} of row {number} {where} with white space of the row", shown
            )


def _is_fixed(task: TemplateTask, row: Row) -> bool:
    """Whether the target and the choices are the same for every row, so that a made-up one shows them."""
    target, choices = task.config.doc_to_target, task.config.doc_to_choice
    named = isinstance(target, str) and ("{" in target or target in row.doc)
    return not named and isinstance(choices, list | dict)
