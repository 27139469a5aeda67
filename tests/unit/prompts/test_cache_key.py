"""The harness's name for a task's requests (prompting.md, "The request cache key")."""

from __future__ import annotations

from hashlib import sha256

from evalspec.prompts.cache_key import cache_file, cache_key
from evalspec.prompts.chat import chat_template
from evalspec.prompts.view import View


def test_a_plain_key() -> None:
    assert cache_key("gsm8k", 5, View()) == "requests-gsm8k-5shot-rank0-world_size1-tokenizer"


def test_a_chat_key() -> None:
    view = View(chat=chat_template("chatml"), system="Hi", tokenizer_name="a/b", rank=1, world_size=2)
    hashed = sha256(b"Hi").hexdigest()
    assert cache_key("t", 0, view) == (
        f"requests-t-0shot-rank1-world_size2-chat_template-fewshot_as_multiturn-system_prompt_hash{hashed}-tokenizera/b"
    )


def test_a_file_of_the_cache() -> None:
    suffix = sha256(b"EleutherAI-lm-evaluation-harness").hexdigest()
    assert cache_file("requests-a/b\\c") == f"requests-a_b_c.{suffix}.pickle"
    long = "requests-" + "é" * 200
    name = cache_file(long)
    assert len(name.encode()) <= 240
    assert name.endswith(f"-{sha256(long.encode()).hexdigest()[:16]}.{suffix}.pickle")
