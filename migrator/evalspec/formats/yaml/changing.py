"""The five edits, carried out on a tree: what `formats.edits` means on plain data, on text that keeps its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.formats.edits import IN_PLACE, LAST, EditError, Insert, Move, Remove, Rename, Replace
from evalspec.formats.yaml.flow import join_flow, leave_flow
from evalspec.formats.yaml.forms import clear_line, flatten, is_block, style_of, undash, unflatten
from evalspec.formats.yaml.records import is_key, merged
from evalspec.formats.yaml.scalars import BREAKS
from evalspec.formats.yaml.tree import Block, Flow, Item, New, Raw, Stuck
from evalspec.formats.yaml.values import MERGE, Tagged
from evalspec.formats.yaml.writing import write_key

if TYPE_CHECKING:
    from evalspec.formats.edits import Edit, Path, Where
    from evalspec.formats.yaml.opening import Opener

_MERGED = "this key comes from a merge (`<<`); it is written elsewhere"
_TWICE = "the key is given more than once"


class Changer:
    """Applies edits below one record.

    Attributes:
        opener: what opens the nodes of the text.
        root: the record's own mapping.
    """

    def __init__(self, opener: Opener, root: Block | Flow) -> None:
        self.opener = opener
        self.root = root

    def apply(self, edit: Edit) -> None:
        """Carry out one edit.

        Raises:
            EditError: a path that is not there, or a new key that is.
            Stuck: what cannot be done in place.
        """
        match edit:
            case Replace(path, value):
                self._replace(*self._find(path, edit), value)
            case Rename(path, key):
                self._rename(path, key, edit)
            case Insert(path, value, where):
                holder = self._make(path[:-1], edit)
                self._put(holder, self._fresh(holder, path[-1], New(value), edit), where)
            case Remove(path):
                holder, index = self._find(path, edit)
                self._take(holder, index, path[-1])
            case Move(path, to, where):
                if where == IN_PLACE:
                    self._move_in_place(path, to, edit)
                else:
                    self._move(path, to, where, edit)

    # ------------------------------------------------------------------------------------------ finding

    def _find(self, path: Path, edit: Edit) -> tuple[Block | Flow, int]:
        holder: Block | Flow = self.root
        for step in path[:-1]:
            holder = self._enter(holder, self._index(holder, step, edit), step, edit)
        return holder, self._index(holder, path[-1], edit)

    def _index(self, holder: Block | Flow, step: str | int, edit: Edit) -> int:
        if holder.kind == "sequence":
            if isinstance(step, int) and -len(holder.items) <= step < len(holder.items):
                return step % len(holder.items)
        else:
            for index in range(len(holder.items) - 1, -1, -1):
                if _named(holder.items[index], step):
                    return index
            if self._merges(holder, step):
                raise Stuck(_MERGED, _place(holder))
        raise EditError(edit, f"there is no {step!r}")

    def _enter(self, holder: Block | Flow, index: int, step: str | int, edit: Edit) -> Block | Flow:
        item = self._opened(holder, index)
        value = item.value
        if isinstance(value, Raw):
            entered = self.opener.enter(item, value)
            if entered is None:
                raise EditError(edit, f"there is nothing below {step!r}")
            return entered
        if isinstance(value, New):
            if not isinstance(value.value, dict | list):
                raise EditError(edit, f"there is nothing below {step!r}")
            return self._unfold(holder, item, value.value)
        return value

    def _unfold(self, holder: Block | Flow, item: Item, value: Any) -> Block | Flow:
        """A new mapping or list made into items, because a later edit goes into it."""
        inside = self._container(holder, item, "mapping" if isinstance(value, dict) else "sequence")
        pairs = value.items() if isinstance(value, dict) else [(None, entry) for entry in value]
        for key, entry in pairs:
            fresh = self._blank(inside)
            if key is None:
                fresh.key, fresh.colon = ("", "") if isinstance(inside, Flow) else ("-", "")
            else:
                fresh.name, fresh.key = key, write_key(key, flow=isinstance(inside, Flow))
            fresh.value = New(entry)
            self._join(inside, len(inside.items), fresh)
        return inside

    def _container(self, holder: Block | Flow, item: Item, kind: str) -> Block | Flow:
        """A new, empty mapping or list as the item's value."""
        if isinstance(holder, Flow):
            item.value = Flow(kind, None, *("{}" if kind == "mapping" else "[]"))
            return item.value
        inline = holder.kind == "sequence"
        layout = self.opener.layout
        step = 2 if inline else layout.step if kind == "mapping" else layout.dash
        item.value = block = Block(kind, item.column + step, inline=inline)
        item.sep = " " if inline else item.tail if item.tail[-1:] in BREAKS and item.tail else layout.nl
        item.tail = ""
        return block

    def _opened(self, holder: Block | Flow, index: int) -> Item:
        item = holder.items[index]
        if isinstance(holder, Block):
            self.opener.open(item)
        return item

    # ------------------------------------------------------------------------------------------ edits

    def _replace(self, holder: Block | Flow, index: int, value: Any) -> None:
        item = self._opened(holder, index)
        old = item.value
        if isinstance(holder, Flow):
            if holder.kind == "mapping" and not item.colon:
                item.colon = ":"
            item.sep = item.sep or (" " if item.key else "")
        elif not (isinstance(old, Raw) and not is_block(old.node) and _fits_there(value)):
            clear_line(self.opener, item, old)
        item.value = New(value, style_of(old))

    def _rename(self, path: Path, key: str, edit: Edit) -> None:
        holder, index = self._find(path, edit)
        self._check_new(holder, key, edit)
        self._check_single(holder, path[-1])
        self._name(holder, self._opened(holder, index), key)

    def _name(self, holder: Block | Flow, item: Item, key: str) -> None:
        if item.key[:1] in {"&", "!"}:
            raise Stuck("the key has an anchor or a tag", item.token)
        item.name = key
        item.key = write_key(key, like=item.key, flow=isinstance(holder, Flow))

    def _move(self, path: Path, to: Path, where: Where, edit: Edit) -> None:
        source, index = self._find(path, edit)
        if isinstance(source, Block) and source.items[index].odd:
            self.opener.open(source.items[index])
        item = self._take(source, index, path[-1])
        target = self._make(to[:-1], edit)
        self._check_new(target, to[-1], edit)
        if isinstance(target, Flow):
            flatten(item)
        elif isinstance(source, Flow):
            unflatten(self.opener, item, target)
        elif source.kind == "sequence":
            undash(self.opener, item)
        if source.kind == "sequence" or to[-1] != path[-1]:
            item.key = "" if source.kind == "sequence" else item.key
            self._name(target, item, str(to[-1]))
        self._put(target, item, where)

    def _move_in_place(self, path: Path, to: Path, edit: Edit) -> None:
        depth = len(path) - 1
        if path[:-1] != to[:depth] or len(to) <= depth:
            raise EditError(edit, "a move in place stays below the same mapping")
        holder, index = self._find(path, edit)
        key, *rest = (str(step) for step in to[depth:])
        if key != path[-1]:
            self._check_new(holder, key, edit)
        self._check_single(holder, path[-1])
        item = self._opened(holder, index)
        names = [key, *rest]
        if names[-1] != path[-1]:
            self._name(holder, item, names[-1])
        gap, item.gap = item.gap, ""
        outer = holder
        for name in names[:-1]:
            made = self._blank(outer)
            made.name, made.key = name, write_key(name, like=item.key, flow=isinstance(outer, Flow))
            if outer is holder:
                made.gap = gap
                if isinstance(holder, Flow):
                    made.lead, made.tail, item.lead, item.tail = item.lead, item.tail, "", ""
                holder.items[index] = made
            else:
                outer.items.append(made)
            outer = self._container(outer, made, "mapping")
        if outer is holder:
            item.gap = gap
        else:
            outer.items.append(item)

    # ------------------------------------------------------------------------------------------ putting and taking

    def _make(self, path: Path, edit: Edit) -> Block | Flow:
        """The mapping at `path`; the mappings that are missing on the way are made, last in their parent."""
        holder: Block | Flow = self.root
        for step in path:
            if holder.kind == "mapping" and not any(_named(item, step) for item in holder.items):
                if self._merges(holder, step):
                    raise Stuck(_MERGED, _place(holder))
                fresh = self._fresh(holder, step, New({}), edit)
                self._put(holder, fresh, LAST)
                holder = self._container(holder, fresh, "mapping")
            else:
                holder = self._enter(holder, self._index(holder, step, edit), step, edit)
        if holder.kind != "mapping":
            raise EditError(edit, "the new key's parent is no mapping")
        return holder

    def _fresh(self, holder: Block | Flow, name: str | int, value: New, edit: Edit) -> Item:
        self._check_new(holder, name, edit)
        item = self._blank(holder)
        item.name = str(name)
        like = next((item.key for item in holder.items if item.key), "") if isinstance(holder, Flow) else ""
        item.key = write_key(item.name, like=like, flow=isinstance(holder, Flow))
        if like[:1] == '"':
            value.like = value.like or '"'
        item.value = value
        return item

    def _blank(self, holder: Block | Flow) -> Item:
        item = Item(holder.column if isinstance(holder, Block) else 0)
        item.is_open = True
        item.colon, item.sep = ":", " "
        if isinstance(holder, Block):
            item.lead, item.tail = " " * holder.column, self.opener.nl
        elif holder.kind == "sequence":
            item.colon = item.sep = ""
        return item

    def _put(self, holder: Block | Flow, item: Item, where: Where) -> None:
        index = len(holder.items)
        if where.first:
            index = 0
        elif where.after is not None:
            places = [place for place, other in enumerate(holder.items) if _named(other, where.after)]
            index = places[-1] + 1 if places else index
        self._join(holder, index, item)

    def _join(self, holder: Block | Flow, index: int, item: Item) -> None:
        items = holder.items
        items.insert(index, item)
        if isinstance(holder, Block):
            if (
                index == 0
                and len(items) > 1
                and not holder.inline
                and not items[1].is_open
                and not items[1].odd
            ):
                self.opener.open(items[1])
                item.gap, items[1].gap = items[1].gap, ""
            return
        join_flow(holder, index)

    def _take(self, holder: Block | Flow, index: int, step: str | int) -> Item:
        """The item taken out of its place; what stands above it and is not its own stays."""
        self._check_single(holder, step)
        items = holder.items
        item = items[index]
        if isinstance(holder, Block):
            if not item.odd:
                self.opener.open(item)
            if item.gap and index + 1 < len(items):
                after = self._opened(holder, index + 1)
                after.gap = item.gap + after.gap
            else:
                holder.trailer = item.gap + holder.trailer
            item.gap = ""
        else:
            leave_flow(holder, index)
        del items[index]
        return item

    def _check_new(self, holder: Block | Flow, name: str | int, edit: Edit) -> None:
        if holder.kind != "mapping":
            raise EditError(edit, "the new key's parent is no mapping")
        for item in holder.items:
            if _named(item, name):
                raise EditError(edit, "the new key is there already")
        if self._merges(holder, name):
            raise EditError(edit, "the new key is there already")

    def _merges(self, holder: Block | Flow, step: str | int) -> bool:
        """Whether a merge key of the mapping brings in the key `step`."""
        node = holder.node
        if not self.opener.unsure or node is None or holder.kind != "mapping":
            return False
        return any(key.tag == MERGE and merged(value, step) is not None for key, value in node.value)

    def _check_single(self, holder: Block | Flow, step: str | int) -> None:
        if holder.kind == "mapping" and sum(_named(item, step) for item in holder.items) > 1:
            raise Stuck(_TWICE, _place(holder))


def _fits_there(value: Any) -> bool:
    """Whether a value is written on one line, so that it may stand wherever the old one stood."""
    return not isinstance(value, dict | list | Tagged) and not (isinstance(value, str) and "\n" in value)


def _named(item: Item, step: str | int) -> bool:
    if item.name is not None:
        return item.name == step
    return item.key_node is not None and is_key(item.key_node, step)


def _place(holder: Block | Flow) -> int:
    return int(holder.node.start_mark.index) if holder.node is not None else 0
