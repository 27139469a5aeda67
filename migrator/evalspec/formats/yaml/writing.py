"""New values as YAML text, in the manner of the file that they go into."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.formats.yaml import scalars
from evalspec.formats.yaml.refusals import Unwritable
from evalspec.formats.yaml.scalars import Written
from evalspec.formats.yaml.values import Tagged

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The longest list that replaces a list in brackets and stays in brackets.
_FLOW_WIDTH = 100
#: The largest indent that is taken for a file's manner.
_MOST = 8


class Layout(NamedTuple):
    """The manner of a file.

    Attributes:
        nl: its line end.
        step: columns from a mapping's key to the keys of the mapping below it.
        dash: columns from a key to the dashes of the list below it.
        blocks: whether a text may be written as a block (not where the file ends without a line end).
    """

    nl: str = "\n"
    step: int = 2
    dash: int = 2
    blocks: bool = True


def layout_of(text: str, roots: Iterable[Any]) -> Layout:
    """The manner of a file: the first line end, the first nested mapping and the first nested list decide."""
    step = dash = None
    stack = list(roots)[::-1]
    while stack and (step is None or dash is None):
        node = stack.pop()
        if node.id == "scalar" or node.flow_style:
            continue
        if node.id == "sequence":
            stack.extend(reversed(node.value[:50]))
            continue
        for key, value in node.value:
            if value.id == "scalar" or value.flow_style or value.start_mark.index < key.end_mark.index:
                continue
            if value.start_mark.line == key.end_mark.line or text[value.start_mark.index] in "&!":
                continue
            off = value.start_mark.column - key.start_mark.column
            if value.id == "sequence":
                dash = off if dash is None and 0 <= off <= _MOST else dash
            else:
                step = off if step is None and 0 < off <= _MOST else step
        stack.extend(value for _, value in reversed(node.value))
    return Layout(line_end(text), step or 2, 2 if dash is None else dash, text[-1:] in scalars.BREAKS)


def line_end(text: str) -> str:
    """The file's first line end; `\\n` where it has none."""  # noqa: D301 - an escape is named
    end = text.find("\n")
    line = text[:end] if end >= 0 else text
    if end >= 0 and line.isascii() and "\r" not in line[:-1]:
        return "\r\n" if line[-1:] == "\r" else "\n"
    found = re.search(f"\r\n|[{scalars.BREAKS}]", text)
    return found.group() if found else "\n"


def write_key(name: str, *, like: str = "", flow: bool = False) -> str:
    """A key's text; `like` is the text of the key that it replaces or stands beside."""
    return scalars.quoted_like(name, like[:1], flow=flow)


def write_plain(value: Any, like: str = "") -> str:
    """A text on one line, or another single value."""
    return scalars.quoted_like(value, like) if isinstance(value, str) else _scalar(value)


def write_flow(value: Any, like: str = "") -> str:
    """A value on one line, in braces and brackets where it is a mapping or a list."""
    if isinstance(value, str):
        return scalars.quoted_like(value, like, flow=True)
    if isinstance(value, Tagged):
        return f"{_tag(value.tag)} {write_flow(value.value)}".rstrip()
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{_key(key, flow=True)}: {write_flow(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(write_flow, value)) + "]"
    return _scalar(value)


def _key(key: Any, *, flow: bool = False) -> str:
    return write_key(key, flow=flow) if isinstance(key, str) else _scalar(key)


def write(
    value: Any, column: int, layout: Layout, *, like: str | None = None, at: int | None = None
) -> Written:
    """A value under a key (or behind a dash) at `column`.

    Args:
        value: plain data.
        column: where its key or dash stands, from 0.
        layout: the manner of the file.
        like: the style of the value that it replaces: `'`, `"`, `|`, `>`, `flow`, or None.
        at: the column of its own keys or dashes; by the layout if None.

    Raises:
        Unwritable: a value that is no plain data, or a number that is not finite.
    """
    if isinstance(value, str):
        return _text(value, column, layout, like)
    if isinstance(value, Tagged):
        head, body = write(value.value, column, layout, at=at)
        return Written(f"{_tag(value.tag)} {head}".rstrip(), body)
    if not isinstance(value, dict | list) or not value:
        return Written(write_flow(value))
    if like == "flow" and len(line := write_flow(value)) <= _FLOW_WIDTH:
        return Written(line)
    if isinstance(value, dict):
        at = column + layout.step if at is None else at
        lines = [entry(_key(key), item, at, layout) for key, item in value.items()]
    else:
        at = column + layout.dash if at is None else at
        lines = [list_item(item, at, layout) for item in value]
    return Written("", "".join(lines))


def entry(key: str, value: Any, column: int, layout: Layout) -> str:
    """`key: value` with its lines below, from the line's start."""
    head, body = write(value, column, layout)
    return f"{' ' * column}{key}:{' ' if head else ''}{head}{layout.nl}{body}"


def list_item(value: Any, column: int, layout: Layout) -> str:
    """`- value` with its lines below, from the line's start; a mapping or list begins on the dash's line."""
    head, body = write(value, column, layout, at=column + 2)
    if head:
        return f"{' ' * column}- {head}{layout.nl}{body}"
    return f"{' ' * column}- {body[column + 2 :]}"


def _text(text: str, column: int, layout: Layout, like: str | None) -> Written:
    if layout.blocks and (written := _block(text, column, layout, like)) is not None:
        return written
    return Written(scalars.quoted_like(text, like if like in {"'", '"'} else ""))


def _block(text: str, column: int, layout: Layout, like: str | None) -> Written | None:
    """The text as a folded or literal block where the style asks for one and it is exact."""
    if like not in {">", "|"} and ("\n" not in text or like == '"'):
        return None
    indent = column + layout.step
    written = scalars.folded(text, indent, layout.nl) if like == ">" else None
    if written is None:
        written = scalars.literal(text, indent, layout.nl, step=layout.step)
    return written


def _scalar(value: Any) -> str:
    if isinstance(value, dict | list):
        raise Unwritable("a list or a mapping cannot be a key")
    if isinstance(value, float) and not isfinite(value):
        raise Unwritable("a number must be finite")
    if isinstance(value, str):
        return scalars.quoted_like(value, "")
    text = scalars.other(value)
    if text is None:
        raise Unwritable(f"a value of type {type(value).__name__} has no place in a task file")
    return text


def _tag(tag: str) -> str:
    return tag if tag.startswith("!") else f"!<{tag}>"
