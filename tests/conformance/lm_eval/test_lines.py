"""One hand-made task for each line of the specification of prompts that says what happens; the harness agrees."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import Table, ask, compare

from evalspec.prompts.chat import BUILT_IN

WORDS = ["red", "green", "blue", "grey", "pink", "white", "black", "brown"]
ROWS = [
    {
        "q": f"What is {word}?",
        "answer": word,
        "label": number % 3,
        "options": ["red", "green", "blue"],
        "nested": {"text": word.upper(), "items": "hidden"},
        "list_text": "[1, 2]" if number % 2 else "[broken",
        "digits": str(number),
        "squared": "²" if number else "x",
        "prefix": f"P{number}",
        "none": None,
        "empty": "",
        "text_choices": "abc",
        "braces": "{{ q }}",
        "n": number,
    }
    for number, word in enumerate(WORDS)
]
DEV = [dict(row, q=f"Dev: {row['q']}") for row in ROWS] + [ROWS[0], ROWS[0], ROWS[1]]
BASE = {
    "dataset_path": "x",
    "test_split": "test",
    "doc_to_text": "{{q}}",
    "doc_to_target": "answer",
    "num_fewshot": 2,
}
MC = {**BASE, "output_type": "multiple_choice", "doc_to_choice": "options", "doc_to_target": "label"}
INPUTS = {
    **MC,
    "doc_to_text": "label",
    "doc_to_choice": ["first _", "second _", "third _"],
    "doc_to_target": "answer",
}
DEV_POOL = {"fewshot_split": "dev"}

LINES: dict[str, dict[str, Any]] = {
    "pool: split beats samples": {**BASE, "fewshot_config": {"split": "dev", "samples": ROWS[3:6], "sampler": "first_n"}},
    "pool: fewshot_config.split beats fewshot_split": {**BASE, "fewshot_split": "test", "fewshot_config": {"split": "dev"}},
    "pool: samples": {**BASE, "fewshot_config": {"samples": ROWS[3:6], "sampler": "first_n"}},
    "pool: falls back on training": {**BASE, "training_split": "dev", "validation_split": "test"},
    "pool: falls back on validation": {**BASE, "validation_split": "dev"},
    "pool: falls back on test, and the row is not kept out": BASE,
    "pool: equal to the test split, the row is kept out": {**BASE, "fewshot_split": "test"},
    "pool: only a validation split: both are None, and the row is kept out": {
        **{key: value for key, value in BASE.items() if key != "test_split"},
        "validation_split": "test",
    },
    "pool: copies of the row are drawn, so it is drawn again": {**BASE, "test_split": "dev", "fewshot_split": "dev", "num_fewshot": 7},
    "pool: too small": {**BASE, "fewshot_split": "dev", "num_fewshot": 30},
    "pool: too small for first_n": {**BASE, "fewshot_split": "dev", "num_fewshot": 30, "fewshot_config": {"sampler": "first_n"}},
    "pool: empty": {**BASE, "fewshot_config": {"samples": []}},
    "sampler: first_n leaves out every copy of the row": {**BASE, "test_split": "dev", "fewshot_split": "dev", "fewshot_config": {"sampler": "first_n"}},
    "sampler: unheard of": {**BASE, "fewshot_config": {"sampler": "last_n"}},
    "sampler: more than five draws": {**BASE, **DEV_POOL, "num_fewshot": 6},
    "sampler: fewshot_indices are not used": {**BASE, **DEV_POOL, "fewshot_config": {"fewshot_indices": [5, 6]}},
    "shots: 0 is firm": {**BASE, "num_fewshot": 0},
    "shots: none said": {key: value for key, value in BASE.items() if key != "num_fewshot"},
    "text: an int": {**BASE, "doc_to_text": 3},
    "text: a column, raw": {**MC, "doc_to_text": "n", "doc_to_target": "label"},
    "text: digits become an int where there are choices": {**INPUTS, "doc_to_text": "{{label}}"},
    "text: digits stay a text where there are none": {**BASE, "doc_to_text": "{{digits}}"},
    "text: a superscript is a digit and no number": {**MC, "doc_to_text": "{{squared}}"},
    "text: leading zeros are no number": {**MC, "doc_to_text": "0{{digits}}7"},
    "text: empty": {**BASE, "doc_to_text": ""},
    "text: None": {**BASE, "doc_to_text": None},
    "text: a final line end is kept": {**BASE, "doc_to_text": "{{q}}\n"},
    "text: line ends in a template become LF": {**BASE, "doc_to_text": "a\r\n{{q}}\rb"},
    "text: values with braces are not rendered again": {**BASE, "doc_to_text": "{{braces}}"},
    "text: regex_replace": {**BASE, "doc_to_text": "{{q | regex_replace('[aeiou]', '*', 2)}}"},
    "text: an undefined variable": {**BASE, "doc_to_text": "{{question}}"},
    "text: does not parse": {**BASE, "doc_to_text": "{{q"},
    "text: None, lists and mappings as Python prints them": {**BASE, "doc_to_text": "{{none}} {{options}} {{nested}} {{n > 0}}"},
    "target: an int with choices": {**MC, "doc_to_target": 1},
    "target: an index that is not there": {**MC, "doc_to_target": 7},
    "target: a negative index": {**MC, "doc_to_target": -1},
    "target: a list column": {**BASE, "doc_to_target": "options"},
    "target: a text that reads as a list": {**BASE, "doc_to_target": "{{list_text}}"},
    "target: a literal list": {**BASE, "doc_to_target": ["a", "b"]},
    "target: an empty list": {**BASE, "doc_to_target": []},
    "target: a list of ints": {**BASE, "doc_to_target": [1, 2]},
    "target: empty, so a shot has no answer": {**BASE, "doc_to_target": "", **DEV_POOL},
    "target: empty with a prefix": {**BASE, "doc_to_target": "", "gen_prefix": "So:", **DEV_POOL},
    "target: None": {**BASE, "doc_to_target": "none", **DEV_POOL},
    "target: 0 counts as an answer": {**MC, "doc_to_target": "{{0}}", **DEV_POOL},
    "target: a space of its own": {**BASE, "doc_to_target": " {{answer}}", **DEV_POOL},
    "choices: a template": {**MC, "doc_to_choice": "{{options}}"},
    "choices: a template that is no list": {**MC, "doc_to_choice": "{{q}}"},
    "choices: a literal list is not rendered": {**MC, "doc_to_choice": ["{{q}}", "b", "c"]},
    "choices: a mapping's values": {**MC, "doc_to_choice": {"x": "one", "y": "two", "z": "three"}},
    "choices: a text column, character by character": {**MC, "doc_to_choice": "text_choices"},
    "choices: an empty one": {**MC, "doc_to_choice": ["a", "", "c"]},
    "choices: numbers": {**MC, "doc_to_choice": [1, 2, 3]},
    "choices: none": {key: value for key, value in MC.items() if key != "doc_to_choice"},
    "use_prompt: over everything": {**MC, "use_prompt": "qa-basic:question-newline-answer", "doc_to_choice": ["a"]},
    "use_prompt: not there": {**BASE, "use_prompt": "qa-basic:nothing"},
    "description: touches what follows": {**BASE, "description": "Answer."},
    "description: a template": {**BASE, "description": "On {{answer}}.\n\n"},
    "description: a column": {**BASE, "description": "prefix"},
    "gen_prefix: a text": {**BASE, **DEV_POOL, "gen_prefix": "The answer is"},
    "gen_prefix: ends in white space": {**MC, **DEV_POOL, "gen_prefix": "The answer is "},
    "gen_prefix: a column": {**MC, **DEV_POOL, "gen_prefix": "prefix"},
    "gen_prefix: a template": {**BASE, **DEV_POOL, "gen_prefix": "On {{answer}}:"},
    "gen_prefix: renders to nothing": {**BASE, **DEV_POOL, "gen_prefix": "{{empty}}"},
    "gen_prefix: none in the shots": {**BASE, **DEV_POOL, "gen_prefix": "So:", "fewshot_config": {"gen_prefix": None}},
    "gen_prefix: a question that ends in white space": {**BASE, **DEV_POOL, "doc_to_text": "{{q}} ", "gen_prefix": "So:"},
    "delimiters: of the shots": {**BASE, **DEV_POOL, "fewshot_config": {"target_delimiter": "=", "fewshot_delimiter": ";"}},
    "delimiters: of the task": {**MC, **DEV_POOL, "target_delimiter": ":\n", "fewshot_delimiter": "\n---\n"},
    "delimiters: empty": {**MC, **DEV_POOL, "target_delimiter": ""},
    "delimiters: null in the shots": {**BASE, **DEV_POOL, "fewshot_config": {"fewshot_delimiter": None}},
    "shots: fields of their own": {
        **MC,
        **DEV_POOL,
        "fewshot_config": {"doc_to_text": "F {{q}}", "doc_to_target": "{{1}}", "doc_to_choice": ["u", "v"]},
    },
    "shots: choices of their own without the task's": {**BASE, **DEV_POOL, "fewshot_config": {"doc_to_choice": ["u", "v", "w"], "doc_to_target": "label"}},
    "several inputs": {**INPUTS, **DEV_POOL},
    "several inputs with a prefix": {**INPUTS, **DEV_POOL, "gen_prefix": "so"},
    "several inputs and mutual information": {**INPUTS, **DEV_POOL, "metric_list": [{"metric": "acc_mutual_info"}]},
    "several inputs, zero examples": {**INPUTS, "num_fewshot": 0},
    "mutual information": {**MC, **DEV_POOL, "metric_list": [{"metric": "acc_mutual_info"}]},
    "loglikelihood: no delimiter": {**BASE, "output_type": "loglikelihood"},
    "loglikelihood: a target that is no text": {**BASE, "output_type": "loglikelihood", "doc_to_target": "n", "num_fewshot": 0},
    "rolling: the target alone": {**BASE, "output_type": "loglikelihood_rolling", "description": "ignored"},
    "generation: the settings of a task without any": BASE,
    "generation: until is the few-shot delimiter": {**BASE, "generation_kwargs": {"max_gen_toks": 9}, "fewshot_delimiter": "#"},
    "generation: a text until, a text temperature": {**BASE, "generation_kwargs": {"until": "x", "temperature": "0.5"}},
    "images": {**BASE, "doc_to_image": ["q", "options"]},
    "images: a template": {**BASE, "doc_to_image": "{{options}}"},
    "output type: unheard of": {**BASE, "output_type": "guess"},
    "settings: an unknown field": {**BASE, "delimiter": " "},
    "settings: an unknown few-shot field": {**BASE, "fewshot_config": {"seed": 1}},
    "settings: nothing to evaluate": {**BASE, "test_split": None, "training_split": "dev"},
}  # fmt: skip

WAYS: tuple[dict[str, Any], ...] = (
    {"shots": None, "system": None},
    {"shots": 3, "system": "Be brief."},
    {"shots": None, "system": None, "rank": 1, "world_size": 3},
    {"shots": None, "system": "Be brief.\n", "limit": 2},
    *({"shots": None, "system": "S", "chat": BUILT_IN[name], "multiturn": True} for name in BUILT_IN),
    *({"shots": None, "system": None, "chat": BUILT_IN[name], "multiturn": False} for name in BUILT_IN),
)


@pytest.fixture(scope="module")
def answers(harness: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return ask(harness, [job(name) for name in LINES], tmp_path_factory.mktemp("lines"))


def job(name: str) -> dict[str, Any]:
    splits = {"test": ROWS, "dev": DEV}
    return {"name": name, "settings": {"task": "made", **LINES[name]}, "splits": splits, "cases": list(WAYS)}


@pytest.mark.parametrize("name", LINES)
def test_a_line_of_the_specification_holds(name: str, answers: dict[str, Any]) -> None:
    table = Table()
    made = job(name)
    compare(made, copy.deepcopy(made["settings"]), answers[name], table)
    assert not table.different, table.text()
    assert table.equal == table.rows > 0
