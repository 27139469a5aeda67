"""The values of a lm-eval YAML file: PyYAML's safe loader, with `!function` kept as a name.

A whole tree has some fourteen thousand files, so this reads values only; where a value stands in its file is asked
for a few of them, and answered by `evalspec.formats.yaml`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from evalspec.errors import FormatError
from evalspec.prompts.problems import FunctionRef

#: Brackets or indent beyond this are no task file, and could exhaust the parser's stack.
_DEEPEST = 400
_MAX_ALIASES = 1000


_TAG = "tag:yaml.org,2002:"
_STR, _SEQ, _MAP = f"{_TAG}str", f"{_TAG}seq", f"{_TAG}map"
_SPECIAL_KEYS = frozenset([f"{_TAG}merge", f"{_TAG}value"])


@cache
def _loader_class() -> type[Any]:
    """PyYAML's safe loader with `!function` as a name, and with the two steps that take longest made short."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    table = {first: tuple(pairs) for first, pairs in base.yaml_implicit_resolvers.items()}
    scalar_kind, sequence_kind = yaml.ScalarNode, yaml.SequenceNode

    class Loader(base):  # type: ignore[misc]
        folder = ""

        def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
            """The tag of a node that has none written on it: by the table of plain scalars, else by its kind."""
            if kind is scalar_kind:
                if implicit[0]:
                    for tag, pattern in table.get(value[:1], ()):
                        if pattern.match(value):
                            return str(tag)
                return _STR
            return _SEQ if kind is sequence_kind else _MAP

        def built(self, node: Any) -> Any:
            """The value of a node without anchors; what is not plain is built by PyYAML."""
            tag = node.tag
            if tag == _STR and node.__class__ is scalar_kind:
                return node.value
            if tag == _MAP:
                pairs = node.value
                if not any(key.tag in _SPECIAL_KEYS for key, _ in pairs):
                    return {self.built(key): self.built(value) for key, value in pairs}
            elif tag == _SEQ:
                return [self.built(each) for each in node.value]
            return self.construct_object(node, deep=True)

    def function(loader: Any, node: Any) -> FunctionRef:
        return FunctionRef(str(loader.construct_scalar(node)), loader.folder)

    Loader.add_constructor("!function", function)
    return Loader


def read_values(data: bytes, folder: str = "") -> dict[str, Any]:
    """The mapping that a YAML file holds.

    Args:
        data: the file's bytes.
        folder: the folder it is in; its functions are looked for there first.

    Raises:
        FormatError: `bad_yaml`, `not_an_object`, `too_deep`, or `too_many_aliases`.
    """
    import yaml

    if data.count(b"[") + data.count(b"{") > _DEEPEST or b" " * _DEEPEST in data:
        _check_depth(data)
    if data.count(b"*") > _MAX_ALIASES and b"&" in data:
        _check_aliases(data)
    loader = _loader_class()(data)
    loader.folder = folder
    try:
        if b"&" in data:
            value = loader.get_single_data()
        else:
            node = loader.get_single_node()
            value = None if node is None else loader.built(node)
    except yaml.MarkedYAMLError as problem:
        line, column = _marked(problem.problem_mark or problem.context_mark)
        raise FormatError("bad_yaml", str(problem.problem or problem), line=line, column=column) from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as problem:
        raise FormatError("bad_yaml", str(problem)) from None
    finally:
        loader.dispose()
    if not isinstance(value, dict):
        raise FormatError("not_an_object", "a task file is a mapping", text=str(value)[:80])
    return value


def _marked(mark: Any) -> tuple[int, int]:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


def _check_depth(data: bytes) -> None:
    import yaml

    depth = 0
    try:
        for event in yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _DEEPEST:
                    line, column = _marked(event.start_mark)
                    raise FormatError("too_deep", "nested too deeply", line=line, column=column)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError as problem:
        raise FormatError("bad_yaml", str(problem)) from None


def _check_aliases(data: bytes) -> None:
    import yaml

    aliases = 0
    try:
        for event in yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            aliases += isinstance(event, yaml.AliasEvent)
    except yaml.YAMLError as problem:
        raise FormatError("bad_yaml", str(problem)) from None
    if aliases > _MAX_ALIASES:
        raise FormatError("too_many_aliases", f"{aliases} aliases in one file")
