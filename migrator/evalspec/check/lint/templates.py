"""Templates: what is left of another template language, of a form, or of a web page."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from evalspec.check.lint.pieces import EXAMPLES, outside_jinja
from evalspec.check.lint.scalars import excerpt
from evalspec.check.rule import Rule
from evalspec.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.check.lint.pieces import LintFile, Role
    from evalspec.errors import Finding

SINGLE_BRACES = Rule(
    "single_braces",
    "error",
    "A name in single braces is text for Jinja: every row shows the braces and the name.",
    'task: chat\ndoc_to_text: "Human: {question}\\n\\nAssistant:"\n',
    "write {{name}}; it changes the prompt, so raise the task's version",
)
FORMAT_BRACES = Rule(
    "format_braces",
    "warning",
    "A field of Python's str.format is text here, and next to JSON braces str.format itself would fail on it.",
    'task: chat\ndoc_to_text: "{0}\\n\\n{{question}}"\n',
    "put the value in itself, or make the record a template that names a column: {{name}}",
)
LEFTOVER_PLACEHOLDER = Rule(
    "leftover_placeholder",
    "warning",
    "A place to fill in, or a note to oneself, is still in a text that a model sees.",
    'task: sums\ndescription: "TODO: describe the task.\\n"\n',
    "write what was meant; it changes the prompt, so raise the task's version",
)
HTML_ENTITIES = Rule(
    "html_entities",
    "warning",
    "A character is written as an HTML entity, and a model sees the entity.",
    'task: compare\ndoc_to_text: "Is {{a}} &lt; {{b}}?"\n',
    "write the character itself; it changes the prompt, so raise the task's version",
)
RULES = (SINGLE_BRACES, FORMAT_BRACES, LEFTOVER_PLACEHOLDER, HTML_ENTITIES)

#: A name alone in braces, behind nothing that TeX or code writes braces after.
NAMED = re.compile(r"(?<![{\\$^_A-Za-z0-9})\]#])\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})")
_FIELD = re.compile(
    r"(?<![{\\$^_A-Za-z0-9})\]#])\{(?:[0-9]?|"
    r"[A-Za-z_][\w.]*(?:![rsa]|(?:![rsa])?:[<>=^+\- #0-9.,_]*[bcdeEfFgGnosxX%]?))\}(?!\})"
)
#: What TeX, code and JSON are known by: braces in such a text are its own.
_OTHER_TONGUE = re.compile(
    r"\\[a-zA-Z]+\s*\{|\$[^$]*\{|```|\bdef \w+\(|\bprintf\b|\bfunction\b|\bconst \b|#include|\bclass \w+"
)
_LEFT = re.compile(
    r"(?-i:\b(?:TODO|FIXME|TBD)\b)(?=\s*[:(\]!.]|\s*$)|\blorem ipsum\b"
    r"|<(?:insert|your|fill in|replace)[ _-][^<>\n]{1,40}>"
    r"|\[(?:insert|your|fill in|replace)[ _-][^\[\]\n]{1,40}\]|(?-i:\bXXX+\b)(?=\s*[:)\]])",
    re.IGNORECASE,
)
ENTITY = re.compile(
    r"&(?:lt|gt|amp|quot|apos|nbsp|hellip|mdash|ndash|rsquo|lsquo|ldquo|rdquo|#[0-9]{2,5}|#x[0-9a-fA-F]{2,5});"
)


class Found(NamedTuple):
    """What is wrong in a text: the rule, a sentence, and the offending piece."""

    rule: Rule
    message: str
    text: str


def leftovers(file: LintFile) -> Iterator[Finding]:
    """What every text and template of a file has of this kind. The rows among the examples are told of together."""
    first: dict[str, Finding] = {}
    more: Counter[str] = Counter()
    for piece in file.pieces:
        if not piece.role:
            continue
        for found in in_text(piece.value, piece.role):
            finding = found.rule.at(file.at(piece), found.message, field=piece.field, text=found.text)
            if not EXAMPLES.isdisjoint(piece.path):
                more[finding.rule] += finding.rule in first
                first.setdefault(finding.rule, finding)
            else:
                yield finding
    for rule, finding in first.items():
        others = f"; {counted(more[rule], 'more text')} of the examples too" if more[rule] else ""
        yield finding._replace(message=finding.message + others)


@lru_cache(maxsize=8192)
def in_text(text: str, role: Role) -> tuple[Found, ...]:
    """What is wrong in one text. A `template` goes through Jinja, a `text` is shown as it stands."""
    plain = outside_jinja(text) if role == "template" else text
    out: list[Found] = []
    if "{" in plain and not _OTHER_TONGUE.search(plain):
        out += _braces(text, plain, role)
    left = _LEFT.search(plain)
    if left is not None:
        message = f"the text still holds {left.group()!r}"
        out.append(Found(LEFTOVER_PLACEHOLDER, message, excerpt(text, text.find(left.group()))))
    entity = ENTITY.search(plain) if "&" in plain else None
    if entity is not None and role != "stop":
        from html import unescape

        message = f"the model sees {entity.group()}, not {unescape(entity.group())!r}"
        out.append(Found(HTML_ENTITIES, message, excerpt(text, text.find(entity.group()))))
    return tuple(out)


def _braces(text: str, plain: str, role: Role) -> Iterator[Found]:
    named = NAMED.search(plain)
    if named is not None:
        name, shown = named.group(1), excerpt(text, text.find(named.group()))
        if role == "template":
            message = f"{{{name}}} is text: a model sees the braces and the name in every row"
            yield Found(SINGLE_BRACES, message, shown)
        elif role == "text":
            message = f"{{{name}}} is shown as it stands, braces and all: nothing fills it in"
            yield Found(FORMAT_BRACES, message, shown)
        return
    field = _FIELD.search(plain)
    if field is not None and role == "template":
        message = f"{field.group()} is a field of str.format, and text for Jinja"
        yield Found(FORMAT_BRACES, message, excerpt(text, text.find(field.group())))
