"""Made-up v1 records for the benchmarks: all five categories, about 700 bytes each, the same on every machine."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: What texts are made of; one record in eight is in a language that needs more than ASCII.
WORDS = """
the a of and to in is was for on that with as by at from river mountain city number value train engine report model
answer question total price apples sister brother minutes hours between before after distance speed color which who
what when where winter summer measure sample window market school teacher student paper science energy water light
system process result reason cause effect north south history
""".split()  # noqa: SIM905 - read as text
_OTHER_WORDS = """
Köln São naïve café 東京 Ελλάδα größer où água 数学 вопрос ответ țară město
""".split()  # noqa: SIM905 - read as text

_METRICS = {
    "arithmetic": ("exact_match", "f1"),
    "mcq": ("exact_match",),
    "code_exec": ("code_exec",),
    "classification": ("exact_match", "accuracy", "f1"),
    "summary": ("f1", "bleu_4", "rouge_l"),
}
_RULES = {
    "arithmetic": ("strip_whitespace", "extract_first_line"),
    "mcq": ("extract_letter", "strip_whitespace"),
    "code_exec": ("extract_code_block", "none"),
    "classification": ("lower", "strip_whitespace", "extract_letter"),
    "summary": ("none", "strip_whitespace"),
}
_ENDS = {
    "arithmetic": "\nAnswer with a number.",
    "mcq": "\nA) yes\nB) no\nC) both\nD) neither\nAnswer:",
    "code_exec": '\n\ndef solve(x):\n    """Return "it"."""',
    "classification": "\nLabel:",
    "summary": "\n\nTL;DR:",
}
#: How a file can be written: canonical is what orjson writes, the others are what the standard library does.
STYLES: dict[str, Callable[[Any], bytes]] = {
    "canonical": orjson.dumps,
    "spaced": lambda record: json.dumps(record, ensure_ascii=False).encode(),
    "escaped": lambda record: json.dumps(record).encode(),
}


def records(count: int, seed: int = 20) -> Iterator[dict[str, Any]]:
    """So many valid records, with all optional fields now here and now not."""
    chance = random.Random(seed)
    words_now = WORDS

    def text(words: int) -> str:
        return " ".join(chance.choices(words_now, k=words))

    for number in range(count):
        category = chance.choice(list(_METRICS))
        words_now = WORDS if chance.random() < 0.875 else [*WORDS, *_OTHER_WORDS]
        record: dict[str, Any] = {
            "task_id": f"bench/{category}/{number:07d}",
            "category": category,
            "prompt": text(chance.randint(12, 60)) + _ENDS[category],
            "targets": [chance.choice("ABCDE")] if category == "mcq" else [text(chance.randint(1, 8))],
            "metric_name": chance.choice(_METRICS[category]),
        }
        if chance.random() < 0.7:
            record["few_shot_examples"] = [
                {"prompt": text(chance.randint(6, 24)), "completion": text(chance.randint(1, 5))}
                for _ in range(chance.randint(1, 3))
            ]
        record["post_process"] = chance.choice(_RULES[category])
        if chance.random() < 0.8:
            record["metadata"] = {
                "source": text(1),
                "difficulty": chance.choice(("easy", "medium", "hard")),
                "row": number,
                "score": chance.randint(0, 1000) / 1000,
                "tags": [text(1), text(1)],
            }
        yield record


def write(path: Path, count: int, style: str = "canonical") -> None:
    """Write a file of records, one a line."""
    dumps = STYLES[style]
    with path.open("wb") as file:
        for record in records(count):
            file.write(dumps(record) + b"\n")
