"""Tasks drawn at random over every form a field can have: what no person would write, the harness still answers."""

from __future__ import annotations

import random
from typing import Any

TEXTS = (
    "q",
    "label",
    "options",
    "missing",
    "",
    "plain text",
    "Q: {{q}}\nA:",
    "{{q}}",
    "{{label}}",
    "{{q}}\n",
    "7",
    "007",
    "²",
    "00",
    "{{options|join(', ')}}",
    "{{nested.value}}",
    "{{nested.value.upper()}}",
    "{{q | regex_replace('a+', 'b')}}",
    "{% for o in options %}{{loop.index}}. {{o}}\n{% endfor %}",
    "{{nope}}",
    "{{q",
    "line\r\nline {{q}}\r",
    3,
    1,
    0,
    True,
    None,
    1.5,
    ["a"],
    "{{ raw }}",
    "{{q.strip()}} {{options[label]}}",
    "{{range(3)|list}}",
    "{{n + 1}}",
    "{{maybe}}",
    "{# comment #}{{q}}",
    "{{- q -}} x",
    "{{'%s' % q}}",
    "{{q|upper|trim}}",
    "{{digits}}",
)
TARGETS = (
    "label",
    "answer",
    "options",
    "{{answer}}",
    "{{label}}",
    "{{options}}",
    "{{[answer, q]}}",
    "[not a list]",
    "[1, 2]",
    "['a', 'b']",
    "[]",
    "",
    " {{answer}}",
    "{{options[label]}}",
    0,
    1,
    -1,
    5,
    True,
    ["x", "y"],
    ["x"],
    [],
    [3],
    None,
    "07",
    "{{maybe}}",
    "{{nope}}",
    "empty",
    "{{empty}}",
    "maybe",
    "{{digits}}",
    "n",
    "word",
)
CHOICES = (
    None,
    None,
    ["A", "B", "C"],
    [" A", " B", " C"],
    "options",
    "{{options}}",
    "{{[q, answer]}}",
    ["A", ""],
    [1, 2, 3],
    {"a": "first", "b": "second", "c": "third"},
    "answer",
    "not a list",
    "{{q}}",
    [],
    ["{{q}}", "x", "y"],
    "('a', 'b', 'c')",
    '["A", "B", "C"]',
    "3",
)
PREFIXES = (
    None,
    None,
    None,
    "Answer:",
    "Answer: ",
    "{{word}}",
    "word",
    "",
    "maybe",
    "{{empty}}",
    "The {{word}} is",
    "n",
)
DESCRIPTIONS = (
    None,
    "",
    "Solve this.",
    "Solve this.\n\n",
    "word",
    "About {{word}}.\n",
    "{{maybe}}",
    "{{nope}}",
    " lead",
)
DELIMITERS = (" ", "", "\n", "\n\n", ": ", " ", " ", "\u00a0", "; ")
OUTPUTS = (
    "generate_until",
    "generate_until",
    "multiple_choice",
    "multiple_choice",
    "loglikelihood",
    "loglikelihood_rolling",
)
WORDS = ("alpha", "aaa b", " spaced ", "7", "two\nlines", "é", "{{ q }}", "", "[1]", "x\u00a0", "\u00a0y")
SYSTEMS = (None, None, "Be brief.", "Be brief.\n", "")


