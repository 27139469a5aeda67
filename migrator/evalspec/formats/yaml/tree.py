"""A YAML text as a tree that can be edited: what is not touched stays a span of the text.

A mapping or list is opened only where an edit passes through it. A block's items are whole lines, so that they can
be taken out, put in and moved; those of a flow collection are what stands between its commas.
"""

from __future__ import annotations

from typing import Any


class Stuck(Exception):
    """The text cannot be edited here without laying it out anew: the reason and the place."""

    def __init__(self, reason: str, index: int) -> None:
        self.reason = reason
        self.index = index
        super().__init__(reason)


class Raw:
    """A value as it stands in the text."""

    __slots__ = ("end", "node", "start")

    def __init__(self, node: Any, start: int, end: int) -> None:
        self.node = node
        self.start = start
        self.end = end


class New:
    """A value that is not in the text yet; `like` is the style of the one that it replaces."""

    __slots__ = ("like", "value")

    def __init__(self, value: Any, like: str | None = None) -> None:
        self.value = value
        self.like = like


class Item:
    """A key with its value, or a list's item. `gap` stays where it is when the item goes.

    In a block, `lead` holds the item's own comment lines and its indent, and `tail` the rest of its last line. In a
    flow collection they are the white space on either side. `name` is the key's new name, None where it is the old.
    `token` to `stop` is the item in the text, `start` to `end` with all that is around it; `is_open` says that the
    text fields count and not these.
    """

    key_node: Any = None
    value_node: Any = None
    start = token = stop = end = 0
    inline = odd = is_open = False
    gap = lead = key = colon = sep = tail = ""
    name: str | None = None
    value: Value

    def __init__(self, column: int) -> None:
        self.column = column


class Block:
    """A mapping or list on lines of its own. `inline` says that its first item begins behind a dash."""

    __slots__ = ("column", "end", "inline", "items", "kind", "node", "props", "start", "trailer")

    def __init__(self, kind: str, column: int, *, node: Any = None, inline: bool = False) -> None:
        self.kind = kind
        self.column = column
        self.node = node
        self.inline = inline
        self.items: list[Item] = []
        self.start = self.end = 0
        self.props = self.trailer = ""


class Flow:
    """A mapping or list in braces or brackets. `comma` says that one follows the last item."""

    __slots__ = ("comma", "foot", "head", "items", "kind", "node")

    def __init__(self, kind: str, node: Any, head: str, foot: str) -> None:
        self.kind = kind
        self.node = node
        self.head = head
        self.foot = foot
        self.comma = False
        self.items: list[Item] = []


Value = Raw | New | Block | Flow
