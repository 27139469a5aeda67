"""Two prompts as one text: what both have, and between it the words that were removed and added."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalspec.diff.ends import ends_of
from evalspec.errors import visible
from evalspec.report.console import Paint, plain
from evalspec.report.excerpt import middle_cut, names_changed, size_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: A word, or any other character by itself; scripts that put no space between words go character by character.
_WORD = re.compile(r"[^\W\u0e00-\u0eff\u2e80-\u9fff]+|.", re.DOTALL)
#: Code points of unchanged text that are shown on either side of a change.
_AROUND = 120
#: What our marks are made of, as `evalspec.formats.characters` writes it.
_OURS = str.maketrans({char: f"\\u{{{ord(char):04X}}}" for char in "⟦⟧"})


class Piece(NamedTuple):
    """A stretch of text: in both prompts (`=`), in the old one alone (`-`), or in the new one alone (`+`)."""

    sign: Literal["=", "-", "+"]
    text: str


def word_pieces(before: str, after: str) -> list[Piece]:
    """Both texts as pieces: `=` and `-` in a row are the old one, `=` and `+` the new one; no piece is empty."""
    from evalspec.report.line_matching import blocks

    ends = ends_of(before, after)
    start, end = len(ends.left), len(ends.right)
    while start > 0 and before[start - 1].isalnum():
        start -= 1
    while end and before[len(before) - end].isalnum():
        end -= 1
    old = _WORD.findall(before[start : len(before) - end])
    new = _WORD.findall(after[start : len(after) - end])
    tail = before[len(before) - end :]
    middle = [
        ("".join(old[block.old_start : block.old_end]), "".join(new[block.new_start : block.new_end]))
        for block in blocks(old, new)
    ]
    return list(_pieces(_phrases([(before[:start], before[:start]), *middle, (tail, tail)])))


def word_diff(before: str, after: str, *, paint: Paint = plain) -> str:
    """What changed between two prompts, word by word: `⟦-old-⟧⟦+new+⟧` in the text around it; nothing where equal.

    White space is visible in what changed; the middle of long unchanged text is left out.
    """
    if before == after:
        return ""
    pieces = word_pieces(before, after)
    shown = "".join(_shown(pieces, at, paint) for at in range(len(pieces)))
    return "".join([f"{size_change(before, after)}\n", shown, "\n", *_names(pieces)])


def _phrases(texts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Stretches of old and new text; words replaced next to each other are one, with the space between them."""
    held = texts[0]
    for at, (old, new) in enumerate(texts[1:], 1):
        behind = texts[at + 1] if at + 1 < len(texts) else ("", "")
        space = old == new and old.isspace() and "\n" not in old
        between = space and _replaced(held) and _replaced(behind)
        if between or (old == new) == (held[0] == held[1]):
            held = held[0] + old, held[1] + new
        else:
            yield held
            held = old, new
    yield held


def _replaced(texts: tuple[str, str]) -> bool:
    return bool(texts[0] and texts[1] and texts[0] != texts[1])


def _pieces(texts: Iterable[tuple[str, str]]) -> Iterator[Piece]:
    for old, new in texts:
        found = [Piece("=", old)] if old == new else [Piece("-", old), Piece("+", new)]
        yield from (piece for piece in found if piece.text)


def _shown(pieces: Sequence[Piece], at: int, paint: Paint) -> str:
    sign, text = pieces[at]
    if sign != "=":
        return paint(f"⟦{sign}{middle_cut(text)}{sign}⟧", "removed" if sign == "-" else "added")
    first, last = at == 0, at == len(pieces) - 1
    if len(text) > _AROUND * (1 if first or last else 2):
        head = "" if first else text[:_AROUND]
        tail = "" if last else text[-_AROUND:]
        return f"{_plain(head)}…{_plain(tail)}"
    return _plain(text)


def _plain(text: str) -> str:
    return visible(text, keep="\n").translate(_OURS)


def _names(pieces: Sequence[Piece]) -> Iterator[str]:
    old, new = ["".join(piece.text for piece in pieces if piece.sign == sign) for sign in "-+"]
    return names_changed(old, new)
