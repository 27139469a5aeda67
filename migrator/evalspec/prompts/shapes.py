"""What a template's variables must be, read off its syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jinja2 import Environment, nodes

_RANK = {"": 0, "text": 1, "number": 2, "list": 3, "dict": 4}
_TEXT_METHODS = frozenset(name for name in dir(str) if not name.startswith("_")) - {"index", "count"}
_DICT_METHODS = frozenset(["items", "keys", "values", "get"])
_NUMBER_FILTERS = frozenset(["abs", "round", "int", "float", "filesizeformat"])
_ITEM_FILTERS = frozenset(["first", "last", "min", "max", "random"])
_LIST_FILTERS = _ITEM_FILTERS | frozenset(
    [
        "join",
        "sort",
        "unique",
        "batch",
        "slice",
        "map",
        "list",
        "sum",
        "select",
        "reject",
        "selectattr",
        "groupby",
    ]
)


@dataclass(eq=False, slots=True)
class Shape:
    """What is known of one variable.

    Attributes:
        kind: `text`, `number`, `list` or `dict`; empty where nothing is known.
        members: what is known of its keys.
        item: what is known of its items, as a list.
        fixed: a value that the template needs it to have.
        like: a list whose first item is its value (`choices.index(answer)`).
        least: how many items a list must have.
        is_text: a method of texts is called on it, so a number is written out.
    """

    kind: str = ""
    members: dict[str, Shape] = field(default_factory=dict)
    item: Shape | None = None
    fixed: Any = None
    like: Shape | None = None
    least: int = 2
    is_text: bool = False

    def use(self, kind: str) -> Shape:
        """Note a use. Of two uses the one that asks for more wins."""
        if _RANK[kind] > _RANK[self.kind]:
            self.kind = kind
        return self

    def member(self, name: str) -> Shape:
        """The shape behind a key."""
        return self.members.setdefault(name, Shape())

    def items(self) -> Shape:
        """The shape of a list's items."""
        self.use("list")
        if self.item is None:
            self.item = Shape()
        return self.item

    def row(self, suffix: str) -> dict[str, Any]:
        """A row with these members; `suffix` is put behind every name."""
        made = {name: shape.value(name, suffix) for name, shape in self.members.items()}
        for path, shape in self.walk(()):
            if shape.like is not None and shape.fixed is None:
                items = next((_at(made, where) for where, each in self.walk(()) if each is shape.like), None)
                if isinstance(items, list) and items:
                    _at(made, path[:-1])[path[-1]] = items[0]
        return made

    def walk(self, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Shape]]:
        """Every member and what is behind its keys, with its path."""
        for name, shape in self.members.items():
            yield (*path, name), shape
            if shape.kind != "list":
                yield from shape.walk((*path, name))
            elif shape.item is not None:
                yield (*path, name, 0), shape.item

    def value(self, name: str, suffix: str) -> Any:
        """A made-up value of this shape."""
        if self.fixed is not None:
            return self.fixed
        if self.members and self.kind != "list":
            return {key: shape.value(f"{name}.{key}", suffix) for key, shape in self.members.items()}
        if self.kind == "list":
            item = self.item or Shape()
            return [item.value(f"{name}[{at}]", suffix) for at in range(max(2, self.least))]
        if self.kind == "dict":
            return {"⟨key⟩": f"⟨{name} value{suffix}⟩"}
        if self.kind == "number":
            return "0" if self.is_text else 0
        return f"⟨{name}{suffix}⟩"


def _at(row: Any, path: tuple[str | int, ...]) -> Any:
    for name in path:
        row = row[name]
    return row


def read_template(environment: Environment, source: str, root: Shape, whole: str = "") -> None:
    """Learn from a template what its variables are. One that does not parse teaches nothing.

    Where the template is nothing but one variable, `whole` says what that must be.
    """
    from jinja2 import TemplateError, nodes

    try:
        tree = environment.parse(source)
    except (TemplateError, RecursionError):
        return
    reader = _Reader(root)
    reader.body(tree.body, {})
    if whole and len(tree.body) == 1 and len(getattr(tree.body[0], "nodes", ())) == 1:
        output: Any = tree.body[0]
        only = output.nodes[0]
        shape = (
            reader.expression(only, {})
            if isinstance(only, nodes.Name | nodes.Getattr | nodes.Getitem)
            else None
        )
        if shape is not None and not shape.members:
            shape.use(whole)


