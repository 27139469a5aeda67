"""Nodes to plain values, as PyYAML's safe constructor gives them, with a place for everything that is wrong.

Aliases are written out: no two places of a record share an object, so changing one never changes the other.
"""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.formats.yaml.problems import fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalspec.errors import FormatError
    from evalspec.formats.yaml.source import YamlFile

_CORE = "tag:yaml.org,2002:"
STR = _CORE + "str"
MERGE = _CORE + "merge"
#: What YAML 1.1 makes of a bare `=`; as a key it is that text.
VALUE = _CORE + "value"
_FLOAT = _CORE + "float"
_NUMBERS = (_CORE + "int", _FLOAT)
#: Python refuses longer decimal integers, and a sexagesimal one of this length takes a moment.
_MAX_DIGITS = 4300


class Tagged(NamedTuple):
    """A value with a tag that is not YAML's own (`!function utils.doc_to_text`). Never run, never interpreted.

    Attributes:
        tag: the tag as the parser resolves it, `!function`.
        value: the text, list or mapping behind it.
    """

    tag: str
    value: Any


@cache
def _scalars() -> dict[str, Callable[[Any], Any]]:
    """PyYAML's own constructor for each scalar tag of YAML 1.1."""
    from yaml.constructor import SafeConstructor

    made = SafeConstructor()
    names = ("null", "bool", "int", "float", "binary", "timestamp")
    table: dict[str, Callable[[Any], Any]] = {
        _CORE + name: getattr(made, f"construct_yaml_{name}") for name in names
    }
    for tag in (STR, MERGE, VALUE):
        table[tag] = lambda node: node.value
    return table


