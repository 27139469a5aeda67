"""Text to nodes with marks: PyYAML's composer over libyaml, or over the pure parser where libyaml is absent.

Marks count code points, so a node's span is a slice of the text. Before anything recursive runs over a text its
nesting is bounded: by a glance at its brackets and indents, which is enough for nearly every file, else by a run
over the parser's events, which needs no stack (design.md, "Trust": limits on aliases and depth).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from evalspec.formats.yaml.problems import fault, syntax_error

if TYPE_CHECKING:
    from evalspec.formats.yaml.source import Source, YamlLimits

_BREAKS = "\n\r\x85\u2028\u2029"
_STR = "tag:yaml.org,2002:str"
#: A line that starts with so much indent, or so many indicators, that block nesting may be considerable.
_SHALLOW = 12
_INDENT = "[ \t?:\\-\ufeff]"
_INDENTED = f"\n{_INDENT}{{{_SHALLOW + 1}}}"
_ANY_INDENTED = f"[{_BREAKS}]{_INDENT}{{{_SHALLOW + 1}}}"
_FAR_INDENTED = f"[{_BREAKS}]{_INDENT}{{101}}"
_ALIAS = r"\*[0-9A-Za-z_-]"
#: Two levels a column: a list may stand at the indent of the key that it belongs to.
_SHALLOW_LEVELS = 2 * (_SHALLOW + 1) + 2
#: Plain scalars below this length are remembered with their tag: keys and short values come again and again.
_LONG = 40
_MANY_WORDS = 4096
#: Above these a text is surveyed event by event before it is composed.
_MANY_BRACKETS = 400
_LARGE = 1 << 20
#: From here on the garbage collector waits while nodes are made.
_CROWDED = 1 << 16


@cache
def _loader() -> tuple[Any, bool]:
    """The class that composes, and whether it is libyaml's."""
    from operator import is_

    from yaml.composer import Composer
    from yaml.nodes import MappingNode, ScalarNode
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.resolver import Resolver
    from yaml.scanner import Scanner

    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:

        class Pure(Reader, Scanner, Parser, Composer, Resolver):
            def __init__(self, text: str) -> None:
                Reader.__init__(self, text)
                Scanner.__init__(self)
                Parser.__init__(self)
                Composer.__init__(self)
                Resolver.__init__(self)

        return Pure, False

    resolver = Resolver()
    known: dict[str, Any] = {}  # short plain scalars with their tags: keys come again and again

    def plain(value: str) -> Any:
        tag = resolver.resolve(ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
        if len(value) < _LONG:
            if len(known) > _MANY_WORDS:
                known.clear()
            known[value] = tag
        return tag

    class Fast(CParser):
        """libyaml's parser with PyYAML's resolution of tags; its unused hooks cost nothing."""

        descend_resolver = staticmethod(is_)
        ascend_resolver = staticmethod(bool)

        def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
            if kind is ScalarNode:
                return (known.get(value) or plain(value)) if implicit[0] else _STR
            return "tag:yaml.org,2002:map" if kind is MappingNode else "tag:yaml.org,2002:seq"

    return Fast, True


def parser(text: str) -> Any:
    """PyYAML's composer over a text that nobody needs to be protected from."""
    return _loader()[0](text)


def has_libyaml() -> bool:
    """Whether PyYAML was built with libyaml here."""
    return _loader()[1]


def compose(source: Source, limits: YamlLimits) -> list[Any]:
    """The root node of each document of the text.

    Raises:
        FormatError: `bad_yaml`, `nul_character`, `too_deep`, `too_large`, `alias_bomb`.
    """
    import yaml

    text = source.text
    brackets = text.count("[") + text.count("{")
    indented = re.search(_INDENTED if source.regular else _ANY_INDENTED, text)
    indented = indented or re.match(_INDENTED, "\n" + text[: _SHALLOW + 1])
    walked = bool(indented) or brackets + _SHALLOW_LEVELS > limits.depth
    loader, fast = _loader()
    try:
        if len(text) > _LARGE or (walked and (not fast or brackets > _MANY_BRACKETS or _far(text))):
            _survey(source, limits)
        nodes = _nodes(loader(text), pause=len(text) > _CROWDED)
    except yaml.YAMLError as error:
        raise syntax_error(error, source) from None
    if walked or len(text) >= limits.nodes or may_alias(text):  # a value takes a character at least
        for node in nodes:
            _measure(node, source, limits)
    return nodes


def may_alias(text: str) -> bool:
    """Whether anything in the text looks like an alias."""
    return "*" in text and re.search(_ALIAS, text) is not None


def _nodes(parser: Any, *, pause: bool) -> list[Any]:
    """Every document's root. Collecting garbage amid a million new nodes finds none and takes most of the time."""
    import gc

    pause = pause and gc.isenabled()
    if pause:
        gc.disable()
    try:
        nodes = []
        while parser.check_node():
            nodes.append(parser.get_node())
    finally:
        if pause:
            gc.enable()
    return nodes


def _far(text: str) -> bool:
    return bool(re.search(_FAR_INDENTED, text) or re.match(_FAR_INDENTED, "\n" + text[:101]))


def _survey(source: Source, limits: YamlLimits) -> None:
    """Count depth and values over the events, without a stack and before any node is made."""
    import yaml

    parser = _loader()[0](source.text)
    opening = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
    closing = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
    depth = count = 0
    while True:
        event = parser.get_event()
        kind = type(event)
        if kind in opening:
            depth += 1
            if depth > limits.depth:
                raise _too_deep(source, event.start_mark.index, limits)
        elif kind in closing:
            depth -= 1
        elif event is None or kind is yaml.StreamEndEvent:
            return
        count += 1
        if count > 2 * limits.nodes:
            raise _too_many(source, event.start_mark.index, limits)


def _measure(root: Any, source: Source, limits: YamlLimits) -> None:
    """Refuse a tree that is too deep, or too large once its aliases are written out.

    Each node's size and height are computed once, after those of its children, so a bomb costs what its text does.
    """
    sizes: dict[int, tuple[int, int]] = {}
    open_nodes: set[int] = set()
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        key = id(node)
        if done:
            size, height = 1, 0
            for child in _children(node):
                child_size, child_height = sizes[id(child)]
                size += child_size
                height = max(height, child_height)
            sizes[key] = (size, height + 1)
            open_nodes.discard(key)
            if height + 1 > limits.depth:
                raise _too_deep(source, node.start_mark.index, limits)
            if size > limits.nodes:
                raise _too_many(source, node.start_mark.index, limits)
        elif key in open_nodes:
            raise fault(
                source,
                node.start_mark.index,
                "alias_bomb",
                "a value contains itself through an alias",
                fix="write the value out without the alias",
            )
        elif key in sizes:
            continue
        elif node.id == "scalar":
            sizes[key] = (1, 0)
        else:
            open_nodes.add(key)
            stack.append((node, True))
            stack.extend((child, False) for child in _children(node))


def _children(node: Any) -> list[Any]:
    if node.id == "mapping":
        return [child for pair in node.value for child in pair]
    return node.value  # type: ignore[no-any-return]


def _too_deep(source: Source, index: int, limits: YamlLimits) -> Exception:
    return fault(
        source,
        index,
        "too_deep",
        f"mappings and lists are nested more than {limits.depth} deep",
        fix="flatten the value, or raise the limit (--max-depth)",
    )


def _too_many(source: Source, index: int, limits: YamlLimits) -> Exception:
    if "*" in source.text:
        return fault(
            source,
            index,
            "alias_bomb",
            f"its aliases written out, this is more than {limits.nodes:,} values",
            fix="write the values out, or raise the limit (--max-nodes)",
        )
    return fault(
        source,
        index,
        "too_large",
        f"the file holds more than {limits.nodes:,} values",
        fix="split the file, or raise the limit (--max-nodes)",
    )