class _Reader:
    """Walks a template. `scope` maps the names a template sets itself to shapes, or to None where none is known."""

    def __init__(self, root: Shape) -> None:
        self.root = root

    def body(self, found: Iterable[nodes.Node], scope: dict[str, Shape | None]) -> None:
        for node in found:
            self.statement(node, scope)

    def statement(self, node: Any, scope: dict[str, Shape | None]) -> None:
        from jinja2 import nodes

        if isinstance(node, nodes.For):
            item = self.iterated(node.iter, scope)
            inner = dict(scope)
            inner["loop"] = None
            self.bind(node.target, item, inner)
            if node.test is not None:
                self.expression(node.test, inner)
            self.body(node.body, inner)
            self.body(node.else_, scope)
        elif isinstance(node, nodes.Assign):
            self.bind(node.target, self.expression(node.node, scope), scope)
        elif isinstance(node, nodes.Macro | nodes.CallBlock):
            inner = dict(scope)
            for arg in node.args:
                inner[arg.name] = None
            if isinstance(node, nodes.Macro):
                scope[node.name] = None
            self.body(node.body, inner)
        elif isinstance(node, nodes.With):
            inner = dict(scope)
            for target, value in zip(node.targets, node.values, strict=True):
                self.bind(target, self.expression(value, scope), inner)
            self.body(node.body, inner)
        elif isinstance(node, nodes.Expr):
            self.expression(node, scope)
        else:
            for child in node.iter_child_nodes():
                self.statement(child, scope)

    def bind(self, target: Any, value: Shape | None, scope: dict[str, Shape | None]) -> None:
        from jinja2 import nodes

        if isinstance(target, nodes.Name):
            scope[target.name] = value
        elif isinstance(target, nodes.Tuple):
            for each in target.items:
                self.bind(each, value.items() if value is not None else None, scope)

    def iterated(self, node: Any, scope: dict[str, Shape | None]) -> Shape | None:
        """The shape of what a loop's name stands for."""
        from jinja2 import nodes

        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
            owner = self.expression(node.node.node, scope)
            if owner is not None and node.node.attr in _DICT_METHODS:
                owner.use("dict")
                return None
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name not in scope:
            for arg in node.args:
                found = self.expression(arg, scope)
                if found is not None and node.node.name == "range":
                    found.use("number")
            if node.node.name in ("zip", "enumerate"):
                return None
        shape = self.expression(node, scope)
        if shape is None or (shape.members and not shape.kind):
            return None
        return shape.items()

    def expression(self, node: Any, scope: dict[str, Shape | None]) -> Shape | None:
        """Learn from an expression; its own shape, where it is a variable or part of one."""
        from jinja2 import nodes

        if isinstance(node, nodes.Name):
            if node.name in scope:
                return scope[node.name]
            if node.name in ("range", "dict", "lipsum", "cycler", "joiner", "namespace"):
                return None
            return self.root.member(node.name)
        if isinstance(node, nodes.Getattr):
            owner = self.expression(node.node, scope)
            if owner is None or node.attr in _TEXT_METHODS | _DICT_METHODS:
                return None
            return owner.use("dict").member(node.attr)
        if isinstance(node, nodes.Getitem):
            return self.getitem(node, scope)
        if isinstance(node, nodes.Call):
            return self.call(node, scope)
        if isinstance(node, nodes.Filter):
            return self.filtered(node, scope)
        if isinstance(
            node, nodes.Add | nodes.Sub | nodes.Mul | nodes.Div | nodes.FloorDiv | nodes.Mod | nodes.Pow
        ):
            sides = [self.expression(node.left, scope), self.expression(node.right, scope)]
            constants = [x.value for x in (node.left, node.right) if isinstance(x, nodes.Const)]
            if any(isinstance(value, int | float) for value in constants) or isinstance(
                node, nodes.Sub | nodes.Div
            ):
                for shape in sides:
                    if shape is not None:
                        shape.use("number")
            return None
        if isinstance(node, nodes.Compare):
            self.compared(node, scope)
            return None
        if isinstance(node, nodes.CondExpr):
            self.expression(node.test, scope)
            found = self.expression(node.expr1, scope)
            other = self.expression(node.expr2, scope) if node.expr2 is not None else None
            return found or other
        for child in node.iter_child_nodes():
            self.expression(child, scope)
        return None

    def getitem(self, node: Any, scope: dict[str, Shape | None]) -> Shape | None:
        from jinja2 import nodes

        owner = self.expression(node.node, scope)
        if isinstance(node.arg, nodes.Slice):
            for bound in (node.arg.start, node.arg.stop, node.arg.step):
                found = self.expression(bound, scope) if bound is not None else None
                if found is not None:
                    found.use("number")
            return owner
        if isinstance(node.arg, nodes.Const):
            if owner is None:
                return None
            if isinstance(node.arg.value, str):
                return owner.use("dict").member(node.arg.value)
            if isinstance(node.arg.value, int):
                owner.least = max(owner.least, node.arg.value + 1)
                return owner.items()
            return None
        index = self.expression(node.arg, scope)
        if isinstance(node.node, nodes.Dict) and index is not None:
            keys = [pair.key.value for pair in node.node.items if isinstance(pair.key, nodes.Const)]
            if keys:
                index.fixed = keys[0]
            return None
        if index is not None:
            index.use("number")
        return owner.items() if owner is not None else None

    def call(self, node: Any, scope: dict[str, Shape | None]) -> Shape | None:
        from jinja2 import nodes

        args = [self.expression(arg, scope) for arg in node.args]
        for keyword in node.kwargs:
            self.expression(keyword.value, scope)
        if not isinstance(node.node, nodes.Getattr):
            self.expression(node.node, scope)
            return None
        owner, method = self.expression(node.node.node, scope), node.node.attr
        if method == "index" and args and args[0] is not None:
            literal = node.node.node
            if isinstance(literal, nodes.List | nodes.Tuple) and literal.items:
                first = literal.items[0]
                args[0].fixed = first.value if isinstance(first, nodes.Const) else None
            elif isinstance(literal, nodes.Const) and isinstance(literal.value, str):
                args[0].fixed = literal.value[0]
            elif owner is not None:
                owner.items()
                args[0].like = owner
        elif owner is not None and method in _DICT_METHODS:
            owner.use("dict")
        elif owner is not None and method in _TEXT_METHODS:
            owner.use("text").is_text = True
            return owner if method in ("strip", "lstrip", "rstrip", "lower", "upper", "replace") else None
        return None

    def filtered(self, node: Any, scope: dict[str, Shape | None]) -> Shape | None:
        shape = self.expression(node.node, scope) if node.node is not None else None
        for arg in node.args:
            self.expression(arg, scope)
        if shape is None:
            return None
        if node.name in _NUMBER_FILTERS:
            shape.use("number")
            return None
        if node.name in _LIST_FILTERS:
            item = shape.items()
            return item if node.name in _ITEM_FILTERS else None
        if node.name in ("length", "count", "tojson", "string", "dictsort"):
            if node.name == "dictsort":
                shape.use("dict")
            return None
        return shape

    def compared(self, node: Any, scope: dict[str, Shape | None]) -> None:
        from jinja2 import nodes

        left = self.expression(node.expr, scope)
        for operand in node.ops:
            right = self.expression(operand.expr, scope)
            if operand.op in ("lt", "lteq", "gt", "gteq"):
                for shape in (left, right):
                    if shape is not None:
                        shape.use("number")
            elif operand.op == "eq" and isinstance(operand.expr, nodes.Const):
                value = operand.expr.value
                if left is not None and isinstance(value, int) and not isinstance(value, bool):
                    left.use("number")
