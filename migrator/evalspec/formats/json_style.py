"""How a record is written, and new text written the same way."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_any_escape = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")


class Escapes(NamedTuple):
    """How a text writes characters beyond ASCII.

    Attributes:
        used: as escapes: it has some, and no such character as it is.
        upper: with capitals as hexadecimal digits.
    """

    used: bool = False
    upper: bool = False


class Style(NamedTuple):
    """How a record is written, seen in its outermost object.

    Attributes:
        colon: what stands between a key and its value: the colon with its white space.
        before: white space before a comma.
        after: white space after a comma.
        opening: white space after an opening brace.
        closing: white space before a closing brace.
        escapes: how characters beyond ASCII are written.
    """

    colon: str = ": "
    before: str = ""
    after: str = " "
    opening: str = ""
    closing: str = ""
    escapes: Escapes = Escapes()


def escapes_in(text: str) -> Escapes:
    """How `text` writes characters beyond ASCII; as they are, where it has none."""
    if "\\u" not in text or not text.isascii():
        return Escapes()
    codes = [match[1] for match in _any_escape.finditer(text) if match[1] and int(match[1], 16) >= 0x80]
    letters = [code for code in codes if not code.isdigit()]
    return Escapes(bool(codes), bool(letters) and all(code == code.upper() for code in letters))


def quote(text: str, style: Style) -> str:
    """A string as JSON text.

    Raises:
        TypeError: it is no string.
    """
    if not isinstance(text, str):
        raise TypeError("a key is a string")
    quoted = json.dumps(text, ensure_ascii=style.escapes.used)
    return _any_escape.sub(_upper, quoted) if style.escapes.upper else quoted


def render(value: Any, style: Style) -> str:
    """A value as JSON text.

    Raises:
        TypeError: a key is no string, or JSON has no such value.
        ValueError: a number is not finite.
    """
    comma = f"{style.before},{style.after}"
    match value:
        case str():
            return quote(value, style)
        case dict() if value:
            members = (
                f"{quote(key, style)}{style.colon}{render(item, style)}" for key, item in value.items()
            )
            return f"{{{style.opening}{comma.join(members)}{style.closing}}}"
        case list() if value:
            return f"[{comma.join(render(item, style) for item in value)}]"
        case _:
            return json.dumps(value, allow_nan=False)


def _upper(match: re.Match[str]) -> str:
    return f"\\u{match[1].upper()}" if match[1] else match[0]
