"""Token boundaries at the joins of a prompt (the extra `[tokens]`)."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from evalspec.errors import UsageError
from evalspec.prompts.prompt import Part
from evalspec.prompts.tokens import joins, load_tokenizer, scored_apart


def encode(text: str) -> list[tuple[int, int]]:
    """A tokenizer whose tokens are words with the space before them."""
    return [match.span() for match in re.finditer(r" ?[A-Za-z]+|\s|[^A-Za-z\s]", text)]


def test_a_token_that_reaches_over_a_join_is_marked() -> None:
    parts = [Part("question", "Answer:"), Part("join", " "), Part("answer", "yes"), Part("separator", "\n\n")]
    assert [(join.before, join.after, join.moved) for join in joins(parts, encode)] == [
        ("question", "join", False),
        ("join", "answer", True),
        ("answer", "separator", False),
    ]


def test_a_continuation_alone_and_behind_its_context() -> None:
    assert not scored_apart("Answer:", " yes", encode)
    assert scored_apart("Answer: ", "yes", encode)


@pytest.mark.skipif(find_spec("tokenizers") is not None, reason="tokenizers is installed here")
def test_without_the_package_the_extra_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        load_tokenizer("tokenizer.json")
    assert "[tokens]" in caught.value.fix
