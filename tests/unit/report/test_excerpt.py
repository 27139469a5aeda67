"""Two prompts, at their first difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.formats.characters import name_of, with_marks
from evalspec.report import prompt_diff, size_change
from evalspec.report.console import coloured


def test_a_space_at_the_end() -> None:
    assert prompt_diff("Question: 17 + 24\nAnswer:", "Question: 17 + 24\nAnswer: ") == (
        "1 character, 1 byte more, from character 26 (line 2)\n"
        "- Question:·17·+·24⏎Answer:⟦⟧\n"
        "+ Question:·17·+·24⏎Answer:⟦·⟧\n"
    )


def test_a_colon_that_is_none_is_named() -> None:
    assert prompt_diff("Answer:", "Answer：") == (
        "as many characters, 2 bytes more, from character 7 (line 1)\n"
        "- Answer⟦:⟧\n"
        "+ Answer⟦：⟧\n"
        '  + U+FF1A FULLWIDTH COLON, looks like ":"\n'
    )


def test_equal_prompts_are_no_diff() -> None:
    assert prompt_diff("a\n", "a\n") == ""


def test_long_text_is_left_out_around_and_inside_the_change() -> None:
    shown = prompt_diff("x" * 1000 + "old" + "y" * 1000, "x" * 1000 + "n" * 5000 + "y" * 1000)
    assert max(map(len, shown.split("\n"))) < 300
    _, minus, plus, _ = shown.split("\n")
    assert minus == f"- …{'x' * 32}⟦old⟧{'y' * 32}…"
    assert plus == f"+ …{'x' * 32}⟦{'n' * 120}[… 4,840 characters …]{'n' * 40}⟧{'y' * 32}…"


def test_colours_only_if_asked() -> None:
    assert "\x1b[32m+ a⟦·⟧\x1b[0m\n" in prompt_diff("a", "a ", paint=coloured)


@pytest.mark.parametrize(
    ("before", "after", "size"),
    [
        ("a", "ab", "1 character, 1 byte more"),
        ("ab", "", "2 characters, 2 bytes fewer"),
        ("a", "é", "as many characters, 1 byte more"),
        ("e\u0301", "é", "1 character, 1 byte fewer"),
        ("ééé", "abcdef", "3 characters more, as many bytes"),
        ("ééé", "abcd", "1 character more, 2 bytes fewer"),
        ("a", "b", "the same size"),
        ("", "x" * 12345, "12,345 characters, 12,345 bytes more"),
        ("\ud800", "", "1 character, 3 bytes fewer"),
    ],
)
def test_the_size_of_a_change(before: str, after: str, size: str) -> None:
    assert size_change(before, after) == size


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b\tc\r\nd", "a·b→c␍⏎d"),
        ("\u00a0\u202f", "⍽⍽"),
        (
            "\u2003\u3000\u00ad\u200b\ufeff",
            r"\u{2003}\u{3000}\u{AD}\u{200B}\u{FEFF}".replace("{AD}", "{00AD}"),
        ),
        ("·→⏎⟦", r"\u{00B7}\u{2192}\u{23CE}\u{27E6}"),
        ("\x1b\x00\x85", r"\x1b\0\x85"),
        ("e\u0301 ❤\ufe0f", r"e\u{0301}·❤\u{FE0F}"),
        ("हिन्दी ภาษาไทย 日本語 🙂", "हिन्दी·ภาษาไทย·日本語·🙂"),
        ("⟨question⟩", "⟨question⟩"),
    ],
)
def test_marks(text: str, shown: str) -> None:
    assert with_marks(text) == shown


@pytest.mark.parametrize(
    ("char", "name"),
    [
        ("a", None),
        ("\n", None),
        ("é", None),
        ("日", None),
        ("½", None),
        ("\u00a0", 'U+00A0 NO-BREAK SPACE, looks like " "'),
        ("\u200b", "U+200B ZERO WIDTH SPACE, does not show"),
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE, does not show"),
        ("\x1b", "U+001B, does not show"),
        ("\u0301", "U+0301 COMBINING ACUTE ACCENT, joins the character before it"),
        ("а", 'U+0430 CYRILLIC SMALL LETTER A, looks like "a"'),
        ("Ο", 'U+039F GREEK CAPITAL LETTER OMICRON, looks like "O"'),
        ("’", 'U+2019 RIGHT SINGLE QUOTATION MARK, looks like "\'"'),
        ("–", 'U+2013 EN DASH, looks like "-"'),
        ("\u037e", 'U+037E GREEK QUESTION MARK, looks like ";"'),
        ("Ａ", 'U+FF21 FULLWIDTH LATIN CAPITAL LETTER A, looks like "A"'),
        ("→", "U+2192 RIGHTWARDS ARROW"),
    ],
)
def test_names(char: str, name: str | None) -> None:
    assert name_of(char) == name


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_prompts_differ_in_few_safe_lines(before: str, after: str) -> None:
    shown = prompt_diff(before, after)
    assert bool(shown) == (before != after)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert (prompt_diff(after, before).count("\n")) == shown.count("\n")
    if shown:
        minus, plus = shown.split("\n")[1:3]
        assert minus[2:] != plus[2:]


def test_ten_characters_that_do_not_show_are_named_and_the_rest_counted() -> None:
    hidden = "".join(chr(code) for code in range(0x2000, 0x2040))
    lines = prompt_diff("x" * 1_000_000, "x" * 1_000_000 + hidden * 1_000).splitlines()[3:]
    assert len(lines) == 11
    assert lines[-1].startswith("  + … and ")
