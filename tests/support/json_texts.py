"""JSON texts as people and programs write them: any white space, any escapes, any spelling of a number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

KEYS = ["a", "b", "c", "prompt", "metadata", "é", "a b", '"', "\\", "{", ",", ""]

characters = st.one_of(
    st.sampled_from('ab ,:{}[]"\\/\n\t\r\x1b\x7f\x85\u2028é🤗'),
    st.characters(codec="utf-8", exclude_characters="\0"),
)
strings = st.text(characters, max_size=6)
numbers = st.one_of(
    st.sampled_from(["0", "-0", "-0.0", "1.0", "1e3", "1.50E+02", "123456789012345678901234567890", "0.1"]),
    st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)
new_values: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def string_texts(draw: DrawFn, value: str, *, ascii_only: bool = False) -> str:
    """A spelling of a string: each character as it is or as one of its escapes."""
    out = ['"']
    for char in value:
        plain = json.dumps(char, ensure_ascii=ascii_only)[1:-1]
        spellings = [plain, plain, json.dumps(char)[1:-1]]
        if ord(char) < 0x10000:
            spellings += [f"\\u{ord(char):04x}", f"\\u{ord(char):04X}"]
        if char == "/":
            spellings.append("\\/")
        out.append(draw(st.sampled_from(spellings)))
    return "".join([*out, '"'])


@st.composite
def json_texts(draw: DrawFn, depth: int = 3, *, only_object: bool = False) -> str:
    """The text of any JSON value that the contract accepts (of an object, with `only_object`)."""
    spaces = draw(st.sampled_from([("",), ("", " "), (" ",), ("", " ", "\t", "  ", " \r")]))
    ascii_only = draw(st.booleans())

    def space() -> str:
        return draw(st.sampled_from(spaces))

    def value(depth: int, *, only_object: bool = False) -> str:
        kinds = ["object"] if only_object else ["string", "number", "literal"]
        if depth and not only_object:
            kinds += ["object", "list"]
        match draw(st.sampled_from(kinds)):
            case "string":
                return draw(string_texts(draw(strings), ascii_only=ascii_only))
            case "number":
                return draw(numbers)
            case "literal":
                return draw(st.sampled_from(["true", "false", "null"]))
            case "list":
                items = [space() + value(depth - 1) + space() for _ in range(draw(st.integers(0, 3)))]
                return f"[{','.join(items) or space()}]"
            case _:
                names = draw(st.lists(st.sampled_from(KEYS), max_size=4, unique=True))
                members = []
                for name in names:
                    key = draw(string_texts(name, ascii_only=ascii_only))
                    members.append(f"{space()}{key}{space()}:{space()}{value(depth - 1)}{space()}")
                return f"{{{','.join(members) or space()}}}"

    return space() + value(depth, only_object=only_object) + space()


def records() -> SearchStrategy[str]:
    """The text of a record: one object."""
    return json_texts(only_object=True)
