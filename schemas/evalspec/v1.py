"""Version v1: inline tasks (records.md, "v1 · inline tasks").

One task is one record. It carries its own examples and post-process rule, so every model is asked and read in the
same way. A record without `spec_version` is v1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from evalspec.schema import (
    ABSENT,
    Absent,
    Assembly,
    Constant,
    Declaration,
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
}

METRICS = {
    "exact_match": Metric(),
    "f1": Metric(),
    "bleu_4": Metric(aggregation="corpus_bleu"),
    "rouge_l": Metric(),
    "accuracy": Metric(),
    "code_exec": Metric(),
}


def none(text: str) -> str:
    """The text unchanged."""
    return text


def strip_whitespace(text: str) -> str:
    """White space gone at both ends."""
    return text.strip()


def lower(text: str) -> str:
    """Lower case."""
    return text.lower()


def extract_letter(text: str) -> str:
    """The first character that is one of A to E, else nothing."""
    found = re.search("[A-E]", text)
    return found[0] if found else ""


def extract_code_block(text: str) -> str:
    """The body of the first closed fence of three backticks, its last line end kept; the text, if there is none.

    The body begins after the line end of the opening fence. A fence that closes on its own line has no body.
    """
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


POST_PROCESS = {
    "none": none,
    "strip_whitespace": strip_whitespace,
    "lower": lower,
    "extract_letter": extract_letter,
    "extract_code_block": extract_code_block,
    "extract_first_line": extract_first_line,
}

# ── What may go with what ────────────────────────────────────────────────────────────────────────────────────


def all_but(*names: str) -> tuple[str, ...]:
    """Every post-process rule of this version except `names`."""
    return tuple(name for name in POST_PROCESS if name not in names)


PAIRS = (
    Pair("arithmetic", ("exact_match", "f1"), all_but("extract_code_block", "extract_letter")),
    Pair("mcq", ("exact_match",), ("none", "strip_whitespace", "extract_letter")),
    Pair("code_exec", ("code_exec",), ("none", "strip_whitespace", "extract_code_block")),
    Pair("classification", ("exact_match", "accuracy", "f1"), all_but("extract_code_block")),
    Pair(
        "summary",
        ("exact_match", "f1", "bleu_4", "rouge_l"),
        all_but("extract_letter", "extract_code_block"),
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


@dataclass(frozen=True)
class FewShotExample:
    """One worked example."""

    prompt: str
    completion: str


@dataclass(frozen=True, kw_only=True)
class Task:
    """A record of v1."""

    task_id: TaskId
    category: Annotated[str, OneOf(CATEGORIES)]
    prompt: Prompt
    targets: Annotated[list[str], MinLen(1)]
    metric_name: Annotated[str, OneOf(METRICS)]
    few_shot_examples: Annotated[list[FewShotExample], MaxLen(8)] = field(default_factory=list)
    post_process: Annotated[str, OneOf(POST_PROCESS)]
    metadata: dict[str, Any] = field(default_factory=dict)


# ── Rules across fields ──────────────────────────────────────────────────────────────────────────────────────


def mcq_target_is_a_letter(category: str, targets: Sequence[str]) -> str | None:
    """A multiple-choice task has exactly one target, a single letter A to E."""
    if category == "mcq" and not (len(targets) == 1 and targets[0] in ("A", "B", "C", "D", "E")):
        return "an mcq task has exactly one target, a single letter A to E"
    return None


#: Looked for in "\n" + prompt: a pattern that begins with one fixed character is found eight times faster.
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


# ── The version ──────────────────────────────────────────────────────────────────────────────────────────────

version = Declaration(
    shapes=(Shape("inline", Task),),
    categories=CATEGORIES,
    metrics=METRICS,
    post_process=POST_PROCESS,
    pairs=PAIRS,
    rules=(
        Rule("bad_value", mcq_target_is_a_letter, ("category", "targets"), field="targets"),
        Rule("embedded_few_shot", embedded_few_shot, ("prompt", "few_shot_examples")),
    ),
    assembly=Assembly(
        question="prompt",
        examples="few_shot_examples",
        target_delimiter=Constant(" "),
        fewshot_delimiter=Constant("\n\n"),
    ),
)