class Builder:
    """Builds values from the nodes of one file.

    Attributes:
        warnings: keys given twice, where the dialect lets the last one win.
    """

    def __init__(self, file: YamlFile) -> None:
        from evalspec.formats.yaml.compose import has_libyaml

        self.source = file.source
        self.dialect = file.dialect
        self.warnings: list[FormatError] = []
        self._nul = file.nul
        self._surrogates = not has_libyaml()
        self._scalars = _scalars()

    def build(self, node: Any) -> Any:
        """The value of `node`.

        Raises:
            FormatError: `bad_yaml`, `bad_number`, `bad_type`, `duplicate_key`, `nul_character`, `lone_surrogate`.
        """
        tag = node.tag
        kind = node.id
        if kind == "scalar":
            if tag == STR:
                return self._text(node)
            return self._scalar(node, tag)
        if kind == "sequence":
            if tag == _CORE + "seq":
                return [self.build(item) for item in node.value]
            if tag in (_CORE + "omap", _CORE + "pairs"):
                return [self._pair(item) for item in node.value]
            if self._own(node, tag):
                return Tagged(tag, [self.build(item) for item in node.value])
        elif tag == _CORE + "map":
            return self._mapping(node)
        elif tag == _CORE + "set":
            return set(self._mapping(node))
        elif self._own(node, tag):
            return Tagged(tag, self._mapping(node))
        raise self.fault(
            node, "bad_yaml", f"the tag {_short(tag)} does not fit this value", fix="remove the tag"
        )

    def fault(self, node: Any, rule: str, message: str, *, fix: str) -> FormatError:
        """A `FormatError` at the node."""
        return fault(self.source, node.start_mark.index, rule, message, fix=fix)

    def _own(self, node: Any, tag: str) -> bool:
        """Whether the tag is a stranger that the dialect keeps; one that it does not keep is an error."""
        if tag.startswith(_CORE) and tag[len(_CORE) :] in _KNOWN:
            return False
        if not self.dialect.tags:
            raise self.fault(
                node,
                "bad_yaml",
                f"the tag {_short(tag)} means nothing here",
                fix="remove the tag, or put a text that begins with `!` in quotes",
            )
        return True

    def _text(self, node: Any) -> str:
        text: str = node.value
        if self._nul and "\0" in text:
            raise self.fault(
                node, "nul_character", "the text holds a NUL character (U+0000)", fix="remove it"
            )
        if self._surrogates and not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            message = "the text holds half of a surrogate pair"
            raise self.fault(node, "lone_surrogate", message, fix="write the character itself")
        return text

    def _scalar(self, node: Any, tag: str) -> Any:
        construct = self._scalars.get(tag)
        if construct is None:
            if self._own(node, tag):
                return Tagged(tag, self._text(node))
            message = f"the tag {_short(tag)} does not fit a plain value"
            raise self.fault(node, "bad_yaml", message, fix="remove the tag")
        if tag in _NUMBERS and len(node.value) > _MAX_DIGITS:
            message = "the number has too many digits"
            raise self.fault(node, "bad_number", message, fix="put it in quotes if it is a text")
        try:
            value = construct(node)
        except Exception:  # noqa: BLE001 - PyYAML lets whatever int, datetime or base64 raise pass through
            message = f"{node.value!r:.60} is not a value of the kind {_short(tag)}"
            rule = "bad_number" if tag in _NUMBERS else "bad_yaml"
            raise self.fault(
                node, rule, message, fix="correct it, or put it in quotes if it is a text"
            ) from None
        if tag == _FLOAT and not isfinite(value):
            raise self.fault(
                node, "bad_number", "a number must be finite", fix="put it in quotes if it is a text"
            )
        return value

    def _mapping(self, node: Any) -> dict[Any, Any]:
        merged: dict[Any, Any] = {}
        own: dict[Any, Any] = {}
        marks: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == MERGE:
                merged.update(self._merge(value_node))
                continue
            key = key_node.value if key_node.tag == STR and key_node.id == "scalar" else self._key(key_node)
            if key in own:
                self._duplicate(key_node, marks[key])
            marks[key] = key_node
            own[key] = self.build(value_node)
        if merged:
            merged.update(own)
            return merged
        return own

    def _key(self, node: Any) -> Any:
        if node.id == "scalar" and node.tag == VALUE:
            return node.value
        if not self.dialect.keys and node.id == "scalar":
            raise self.fault(
                node,
                "bad_type",
                f"the key {node.value!r:.40} is read as {_short(node.tag)}, not as text",
                fix="put the key in quotes",
            )
        key = self.build(node)
        try:
            hash(key)
        except TypeError:
            message = "a list or a mapping cannot be a key"
            raise self.fault(node, "bad_yaml", message, fix="use a text as the key") from None
        return key

    def _merge(self, node: Any) -> dict[Any, Any]:
        """What `<<: *base` brings in; of several bases the earlier wins, as in PyYAML."""
        if node.id == "mapping":
            return self._mapping(node)
        merged: dict[Any, Any] = {}
        if node.id == "sequence" and all(item.id == "mapping" for item in node.value):
            for item in reversed(node.value):
                merged.update(self._mapping(item))
            return merged
        message = "`<<` takes a mapping or a list of mappings"
        raise self.fault(node, "bad_yaml", message, fix='write "<<" in quotes if a plain key is meant')

    def _pair(self, node: Any) -> tuple[Any, Any]:
        if node.id != "mapping" or len(node.value) != 1:
            message = "an ordered mapping is a list of single pairs"
            raise self.fault(node, "bad_yaml", message, fix="write `- key: value`")
        key, value = node.value[0]
        return self.build(key), self.build(value)

    def _duplicate(self, node: Any, first: Any) -> None:
        line = self.source.line(first.start_mark.index)
        here = self.source.line(node.start_mark.index)
        message = f"the key {node.value!r:.60} is on line {line} and again on line {here}; the last one wins"
        error = self.fault(node, "duplicate_key", message, fix="remove one of the two")
        if self.dialect.duplicates == "error":
            raise error
        self.warnings.append(error)


_KNOWN = frozenset(
    "str merge value null bool int float binary timestamp omap pairs set seq map".split()  # noqa: SIM905 - one line
)


def _short(tag: str) -> str:
    """A tag as people write it."""
    return "!!" + tag[len(_CORE) :] if tag.startswith(_CORE) else tag
