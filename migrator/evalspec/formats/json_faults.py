"""What is wrong with a JSON text, told so that a person finds the character and knows what to write instead.

The scanner only notices that a text does not go on as it should; the functions here look at what stands there
instead. Each returns the `FormatError`, with a rule of records.md ("v1 · inline tasks").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import FormatError, cut, visible

if TYPE_CHECKING:
    from evalspec.formats.edits import Path

_HEX = "[0-9a-fA-F]"
#: The inside of a string, up to the closing quote or to the first character that may not stand there.
STRING_BODY = (
    r'[^"\\\x00-\x1f\ud800-\udfff]*+'
    rf"(?:\\(?:[\"\\/bfnrt]|u(?!0000|[dD][89a-fA-F]){_HEX}{{4}}"
    rf"|u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}})"
    r'[^"\\\x00-\x1f\ud800-\udfff]*+)*+'
)
_body = re.compile(STRING_BODY).match
_space = re.compile(r"[ \t\n\r]*+").match
_word = re.compile(r"[\w.+-]++|.", re.DOTALL).match
_special = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE).fullmatch
_hex4 = re.compile(f"{_HEX}{{4}}").match

_SHORT_ESCAPES = {"\t": r"\t", "\r": r"\r", "\n": r"\n", "\b": r"\b", "\f": r"\f"}
_OTHER_WORDS = {
    "True": "true",
    "TRUE": "true",
    "False": "false",
    "FALSE": "false",
    "None": "null",
    "NULL": "null",
    "Null": "null",
    "nil": "null",
    "undefined": "null",
}
_LINE_ENDS = ("", "\n", "\r", "\r\n")
_CONTAINERS = {"{": "object", "[": "list"}


class Spot(NamedTuple):
    """Where the scanner stopped.

    Attributes:
        text: the whole text.
        position: offset in it, in code points from 0.
        path: the field being read, from the top.
        line_number: the number of the text's first line.
    """

    text: str
    position: int
    path: Path = ()
    line_number: int = 1

    def skip_space(self) -> Spot:
        """The next character that is no white space; at the end of the text, the place before its line end."""
        found = _space(self.text, self.position)
        position = found.end() if found else self.position
        if position == len(self.text):
            position = max(self.position, len(self.text.removesuffix("\n").removesuffix("\r")))
        return self._replace(position=position)

    @property
    def found(self) -> str:
        """The word or character here; empty at the end of the text."""
        match = _word(self.text, self.position)
        return match[0] if match and self.text[self.position :] not in _LINE_ENDS else ""

    def column_of(self, position: int) -> int:
        """The column of an offset, from 1 in code points, counted in its own line."""
        return position - self.text.rfind("\n", 0, position)

    def error(self, rule: str, message: str, *, text: str = "", fix: str = "") -> FormatError:
        """The `FormatError` that points here."""
        return FormatError(
            rule,
            message,
            line=self.line_number + self.text.count("\n", 0, self.position),
            column=self.column_of(self.position),
            text=cut(text),
            field=field_path(self.path) if self.path else None,
            fix=fix,
        )


def field_path(path: Path) -> str:
    """A path as records.md writes it: `few_shot_examples[0].completion`; `_root` for the record itself."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out or "_root"


def no_value(spot: Spot, *, after_comma: bool) -> FormatError:
    """A value was expected and none begins here."""
    spot = spot.skip_space()
    found = spot.found
    if not found:
        return spot.error("bad_json", "expected a value, found the end of the text", fix="complete the value")
    if found == '"':
        return _bad_string(spot)
    if _special(found):
        return spot.error(
            "bad_number", f"{found} is no JSON number", text=found, fix="write a finite number or null"
        )
    if found in _OTHER_WORDS:
        right = _OTHER_WORDS[found]
        return spot.error("bad_json", f"expected a value, found {found}", text=found, fix=f"write {right}")
    if found[0] in "+-.0123456789":
        return spot.error(
            "bad_json", f"{cut(visible(found), 40)} is no JSON number{_number_hint(found)}", text=found,
            fix="write the number as JSON does: 0.5, -1, 1e3",
        )  # fmt: skip
    if found in ("]", "}") and after_comma:
        return spot.error(
            "bad_json", f"expected a value after the comma, found {found}", text=found, fix=_NO_COMMA
        )
    return _unexpected(spot, "a value")


