"""Characters that do not show, or that look like others."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from evalspec.check.lint.pieces import EXAMPLES, outside_jinja
from evalspec.check.lint.scalars import excerpt
from evalspec.check.rule import Rule
from evalspec.errors import Place, visible
from evalspec.formats.characters import looks_like, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.check.lint.pieces import LintFile
    from evalspec.errors import Finding, Severity
    from evalspec.formats.yaml import YamlFile

BYTE_ORDER_MARK = Rule(
    "byte_order_mark",
    "warning",
    "A byte order mark stands before the first character; some loaders take it for a part of the first key.",
    "\ufefftask: sums\ndoc_to_text: '{{question}}'\n",
    "save the file as UTF-8 without a byte order mark",
    fixable=True,
)
INVISIBLE_CHARACTER = Rule(
    "invisible_character",
    "warning",
    "A character that prints as nothing reaches the model, or hides in a name.",
    'task: sums\ndoc_to_text: "Answer:\u200b{{question}}"\n',
    "remove it; in a prompt's text that changes the prompt, so raise the task's version",
)
CONFUSABLE_CHARACTER = Rule(
    "confusable_character",
    "warning",
    "A full-width colon or a Cyrillic letter stands where the ASCII character that it looks like is meant.",
    'task: sums\ndoc_to_text: "{{question}}\\nAnswer\uff1a"\n',
    "write the ASCII character; in a prompt's text that changes the prompt, so raise the task's version",
)
RULES = (BYTE_ORDER_MARK, INVISIBLE_CHARACTER, CONFUSABLE_CHARACTER)

#: Letters that are drawn like ASCII ones (`looks_like` says which), beside ASCII letters. Turkish writes ı itself.
_FOREIGN = "\u0370-\u052f\uff21-\uff5a\U0001d400-\U0001d7ff"
_MIXED = re.compile(f"[A-Za-z][{_FOREIGN}]|[{_FOREIGN}][A-Za-z]")
_WORD = re.compile(r"[^\W\d_]+")
#: Characters that count as letters, and print as nothing.
_BLANK_LETTERS = re.compile("[\u115f\u1160\u3164\uffa0]")
#: Scripts that are read with their own wide signs, and joiners that their letters need.
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3041-\u33ff\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff]"
)
_JOINERS = "\u200c\u200d"
#: Signs of layout that have an ASCII form: what else is drawn alike (quotes, dashes) is good typography.
_SIGNS = re.compile("[\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff5e\u02d0\u0589\u2236\ua789\ufe30]")


def byte_order_marks(path: str, file: YamlFile) -> Iterator[Finding]:
    """The mark before a file's first character."""
    for each in file.warnings:
        if each.rule == BYTE_ORDER_MARK.id:
            yield BYTE_ORDER_MARK.at(Place(path), each.message, text=each.text)


def strange_characters(file: LintFile) -> Iterator[Finding]:
    """Invisible and look-alike characters in texts and in keys."""
    text = file.text
    if text and text.isascii() and "\\u" not in text and "\\x" not in text:
        return
    for path, node in file.keys.items():
        if not node.value.isascii():
            found = strange(str(path[-1]))
            if found is not None:
                rule, message, _ = found
                yield rule.at(file.place(node), f"the key holds {message}", text=node.value)
    for piece in file.pieces:
        if piece.value.isascii() or not (piece.role or piece.path[0] in ("task", "tag", "group")):
            continue
        found = strange(piece.value)
        if found is not None:
            rule, message, at = found
            if rule is CONFUSABLE_CHARACTER and not EXAMPLES.isdisjoint(piece.path):
                continue  # a row of a data set has the signs of its language, whatever its neighbours say
            # A line separator is white space to most readers: to be known, not to be mended.
            severity: Severity | None = "info" if piece.value[at] in "\u2028\u2029" else None
            text = excerpt(piece.value, at)
            yield rule.at(
                file.at(piece), f"the text holds {message}", field=piece.field, text=text, severity=severity
            )


@lru_cache(maxsize=4096)
def strange(text: str) -> tuple[Rule, str, int] | None:
    """The first character of a text that does not show, or that looks like an ASCII one: rule, its name, position."""
    if not text.replace("\n", " ").replace("\t", " ").isprintable() or _BLANK_LETTERS.search(text):
        for at, char in enumerate(text):
            if not char.isascii() and visible(char) != char and not _joins(text, at):
                return INVISIBLE_CHARACTER, str(name_of(char)), at
    words = outside_jinja(text)
    for word in _WORD.finditer(words) if _MIXED.search(words) else ():
        letters = word.group()
        alike = [letter for letter in letters if not letter.isascii() and looks_like(letter)]
        if alike and len(alike) + sum(map(str.isascii, letters)) == len(letters) > len(alike):
            return CONFUSABLE_CHARACTER, str(name_of(alike[0])), text.find(alike[0])
    sign = _SIGNS.search(words)
    if sign is not None and not _WIDE.search(text):
        return CONFUSABLE_CHARACTER, str(name_of(sign.group())), text.find(sign.group())
    return None


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands between letters of a script that is written with it, or inside an emoji."""
    if text[at] not in _JOINERS:
        return False
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return bool(before) and not before.isascii() and not before.isspace() and not after.isascii()
