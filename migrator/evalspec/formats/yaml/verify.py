"""Is the new text what was meant? Its nodes are compared with the edited tree: tags, styles, aliases, values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.formats.yaml.tree import Block, Flow, New, Raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalspec.formats.yaml.tree import Item

_STR = "tag:yaml.org,2002:str"


class Verifier:
    """Compares what was meant with what the new text says.

    Args:
        build: makes a value of a node of the new text.
        aliases: whether nodes may be shared, so that sharing has to be the same too.
    """

    def __init__(self, build: Callable[[Any], Any], *, aliases: bool) -> None:
        self._build = build
        self._pairs: dict[int, int] | None = {} if aliases else None
        self._seen: set[int] = set()
        self._opened: set[int] = set()

    def meant(self, value: Raw | New | Block | Flow, node: Any) -> bool:
        """Whether `node` is what the edited tree says."""
        if isinstance(value, Raw):
            return self.same(value.node, node)
        if isinstance(value, New):
            return self._is(value.value, node)
        old = value.node
        if value.kind != node.id or len(value.items) != len(node.value):
            return False
        if old is None:
            if node.tag != f"tag:yaml.org,2002:{'map' if value.kind == 'mapping' else 'seq'}":
                return False
        elif old.tag != node.tag or (value.items and bool(old.flow_style) != bool(node.flow_style)):
            return False
        if old is not None:
            self._opened.add(id(old))
            if not self._shared(old, node):
                return False
        if value.kind == "sequence":
            return all(map(self._item, value.items, node.value))
        same = self.same
        for item, (key, inner) in zip(value.items, node.value, strict=True):
            if item.is_open:
                if not (self._key(item, key) and self.meant(item.value, inner)):
                    return False
            elif not (same(item.key_node, key) and same(item.value_node, inner)):
                return False
        return True

    def _item(self, item: Item, node: Any) -> bool:
        return self.meant(item.value, node) if item.is_open else self.same(item.value_node, node)

    def _key(self, item: Item, node: Any) -> bool:
        if item.name is not None:
            return bool(node.tag == _STR and node.value == item.name)
        return self.same(item.key_node, node)

    def _is(self, value: Any, node: Any) -> bool:
        if isinstance(value, str):
            return bool(node.tag == _STR and node.value == value)
        return equal(value, self._build(node))

    def same(self, old: Any, new: Any) -> bool:
        """Whether two nodes are alike in kind, tag, style, value and sharing."""
        if old.tag != new.tag or old.id != new.id:
            return False
        if self._pairs is None and old.id == "scalar":
            return old.value == new.value and old.style == new.style  # type: ignore[no-any-return]
        if self._pairs is not None:
            if id(old) in self._pairs:  # an alias; if what it stands for was edited, the edit reached too far
                return self._pairs[id(old)] == id(new) and id(old) not in self._opened
            if not self._shared(old, new):
                return False
        if old.id == "scalar":
            return bool(old.value == new.value and old.style == new.style)
        if bool(old.flow_style) != bool(new.flow_style) or len(old.value) != len(new.value):
            return False
        same = self.same
        if old.id == "sequence":
            return all(map(same, old.value, new.value))
        for (key, value), (new_key, new_value) in zip(old.value, new.value, strict=True):
            if not (same(key, new_key) and same(value, new_value)):
                return False
        return True

    def _shared(self, old: Any, new: Any) -> bool:
        """Pair two nodes; whether neither has another partner."""
        if self._pairs is None:
            return True
        if self._pairs.setdefault(id(old), id(new)) != id(new) or id(new) in self._seen:
            return False
        self._seen.add(id(new))
        return True


def equal(wanted: Any, found: Any) -> bool:
    """Whether two values are the same plain data: `1`, `1.0` and `True` are three values, and order counts."""
    if type(wanted) is not type(found):
        return False
    if isinstance(wanted, dict):
        return list(wanted) == list(found) and all(equal(value, found[key]) for key, value in wanted.items())
    if isinstance(wanted, list | tuple):
        return len(wanted) == len(found) and all(map(equal, wanted, found))
    return bool(wanted == found)
