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
from evalspec.formats.json_text import MAX_DEPTH, Node
from evalspec.formats.jsonl import edit_line, encoded, parse_line, split_top

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalspec.formats.edits import Edit
    from evalspec.formats.json_edit import Edited

    _Values = Sequence[Any]
    _Fill = Callable[[bytes], bytes | None]

#: How many kinds of lines are remembered before all are forgotten: memory stays bounded for any file.
_REMEMBERED = 512


class LineEditor:
    """Carries out one list of edits on any number of lines: `edit(line)` is `edit_line(line, edits)`.

    The lines must have been accepted as valid before: a line like an earlier one is not checked again.
    """

    def __init__(self, edits: Sequence[Edit], *, max_depth: int = MAX_DEPTH, bounded: bool = False) -> None:
        """Prepare for `edits`.

        Args:
            edits: made in order in every line.
            max_depth: how deep a result may be nested.
            bounded: a schema keeps the values that move deeper from reaching that; they are not looked at.
        """
        import msgspec

        self._edits = tuple(edits)
        self._max_depth = max_depth
        self._bounded = bounded
        self._always_plain = _brings_ascii_only(edits)
        self._refused = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)
        self._members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        self._by_keys: dict[tuple[object, ...], _Fill] = {}
        self._by_glue: dict[tuple[object, ...], _Fill | None] = {}
        self._last: _Fill | None = None

    def edit(self, line: bytes) -> bytes:
        """The line with the edits made in order and every other byte as it was.

        Raises:
            FormatError: the line is not a valid JSON object, where that shows.
            EditError: an edit does not fit the record, or its result would not be a valid line.
        """
        try:
            edited = self._last(line) if self._last else None
        except self._refused:  # other keys than the last line's
            edited = None
        return self._edit_another(line) if edited is None else edited

    def _edit_another(self, line: bytes) -> bytes:
        """Edit a line that is not written like the last one."""
        escapes = Escapes() if self._always_plain else escapes_in(line.decode("utf-8", "replace"))
        try:
            keys = (escapes, *self._members(line))
            fill = self._by_keys.get(keys)
            edited = fill(line) if fill else None
            if edited is None:
                glue, _ = split_top(line)
                kind = (escapes, *glue)
                if kind not in self._by_glue:
                    return self._edit_first(line, keys, kind)
                fill = self._by_glue[kind]
                edited = fill(line) if fill else None
        except self._refused:
            edited = None
        if edited is None or fill is None:
            return edit_line(line, self._edits, max_depth=self._max_depth)
        self._remember(keys, fill)
        return edited

    def _edit_first(self, line: bytes, keys: tuple[object, ...], kind: tuple[object, ...]) -> bytes:
        """Edit the first line of a kind with all checks, and keep what edits the next one, if no value matters."""
        if len(self._by_glue) >= _REMEMBERED:
            return edit_line(line, self._edits, max_depth=self._max_depth)
        root = parse_line(line, max_depth=self._max_depth).node
        edited = edit_text(root, self._edits, max_depth=self._max_depth)
        text = edited.text.encode()
        opened = edited.opened
        cut = [root, *(root.items[number] for number in opened)]
        if not all(node.kind == "object" and _can_cut(node.names) for node in cut):
            self._by_glue[kind] = None
            return text
        if opened:
            edited = edit_text(root, self._edits, max_depth=self._max_depth, open_first=opened)
        levels = None if self._bounded else self._max_depth
        self._by_glue[kind] = None if edited.opened else _template(root, edited, opened, levels)
        fill = self._by_glue[kind]
        if fill:
            self._remember(keys, fill)
        return text

    def _remember(self, keys: tuple[object, ...], fill: _Fill) -> None:
        self._by_keys[keys] = fill
        if self._always_plain:
            self._last = fill


def _template(root: Node, edited: Edited, opened: tuple[int, ...], max_depth: int | None) -> _Fill:
    """What edits a line that is written like `root`'s, and gives None for any other.

    Args:
        root: the line it was learnt from.
        edited: its pieces, with the members of the opened values as slots of their own.
        opened: the top-level values that the edits look into.
        max_depth: how deep the result may be nested, if that is to be looked at.
    """
    from msgspec.structs import astuple

    before, after = encoded(edited.before), encoded(edited.after)
    pick = _picker([piece for piece in after if isinstance(piece, int)], len(edited.slots))
    cut = _cutter(root.names)
    inner = [(number, _cutter(root.items[number].names)) for number in sorted(opened, reverse=True)]
    below = {item.start for number in opened for item in root.items[number].items}
    deeper = [
        (slot, max_depth - depth)
        for slot, depth in edited.depths.items()
        if max_depth is not None and depth > (2 if edited.slots[slot].start in below else 1)
    ]
    join = b"".join

    def fill(line: bytes) -> bytes | None:
        values = astuple(cut(line))
        for number, cut_inner in inner:
            values = (*values[:number], *astuple(cut_inner(values[number])), *values[number + 1 :])
        old: list[Any] = [*before]
        old[1::2] = values
        if join(old) != line:
            return None
        for slot, levels in deeper:
            text = bytes(values[slot])
            if text.count(b"[") + text.count(b"{") > levels:
                return None
        new: list[Any] = [*after]
        new[1::2] = pick(values)
        return join(new)

    return fill


def _can_cut(names: Iterable[str]) -> bool:
    """Whether msgspec takes these keys as names of fields."""
    return not any(char in '"\\' or char < " " for name in names for char in name)


def _cutter(names: Iterable[str]) -> Callable[[bytes], Any]:
    """What cuts an object with just these keys into its values' texts, in this order."""
    import msgspec

    fields = {f"value_{number}": name for number, name in enumerate(names)}
    struct = msgspec.defstruct(
        "Members",
        [(field, msgspec.Raw) for field in fields],
        rename=fields,
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(struct).decode


def _picker(slots: list[int], count: int) -> Callable[[_Values], _Values]:
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
