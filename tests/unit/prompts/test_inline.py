"""Inline tasks, under every assembly there is (prompting.md, "Inline tasks"; records.md, "v1")."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.prompts import View, render_inline, text_of
from evalspec.prompts.chat import ChatTemplate, chat_template
from evalspec.schema.assembly import Assembly, FromField

V1 = Assembly("prompt", "few_shot_examples")
NAMED: dict[str, Any] = {
    "system": FromField("description"),
    "target_delimiter": FromField("target_delimiter", " "),
    "fewshot_delimiter": FromField("fewshot_delimiter", "\n\n"),
    "gen_prefix": FromField("gen_prefix"),
    "output_type": FromField("output_type", "generate_until"),
    "choices": "choices",
    "stop": "generation.until",
    "generation": "generation",
}
V2 = Assembly("prompt", "few_shot_examples", **NAMED)
V3 = Assembly("prompt", "fewshot.samples", **NAMED)

ARITH = {
    "task_id": "arith_001",
    "category": "arithmetic",
    "prompt": "Compute the result. Question: 17 + 24\nAnswer:",
    "targets": ["41"],
    "metric_name": "exact_match",
    "few_shot_examples": [{"prompt": "Question: 2 + 2\nAnswer:", "completion": "4"}],
    "post_process": "strip_whitespace",
}
TEXT = "Question: 2 + 2\nAnswer: 4\n\nCompute the result. Question: 17 + 24\nAnswer:"


def test_the_golden_of_the_contract() -> None:
    prompt = render_inline(ARITH, V1)
    assert prompt.text == TEXT == text_of(ARITH, V1)
    assert [(part.kind, part.text) for part in prompt.parts] == [
        ("question", "Question: 2 + 2\nAnswer:"),
        ("join", " "),
        ("answer", "4"),
        ("separator", "\n\n"),
        ("question", "Compute the result. Question: 17 + 24\nAnswer:"),
    ]
    assert [part.origin.key for part in prompt.parts if part.origin.key] == [
        "few_shot_examples[0].prompt",
        "few_shot_examples[0].completion",
        "prompt",
    ]
    assert prompt.requests[0].to_dict() == {
        "type": "generate_until",
        "context": TEXT,
        "generation": {"until": []},
    }


def test_every_version_gives_the_same_text_with_defaults() -> None:
    third = {**ARITH, "fewshot": {"samples": ARITH["few_shot_examples"]}}
    assert text_of(ARITH, V2) == text_of(third, V3) == TEXT


SKY = {
    "prompt": "Question: What color is the sky?\nAnswer:",
    "output_type": "multiple_choice",
    "choices": ["blue", "red"],
    "targets": ["blue"],
}
ROLES = ChatTemplate(
    "roles",
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
)


def scored(record: dict[str, Any], view: View) -> str:
    request = render_inline(record, V2, view).requests[0]
    return f"{request.context}{request.continuation}"


def test_assistant_blue_before_and_assistantblue_after_the_chat_delimiter_rule() -> None:
    assert scored(SKY, View()) == "Question: What color is the sky?\nAnswer: blue"
    shown = render_inline(
        {**SKY, "few_shot_examples": [{"prompt": "Q", "completion": "A"}]}, V2, View(chat=ROLES)
    )
    assert (
        shown.text == "<|user|>Q<|assistant|>A<|user|>Question: What color is the sky?\nAnswer:<|assistant|>"
    )
    assert (
        scored(SKY, View(chat=ROLES)) == "<|user|>Question: What color is the sky?\nAnswer:<|assistant|>blue"
    )


#: generation prefix, plain or chat, what is scored after the question
DELIMITERS = [
    ("", False, "Q blue"),
    ("It is", False, "Q It is blue"),
    ("It is ", False, "Q It is  blue"),
    ("", True, "<|user|>Q<|assistant|>blue"),
    ("It is", True, "<|user|>Q<|assistant|>It is blue"),
    ("It is ", True, "<|user|>Q<|assistant|>It is blue"),
]


@pytest.mark.parametrize(("prefix", "chat", "text"), DELIMITERS)
def test_the_two_delimiters(prefix: str, chat: bool, text: str) -> None:
    record = {**SKY, "prompt": "Q", "gen_prefix": prefix}
    assert scored(record, View(chat=ROLES if chat else None)) == text


def test_the_description_touches_what_follows_and_is_the_system_message() -> None:
    record = {**ARITH, "description": "Add."}
    assert text_of(record, V2) == f"Add.{TEXT}"
    prompt = render_inline(record, V2, View(chat=chat_template("chatml"), system="Be brief."))
    assert prompt.system == "Be brief.\n\nAdd."
    assert prompt.text.startswith("<|im_start|>system\nBe brief.\n\nAdd.<|im_end|>\n<|im_start|>user\n")


def test_an_empty_completion_keeps_its_join_and_separator() -> None:
    record = {**ARITH, "few_shot_examples": [{"prompt": "Q", "completion": ""}]}
    assert text_of(record, V1) == "Q \n\n" + ARITH["prompt"]


def test_loglikelihood_scores_the_target_without_a_delimiter() -> None:
    record = {**SKY, "output_type": "loglikelihood"}
    assert render_inline(record, V2).requests[0].arguments() == (SKY["prompt"], "blue")


def test_the_view_can_show_fewer_examples() -> None:
    assert render_inline(ARITH, V1, View(shots=0)).text == ARITH["prompt"]


def test_a_record_is_only_read() -> None:
    before = repr(SKY)
    render_inline(SKY, V2, View(chat=ROLES))
    assert repr(SKY) == before


WORD = st.text(alphabet="ab \n\u00a0", max_size=5)
RECORDS = st.fixed_dictionaries(
    {"prompt": WORD, "targets": st.just(["x"])},
    optional={
        "few_shot_examples": st.lists(
            st.fixed_dictionaries({"prompt": WORD, "completion": WORD}), max_size=3
        ),
        "description": WORD,
        "target_delimiter": WORD,
        "fewshot_delimiter": WORD,
        "gen_prefix": WORD,
    },
)


@given(RECORDS, st.sampled_from([V1, V2]))
def test_the_short_way_gives_the_same_text_and_the_parts_are_the_text(
    record: dict[str, Any], assembly: Assembly
) -> None:
    prompt = render_inline(record, assembly)
    assert text_of(record, assembly) == prompt.text
    assert "".join(part.text for part in prompt.parts) == prompt.text


@given(RECORDS, st.sampled_from(["chatml", "headers", "inst", "strict"]), st.booleans())
def test_the_parts_of_a_chat_are_its_text(record: dict[str, Any], name: str, multiturn: bool) -> None:
    prompt = render_inline(record, V2, View(chat=chat_template(name), multiturn=multiturn))
    assert "".join(part.text for part in prompt.parts) == prompt.text
