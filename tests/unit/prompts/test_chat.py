"""Chat templates by name and by file (prompting.md, "What we add")."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

import json

import pytest

from evalspec.errors import UsageError
from evalspec.prompts.chat import BUILT_IN, ChatTemplate, chat_template
from evalspec.prompts.limits import TemplateLimit

CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]
BEGUN = [*CHAT, {"role": "assistant", "content": "So "}]

SHOWN = {
    "chatml": "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n",
    "headers": (
        "<|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nQ<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
    "inst": "[INST] S\n\nQ [/INST]",
    "strict": "<|system|>\nS<|end|>\n<|user|>\nQ<|end|>\n<|assistant|>\n",
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in(name: str) -> None:
    assert chat_template(name).apply(CHAT).text == SHOWN[name]


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_begun_answer_goes_on(name: str) -> None:
    text = chat_template(name).apply(BEGUN, add_generation_prompt=False).text
    assert text.endswith("So ")


def test_turns_must_alternate_in_strict() -> None:
    from jinja2 import TemplateError

    with pytest.raises(TemplateError, match="take turns"):
        chat_template("strict").apply([*CHAT, CHAT[1]])


def test_a_refused_system_message_is_left_out_and_said() -> None:
    source = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('none here') }}{% endif %}{{ m.content }}{% endfor %}"
    made = ChatTemplate("own", source).apply(CHAT)
    assert made.text == "Q"
    assert "none here" in made.notes[0]


def test_the_clock_stands_still() -> None:
    source = "{{ strftime_now('%d %b %Y') }}{{ messages[0].content }}"
    assert ChatTemplate("own", source).apply(CHAT).text == "01 Jan 2025S"


def test_a_chat_template_is_bounded_too() -> None:
    with pytest.raises(TemplateLimit):
        ChatTemplate("own", "{% for i in range(10**9) %}x{% endfor %}").apply(CHAT)


FILES = {
    "t.jinja": b"{{ bos_token }}{{ messages[1].content }}",
    "tokenizer_config.json": json.dumps(
        {
            "bos_token": {"content": "<s>"},
            "eos_token": "</s>",
            "chat_template": [
                {"name": "default", "template": "D{{ eos_token }}"},
                {"name": "rag", "template": "R"},
            ],
        }
    ).encode(),
    "one/tokenizer_config.json": b'{"chat_template": "{{ bos_token }}only"}',
    "none/tokenizer_config.json": b"{}",
    "beside/tokenizer_config.json": b'{"bos_token": "<b>"}',
    "beside/chat_template.jinja": b"beside{{ bos_token }}",
    "bad/tokenizer_config.json": b"{",
}

NAMED = [
    ("t.jinja", "<s>Q"),
    ("tokenizer_config.json", "D</s>"),
    ("tokenizer_config.json#rag", "R"),
    ("one/tokenizer_config.json", "only"),
    ("beside/tokenizer_config.json", "beside<b>"),
]


@pytest.mark.parametrize(("name", "text"), NAMED)
def test_a_template_from_a_file(name: str, text: str) -> None:
    assert chat_template(name, FILES.get).apply(CHAT).text == text


REFUSED = [
    ("chatlm", "chatml"),
    ("missing.jinja", "check the path"),
    ("tokenizer_config.json#rga", "default, rag"),
    ("none/tokenizer_config.json", ".jinja"),
    ("t.jinja#x", ""),
    ("bad/tokenizer_config.json", ""),
]


@pytest.mark.parametrize(("name", "fix"), REFUSED)
def test_a_template_that_is_not_there(name: str, fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        chat_template(name, FILES.get)
    assert fix in caught.value.fix