def rows(rnd: random.Random, count: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for number in range(count):
        if made and rnd.random() < 0.3:
            made.append(dict(rnd.choice(made)))
            continue
        made.append(
            {
                "q": rnd.choice(WORDS),
                "answer": rnd.choice(WORDS),
                "label": rnd.randrange(3),
                "options": [rnd.choice(WORDS) or "o" for _ in range(3)],
                "nested": {"value": rnd.choice(WORDS), "items": "shadowed"},
                "word": rnd.choice(("noun", "verb")),
                "empty": "",
                "raw": "{{ q }}",
                "n": number % 4,
                "digits": str(rnd.randrange(3)),
                "maybe": rnd.choice((None, "some")),
            }
        )
    return made


def task(rnd: random.Random, name: str) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """The settings and the rows of one task."""
    tame = rnd.random() < 0.6
    texts = TEXTS[:1] + TEXTS[6:8] if tame else TEXTS
    targets = (
        (("label", "{{label}}", 1) if rnd.random() < 0.5 else ("answer", "{{answer}}", "word"))
        if tame
        else TARGETS
    )
    settings: dict[str, Any] = {
        "task": name,
        "dataset_path": "made_up",
        "doc_to_text": rnd.choice(texts),
        "doc_to_target": rnd.choice(targets),
        "output_type": rnd.choice(OUTPUTS),
    }
    choices = rnd.choice(
        CHOICES[2:7] if tame and settings["doc_to_target"] in ("label", "{{label}}", 1) else CHOICES
    )
    if tame and rnd.random() < 0.2:
        settings["doc_to_text"], choices = rnd.choice(("label", "{{label}}", 1)), ["one {}", "two", "three"]
    if choices is not None:
        settings["doc_to_choice"] = choices
    if settings["output_type"] == "multiple_choice" and rnd.random() < 0.3:
        settings["metric_list"] = [{"metric": "acc_mutual_info"}]
    for key, values, chance in (
        ("gen_prefix", PREFIXES, 0.5),
        ("description", DESCRIPTIONS, 0.5),
        ("target_delimiter", DELIMITERS, 0.4),
        ("fewshot_delimiter", DELIMITERS, 0.3),
        ("num_fewshot", (0, 1, 2, 5, None), 0.5),
        ("use_prompt", ("qa-basic:question-newline-answer", "qa-basic:nope", "word"), 0.03),
        ("doc_to_image", ("options", ["q", "word"], "{{options}}", "{{q}}"), 0.05),
        (
            "generation_kwargs",
            ({}, {"until": "x"}, {"until": []}, {"temperature": "0.5"}, {"max_gen_toks": 3}),
            0.2,
        ),
    ):
        if rnd.random() < chance:
            settings[key] = rnd.choice(values)
    splits = {"train": rows(rnd, rnd.choice((6, 12, 30))), "validation": rows(rnd, 5), "test": rows(rnd, 8)}
    for key, value, chance in (
        ("training_split", "train", 0.4),
        ("validation_split", "validation", 0.5),
        ("test_split", "test", 0.7),
        ("fewshot_split", rnd.choice(("train", "validation", "test")), 0.4),
    ):
        if rnd.random() < chance:
            settings[key] = value  # noqa: PERF403 - each is drawn for
    if rnd.random() < 0.5:
        settings["fewshot_config"] = fewshot(rnd, texts, targets)
    return settings, splits


def fewshot(rnd: random.Random, texts: Any, targets: Any) -> dict[str, Any]:
    """A `fewshot_config` with any of its keys."""
    made: dict[str, Any] = {}
    for key, values, chance in (
        ("sampler", ("default", "first_n", "first_n", "nope"), 0.6),
        ("split", ("train", "validation", "test", None), 0.3),
        ("samples", (rows(rnd, 6), rows(rnd, 2), []), 0.3),
        ("doc_to_text", texts, 0.3),
        ("doc_to_target", targets, 0.3),
        ("doc_to_choice", CHOICES, 0.15),
        ("gen_prefix", PREFIXES, 0.3),
        ("target_delimiter", (*DELIMITERS, None), 0.3),
        ("fewshot_delimiter", (*DELIMITERS, None), 0.3),
        ("fewshot_indices", ([1, 2],), 0.05),
        ("unheard_of", (1,), 0.02),
    ):
        if rnd.random() < chance:
            made[key] = rnd.choice(values)
    return made


def case(rnd: random.Random, chats: list[str]) -> dict[str, Any]:
    """One way to show a task."""
    made: dict[str, Any] = {
        "shots": rnd.choice((None, 0, 1, 2, 3, 5, 7)),
        "system": rnd.choice(SYSTEMS),
        "limit": rnd.choice((None, None, 3, 4, 4, 0.4, 0, 100)),
        "seed": rnd.choice((1234, 1234, 1, 42)),
    }
    if rnd.random() < 0.6:
        made.update(chat=rnd.choice(chats), multiturn=rnd.random() < 0.6)
    if rnd.random() < 0.3:
        made["world_size"] = rnd.choice((2, 3))
        made["rank"] = rnd.randrange(made["world_size"])
    return made
