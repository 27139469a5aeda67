"""Version acme@v1: evalspec@v3, written out in full so that it is the team's own (records.md, "v3").

Nothing here is imported from another family: the team changes its contract when the team decides to.
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
    Ge,
    MaxLen,
    Metric,
    MinLen,
    OneOf,
    Pair,
    Pattern,
    Rule,
    Shape,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

# ── Closed vocabularies ──────────────────────────────────────────────────────────────────────────────────────

CATEGORIES = {
    "arithmetic": "compute a number",
    "mcq": "choose one letter",
    "code_exec": "write code that passes the tests in `targets`",
    "classification": "name a class",
    "summary": "write a text that is compared with the targets",
    "word_problem": "read a story and give its number",
}

METRICS = {
    "exact_match": Metric(),
    "f1": Metric(),
    "bleu_4": Metric(aggregation="corpus_bleu"),
    "rouge_l": Metric(),
    "accuracy": Metric(),
    "code_exec": Metric(),
    "accuracy_norm": Metric(),
    "numeric_match": Metric(),
}

AGGREGATIONS = {"mean": "the mean over tasks", "corpus_bleu": "BLEU over all texts at once"}

OUTPUT_TYPES = {
    "generate_until": "the model writes until a stop string",
    "multiple_choice": "the choices are compared by their likelihood",
    "loglikelihood": "the likelihood of the one target is read",
}

SAMPLERS = {"default": "drawn at random from the pool, by `seed`", "first_n": "the first ones of the pool"}


def none(text: str) -> str:
    """The text unchanged."""
    return text


def strip_whitespace(text: str) -> str:
    """White space gone at both ends."""
    return text.strip()


def lower(text: str) -> str:
    """Lower case."""
    return text.lower()


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


def extract_code_block(text: str) -> str:
    """The body of the first closed fence of three backticks, its last line end kept; the text, if there is none."""
    start = text.find("```")
    while start >= 0:
        line_end = text.find("\n", start)
        if line_end < 0:
            break
        closed = text.find("```", start + 3, line_end)
        if closed < 0:
            end = text.find("```", line_end + 1)
            return text if end < 0 else text[line_end + 1 : end]
        start = text.find("```", closed + 3)
    return text


def extract_first_line(text: str) -> str:
    """The first line that is not blank, stripped; else nothing. Lines end at a line feed, or both."""
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?")


def extract_number(text: str) -> str:
    """The last number: a sign if it has one, digits without their thousands' commas, decimals if any; else nothing."""
    found = _NUMBER.findall(text)
    return found[-1].replace(",", "") if found else ""


POST_PROCESS = {
    "none": none,
    "strip_whitespace": strip_whitespace,
    "lower": lower,
    "extract_letter": extract_letter,
    "extract_code_block": extract_code_block,
    "extract_first_line": extract_first_line,
    "extract_number": extract_number,
}

# ── What may go with what ────────────────────────────────────────────────────────────────────────────────────

_TEXT = ("none", "strip_whitespace", "lower", "extract_first_line")

PAIRS = (
    Pair("arithmetic", ("exact_match", "f1"), _TEXT, "generate_until"),
    Pair("mcq", ("exact_match",), ("none", "strip_whitespace", "extract_letter"), "generate_until"),
    Pair("code_exec", ("code_exec",), ("none", "strip_whitespace", "extract_code_block"), "generate_until"),
    Pair("classification", ("exact_match", "accuracy", "f1"), (*_TEXT, "extract_letter"), "generate_until"),
    Pair("summary", ("exact_match", "f1", "bleu_4", "rouge_l"), _TEXT, "generate_until"),
    Pair("mcq", ("accuracy", "accuracy_norm"), ("none",), "multiple_choice"),
    Pair("classification", ("accuracy", "accuracy_norm"), ("none",), "multiple_choice"),
    Pair("classification", ("accuracy",), ("none",), "loglikelihood"),
    Pair(
        "word_problem",
        ("numeric_match", "exact_match"),
        ("extract_number", "extract_first_line", "strip_whitespace", "none"),
        "generate_until",
    ),
)

# ── The record ───────────────────────────────────────────────────────────────────────────────────────────────


def holds_no_space(text: str) -> bool:
    """True where no character of `text` is white space."""
    return text.split() == [text]


def ends_without_space(text: str) -> bool:
    """True where the last character of `text` is not white space."""
    return not text[-1:].isspace()


def none_holds_space(texts: Sequence[str]) -> bool:
    """`holds_no_space` of many texts."""
    return " ".join(texts).split() == texts


def none_ends_in_space(texts: Sequence[str]) -> bool:
    """`ends_without_space` of many texts."""
    ends = "".join([text[-1:] for text in texts])
    return ends.split() == [ends]


TaskId = Annotated[str, MinLen(1), Pattern(holds_no_space, "hold no white space", none_holds_space)]
Prompt = Annotated[str, MinLen(1), Pattern(ends_without_space, "not end in white space", none_ends_in_space)]
DocToText = str | int
DocToTarget = str | int | list[str | int]
DocToChoice = str | list[str] | dict[str, str]


