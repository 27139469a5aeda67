"""Opens mappings and lists for editing: where each item begins and ends, and which comments are its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalspec.formats.yaml.compose import may_alias
from evalspec.formats.yaml.scalars import BREAKS
from evalspec.formats.yaml.tree import Block, Flow, Item, Raw, Stuck
from evalspec.formats.yaml.writing import layout_of, line_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.formats.yaml.source import Source
    from evalspec.formats.yaml.writing import Layout

#: Blank lines, comment lines and the indent of the next token.
_SKIP = re.compile(f"(?:[ \t]*(?:#[^{BREAKS}]*)?(?:\r\n|[{BREAKS}]))*[ \t]*")
#: What may follow a value on its line, the line's end, and all up to the next token.
_LINE = re.compile(f"(?:[ \t]+#[^{BREAKS}]*|[ \t]*)(?:\r\n|[{BREAKS}]|\\Z)({_SKIP.pattern})")
_LEADING = " \t#?" + BREAKS
_BLOCK_STYLES = frozenset("|>")
_COLON = re.compile(r"[ \t]*:")
_ALIAS = re.compile(r"\*[0-9A-Za-z_-]+")
_PROPERTY = re.compile(f"[&!][^ \t{BREAKS}]*")
_LAST_BREAK = re.compile("(?:\r\n|[\n\r\x85\u2028\u2029])\\Z")
#: The first lines of a file that are about the file, not about its first key.
_FILE_HEADER = re.compile(
    r"#!|# ?-\*-|#.*\b(?:generated|copyright|licen[cs]e|spdx|yaml-language-server|yamllint|vim?:|coding[:=]|\$schema)",
    re.IGNORECASE,
)


class Opener:
    """Opens the nodes of one text.

    Attributes:
        text: the text, without a byte order mark.
        roots: the root node of each document.
        unsure: whether a mapping was opened that has a merge key or a key twice, so that comparing nodes is not enough.
    """

    def __init__(self, source: Source, roots: Sequence[Any]) -> None:
        self.text = text = source.text
        self._regular = source.regular
        self.roots = roots
        self._layout: Layout | None = None
        self._nl: str | None = None
        self.unsure = False
        self._aliases = may_alias(text)

    @property
    def nl(self) -> str:
        """The file's line end."""
        if self._nl is None:
            self._nl = line_end(self.text)
        return self._nl

    @property
    def layout(self) -> Layout:
        """The manner in which new lines are written."""
        if self._layout is None:
            self._layout = layout_of(self.text, self.roots)
        return self._layout

    def block(self, node: Any, floor: int, *, root: bool = False) -> Block:
        """The block collection `node`; its own comments do not reach above `floor`."""
        text = self.text
        first = self._past_properties(node)
        line = self._line_start(first)
        inline = bool(text[line:first].strip(" "))
        column = first - line
        opened = Block(node.id, column, node=node, inline=inline)
        opened.start = first if inline else self._comments(line, column, floor)
        if root:
            opened.start = self._past_header(opened.start, line)
        pairs: list[Any] = node.value if node.id == "mapping" else [(None, item) for item in node.value]
        token, start = first, opened.start
        add = opened.items.append
        for key, value in pairs:
            item = Item(column)
            item.key_node, item.value_node = key, value
            item.start, item.token = start, token
            if (
                value.id == "scalar"
                and key is not None
                and key.start_mark.index == token
                and value.style not in _BLOCK_STYLES
                and value.start_mark.index >= key.end_mark.index
            ):
                stop = value.end_mark.index  # the common case, without a call
            else:
                stop = self._measure(item)
            if text[stop : stop + 1] == "\n" and text[stop + 1 : stop + 2] not in _LEADING:
                start = token = stop + 1  # the next key begins in the first column, as nearly all do
            else:
                found = _LINE.match(text, stop)
                if found is None:
                    raise Stuck("what follows this value on its line is not understood", stop)
                start, token = found.start(1), found.end()
            item.stop, item.end = stop, start
            add(item)
        opened.items[0].inline = inline
        opened.end = start
        if node.id == "mapping":
            self._note_doubt(pairs)
        return opened

    def root(self, node: Any, floor: int) -> Block | Flow:
        """A document's root."""
        if node.flow_style:
            return self._flow(node)
        return self.block(node, floor, root=True)

    def _flow(self, node: Any) -> Flow:
        """The flow collection `node`."""
        from evalspec.formats.yaml.flow import open_flow

        if node.id == "mapping":
            self._note_doubt(node.value)
        return open_flow(self.text, node)

    def _note_doubt(self, pairs: list[Any]) -> None:
        """Note a merge key, or a key given twice, among the keys of an opened mapping."""
        names = {key.value for key, _ in pairs if key.id == "scalar"}
        if len(names) < len(pairs) or "<<" in names:
            self.unsure = True

    def _measure(self, item: Item) -> int:
        """Where an item's value ends; notes a key that cannot be edited."""
        text, token, key, value = self.text, item.token, item.key_node, item.value_node
        if key is None:
            if text[token : token + 1] != "-":
                raise Stuck("this list item is not understood", token)
            return self.end_of(value, token + 1)
        if key.start_mark.index == token:
            return self.end_of(value, key.end_mark.index)
        item.odd = True
        if (alias := _ALIAS.match(text, token)) is not None:
            return self.end_of(value, alias.end())
        if text[token] != "?":
            raise Stuck("this key is not understood", token)
        end = self.end_of(key, token + 1)
        colon = _SKIP.match(text, end).end()  # type: ignore[union-attr]
        return self.end_of(value, colon + 1) if text[colon : colon + 1] == ":" else end

    def end_of(self, node: Any, floor: int) -> int:
        """Where a value ends in the text that begins behind `floor`: without what follows on its line."""
        start = node.start_mark.index
        if start < floor:
            return self.alias_at(floor).end()
        if node.id == "scalar":
            end: int = node.end_mark.index
            return self._end_of_block_text(start, end) if node.style in _BLOCK_STYLES else end
        if node.flow_style:
            return node.end_mark.index  # type: ignore[no-any-return]
        if self._aliases:
            return self.block(node, start).items[-1].stop
        if node.id == "sequence":
            last = node.value[-1]
            return self.end_of(last, last.start_mark.index)
        key, value = node.value[-1]
        if key.start_mark.index == value.start_mark.index or key.id != "scalar":
            return self.block(node, start).items[-1].stop
        return self.end_of(value, key.end_mark.index)

    def alias_at(self, floor: int) -> re.Match[str]:
        """The alias that is the next token behind `floor`, or behind the colon there."""
        if (colon := _COLON.match(self.text, floor)) is not None:
            floor = colon.end()
        found = _ALIAS.match(self.text, _SKIP.match(self.text, floor).end())  # type: ignore[union-attr]
        if found is None:
            raise Stuck("an alias was expected here", floor)
        return found

    def _end_of_block_text(self, start: int, end: int) -> int:
        """The last line's end, of a text that keeps its blank lines (`+`) the end of the last of these."""
        text = self.text[start:end]
        header = text.splitlines()[0].split("#")[0]
        if "+" in header:
            return start + len(_LAST_BREAK.sub("", text))
        return start + len(text.rstrip(BREAKS))

    def open(self, item: Item) -> None:
        """Cut an item of a block into its pieces."""
        if item.is_open:
            return
        if item.odd:
            raise Stuck("a key written with `?` or as an alias stays as it is", item.token)
        text, token = self.text, item.token
        line = token - item.column
        if item.inline:
            item.lead = " " * item.column
        else:
            lead = max(self._comments(line, item.column, item.start), item.start)
            item.gap, item.lead = text[item.start : lead], text[lead:token]
        if item.key_node is None:
            item.key, after = "-", token + 1
        else:
            key_end = item.key_node.end_mark.index
            colon = _COLON.match(text, key_end)
            if colon is None:
                raise Stuck("this key has no colon", token)
            item.key, item.colon, after = text[token:key_end], colon.group(), colon.end()
        value = item.value_node
        start = value.start_mark.index
        if start < after:
            start = self.alias_at(after).start()
        item.sep, item.tail = text[after:start], text[item.stop : item.end]
        item.value = Raw(value, start, item.stop)
        item.is_open, item.inline = True, False

    def enter(self, item: Item, value: Raw) -> Block | Flow | None:
        """Open the mapping or list that is the item's value; None where it is neither."""
        node = value.node
        if node.id == "scalar":
            return None
        if self.text[value.start] == "*":
            raise Stuck("the value is an alias; what it stands for is written elsewhere", value.start)
        if node.flow_style:
            item.value = flow = self._flow(node)
            return flow
        after = value.start - len(item.sep)
        block = self.block(node, after)
        cut = min(value.start, block.start)
        item.sep, block.props = self.text[after:cut], self.text[cut : block.start]
        item.value, item.tail = block, ""
        return block

    def _past_properties(self, node: Any) -> int:
        """Where the first item of a block begins, behind an anchor and a tag of the collection itself."""
        start: int = node.start_mark.index
        first = node.value[0]
        if self.text[start] not in "&!" or (node.id == "mapping" and first[0].start_mark.index == start):
            return start
        while (found := _PROPERTY.match(self.text, start)) is not None:
            if node.id == "mapping" and first[0].start_mark.index == start:
                break
            start = _SKIP.match(self.text, found.end()).end()  # type: ignore[union-attr]
        return start

    def _line_start(self, index: int) -> int:
        text = self.text
        if self._regular:
            return text.rfind("\n", 0, index) + 1
        while index and text[index - 1] not in BREAKS:
            index -= 1
        return index

    def _comments(self, line: int, column: int, floor: int) -> int:
        """The start of the comment lines directly above the line at `line`, of the indent `column`."""
        text = self.text
        while line > floor:
            above = line - 1
            if text[above] == "\n" and above > floor and text[above - 1] == "\r":
                above -= 1
            above = self._line_start(above)
            if (
                above < floor
                or not text.startswith("#", above + column)
                or text[above : above + column].strip(" ")
            ):
                break
            line = above
        return line

    def _past_header(self, start: int, line: int) -> int:
        """`start` moved below the comment lines that are about the file."""
        if start == line:
            return start
        kept = start
        for found in re.finditer(f"[^{BREAKS}]*(?:\r\n|[{BREAKS}])", self.text[start:line]):
            if _FILE_HEADER.match(found.group().lstrip(" ")):
                kept = start + found.end()
        return kept
