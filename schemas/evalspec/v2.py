"""Version v2: prompt assembly is written down (records.md, "v2 · prompt assembly is written down").

v1 fixed how a prompt is put together. v2 names each part, so a chat model and a base model can be served from one
record, and a delimiter can be reviewed. What a model may be asked for is named too (`output_type`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from evalspec.schema import (
    ABSENT,
    Absent,
    Assembly,
    Declaration,
    Distinct,
    Exactly,
    FromField,
    MaxLen,
    Metric,
    MinLen,
    OneOf,
    Pair,
    Rule,
    Shape,
)

from . import v1
from .v1 import FewShotExample, Prompt, TaskId

if TYPE_CHECKING:
    from collections.abc import Sequence

# ── Closed vocabularies ──────────────────────────────────────────────────────────────────────────────────────

CATEGORIES = v1.CATEGORIES

METRICS = {**v1.METRICS, "accuracy_norm": Metric()}

OUTPUT_TYPES = {
    "generate_until": "the model writes until a stop string",
    "multiple_choice": "the choices are compared by their likelihood",
    "loglikelihood": "the likelihood of the one target is read",
}

#: Letters of the Latin script beside A to Z, and the marks that turn a letter into another.
_LATIN = (
    "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02b8\u0300-\u036f\u1d00-\u1d25\u1d2c-\u1d5c\u1d62-\u1d65"
    "\u1d6b-\u1d77\u1d79-\u1dbe\u1e00-\u1eff\u2071\u207f\u2090-\u209c\u212a\u212b\u2132\u214e\u2160-\u2188\u2c60-\u2c7f"
    "\ua722-\ua787\ua78b-\ua7ff\uab30-\uab64\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a\U00010780-\U000107ba\U0001df00-\U0001df2a"
)


def extract_letter(text: str) -> str:
    """The first of A to E with no Latin letter on either side; where there is none, the first; else nothing."""
    found = re.search(f"(?<![{_LATIN}])[A-E](?![{_LATIN}])", text) or re.search("[A-E]", text)
    return found[0] if found else ""


POST_PROCESS = {**v1.POST_PROCESS, "extract_letter": extract_letter}

# ── What may go with what ────────────────────────────────────────────────────────────────────────────────────

PAIRS = (
    *(pair._replace(output_type="generate_until") for pair in v1.PAIRS),
    Pair("mcq", ("accuracy", "accuracy_norm"), ("none",), output_type="multiple_choice"),
    Pair("classification", ("accuracy", "accuracy_norm"), ("none",), output_type="multiple_choice"),
    Pair("classification", ("accuracy",), ("none",), output_type="loglikelihood"),
)

# ── The record ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How the model generates."""

    until: list[str] | Absent = ABSENT
    max_gen_toks: int | Absent = ABSENT
    do_sample: bool | Absent = ABSENT
    temperature: float | Absent = ABSENT


@dataclass(frozen=True, kw_only=True)
class Task:
    """A record of v2."""

    spec_version: Annotated[int, Exactly(2)]
    task_id: TaskId
    category: Annotated[str, OneOf(CATEGORIES)]
    output_type: Annotated[str, OneOf(OUTPUT_TYPES)]
    description: str = ""
    prompt: Prompt
    targets: Annotated[list[str], MinLen(1)]
    choices: Annotated[list[str], MinLen(2), Distinct()] | Absent = ABSENT
    target_delimiter: str = " "
    fewshot_delimiter: str = "\n\n"
    gen_prefix: str | Absent = ABSENT
    generation: Generation | Absent = ABSENT
    metric_name: Annotated[str, OneOf(METRICS)]
    few_shot_examples: Annotated[list[FewShotExample], MaxLen(8)] = field(default_factory=list)
    post_process: Annotated[str, OneOf(POST_PROCESS)]
    metadata: dict[str, Any] = field(default_factory=dict)


# ── Rules across fields ──────────────────────────────────────────────────────────────────────────────────────


def is_given(value: object) -> str | None:
    """The field must be there."""
    return "is needed for this output type" if isinstance(value, Absent) else None


def is_left_out(value: object) -> str | None:
    """The field must not be there."""
    return None if isinstance(value, Absent) else "does not go with this output type"


def there_is_one_target(targets: Sequence[str]) -> str | None:
    """Where likelihoods are read, there is exactly one target."""
    return None if len(targets) == 1 else "a task whose likelihoods are read has exactly one target"


def gold_is_a_choice(targets: Sequence[str], choices: Sequence[str] | Absent) -> str | None:
    """The target is one of the choices."""
    if not isinstance(choices, Absent) and targets[0] not in choices:
        return "the target is none of the choices"
    return None


GENERATES = ("output_type", ("generate_until",))
CHOOSES = ("output_type", ("multiple_choice",))
DOES_NOT_CHOOSE = ("output_type", ("generate_until", "loglikelihood"))
READS_LIKELIHOODS = ("output_type", ("multiple_choice", "loglikelihood"))


# ── The version ──────────────────────────────────────────────────────────────────────────────────────────────

version = Declaration(
    marker=2,
    shapes=(Shape("inline", Task),),
    categories=CATEGORIES,
    metrics=METRICS,
    post_process=POST_PROCESS,
    pairs=PAIRS,
    rules=(
        Rule("missing_required", is_given, ("choices",), when=CHOOSES),
        Rule("not_allowed", is_left_out, ("choices",), when=DOES_NOT_CHOOSE),
        Rule("not_allowed", is_left_out, ("generation",), when=READS_LIKELIHOODS),
        Rule(
            "bad_value", v1.mcq_target_is_a_letter, ("category", "targets"), field="targets", when=GENERATES
        ),
        Rule("bad_value", there_is_one_target, ("targets",), when=READS_LIKELIHOODS),
        Rule("gold_not_in_choices", gold_is_a_choice, ("targets", "choices"), when=CHOOSES),
        Rule(
            "embedded_few_shot",
            v1.embedded_few_shot,
            ("prompt", "few_shot_examples", "target_delimiter", "gen_prefix"),
        ),
    ),
    assembly=Assembly(
        system=FromField("description"),
        question="prompt",
        examples="few_shot_examples",
        target_delimiter=FromField("target_delimiter", " "),
        fewshot_delimiter=FromField("fewshot_delimiter", "\n\n"),
        gen_prefix=FromField("gen_prefix"),
        output_type=FromField("output_type"),
        choices="choices",
        stop="generation.until",
        generation="generation",
    ),
)
