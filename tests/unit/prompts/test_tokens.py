"""Where a tokenizer cuts prompts, at the joins of their parts and of what is scored (the extra `[tokens]`)."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from support.tokenizers import write_tokenizer

from evalspec.errors import UsageError
from evalspec.prompts.tokens import boundaries, cuts, joins, load_tokenizer, seam

if TYPE_CHECKING:
    from pathlib import Path


def encode(text: str) -> list[tuple[int, int]]:
    """A tokenizer whose tokens are words with the space before them."""
    return [match.span() for match in re.finditer(r" ?[A-Za-z]+|\s|[^A-Za-z\s]", text)]


def test_a_token_that_reaches_over_a_join_is_marked() -> None:
    parts = [("question", "Answer:"), ("join", " "), ("answer", "yes"), ("separator", "\n\n")]
    assert [tuple(join) for join in joins(parts, encode("Answer: yes\n\n"))] == [
        (7, "question", "join", False),
        (8, "join", "answer", True),
        (11, "answer", "separator", False),
    ]


@pytest.mark.parametrize(
    ("context", "continuation", "at", "moved", "inner"),
    [
        ("Answer:", " yes", 7, False, ()),
        ("Answer:", " yes no", 7, False, (4,)),
        ("Answer: ", "yes", 7, True, ()),  # the space goes to the continuation
        ("Answer", "s: x", 6, True, (1, 2)),  # one token covers both sides
        ("", "yes no", 0, False, (3,)),
    ],
)
def test_where_a_continuation_is_parted_from_its_context(
    context: str, continuation: str, at: int, *, moved: bool, inner: tuple[int, ...]
) -> None:
    assert seam(context, continuation, encode) == (at, moved, inner)


def test_a_tokenizer_file_is_read_as_a_harness_uses_it(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(str(write_tokenizer(tmp_path / "tokenizer.json")))
    text = "Q: which?\nA: red\n\nQ: which?\nA: white"
    spans = tokenizer.encode(text)
    # Neither cut short nor padded, no token put in front, and the space before a word belongs to its token.
    assert "".join(text[start:end] for start, end in spans) == text
    assert " which" in [text[start:end] for start, end in spans]


@pytest.mark.parametrize("text", ["", "é日本語 🙂", "a \ud800 b", "\r\n\t "])
def test_any_text_has_tokens(tmp_path: Path, text: str) -> None:
    tokenizer = load_tokenizer(str(write_tokenizer(tmp_path / "tokenizer.json")))
    assert all(0 < at < len(text) for at in boundaries(tokenizer.encode(text), len(text)))


def test_every_context_of_several_is_cut() -> None:
    data = {
        "text": ["one two", "three"],
        "parts": [{"kind": "question", "text": "one two"}],
        "requests": [
            {"context": "one two", "continuation": " x"},
            {"context": "three", "continuation": " x y"},
            {"context": "three", "generation": {}},
        ],
    }
    assert cuts(data, encode) == {
        "boundaries": [[3], []],
        "joins": [],
        "requests": [
            {"at": 7, "moved": False, "boundaries": []},
            {"at": 5, "moved": False, "boundaries": [2]},
            None,
        ],
    }


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError) as caught:
        load_tokenizer("tokenizer.json")
    assert "evalspec-migrator[tokens]" in caught.value.fix


@pytest.mark.parametrize("content", [None, "{", "{}", "[1]", '"x"'])
def test_what_is_no_tokenizer_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError) as caught:
        load_tokenizer(str(path))
    assert str(path) in str(caught.value)
    assert caught.value.fix
