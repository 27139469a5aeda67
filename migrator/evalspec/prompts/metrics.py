"""What a task is scored by where it does not say (lm_eval.md, "Task fields and defaults"). Nothing is scored here."""

from __future__ import annotations

from typing import Any

#: The metrics of a task that names none, by output type.
DEFAULT_METRICS: dict[str, tuple[str, ...]] = {
    "multiple_choice": ("acc", "acc_norm"),
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
    "generate_until": ("exact_match",),
}

#: Aggregation and direction of a metric whose entry leaves them out.
METRICS: dict[str, tuple[str, bool]] = {
    "acc": ("mean", True),
    "acc_all": ("mean", True),
    "acc_bytes": ("mean", True),
    "acc_mutual_info": ("mean", True),
    "acc_norm": ("mean", True),
    "bits_per_byte": ("bits_per_byte", False),
    "bleu": ("bleu", True),
    "brier_score": ("brier_score", False),
    "bypass": ("bypass", True),
    "byte_perplexity": ("weighted_perplexity", False),
    "chrf": ("chrf", True),
    "chrf++": ("chrf++", True),
    "exact_match": ("mean", True),
    "f1": ("f1", True),
    "likelihood": ("mean", True),
    "mcc": ("matthews_corrcoef", True),
    "perplexity": ("perplexity", False),
    "ter": ("ter", False),
    "word_perplexity": ("weighted_perplexity", False),
}


def default_filters() -> list[dict[str, Any]]:
    """The one pipeline of a task that names none, whatever its output type."""
    return [{"name": "none", "filter": [{"function": "take_first"}]}]


def filled_metrics(metrics: Any, output_type: str) -> list[dict[str, Any]]:
    """A task's metrics with their aggregation and direction; those of its output type where it names none."""
    if metrics is None:
        metrics = [{"metric": name} for name in DEFAULT_METRICS.get(output_type, ())]
    out = []
    for entry in metrics:
        made = dict(entry)
        known = METRICS.get(made["metric"]) if isinstance(made.get("metric"), str) else None
        if known is not None:
            made.setdefault("aggregation", known[0])
            made.setdefault("higher_is_better", known[1])
        out.append(made)
    return out
