"""The same edits on many lines, at a fraction of the cost of editing each one.

Lines of one file are mostly written alike: the same keys, the same white space, other values. For the first line
of a kind the edits are carried out with all checks (`edit_text`), and what they did is kept as a template: the
pieces of the line before and after, with numbers in place of the values. A later line is cut into its values by
msgspec; if the template's first pieces, filled with them, are that line byte for byte, then its second pieces,
filled with them, are the edited line. Any other line is edited by itself.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from evalspec.formats.edits import Insert, Move, Rename, Replace
from evalspec.formats.json_edit import edit_text
from evalspec.formats.json_style import Escapes, escapes_in
from evalspec.formats.json_text import MAX_DEPTH
from evalspec.formats.jsonl import edit_line, encoded, parse_line, split_top

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from msgspec import Raw

    from evalspec.formats.edits import Edit

    _Members = Callable[[bytes | Raw], dict[str, Raw]]

#: How many kinds of lines are remembered before all are forgotten: memory stays bounded for any file.
_REMEMBERED = 512


class LineEditor:
    """Carries out one list of edits on any number of lines: `edit(line)` is `edit_line(line, edits)`.

    The lines must have been accepted as valid before: a line like an earlier one is not checked again.
    """

    def __init__(self, edits: Sequence[Edit], *, max_depth: int = MAX_DEPTH) -> None:
        """Prepare for `edits`, whose result may be nested `max_depth` deep."""
        import msgspec

        self._edits = tuple(edits)
        self._max_depth = max_depth
        self._plain = _brings_ascii_only(edits)
        self._members: _Members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        self._refused = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)
        self._by_keys: dict[tuple[object, ...], _Template] = {}
        self._by_glue: dict[tuple[object, ...], _Template | None] = {}

    def edit(self, line: bytes) -> bytes:
        """The line with the edits made in order and every other byte as it was.

        Raises:
            FormatError: the line is not a valid JSON object, where that shows.
            EditError: an edit does not fit the record, or its result would not be a valid line.
        """
        escapes = Escapes() if self._plain else escapes_in(line.decode("utf-8", "replace"))
        try:
            members = self._members(line)
        except self._refused:
            return edit_line(line, self._edits, max_depth=self._max_depth)
        keys = (escapes, *members)
        template = self._by_keys.get(keys)
        edited = self._fill(template, line, members) if template is not None else None
        return self._edit_another(line, members, keys) if edited is None else edited

    def _edit_another(self, line: bytes, members: dict[str, Raw], keys: tuple[object, ...]) -> bytes:
        """Edit a line that is not written like the last one with the same keys."""
        glue, _ = split_top(line)
        kind = (keys[0], *glue)
        template = self._by_glue.get(kind)
        edited = self._fill(template, line, members) if template is not None else None
        if edited is not None and template is not None:
            self._by_keys[keys] = template
            return edited
        if template is None and kind in self._by_glue:
            return edit_line(line, self._edits, max_depth=self._max_depth)
        edited, template = self._compile(line)
        if len(self._by_glue) >= _REMEMBERED:
            self._by_glue.clear()
            self._by_keys.clear()
        self._by_glue[kind] = template
        if template is not None:
            self._by_keys[keys] = template
        return edited

    def _fill(self, template: _Template, line: bytes, members: dict[str, Raw]) -> bytes | None:
        """The edited line; None where the template is not made for it."""
        values = [*members.values()]
        for number in template.opened:
            try:
                values[number : number + 1] = self._members(values[number]).values()
            except self._refused:  # it is no object here
                return None
        return template.fill(line, values)

    def _compile(self, line: bytes) -> tuple[bytes, _Template | None]:
        """Edit a line with all checks; also the template for lines like it, if its values leave that open."""
        root = parse_line(line, max_depth=self._max_depth).node
        edited = edit_text(root, self._edits, max_depth=self._max_depth)
        text = edited.text.encode()
        opened = edited.opened
        if any(root.items[number].kind != "object" for number in opened):
            return text, None
        if opened:
            edited = edit_text(root, self._edits, max_depth=self._max_depth, open_first=opened)
            if edited.opened:
                return text, None
        inner = {node.start for number in opened for node in root.items[number].items}
        deeper = {
            slot: self._max_depth - depth
            for slot, depth in edited.depths.items()
            if depth > (2 if edited.slots[slot].start in inner else 1)
        }
        return text, _Template(
            encoded(edited.before), encoded(edited.after), sorted(opened, reverse=True), deeper
        )


class _Template:
    """What the edits did to one line, with numbers in place of its values."""

    __slots__ = ("after", "before", "count", "deeper", "opened", "pick")

    def __init__(
        self, before: list[bytes | int], after: list[bytes | int], opened: list[int], deeper: dict[int, int]
    ) -> None:
        """Keep the pieces.

        Args:
            before: the line's pieces: bytes and numbers in turn.
            after: the edited line's.
            opened: the top-level values whose members are numbered in their stead, the last one first.
            deeper: the values that the edits put deeper, with the levels of nesting that leaves them.
        """
        slots = [piece for piece in after if isinstance(piece, int)]
        self.before: list[Any] = list(before)
        self.after: list[Any] = list(after)
        self.count = len(before) // 2
        self.opened = opened
        self.deeper = deeper
        self.pick = _picker(slots, self.count)

    def fill(self, line: bytes, values: list[Raw]) -> bytes | None:
        """The edited line, where `line` is the first pieces filled with `values`; else None."""
        if len(values) != self.count:
            return None
        before = [*self.before]
        before[1::2] = values
        if b"".join(before) != line:
            return None
        for slot, levels in self.deeper.items():
            text = bytes(values[slot])
            if text.count(b"[") + text.count(b"{") > levels:
                return None
        after = [*self.after]
        after[1::2] = self.pick(values)
        return b"".join(after)


def _picker(slots: list[int], count: int) -> Callable[[list[Raw]], Sequence[Raw]]:
    if slots == list(range(count)):
        return lambda values: values
    if len(slots) > 1:
        return itemgetter(*slots)
    return lambda values: [values[slot] for slot in slots]


def _brings_ascii_only(edits: Sequence[Edit]) -> bool:
    """Whether all text that the edits bring is ASCII, so that it is written the same way in every line."""
    for edit in edits:
        match edit:
            case Insert(path, value):
                new: list[Any] = [path, value]
            case Replace(_, value):
                new = [value]
            case Rename(_, key):
                new = [key]
            case Move(_, to):
                new = [to]
            case _:
                new = []
        try:
            if not json.dumps(new, ensure_ascii=False).isascii():
                return False
        except (TypeError, ValueError, RecursionError):
            return False
    return True