@dataclass(frozen=True)
class FewShotExample:
    """One worked example."""

    prompt: str
    completion: str


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How the model generates."""

    until: list[str] | Absent = ABSENT
    max_gen_toks: int | Absent = ABSENT
    do_sample: bool | Absent = ABSENT
    temperature: float | Absent = ABSENT


@dataclass(frozen=True)
class MetricEntry:
    """One metric of a task; the first one is the task's own."""

    name: Annotated[str, OneOf(METRICS)]
    aggregation: Annotated[str, OneOf(AGGREGATIONS)]
    higher_is_better: bool


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every record of acme@v1 holds."""

    spec_version: Annotated[str, Exactly("acme@v1")]
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


# ── Rules across fields ──────────────────────────────────────────────────────────────────────────────────────


def is_given(value: object) -> str | None:
    """The field must be there."""
    return "is needed for this output type" if isinstance(value, Absent) else None


def is_left_out(value: object) -> str | None:
    """The field must not be there."""
    return None if isinstance(value, Absent) else "does not go with this output type"


def mcq_target_is_a_letter(category: str, targets: Sequence[str]) -> str | None:
    """A multiple-choice task has exactly one target, a single letter A to E."""
    if category == "mcq" and not (len(targets) == 1 and targets[0] in ("A", "B", "C", "D", "E")):
        return "an mcq task has exactly one target, a single letter A to E"
    return None


def there_is_one_target(targets: Sequence[str]) -> str | None:
    """Where likelihoods are read, there is exactly one target."""
    return None if len(targets) == 1 else "a task whose likelihoods are read has exactly one target"


def gold_is_a_choice(targets: Sequence[str], choices: Sequence[str] | Absent) -> str | None:
    """The target is one of the choices."""
    if not isinstance(choices, Absent) and targets[0] not in choices:
        return "the target is none of the choices"
    return None


_HEADED_LINE = re.compile(
    r"\n[^\S\n]*(?:[Qq](?:[Uu][Ee][Ss][Tt][Ii][Oo][Nn])?|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]):"
)


def meets_space(left: str, right: str) -> bool:
    """True where nothing, or white space, stands on one side of a seam."""
    return not left or not right or left[-1].isspace() or right[0].isspace()


def example_text(example: FewShotExample, delimiter: str, gen_prefix: str | Absent) -> str:
    """An example as it is rendered. Version v1 has no `gen_prefix`: an answer begins with nothing but itself."""
    if not gen_prefix:
        return example.prompt + delimiter + example.completion
    question = example.prompt + ("" if meets_space(example.prompt, gen_prefix) else delimiter)
    return (
        question
        + gen_prefix
        + ("" if meets_space(gen_prefix, example.completion) else " ")
        + example.completion
    )


def embedded_few_shot(
    prompt: str, examples: Sequence[FewShotExample], delimiter: str = " ", gen_prefix: str | Absent = ABSENT
) -> str | None:
    """A prompt holds no few-shot block of its own: the examples have a field, and the renderer puts them in."""
    if prompt.count(":") > 1 and _HEADED_LINE.search(prompt) and len(_HEADED_LINE.findall("\n" + prompt)) > 1:
        return "more than one line begins with `question:`, `q:` or `example:`"
    for example in examples:
        if example.prompt not in prompt:  # with which its text begins
            continue
        text = example_text(example, delimiter, gen_prefix)
        if text in prompt and not text.isspace():
            return "the prompt contains the text of one of its own examples"
    return None


GENERATES = ("output_type", ("generate_until",))
CHOOSES = ("output_type", ("multiple_choice",))
DOES_NOT_CHOOSE = ("output_type", ("generate_until", "loglikelihood"))
READS_LIKELIHOODS = ("output_type", ("multiple_choice", "loglikelihood"))

RULES = (
    Rule("missing_required", is_given, ("choices",), shape="inline", when=CHOOSES),
    Rule("missing_required", is_given, ("doc_to_choice",), shape="template", when=CHOOSES),
    Rule("not_allowed", is_left_out, ("choices",), shape="inline", when=DOES_NOT_CHOOSE),
    Rule("not_allowed", is_left_out, ("generation",), when=READS_LIKELIHOODS),
    Rule("bad_value", mcq_target_is_a_letter, ("category", "targets"), "targets", "inline", GENERATES),
    Rule("bad_value", there_is_one_target, ("targets",), shape="inline", when=READS_LIKELIHOODS),
    Rule("gold_not_in_choices", gold_is_a_choice, ("targets", "choices"), shape="inline", when=CHOOSES),
    Rule(
        "embedded_few_shot",
        embedded_few_shot,
        ("prompt", "fewshot.samples", "target_delimiter", "gen_prefix"),
        shape="inline",
    ),
)

# ── The version ──────────────────────────────────────────────────────────────────────────────────────────────

version = Declaration(
    marker="acme@v1",
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
    rules=RULES,
    assembly=Assembly(
        system=FromField("description"),
        question="prompt",
        examples="fewshot.samples",
        target_delimiter=FromField("target_delimiter", " "),
        fewshot_delimiter=FromField("fewshot_delimiter", "\n\n"),
        gen_prefix=FromField("gen_prefix"),
        output_type=FromField("output_type"),
        choices="choices",
        stop="generation.until",
        generation="generation",
        template="dataset",
    ),
)
