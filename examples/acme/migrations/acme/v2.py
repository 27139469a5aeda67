"""Tell the parts of a prompt apart, and read sentiment.

Examples are parted by a ruled line, and a description ends its own line. Both change what a model sees, so scores from
before and after do not compare. The category `sentiment` comes with its metric and its post-process rule.

Revision: v2
Revises: v1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalspec.migrate import Recorder

revision = "v2"
down_revision = "v1"
prompts = "changes: a ruled line between examples, and a blank line after a description that had none"
outputs = "unchanged"

CATEGORIES = "arithmetic mcq code_exec classification summary word_problem sentiment"
METRICS = "exact_match f1 bleu_4 rouge_l accuracy code_exec accuracy_norm numeric_match macro_f1"
RULES = "none strip_whitespace lower extract_letter extract_code_block extract_first_line extract_number extract_label"


def part_description(record: dict[str, Any]) -> None:
    """End a description that is glued to what follows with a blank line."""
    description = record.get("description", "")
    if description and not description.endswith("\n"):
        record["description"] = description.rstrip() + "\n\n"


def upgrade(op: Recorder) -> None:
    """From acme@v1 to acme@v2."""
    # the contract
    op.category("sentiment", added=True)
    op.metric("macro_f1", added=True, aggregation="macro")
    op.post_process("extract_label", added=True)
    op.pairs(
        "sentiment",
        output_type="generate_until",
        metrics=("macro_f1", "accuracy"),
        post_process=("extract_label", "extract_first_line", "lower", "none"),
    )
    for shape in ("inline", "template"):
        op.field("spec_version", type="text 'acme@v2'", required=True, shape=shape, changed="the marker")
        op.field(
            "category", type=f"one of {CATEGORIES}", required=True, shape=shape, changed="sentiment is new"
        )
        op.field("fewshot_delimiter", type="text", default="\n\n---\n\n", shape=shape, changed="a ruled line")
        op.field(
            "metrics",
            type=f"list of {{name: one of {METRICS}, aggregation: one of mean corpus_bleu macro,"
            " higher_is_better: boolean}, at least 1, no name twice",
            required=True,
            shape=shape,
            changed="macro_f1 is new",
        )
        op.field(
            "post_process", type=f"one of {RULES}", required=True, shape=shape, changed="extract_label is new"
        )
    op.rule("bad_value", field="description", added=True)
    op.assembly(
        "examples are parted by a ruled line",
        fewshot_delimiter={"field": "fewshot_delimiter", "default": "\n\n---\n\n"},
    )
    # the records
    op.set("spec_version", "acme@v2", first=True)
    op.each(part_description, fields=("description",))