def no_key(spot: Spot, *, after_comma: bool) -> FormatError:
    """A key and its colon were expected and do not stand here."""
    spot = spot.skip_space()
    found = spot.found
    if found == '"':
        body = _body(spot.text, spot.position + 1)
        end = body.end() if body else spot.position + 1
        if spot.text[end : end + 1] != '"':
            return _bad_string(spot)
        key = spot.text[spot.position : end + 1]
        behind = spot._replace(position=end + 1).skip_space()
        return _unexpected(behind, f"a colon after the key {cut(visible(key), 40)}")
    if found == "}" and after_comma:
        return spot.error("bad_json", "expected a key after the comma, found }", text=found, fix=_NO_COMMA)
    return _unexpected(spot, "a key in double quotes" if after_comma else "a key in double quotes or }")


def no_next(spot: Spot, start: int) -> FormatError:
    """A comma or the end of the container that began at `start` was expected."""
    opening = spot.text[start]
    closing = "}" if opening == "{" else "]"
    begun = f"the {_CONTAINERS[opening]} that begins at column {spot.column_of(start)}"
    spot = spot.skip_space()
    if not spot.found:
        return spot.error(
            "bad_json", f"expected a comma or {closing}, found the end of the text in {begun}",
            fix=f"close it with {closing}",
        )  # fmt: skip
    if spot.found in ("]", "}"):
        return spot.error(
            "bad_json", f"expected a comma or {closing}, found {spot.found} in {begun}", text=spot.found,
            fix="make the brackets match",
        )  # fmt: skip
    return _unexpected(spot, f"a comma or {closing}")


def no_end(spot: Spot) -> FormatError:
    """Something follows the value."""
    spot = spot.skip_space()
    if spot.found in ("{", "[", '"'):
        return spot.error(
            "bad_json", f"expected the end of the line, found {spot.found}: a second value", text=_rest(spot),
            fix="put each record on a line of its own",
        )  # fmt: skip
    return _unexpected(spot, "the end of the line")


def too_deep(spot: Spot, max_depth: int) -> FormatError:
    """One level more than is read."""
    return spot.error(
        "too_deep",
        f"objects and lists nested more than {max_depth} deep",
        text=_rest(spot),
        fix="flatten the value",
    )


def overflow(spot: Spot, number: str) -> FormatError:
    """A number that becomes infinite when it is read."""
    shown = cut(number, 40)
    return spot.error(
        "bad_number", f"{shown} is beyond a 64-bit float", text=number, fix="write a smaller number"
    )


def too_many_digits(spot: Spot, number: str, limit: int) -> FormatError:
    """An integer longer than is read."""
    return spot.error(
        "bad_number", f"an integer of {len(number.lstrip('-')):,} digits; at most {limit:,} are read", text=number,
        fix="keep it as a string",
    )  # fmt: skip


def duplicate_key(spot: Spot, first: int, key: str) -> FormatError:
    """The key at `spot` stands at offset `first` already."""
    here = spot.column_of(spot.position)
    return spot.error(
        "duplicate_key",
        f"the key {cut(visible(key), 40)} stands at column {spot.column_of(first)} and again at column {here}; "
        "most readers take the last",
        text=key,
        fix="remove one of the two",
    )


_NO_COMMA = "remove the comma"


def _rest(spot: Spot) -> str:
    return spot.text[spot.position : spot.position + 200].rstrip("\r\n")


