"""An edited tree back to text: untouched spans are copied, everything else is put together from its pieces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalspec.formats.yaml.scalars import BREAKS
from evalspec.formats.yaml.tree import Block, Flow, Item, New, Raw
from evalspec.formats.yaml.values import Tagged
from evalspec.formats.yaml.writing import write, write_flow, write_plain

if TYPE_CHECKING:
    from evalspec.formats.yaml.opening import Opener

_STRUCTURED = (dict, list, Tagged)
_ENDS = tuple(BREAKS)
_WHITE = " \t" + BREAKS
#: The part of a line that an empty collection is written behind: all but its comment and its end.
_BEFORE_COMMENT = re.compile(f"[^#{BREAKS}]*?(?=[ \t]*(?:#|[{BREAKS}]|$))")


def render_root(opener: Opener, root: Block | Flow) -> str:
    """The text of a document's root."""
    if isinstance(root, Flow):
        return render_flow(opener, root)
    if root.items:
        return render_block(opener, root)
    return " " * root.column + _empty(root) + opener.nl + root.trailer


def render_block(opener: Opener, block: Block) -> str:
    """The lines of a block's items; without the first one's indent where it begins behind a dash."""
    text = opener.text
    parts: list[str] = []
    run: Item | None = None  # the first of the untouched items whose text is still to be copied
    last: Item | None = None
    for item in block.items:
        if run is not None and last is not None and (item.is_open or item.start != last.end):
            parts.append(_untouched(text, run, last, first=not parts))
            run = None
        if item.is_open:
            parts.append(_item(opener, item, block.column))
        elif run is None:
            run = item
        last = item
    if run is not None and last is not None:
        parts.append(_untouched(text, run, last, first=not parts))
    if block.inline:
        parts[0] = parts[0].lstrip(_WHITE)
    nl = opener.nl
    for index, part in enumerate(parts[:-1]):
        if not part.endswith(_ENDS):
            parts[index] = part + nl
    parts.append(block.trailer)
    return "".join(parts)


def _untouched(text: str, run: Item, last: Item, *, first: bool) -> str:
    """The text from one item to another; one that began behind a dash and is no longer first gets its indent."""
    indent = " " * run.column if run.inline and not first else ""
    return indent + text[run.start : last.end]


def _item(opener: Opener, item: Item, column: int) -> str:
    value = item.value
    if isinstance(value, Raw):
        rest = item.sep + opener.text[value.start : value.end] + item.tail
    elif isinstance(value, New):
        rest = _new(opener, item, value)
    elif isinstance(value, Flow):
        rest = item.sep + render_flow(opener, value) + item.tail
    elif value.items:
        rest = item.sep + value.props + render_block(opener, value) + item.tail
    else:
        rest = _emptied(opener, item, value)
    lines = item.lead + item.key + item.colon + rest
    return item.gap + (lines if column == item.column else shift(lines, column - item.column))


def _new(opener: Opener, item: Item, value: New) -> str:
    if (
        not isinstance(value.value, _STRUCTURED)
        and value.like not in {"|", ">"}
        and "\n" not in str(value.value)
    ):
        return f"{item.sep or ' '}{write_plain(value.value, value.like or '')}{item.tail}"
    dash = item.key == "-" and not item.colon
    written = write(
        value.value, item.column, opener.layout, like=value.like, at=item.column + 2 if dash else None
    )
    tail = item.tail
    if written.body and not tail.endswith(_ENDS):
        tail += opener.nl
    if written.head:
        return f" {written.head}{tail}{written.body}"
    if dash and not tail.strip():
        return " " + written.body[item.column + 2 :]
    return tail + written.body


def _emptied(opener: Opener, item: Item, block: Block) -> str:
    """An empty collection where a block was: `{}` behind the key, before the comment of its line."""
    around = item.sep + block.props
    before = _BEFORE_COMMENT.match(around).group()  # type: ignore[union-attr]
    after = around[len(before) :]
    if not after.strip(" \t"):
        after = opener.nl
    return f"{before} {_empty(block)}{after}{block.trailer}{item.tail}"


def _empty(block: Block) -> str:
    return "{}" if block.kind == "mapping" else "[]"


def render_flow(opener: Opener, flow: Flow) -> str:
    """A flow collection's text, its new values on one line."""
    parts = []
    for item in flow.items:
        value = item.value
        if isinstance(value, Raw):
            text = opener.text[value.start : value.end]
        elif isinstance(value, Flow):
            text = render_flow(opener, value)
        else:
            assert isinstance(value, New)
            text = write_flow(value.value, value.like or "")
        parts.append(f"{item.lead}{item.key}{item.colon}{item.sep}{text}{item.tail}")
    comma = "," if flow.comma and parts else ""
    return f"{flow.head}{','.join(parts)}{comma}{flow.foot}"


def shift(lines: str, by: int) -> str:
    """Lines moved `by` columns to the right (to the left where negative); blank lines stay.

    Relative indents stay, and with them the content of block texts; in quoted and plain texts of several lines an
    indent is no content.
    """
    out = []
    for line in lines.splitlines(keepends=True):
        if line[0] in BREAKS:
            out.append(line)
        elif by > 0:
            out.append(" " * by + line)
        else:
            out.append(line[min(-by, len(line) - len(line.lstrip(" "))) :])
    return "".join(out)
