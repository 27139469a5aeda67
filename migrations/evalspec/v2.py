"""Write prompt assembly down.

Every part of a prompt gets a name and a field, with v1's text as its default; what a model is asked for is named too.
Records are stamped, and their prompts stay as they were.

Revision: v2
Revises: v1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspec.migrate import Recorder

revision = "v2"
down_revision = "v1"
prompts = "unchanged"
outputs = "changes: extract_letter prefers a letter standing alone"


def upgrade(op: Recorder) -> None:
    """From v1 to v2."""
    # the contract
    op.field("spec_version", type="integer 2", required=True)
    op.field("output_type", type="one of generate_until multiple_choice loglikelihood", required=True)
    op.field("description", type="text", default="")
    op.field("choices", type="list of text, at least 2, no item twice")
    op.field("target_delimiter", type="text", default=" ")
    op.field("fewshot_delimiter", type="text", default="\n\n")
    op.field("gen_prefix", type="text")
    op.field(
        "generation",
        type="{until?: list of text, max_gen_toks?: integer, do_sample?: boolean, temperature?: number}",
    )
    op.field(
        "metric_name",
        type="one of exact_match f1 bleu_4 rouge_l accuracy code_exec accuracy_norm",
        required=True,
        changed="accuracy_norm is new",
    )
    op.metric("accuracy_norm", added=True)
    op.post_process("extract_letter", changed="a letter standing alone wins")
    op.pairs(output_type="generate_until")
    op.pairs(
        "mcq", output_type="multiple_choice", metrics=("accuracy", "accuracy_norm"), post_process=("none",)
    )
    op.pairs(
        "classification",
        output_type="multiple_choice",
        metrics=("accuracy", "accuracy_norm"),
        post_process=("none",),
    )
    op.pairs("classification", output_type="loglikelihood", metrics=("accuracy",), post_process=("none",))
    op.rule("missing_required", field="choices", added=True)
    op.rule("not_allowed", field="choices", added=True)
    op.rule("not_allowed", field="generation", added=True)
    op.rule("bad_value", field="targets", changed="exactly one target where likelihoods are read")
    op.rule("gold_not_in_choices", field="targets", added=True)
    op.rule(
        "embedded_few_shot", field="prompt", changed="an example is rendered with the record's own delimiter"
    )
    op.assembly("v1's text with every part named", same_text=True)
    # the records
    op.set("spec_version", 2, first=True)
    op.add("output_type", "generate_until", after="category")
