"""Version acme@v2: sentiment, and prompts whose parts are told apart.

The team reads reviews now, so there is a category for their sentiment, with a metric and a rule of its own. Examples
are parted by a ruled line, and a description ends its line, because models took one part for the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from evalspec.schema import Distinct, Exactly, FromField, Metric, MinLen, OneOf, Pair, Rule

from . import v1

# ── Closed vocabularies ──────────────────────────────────────────────────────────────────────────────────────

CATEGORIES = {**v1.CATEGORIES, "sentiment": "say how the writer feels"}

METRICS = {**v1.METRICS, "macro_f1": Metric(aggregation="macro")}

AGGREGATIONS = {**v1.AGGREGATIONS, "macro": "the mean over classes, each counting the same"}

_LABEL = re.compile(r"\b(?:positive|negative|neutral|mixed)\b", re.IGNORECASE)


def extract_label(text: str) -> str:
    """The first word that is a label, in lower case; else nothing."""
    found = _LABEL.search(text)
    return found[0].lower() if found else ""


POST_PROCESS = {**v1.POST_PROCESS, "extract_label": extract_label}

PAIRS = (
    *v1.PAIRS,
    Pair(
        "sentiment",
        ("macro_f1", "accuracy"),
        ("extract_label", "extract_first_line", "lower", "none"),
        "generate_until",
    ),
)

# ── The record ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class MetricEntry(v1.MetricEntry):
    """One metric of a task; the first one is the task's own."""

    name: Annotated[str, OneOf(METRICS)]
    aggregation: Annotated[str, OneOf(AGGREGATIONS)]


@dataclass(frozen=True, kw_only=True)
class Changed:
    """The fields that are not what they were in acme@v1."""

    spec_version: Annotated[str, Exactly("acme@v2")]
    category: Annotated[str, OneOf(CATEGORIES)]
    fewshot_delimiter: str = "\n\n---\n\n"
    metrics: Annotated[list[MetricEntry], MinLen(1), Distinct("name")]
    post_process: Annotated[str, OneOf(POST_PROCESS)]


@dataclass(frozen=True, kw_only=True)
class InlineTask(Changed, v1.InlineTask):
    """A task that carries its own prompt."""


@dataclass(frozen=True, kw_only=True)
class TemplateTask(Changed, v1.TemplateTask):
    """A task that renders the rows of a data set."""


def description_ends_its_line(description: str) -> str | None:
    """What follows a description begins on a line of its own."""
    if description and not description.endswith("\n"):
        return "a description must end in a line end, or it is glued to what follows"
    return None


# ── The version ──────────────────────────────────────────────────────────────────────────────────────────────

_inline, _template = v1.version.shapes

version = v1.version._replace(
    marker="acme@v2",
    shapes=(_inline._replace(record=InlineTask), _template._replace(record=TemplateTask)),
    categories=CATEGORIES,
    metrics=METRICS,
    post_process=POST_PROCESS,
    pairs=PAIRS,
    rules=(*v1.RULES, Rule("bad_value", description_ends_its_line, ("description",))),
    assembly=v1.version.assembly._replace(fewshot_delimiter=FromField("fewshot_delimiter", "\n\n---\n\n")),
)
