"""One object or list of a JSON text, taken apart so that its members can be changed and all white space stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.formats.json_style import Style, quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalspec.formats.json_text import Node


class Entry:
    """One member of an opened object or list, with the white space around it."""

    __slots__ = ("colon", "key", "lead", "name", "slot", "trail", "value")

    def __init__(self, value: Node | Box, *, name: str = "", key: str = "", colon: str = "") -> None:
        self.name = name
        self.key = key
        self.colon = colon
        self.value = value
        self.lead = ""
        self.trail = ""
        self.slot: int | None = None

    def rename(self, name: str, style: Style) -> None:
        self.name, self.key = name, quote(name, style)


class Box:
    """An opened object or list; `inner` is the white space in an empty one."""

    __slots__ = ("entries", "inner", "is_object")

    def __init__(self, node: Node | None = None) -> None:
        """Take a node apart, one level deep; without one, make an empty object."""
        self.is_object = node is None or node.kind == "object"
        self.entries: list[Entry] = []
        self.inner = ""
        if node is None:
            return
        text = node.text
        position = node.start + 1
        for number, item in enumerate(node.items):
            if self.is_object:
                key = node.keys[number]
                first = key.start
                entry = Entry(item, name=node.names[number], key=key.raw, colon=text[key.end : item.start])
            else:
                first = item.start
                entry = Entry(item)
            gap = text[position:first]
            if number:
                self.entries[-1].trail, _, gap = gap.partition(",")
            entry.lead = gap
            self.entries.append(entry)
            position = item.end
        rest = text[position : node.end - 1]
        if self.entries:
            self.entries[-1].trail = rest
        else:
            self.inner = rest

    def index(self, step: str | int | None) -> int | None:
        """Where the entry of a key or list index is; None where there is none."""
        if isinstance(step, str):
            names = [entry.name for entry in self.entries] if self.is_object else []
            return names.index(step) if step in names else None
        if step is None or self.is_object or not -len(self.entries) <= step < len(self.entries):
            return None
        return step % len(self.entries)

    def put(self, index: int, entry: Entry, style: Style) -> None:
        """Add an entry before the one at `index`, spaced as its neighbours are."""
        entries = self.entries
        count = len(entries)
        entry.colon = entries[max(index - 1, 0)].colon if entries else style.colon
        if not entries:
            entry.lead, entry.trail = self.inner or style.opening, self.inner or style.closing
        else:
            entry.lead = entries[min(max(index, 1), count - 1)].lead if count > 1 else style.after
            entry.trail = entries[min(max(index - 1, 0), count - 2)].trail if count > 1 else style.before
            if index == 0:
                entry.lead, entries[0].lead = entries[0].lead, entry.lead
            elif index == count:
                entry.trail, entries[-1].trail = entries[-1].trail, entry.trail
        entries.insert(index, entry)

    def take(self, index: int) -> Entry:
        """Remove the entry at `index`; the white space beside the brackets stays."""
        entry = self.entries.pop(index)
        if not self.entries:
            self.inner = ""
        elif index == 0:
            self.entries[0].lead = entry.lead
        elif index == len(self.entries):
            self.entries[-1].trail = entry.trail
        return entry

    def pieces(self) -> Iterable[str | int]:
        yield ("{" if self.is_object else "[") + ("" if self.entries else self.inner)
        for number, entry in enumerate(self.entries):
            yield ("," if number else "") + entry.lead + entry.key + entry.colon
            if isinstance(entry.value, Box):
                yield from entry.value.pieces()
            else:
                yield entry.value.raw if entry.slot is None else entry.slot
            yield entry.trail
        yield "}" if self.is_object else "]"
