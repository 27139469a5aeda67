"""Version v3: a task can be a template over a data set (records.md, "v3 · a task can be a template over a data set").

Beside inline tasks, which carry their own prompt and targets, there are tasks that render the rows of a data set. A
task has a version of its own, metrics become a list, and word problems come with their metric and rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any

from evalspec.schema import (
    ABSENT,
    Absent,
    Declaration,
    Distinct,
    Exactly,
    Ge,
    MaxLen,
    Metric,
    MinLen,
    OneOf,
    Pair,
    Rule,
    Shape,
)

from . import v1, v2
from .v1 import FewShotExample, Prompt, TaskId
from .v2 import (
    CHOOSES,
    DOES_NOT_CHOOSE,
    GENERATES,
    OUTPUT_TYPES,
    READS_LIKELIHOODS,
    Generation,
    gold_is_a_choice,
    is_given,
    is_left_out,
    there_is_one_target,
)

# ── Closed vocabularies ──────────────────────────────────────────────────────────────────────────────────────

CATEGORIES = {**v2.CATEGORIES, "word_problem": "read a story and give its number"}

METRICS = {**v2.METRICS, "numeric_match": Metric()}

AGGREGATIONS = {
    "mean": "the mean over tasks",
    "corpus_bleu": "BLEU over all texts at once",
}

SAMPLERS = {
    "default": "drawn at random from the pool, by `seed`",
    "first_n": "the first ones of the pool",
}

_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?")


def extract_number(text: str) -> str:
    """The last number: a sign if it has one, digits without their thousands' commas, decimals if any; else nothing."""
    found = _NUMBER.findall(text)
    return found[-1].replace(",", "") if found else ""


POST_PROCESS = {**v2.POST_PROCESS, "extract_number": extract_number}

# ── What may go with what ────────────────────────────────────────────────────────────────────────────────────

PAIRS = (
    *v2.PAIRS,
    Pair(
        "word_problem",
        ("numeric_match", "exact_match"),
        ("extract_number", "extract_first_line", "strip_whitespace", "none"),
        output_type="generate_until",
    ),
)

# ── The record ───────────────────────────────────────────────────────────────────────────────────────────────

DocToText = str | int
DocToTarget = str | int | list[str | int]
DocToChoice = str | list[str] | dict[str, str]


@dataclass(frozen=True)
class MetricEntry:
    """One metric of a task; the first one is the task's own."""

    name: Annotated[str, OneOf(METRICS)]
    aggregation: Annotated[str, OneOf(AGGREGATIONS)]
    higher_is_better: bool


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every record of v3 holds."""

    spec_version: Annotated[int, Exactly(3)]
    version: Annotated[int, Ge(0)]
    task_id: TaskId
    category: Annotated[str, OneOf(CATEGORIES)]
    output_type: Annotated[str, OneOf(OUTPUT_TYPES)]
    description: str = ""
    target_delimiter: str = " "
    fewshot_delimiter: str = "\n\n"
    gen_prefix: str | Absent = ABSENT
    generation: Generation | Absent = ABSENT
    metrics: Annotated[list[MetricEntry], MinLen(1), Distinct("name")]
    post_process: Annotated[str, OneOf(POST_PROCESS)]
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class InlineFewshot:
    """The examples of an inline task: all used, in order."""

    samples: Annotated[list[FewShotExample], MaxLen(8)] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class InlineTask(Task):
    """A task that carries its own prompt."""

    prompt: Prompt
    targets: Annotated[list[str], MinLen(1)]
    choices: Annotated[list[str], MinLen(2), Distinct()] | Absent = ABSENT
    fewshot: InlineFewshot | Absent = ABSENT


@dataclass(frozen=True, kw_only=True)
class Splits:
    """The names of a data set's splits."""

    train: str | Absent = ABSENT
    validation: str | Absent = ABSENT
    test: str | Absent = ABSENT


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Where the rows come from."""

    path: Annotated[str, MinLen(1)]
    name: str | Absent = ABSENT
    kwargs: dict[str, Any] = field(default_factory=dict)
    splits: Splits | Absent = ABSENT


@dataclass(frozen=True, kw_only=True)
class TemplateFewshot:
    """The examples of a template task: rows of a pool, and how they are drawn and shown."""

    num: Annotated[int, Ge(0)] | Absent = ABSENT
    split: str | Absent = ABSENT
    samples: list[dict[str, Any]] | Absent = ABSENT
    sampler: Annotated[str, OneOf(SAMPLERS)] = "default"
    seed: int = 1234
    doc_to_text: DocToText | Absent = ABSENT
    doc_to_target: DocToTarget | Absent = ABSENT
    doc_to_choice: DocToChoice | Absent = ABSENT
    target_delimiter: str | Absent = ABSENT
    fewshot_delimiter: str | Absent = ABSENT
    gen_prefix: str | Absent = ABSENT


@dataclass(frozen=True, kw_only=True)
class TemplateTask(Task):
    """A task that renders the rows of a data set."""

    dataset: Dataset
    doc_to_text: DocToText
    doc_to_target: DocToTarget
    doc_to_choice: DocToChoice | Absent = ABSENT
    fewshot: TemplateFewshot | Absent = ABSENT


# ── The version ──────────────────────────────────────────────────────────────────────────────────────────────

version = Declaration(
    marker=3,
    shapes=(
        Shape("inline", InlineTask, keys=("prompt", "targets", "choices")),
        Shape(
            "template",
            TemplateTask,
            keys=("dataset", "doc_to_text", "doc_to_target", "doc_to_choice"),
            formats=("yaml",),
        ),
    ),
    categories=CATEGORIES,
    metrics=METRICS,
    metric_field="metrics[].name",
    post_process=POST_PROCESS,
    pairs=PAIRS,
    rules=(
        Rule("missing_required", is_given, ("choices",), shape="inline", when=CHOOSES),
        Rule("missing_required", is_given, ("doc_to_choice",), shape="template", when=CHOOSES),
        Rule("not_allowed", is_left_out, ("choices",), shape="inline", when=DOES_NOT_CHOOSE),
        Rule("not_allowed", is_left_out, ("generation",), when=READS_LIKELIHOODS),
        Rule(
            "bad_value",
            v1.mcq_target_is_a_letter,
            ("category", "targets"),
            field="targets",
            shape="inline",
            when=GENERATES,
        ),
        Rule("bad_value", there_is_one_target, ("targets",), shape="inline", when=READS_LIKELIHOODS),
        Rule("gold_not_in_choices", gold_is_a_choice, ("targets", "choices"), shape="inline", when=CHOOSES),
        Rule(
            "embedded_few_shot",
            v1.embedded_few_shot,
            ("prompt", "fewshot.samples", "target_delimiter", "gen_prefix"),
            shape="inline",
        ),
    ),
    assembly=v2.version.assembly._replace(examples="fewshot.samples", template="dataset"),
)
