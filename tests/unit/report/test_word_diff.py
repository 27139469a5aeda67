"""Two prompts as one text, word by word: nothing lost, nothing invented, and only ever text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.errors import visible
from evalspec.report.console import coloured
from evalspec.report.word_diff import word_diff, word_pieces
from tests.support.comparisons import TEXTS

#: Texts that share words.
WORDS = st.lists(st.sampled_from(["the", " ", "cat", "\n", "sat", ".", "数", "値"]), max_size=30).map("".join)


@given(WORDS | TEXTS, WORDS | TEXTS)
def test_the_pieces_are_both_texts(before: str, after: str) -> None:
    pieces = word_pieces(before, after)
    assert "".join(text for sign, text in pieces if sign != "+") == before
    assert "".join(text for sign, text in pieces if sign != "-") == after
    assert all(text for _, text in pieces)
    assert all(one.sign != two.sign for one, two in pairwise(pieces))


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        ("the cat sat", "the cow sat", [("=", "the "), ("-", "cat"), ("+", "cow"), ("=", " sat")]),
        ("a\nb", "a\n\nb", [("=", "a\n"), ("+", "\n"), ("=", "b")]),
        (
            "give the best one",
            "give a good one",
            [("=", "give "), ("-", "the best"), ("+", "a good"), ("=", " one")],
        ),
        ("one two three", "two three four", [("-", "one "), ("=", "two three"), ("+", " four")]),
        ("数値の例", "数字の例", [("=", "数"), ("-", "値"), ("+", "字"), ("=", "の例")]),
        ("", "new", [("+", "new")]),
        ("same", "same", [("=", "same")]),
    ],
)
def test_words_are_whole(before: str, after: str, pieces: list[tuple[str, str]]) -> None:
    assert word_pieces(before, after) == pieces


def test_white_space_shows_in_what_changed_and_nowhere_else() -> None:
    assert word_diff("Read it.\nQ: a b", "Read this.\n\nQ: a b") == (
        "3 characters, 3 bytes more\nRead ⟦-it-⟧⟦+this+⟧.⟦+⏎+⟧\nQ: a b\n"
    )


def test_a_look_alike_is_named() -> None:
    assert word_diff("Q:", "Q\uff1a").endswith('  + U+FF1A FULLWIDTH COLON, looks like ":"\n')


def test_a_long_text_is_cut_between_its_changes() -> None:
    filler = " ".join(map(str, range(1_000, 100_000)))
    text = word_diff(f"one {filler} two", f"1 {filler} 2")
    assert text.count("…") == 1
    assert len(text) < 500


@given(TEXTS, TEXTS)
def test_nothing_of_a_prompt_is_a_mark_or_a_control(before: str, after: str) -> None:
    shown = word_diff(before, after)
    assert visible(shown, keep="\n") == shown
    if before != after:
        changed = sum(sign != "=" for sign, _ in word_pieces(before, after))
        assert shown.count("⟦") == shown.count("⟧") == changed


def test_colours_end_where_they_began() -> None:
    assert word_diff("a", "b", paint=coloured).splitlines()[1] == "\x1b[31m⟦-a-⟧\x1b[0m\x1b[32m⟦+b+⟧\x1b[0m"
