"""A shorter way for plain templates: text, columns, their items and keys, sums, lists, and a few methods.

Most templates are no more than that, and then a formatted string gives the same text as Jinja for every row that
Jinja would render without complaint. Whatever goes another way (a column that is not there, a value of another kind)
is left to Jinja itself, so that there is one judge of errors.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment

_METHODS = frozenset(
    ["strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "casefold", "swapcase"]
)
_DICT_NAMES = frozenset(dir(dict))
_STR = ast.Name("str", ast.Load())
_DICT = ast.Name("dict", ast.Load())
_LIST = ast.Name("list", ast.Load())
_DOC = ast.Name("doc", ast.Load())


#: What the functions that are made may call.
_KNOWN = {"__builtins__": {}, "str": str, "dict": dict, "list": list}


class _NotPlain(Exception):
    """The template holds more than the short way covers."""


def quick_renderer(environment: Environment, source: str) -> Callable[[Mapping[str, Any]], str] | None:
    """A function that gives the template's text or raises, where Jinja must be asked; None for other templates.

    Raises:
        jinja2.TemplateSyntaxError: the template does not parse.
    """
    from jinja2 import nodes

    pieces: list[ast.expr] = []
    try:
        for node in environment.parse(source).body:
            if not isinstance(node, nodes.Output):
                return None
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    pieces.append(ast.Constant(part.data))
                else:
                    pieces.append(ast.FormattedValue(_expression(part), ord("s"), None))
    except _NotPlain:
        return None
    built: Callable[[Mapping[str, Any]], str] = _function_of(ast.JoinedStr(pieces))
    return built


def quick_list(environment: Environment, source: str) -> Callable[[Mapping[str, Any]], list[str]] | None:
    """For a template that is one expression, a function that gives the list of texts which Python reads in its text.

    The function raises where the expression is no such list, or Jinja must be asked. None for other templates.
    """
    from jinja2 import TemplateError, nodes

    try:
        match environment.parse(source).body:
            case [nodes.Output(nodes=[nodes.Expr() as only])] if not isinstance(only, nodes.TemplateData):
                read = _function_of(_expression(only))
            case _:
                return None
    except (_NotPlain, TemplateError):
        return None

    def texts(doc: Mapping[str, Any]) -> list[str]:
        found = read(doc)
        if type(found) is not list or not all(type(each) is str for each in found):
            raise TypeError
        return list(found)

    return texts


def _function_of(expression: ast.expr) -> Callable[[Mapping[str, Any]], Any]:
    """A function from a row to the value of an expression."""
    arguments = ast.arguments([], [ast.arg("doc")], None, [], [], None, [])
    made = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, expression)))
    built: Callable[[Mapping[str, Any]], Any] = eval(compile(made, "<template>", "eval"), dict(_KNOWN))  # noqa: S307
    return built


def _expression(node: Any) -> ast.expr:
    from jinja2 import nodes

    if isinstance(node, nodes.Const) and isinstance(node.value, str | int):
        return ast.Constant(node.value)
    if isinstance(node, nodes.List):
        return ast.List([_expression(item) for item in node.items], ast.Load())
    if isinstance(node, nodes.Add):
        return ast.BinOp(_expression(node.left), ast.Add(), _expression(node.right))
    if isinstance(node, nodes.Name):
        return ast.Subscript(_DOC, ast.Constant(node.name), ast.Load())
    if isinstance(node, nodes.Getitem):
        if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, int | str):
            return ast.Subscript(_expression(node.node), ast.Constant(node.arg.value), ast.Load())
        return ast.Subscript(_expression(node.node), _expression(node.arg), ast.Load())
    if isinstance(node, nodes.Getattr) and node.attr not in _DICT_NAMES and not node.attr.startswith("_"):
        key = ast.Attribute(_DICT, "__getitem__", ast.Load())
        return ast.Call(key, [_expression(node.node), ast.Constant(node.attr)], [])
    if (
        isinstance(node, nodes.Call)
        and isinstance(node.node, nodes.Getattr)
        and node.node.attr in _METHODS
        and not (node.args or node.kwargs or node.dyn_args or node.dyn_kwargs)
    ):
        method = ast.Attribute(_STR, node.node.attr, ast.Load())
        return ast.Call(method, [_expression(node.node.node)], [])
    if (
        isinstance(node, nodes.Call)
        and isinstance(node.node, nodes.Getattr)
        and node.node.attr == "index"
        and len(node.args) == 1
        and not (node.kwargs or node.dyn_args or node.dyn_kwargs)
    ):
        method = ast.Attribute(_LIST, "index", ast.Load())
        return ast.Call(method, [_expression(node.node.node), _expression(node.args[0])], [])
    raise _NotPlain