def _number_hint(found: str) -> str:
    digits = found.lstrip("-")
    if found.startswith("+"):
        return ": it begins with a plus sign"
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return ": it begins with a zero"
    if not digits[:1].isdigit():
        return ": it does not begin with a digit"
    if digits[-1] in ".eE+-":
        return ": digits are missing at its end"
    return ""


def _unexpected(spot: Spot, expected: str) -> FormatError:
    """Something else than `expected` stands here."""
    found = spot.found
    if not found:
        return spot.error(
            "bad_json", f"expected {expected}, found the end of the text", fix="complete the record"
        )
    char = found[0]
    if char == "\0":
        return _nul(spot, "a NUL character stands")
    if char == "\ufeff":
        return byte_order_mark(spot)
    fix = ""
    if char == "'":
        fix = "write strings in double quotes"
    elif char in "/#":
        fix = "JSON has no comments: remove it"
    elif char.isspace():
        fix = "JSON knows only spaces, tabs and line ends as white space"
    elif char == "\\":
        fix = "a backslash stands only inside strings"
    elif "key" in expected and "colon" not in expected and (char.isalpha() or char == "_"):
        fix = f'write "{visible(cut(found, 40))}"'
    elif "comma" in expected:
        fix = "add the comma, or escape the quote before it" if char != ":" else "remove the colon"
    shown = f"U+{ord(char):04X}" if not char.isprintable() else visible(cut(found, 40))
    return spot.error("bad_json", f"expected {expected}, found {shown}", text=found, fix=fix)


def byte_order_mark(spot: Spot) -> FormatError:
    """The mark that some editors put before UTF-8 text."""
    return spot.error(
        "byte_order_mark",
        "a byte order mark (bytes EF BB BF) stands before the record",
        text="\ufeff",
        fix="save the file as UTF-8 without a byte order mark",
    )


def _nul(spot: Spot, what: str) -> FormatError:
    return spot.error("nul_character", f"{what} here", text=_escape_or_char(spot), fix="remove it")


def _escape_or_char(spot: Spot) -> str:
    length = 6 if spot.text[spot.position] == "\\" else 1
    return spot.text[spot.position : spot.position + length]


def _bad_string(spot: Spot) -> FormatError:
    """The string that begins here holds something it may not, or never ends."""
    text = spot.text
    body = _body(text, spot.position + 1)
    stop = body.end() if body else spot.position + 1
    at = spot._replace(position=stop)
    char = text[stop : stop + 1]
    following = text[stop + 1 : stop + 2]
    if text[stop:].removeprefix("\\") in _LINE_ENDS:
        return spot.error("bad_json", "the string that begins here has no closing quote", text=_rest(spot),
                          fix="close it with a double quote")  # fmt: skip
    if char == "\0":
        return _nul(at, "a NUL character stands")
    if char < " ":
        right = _SHORT_ESCAPES.get(char, f"\\u{ord(char):04x}")
        return at.error("bad_json", f"expected {right} for the control character U+{ord(char):04X} in a string",
                        text=char, fix=f"write {right}")  # fmt: skip
    if char != "\\":
        return _lone(at, f"U+{ord(char):04X}", char)
    if following != "u":
        return at.error("bad_json", f"\\{visible(following)} is no escape in JSON", text=char + following,
                        fix="write \\\\ for a backslash")  # fmt: skip
    digits = _hex4(text, stop + 2)
    escape = text[stop : stop + 6]
    if digits is None:
        return at.error("bad_json", "expected four hexadecimal digits after \\u", text=escape,
                        fix="complete the escape, or write \\\\ for a backslash")  # fmt: skip
    if digits[0] == "0000":
        return _nul(at, "the escape of a NUL character stands")
    return _lone(at, escape, escape)


def _lone(spot: Spot, shown: str, text: str) -> FormatError:
    return spot.error("lone_surrogate", f"{shown} is half of a surrogate pair, its other half is missing", text=text,
                      fix="write the whole character")  # fmt: skip
