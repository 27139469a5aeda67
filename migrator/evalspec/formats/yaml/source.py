"""A YAML text that knows its lines, what it may cost, how it is read, and what its parsing gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.errors import FormatError

BOM = "\ufeff"
_LONE_RETURN = re.compile("\r(?!\n)")


class YamlLimits(NamedTuple):
    """What a stranger's file may cost.

    Attributes:
        size: bytes of one file (10 MB).
        nodes: values in one document, every alias counted as what it stands for.
        depth: levels of mappings and lists.
    """

    size: int = 10_000_000
    nodes: int = 1_000_000
    depth: int = 100


class Dialect(NamedTuple):
    """Where families differ in what they let a file hold.

    Attributes:
        tags: whether an unknown tag (`!function a.b`) is kept as a `Tagged` value, or refused as `bad_yaml`.
        keys: whether keys that are no text are allowed.
        duplicates: whether a key given twice is an `error`, or a `warning` where the last one wins as in PyYAML.
    """

    tags: bool = False
    keys: bool = False
    duplicates: Literal["error", "warning"] = "error"


#: Our own family and its branches.
STRICT = Dialect()
#: Tasks of lm-evaluation-harness: `!function` is part of the language, and 15 of its files give a key twice.
LM_EVAL = Dialect(tags=True, keys=True, duplicates="warning")


class Source:
    """A text, without a byte order mark, that knows its lines.

    YAML 1.1 also breaks lines at U+0085, U+2028, U+2029 and a lone carriage return, and so do a parser's
    marks; people's editors do not, so in a text that has any of these the lines are counted here.
    """

    __slots__ = ("_starts", "regular", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.regular = not (
            (not text.isascii() and ("\x85" in text or "\u2028" in text or "\u2029" in text))
            or ("\r" in text and _LONE_RETURN.search(text))
        )
        self._starts: list[int] | None = None

    def line(self, index: int) -> int:
        """The line, from 1, of the code point at `index`."""
        from bisect import bisect_right

        if self._starts is None:
            self._starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        return bisect_right(self._starts, index)

    def place(self, index: int) -> tuple[int, int]:
        """Line and column, both from 1, of the code point at `index`."""
        return self.line(index), index - self.text.rfind("\n", 0, index)

    def mark_place(self, mark: Any) -> tuple[int, int]:
        """Line and column, both from 1, of a parser's mark."""
        if self.regular:
            return mark.line + 1, mark.column + 1
        return self.place(mark.index)

    def line_text(self, index: int) -> str:
        """The line that holds the code point at `index`, without its end."""
        start = self.text.rfind("\n", 0, index) + 1
        end = self.text.find("\n", index)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")


class YamlFile(NamedTuple):
    """A file that is YAML. Whether its records hold what they should is for `records` to say.

    Attributes:
        source: the text, without its byte order mark.
        bom: whether the bytes began with EF BB BF.
        documents: the root node of each document.
        dialect: how it is read.
        limits: what it was held to.
        warnings: what deserves a finding and is no error (`byte_order_mark`).
        nul: whether an escape may stand for U+0000.
    """

    source: Source
    bom: bool
    documents: Sequence[Any]
    dialect: Dialect
    limits: YamlLimits
    warnings: tuple[FormatError, ...] = ()
    nul: bool = False
