"""How a text, a number or a date is written in YAML so that it reads back as itself.

A plain scalar is used only where no reader of YAML 1.1 or 1.2 takes it for anything but text: `yes`, `010`,
`12:30`, `1e3` and dates go into quotes (the shared cases' "answer: Yes becomes True").
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

BREAKS = "\n\r\x85\u2028\u2029"

#: What is plain at first sight: most keys.
_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")
_FIRST = re.compile(r"[A-Za-z0-9_/(.$\\<+^;=]|[^\x00-\x7f]")
_BLOCK_STOP = re.compile(r":(?= |$)| #|\t")
_FLOW_STOP = re.compile(r"[,\[\]{}:?#\t]")
_WORDS = frozenset("y n yes no on off true false null none nan inf infinity".split())  # noqa: SIM905 - one line
#: Made of nothing but what numbers, dates and times are made of, in any version of YAML or a neighbour of it.
_NUMERIC = re.compile(r"[-+.]?[0-9][0-9A-Fa-f_xob.,:+\-TtZzEe ]*|[-+.]+(?:[0-9]|inf|nan).*", re.IGNORECASE)

_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\a": "\\a", "\b": "\\b",
    "\x1b": "\\e", "\v": "\\v", "\f": "\\f", "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P",
}  # fmt: skip
_TO_ESCAPE = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]')
#: What may stand in a block text line by line. A line that ends in white space would be lost on the next editor.
_BLOCK_BAD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]|[ \t](?:\n|$)"
)


class Written(NamedTuple):
    """A value as text: `head` goes on its key's line, `body` on the lines below (each with its end)."""

    head: str
    body: str = ""


def is_plain(text: str, *, flow: bool = False) -> bool:
    """Whether the text may stand without quotes: it reads as itself, as text, in every reader."""
    if _NAME.fullmatch(text):
        return True
    if not _FIRST.match(text) or not text.isprintable() or text[-1] == " " or text.startswith("..."):
        return False
    if (_FLOW_STOP if flow else _BLOCK_STOP).search(text):
        return False
    if text.lower() in _WORDS or _NUMERIC.fullmatch(text):
        return False
    return all(not pattern.match(text) for _, pattern in _resolvers().get(text[0], ()))


@cache
def _resolvers() -> Any:
    """PyYAML's table from a plain scalar's first character to the tags it may resolve to."""
    from yaml.resolver import Resolver

    return Resolver.yaml_implicit_resolvers


def double(text: str) -> str:
    """The text in double quotes on one line; what is printable stays as it is."""
    return '"' + _TO_ESCAPE.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def single(text: str) -> str | None:
    """The text in single quotes, or None where only double quotes can hold it on one line."""
    return (
        None
        if _TO_ESCAPE.search(text.replace('"', "").replace("\\", ""))
        else "'" + text.replace("'", "''") + "'"
    )


def quoted_like(text: str, like: str, *, flow: bool = False) -> str:
    """The text as one line in the manner of `like`: `'`, `"`, or plain where that is safe."""
    if like == "'" and (written := single(text)) is not None:
        return written
    return text if like not in {"'", '"'} and is_plain(text, flow=flow) else double(text)


def literal(text: str, indent: int, nl: str, *, step: int) -> Written | None:
    """The text as a literal block (`|`), or None where it would not be exact.

    Args:
        text: what is to be read.
        indent: the column of its lines.
        nl: the file's line end.
        step: how far `indent` is from the parent's, for the indicator that a leading space needs.
    """
    if not text.strip() or _BLOCK_BAD.search(text):
        return None
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    if ends > 1:
        return None  # `|+` would take every blank line that is ever added below it
    hint = str(step) if body[0] in " \t\n" else ""
    lines = [" " * indent + line if line else "" for line in body.split("\n")]
    return Written(f"|{hint}{'' if ends else '-'}", nl.join(lines) + nl)


def folded(text: str, indent: int, nl: str) -> Written | None:
    """The text as a folded block (`>`), one line a line, or None where folding would change it."""
    body = text.rstrip("\n")
    if not text.strip() or _BLOCK_BAD.search(text) or re.search(r"(?:^|\n)[ \t\n]", body):
        return None
    ends = len(text) - len(body)
    if ends > 1:
        return None
    lines = body.replace("\n", "\n\n").split("\n")
    return Written(">" if ends else ">-", nl.join(" " * indent + line if line else "" for line in lines) + nl)


def _number(value: float) -> str:
    text = repr(value)
    if "e" in text:  # YAML 1.1 reads an exponent only behind a point and with a sign: 1e+16 would be a text
        mantissa, exponent = text.split("e")
        text = (mantissa if "." in mantissa else mantissa + ".0") + "e" + exponent
    return text


def _binary(value: bytes) -> str:
    from base64 import b64encode

    return "!!binary " + double(b64encode(value).decode("ascii"))


_OTHERS: dict[str, Callable[[Any], str]] = {
    "bool": lambda value: "true" if value else "false",
    "int": str,
    "float": _number,
    "NoneType": lambda _: "null",
    "date": lambda value: str(value.isoformat()),
    "datetime": lambda value: str(value.isoformat(" ")),
    "bytes": _binary,
}


def other(value: Any) -> str | None:
    """A number, a truth value, null, a date or bytes as one plain scalar; None for what YAML has no scalar for."""
    write = _OTHERS.get(type(value).__name__)
    return None if write is None else write(value)
