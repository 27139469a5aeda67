"""Sound records of each version of our family, to be mutated."""

from __future__ import annotations

import copy
from typing import Any

BODIES: dict[str, dict[str, Any]] = {
    "arithmetic": {
        "category": "arithmetic",
        "prompt": "What is 12 times 12?",
        "targets": ["144"],
        "metric_name": "exact_match",
        "post_process": "strip_whitespace",
    },
    "mcq": {
        "category": "mcq",
        "prompt": "Which is a fruit?\nA. a stone\nB. a pear\nAnswer:",
        "targets": ["B"],
        "metric_name": "exact_match",
        "post_process": "extract_letter",
    },
    "code_exec": {
        "category": "code_exec",
        "prompt": "Write a function `square(n)`.",
        "targets": ["assert square(3) == 9"],
        "metric_name": "code_exec",
        "post_process": "extract_code_block",
    },
    "classification": {
        "category": "classification",
        "prompt": "Spam or not: “You have won a boat!”",
        "targets": ["spam"],
        "metric_name": "accuracy",
        "post_process": "lower",
    },
    "summary": {
        "category": "summary",
        "prompt": "Sum up: The tram is late. Snow lies on the line.",
        "targets": ["Snow delays the tram."],
        "metric_name": "rouge_l",
        "post_process": "none",
    },
}
_CHOICES = {"output_type": "multiple_choice", "choices": ["cold", "hot"], "targets": ["cold"], "prompt": "Ice is",
            "metric_name": "accuracy", "post_process": "none"}  # fmt: skip
_LIKELY = {"output_type": "loglikelihood", "targets": ["cold"], "prompt": "Ice is", "metric_name": "accuracy",
           "post_process": "none"}  # fmt: skip
NEW_IN_V2: dict[str, dict[str, Any]] = {
    "mcq_choices": BODIES["mcq"] | _CHOICES,
    "class_choices": BODIES["classification"] | _CHOICES,
    "likelihood": BODIES["classification"] | _LIKELY,
}
_WORD_PROBLEM = BODIES["arithmetic"] | {
    "category": "word_problem", "metric_name": "numeric_match", "post_process": "extract_number"
}  # fmt: skip
_TEMPLATE: dict[str, Any] = {
    "category": "mcq",
    "output_type": "multiple_choice",
    "dataset": {"path": "tides", "splits": {"test": "test"}},
    "doc_to_text": "{{ question }}",
    "doc_to_target": "answer",
    "doc_to_choice": ["A", "B"],
    "metric_name": "accuracy",
    "post_process": "none",
}
SHOTS = [{"prompt": "What is 1 + 2?", "completion": "3"}, {"prompt": "What is 5 + 5?", "completion": "10"}]


def metrics(*names: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "aggregation": "corpus_bleu" if name == "bleu_4" else "mean", "higher_is_better": True}
        for name in names
    ]


def sound(version: str, base: str) -> dict[str, Any]:
    """A valid record of the version. `shots` is the arithmetic one with two examples."""
    if base == "shots":
        record = sound(version, "arithmetic")
        return record | ({"fewshot": {"samples": SHOTS}} if version == "v3" else {"few_shot_examples": SHOTS})
    body = (BODIES | NEW_IN_V2 | {"word": _WORD_PROBLEM, "template": _TEMPLATE})[base]
    record = {"task_id": f"{base}_001", **copy.deepcopy(body)}
    if version != "v1":
        record = {"spec_version": int(version[1:]), "output_type": "generate_until", **record}
    if version == "v3":
        metric = record.pop("metric_name")
        record = {"version": 1, **record, "metrics": metrics(metric)}
    return record
