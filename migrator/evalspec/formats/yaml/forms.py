"""An item on its way to another place: out of braces or into them, from a list to a key; and what stays on its line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalspec.formats.yaml.scalars import BREAKS
from evalspec.formats.yaml.tree import Block, Flow, Item, New, Raw, Stuck

if TYPE_CHECKING:
    from evalspec.formats.yaml.opening import Opener

_FIRST_LINE = re.compile(f"([^{BREAKS}]*)(\r\n|[{BREAKS}])")
_HEADER_COMMENT = re.compile(f"[|>][-+0-9]*([ \t]+#[^{BREAKS}]*)")


def clear_line(opener: Opener, item: Item, old: Any) -> None:
    """Leave of a block's item what stays on its key's line: its comment and its end."""
    first = _FIRST_LINE.match(item.sep)
    if first is not None:
        item.tail = item.tail if "#" in item.tail and not first[1].strip() else first[1] + first[2]
    elif isinstance(old, Block):
        item.tail = opener.nl
    elif isinstance(old, Raw) and old.node.id == "scalar" and old.node.style in ("|", ">"):
        comment = _HEADER_COMMENT.match(opener.text, old.start)
        item.tail = (comment[1] if comment else "") + item.tail
    item.sep = " "


def style_of(old: Any) -> str | None:
    """The style that a new value takes over from the old: a scalar's, or that of a collection in braces."""
    if isinstance(old, New):
        return old.like
    if isinstance(old, Raw) and old.node.id == "scalar":
        return old.node.style or None
    node = old.node
    return "flow" if node is not None and node.flow_style and node.value else None


def flatten(item: Item) -> None:
    """An item on its way into braces: on one line, without comments."""
    value = item.value
    if (
        isinstance(value, Block)
        or (isinstance(value, Raw) and is_block(value.node))
        or "#" in item.lead + item.tail
    ):
        raise Stuck("a block, or a value with a comment, cannot move into braces", item.token)
    item.lead = item.tail = item.gap = ""
    item.colon, item.sep = ":", " "


def unflatten(opener: Opener, item: Item, target: Block) -> None:
    """An item on its way out of braces."""
    if "#" in item.lead + item.tail:
        raise Stuck("a value with a comment cannot move out of braces", item.token)
    item.column = target.column
    item.lead, item.tail = " " * target.column, opener.nl
    item.colon, item.sep = ":", " "


def undash(opener: Opener, item: Item) -> None:
    """A list's item on its way to a key."""
    if isinstance(item.value, Raw) and item.value.node.id != "scalar" and not item.value.node.flow_style:
        opener.enter(item, item.value)
    item.colon = ":"
    if isinstance(item.value, Block) and item.value.inline:
        item.value.inline = False
        if item.value.items and item.value.items[0].inline:
            opener.open(item.value.items[0])
        item.sep = opener.nl
    elif isinstance(item.value, Raw | Flow) and not item.sep:
        item.sep = " "


def is_block(node: Any) -> bool:
    """Whether a node is written on lines of its own: a block text, or a collection without braces."""
    return node.style in ("|", ">") if node.id == "scalar" else not node.flow_style
