"""Let a task be a template over a data set.

An inline task stays what it was: its examples move under `fewshot`, its metric becomes a list of one, and it gets a
version of its own. Templates, word problems, their metric and their post-process rule are new.

Revision: v3
Revises: v2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspec.migrate import Recorder

revision = "v3"
down_revision = "v2"
prompts = "unchanged"
outputs = "unchanged"

#: v2's metrics, with the aggregation that each had by default. For all of them higher is better.
AGGREGATIONS = {
    "exact_match": "mean",
    "f1": "mean",
    "bleu_4": "corpus_bleu",
    "rouge_l": "mean",
    "accuracy": "mean",
    "code_exec": "mean",
    "accuracy_norm": "mean",
}

DOC_TO_TEXT = "text or integer"
DOC_TO_TARGET = "text or integer or list of text or integer"
DOC_TO_CHOICE = "text or list of text or map of text"


def upgrade(op: Recorder) -> None:
    """From v2 to v3."""
    # the contract
    op.category("word_problem", added=True)
    op.metric("numeric_match", added=True)
    op.post_process("extract_number", added=True)
    op.pairs(
        "word_problem",
        output_type="generate_until",
        metrics=("numeric_match", "exact_match"),
        post_process=("extract_number", "extract_first_line", "strip_whitespace", "none"),
    )
    op.field("spec_version", type="integer 3", required=True, changed="the marker")
    op.field("version", type="integer, at least 0", required=True)
    op.field(
        "category",
        type="one of arithmetic mcq code_exec classification summary word_problem",
        required=True,
        changed="word_problem is new",
    )
    op.field("metric_name", removed=True)
    op.field(
        "metrics",
        type="list of {name: one of exact_match f1 bleu_4 rouge_l accuracy code_exec accuracy_norm numeric_match,"
        " aggregation: one of mean corpus_bleu, higher_is_better: boolean}, at least 1, no name twice",
        required=True,
    )
    op.field(
        "post_process",
        type="one of none strip_whitespace lower extract_letter extract_code_block extract_first_line extract_number",
        required=True,
        changed="extract_number is new",
    )
    op.field("few_shot_examples", removed=True)
    op.field("fewshot", type="{samples?: list of {prompt: text, completion: text}, at most 8}")
    op.shape("inline", keys=("prompt", "targets", "choices"), changed="known by its keys")
    op.shape(
        "template",
        like="inline",
        without=("prompt", "targets", "choices", "fewshot"),
        keys=("dataset", "doc_to_text", "doc_to_target", "doc_to_choice"),
        formats=("yaml",),
    )
    op.field(
        "dataset",
        type="{path: text, at least 1, name?: text, kwargs?: map of any,"
        " splits?: {train?: text, validation?: text, test?: text}}",
        required=True,
        shape="template",
    )
    op.field("doc_to_text", type=DOC_TO_TEXT, required=True, shape="template")
    op.field("doc_to_target", type=DOC_TO_TARGET, required=True, shape="template")
    op.field("doc_to_choice", type=DOC_TO_CHOICE, shape="template")
    op.field(
        "fewshot",
        type="{num?: integer, at least 0, split?: text, samples?: list of map of any,"
        " sampler?: one of default first_n, seed?: integer,"
        f" doc_to_text?: {DOC_TO_TEXT}, doc_to_target?: {DOC_TO_TARGET}, doc_to_choice?: {DOC_TO_CHOICE},"
        " target_delimiter?: text, fewshot_delimiter?: text, gen_prefix?: text}",
        shape="template",
    )
    op.rule("missing_required", field="choices", changed="of inline tasks")
    op.rule("missing_required", field="doc_to_choice", added=True)
    op.rule("not_allowed", field="choices", changed="of inline tasks")
    op.rule("bad_value", field="targets", changed="of inline tasks")
    op.rule("gold_not_in_choices", field="targets", changed="of inline tasks")
    op.rule("embedded_few_shot", field="prompt", changed="of inline tasks; the examples are in `fewshot`")
    op.assembly(
        "v2's text, the examples under `fewshot`",
        same_text=True,
        examples="fewshot.samples",
        template="dataset",
    )
    # the records
    op.set("spec_version", 3, first=True)
    op.move("metadata.version", "version", after="spec_version", only=int, otherwise=1, drop_empty=True)
    op.map(
        "metric_name",
        {
            name: [{"name": name, "aggregation": aggregation, "higher_is_better": True}]
            for name, aggregation in AGGREGATIONS.items()
        },
        rename="metrics",
    )
    op.move("few_shot_examples", "fewshot.samples")
