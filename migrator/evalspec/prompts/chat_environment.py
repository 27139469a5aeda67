"""The Jinja environment of chat templates, set up as transformers sets up its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.prompts.chat import FROZEN_NOW
from evalspec.prompts.limits import Watch, check_size
from evalspec.prompts.sandbox import bound, sandbox_class

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def chat_renderer(source: str) -> Callable[[Mapping[str, Any]], str]:
    """A function that renders one chat template.

    Raises:
        jinja2.TemplateSyntaxError: the template does not parse.
    """
    template = _environment().from_string(source)
    watch = Watch()

    def render(variables: Mapping[str, Any]) -> str:
        pieces, size = [], 0
        with watch:
            watch.count += 1
            watch.running = True
            try:
                for piece in template.generate(**variables):
                    size += len(piece)
                    check_size(size)
                    pieces.append(piece)
            finally:
                watch.running = False
        return "".join(pieces)

    return render


def names_in(source: str) -> set[str]:
    """The names that a chat template takes from outside of itself, at least on one of its ways.

    Raises:
        jinja2.TemplateSyntaxError: the template does not parse.
    """
    from jinja2.meta import find_undeclared_variables

    environment = _environment()
    environment.globals.clear()  # what is there for every template counts as well
    return find_undeclared_variables(environment.parse(source))


def _environment() -> Any:
    from jinja2 import ext, nodes
    from jinja2.exceptions import SecurityError, TemplateError
    from jinja2.utils import Namespace

    class GenerationTag(ext.Extension):
        """`{% generation %}…{% endgeneration %}` marks what a model is trained on; here it is only its body."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body).set_lineno(line)

    class PlainNamespace(Namespace):
        """A namespace whose names do not begin with an underscore."""

        def __init__(*args: Any, **kwargs: Any) -> None:
            own, rest = args[0], args[1:]
            for name in (values := dict(*rest, **kwargs)):
                _check(name)
            Namespace.__init__(own, values)

        def __setitem__(self, name: str, value: Any) -> None:
            _check(name)
            super().__setitem__(name, value)

    def _check(name: Any) -> None:
        if isinstance(name, str) and name.startswith("_"):
            raise SecurityError(
                f"a chat template cannot keep {name!r} in a namespace: it begins with an underscore"
            )

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def strftime_now(pattern: str) -> str:
        from datetime import datetime

        return datetime(*FROZEN_NOW).strftime(pattern)  # noqa: DTZ001

    def tojson(
        x: Any,
        ensure_ascii: bool = False,
        indent: Any = None,
        separators: Any = None,
        sort_keys: bool = False,
    ) -> str:
        import json

        return json.dumps(
            x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    class PlainDict:
        """`dict(…)` in a template, with no way to the type itself."""

        def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
            return dict(*args, **kwargs)

        def fromkeys(self, *args: Any) -> dict[Any, Any]:
            return dict.fromkeys(*args)

    environment = sandbox_class()(
        trim_blocks=True, lstrip_blocks=True, cache_size=0, extensions=[GenerationTag, ext.loopcontrols]
    )
    bound(environment)
    environment.filters["tojson"] = tojson
    environment.globals.update(
        raise_exception=raise_exception, strftime_now=strftime_now, dict=PlainDict(), namespace=PlainNamespace
    )
    return environment
