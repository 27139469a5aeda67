"""Chat templates: the same messages through transformers' own `apply_chat_template` give the same text."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from evalspec.prompts.chat import BUILT_IN, ChatTemplate

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

HAND_MADE = {
    "blocks on lines": "{%- if true %}\n  {% for m in messages %}\n    {{ m.role }}: {{ m['content'] }}\n  {% endfor %}\n{% endif %}\nend\n",
    "trimmed content": "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
    "right trimmed": "{% for m in messages %}<{{ m.role }}>{{ m.content.rstrip() }}</>{% endfor %}",
    "special tokens": "{{ bos_token }}{% for m in messages %}{{ m.content + eos_token }}{% endfor %}{{ unk_token }}{{ pad_token }}",
    "raise": "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ m.content }}{% endfor %}",
    "always raise": "{{ raise_exception('never') }}",
    "tojson": "{{ messages | tojson }}{{ messages[0] | tojson(indent=2) }}{{ {'é<>&': \"'\"} | tojson(ensure_ascii=true) }}",
    "json options": "{{ {'b': 1, 'a': [1, 2]} | tojson(sort_keys=true, separators=(',', ':')) }}{{ messages[-1].content }}",
    "generation": "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}",
    "generation scope": "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}{{ messages[-1].content }}",
    "loop controls": "{% for m in messages %}{% if loop.index0 == 1 %}{% continue %}{% endif %}{% if loop.index0 > 3 %}{% break %}{% endif %}{{ m.content }}{% endfor %}{{ messages[-1].content }}",
    "namespace": "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{{ m.content }}{% endfor %}",
    "private namespace": "{% set ns = namespace(_n=0) %}{{ messages[-1].content }}",
    "tools": "{% if tools %}T{% endif %}{% if documents is defined %}D{% endif %}{{ messages[-1].content }}",
    "undefined": "{{ nothing }}{{ messages[0].nothing }}[{{ messages[-1].content }}]",
    "undefined call": "{{ nothing() }}{{ messages[-1].content }}",
    "macro": "{% macro say(m) %}{{ m.role | upper }} {{ m.content }}{% endmacro %}{% for m in messages %}{{ say(m) }}{% endfor %}",
    "slices": "{% for m in messages[1:] %}{{ m.content[:5] }}{% endfor %}{{ messages[-1]['content'].split()[-1] }}",
    "drops the last": "{% for m in messages[:-1] %}{{ m.content }}{% endfor %}",
    "upper": "{{ messages[-1].content | upper }}",
    "append": "{% set l = [] %}{{ l.append(1) }}{{ messages[-1].content }}",
    "dict": "{{ dict(a=1).a }}{{ dict.fromkeys([1]) }}{{ messages[-1].content }}",
    "no content": "{% for m in messages %}{{ m.role }}{% endfor %}",
    "syntax": "{% for %}",
    "comment": "{# hidden #}\n{{ messages[-1].content }}\n",
    "final newline": "{{ messages[-1].content }}\n\n",
    "autoescape": "{{ '<&>' }}{{ messages[-1].content }}",
    "format": "{{ '%s-%s' % (messages[0].role, 'x') }}{{ '{}'.format(messages[-1].content) }}",
}

CHATS = (
    [{"role": "user", "content": "hi"}],
    [{"role": "system", "content": "be brief "}, {"role": "user", "content": " hi\n"}],
    [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b "},
        {"role": "user", "content": "<c>"},
    ],
    [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    [{"role": "user", "content": "q"}, {"role": "assistant", "content": "The answer is"}],
    [{"role": "user", "content": "q"}, {"role": "assistant", "content": "The answer is \n"}],
    [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "q"},
    ],
    [
        {"role": "user", "content": "é\u00a0"},
        {"role": "assistant", "content": " x"},
        {"role": "user", "content": ""},
    ],
    [{"role": "user", "content": "{{ x }}"}, {"role": "assistant", "content": "{% y %}"}],
)


@pytest.fixture(scope="module")
def answers(harness: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    folder = tmp_path_factory.mktemp("chats")
    asked, said = folder / "asked.json", folder / "said.json"
    asked.write_text(json.dumps({"templates": BUILT_IN | HAND_MADE, "chats": CHATS}), encoding="utf-8")
    script = Path(__file__).with_name("judge_chats.py")
    subprocess.run([harness, "-W", "ignore", script, asked, said], check=True, capture_output=True)
    return json.loads(said.read_text(encoding="utf-8"))


def ours(source: str, chat: list[dict[str, str]]) -> list[str]:
    begun = chat[-1]["role"] == "assistant"
    try:
        made = ChatTemplate("given", source, TOKENS).apply(chat, add_generation_prompt=not begun)
    except Exception as problem:  # noqa: BLE001 - its kind is the answer
        return ["error", type(problem).__name__]
    return ["text", made.text]


@pytest.mark.parametrize("name", [*BUILT_IN, *HAND_MADE])
def test_a_chat_template_gives_what_transformers_gives(
    name: str, answers: dict[str, list[list[str]]]
) -> None:
    source = (BUILT_IN | HAND_MADE)[name]
    assert [ours(source, chat) for chat in CHATS] == answers[name]
