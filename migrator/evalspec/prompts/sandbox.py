"""Jinja, as lm-evaluation-harness sets it up, inside a sandbox (prompting.md, "Field dispatch").

Default delimiters, strict undefined variables, a template's last line end kept, no autoescape, and the one filter
`regex_replace`. Templates are compiled once by their text; the harness compiles them anew for every row.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalspec.prompts.limits import (
    SIZE,
    TemplateLimit,
    Watch,
    bounded_binop,
    check_call,
    check_format,
    check_size,
)
from evalspec.prompts.problems import Unknown
from evalspec.prompts.quick import quick_list, quick_renderer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jinja2.sandbox import ImmutableSandboxedEnvironment

Doc = dict[str, Any]
Renderer = "Callable[[Mapping[str, Any]], str]"

#: Where a template's text can hold anything but text. A lone brace is text.
_MARKS = ("{{", "{%", "{#")
_ADDRESS = re.compile(r"<[^<>]* at 0x[0-9a-f]+>")
_LONGEST_RANGE = 100_000
#: So many templates are kept parsed.
_PARSED = 2048
#: So many pieces are taken together before their size is looked at piece by piece.
_PIECES = 4096


class Sandbox:
    """A Jinja environment with its compiled templates and its watch."""

    def __init__(self, watch: Watch | None = None) -> None:
        self.watch = watch or Watch()
        self._renderers: dict[str, Callable[[Mapping[str, Any]], str]] = {}

    @cached_property
    def environment(self) -> ImmutableSandboxedEnvironment:
        """The environment, made when there is a template: it takes Jinja, which takes time to load."""
        return field_environment()

    def render(self, source: str, doc: Mapping[str, Any]) -> str:
        """The template's text for one row.

        Raises:
            jinja2.TemplateError: what Jinja says of the template or the row (`SecurityError`: the sandbox does).
            TemplateLimit: it took too long or made too much.
            Exception: whatever an expression of the template raises.
        """
        return self.renderer(source)(doc)

    def renderer(self, source: str) -> Callable[[Mapping[str, Any]], str]:
        """A function from a row to the template's text; made once for each template.

        A template that does not parse gives a function that raises what Jinja says, as rendering it would.
        """
        found = self._renderers.get(source)
        if found is None:
            found = self._renderers[source] = self._make(source)
        return found

    def lister(self, source: str) -> Callable[[Mapping[str, Any]], list[str]] | None:
        """What gives, for most rows, the list of texts that a template prints; None where nothing does.

        The function raises for the rows that `renderer` must be asked about.
        """
        texts = quick_list(self.environment, source) if _MARKS[0] in source else None
        if texts is None:
            return None

        def read(doc: Mapping[str, Any]) -> list[str]:
            _check_names(doc)
            return texts(doc)

        return read

    def _make(self, source: str) -> Callable[[Mapping[str, Any]], str]:
        if not isinstance(source, str):
            raise TypeError("Can't compile non template nodes")
        if not any(mark in source for mark in _MARKS):
            return _constant(normal_newlines(source))
        from jinja2 import TemplateError

        try:
            quick = quick_renderer(self.environment, source)
        except TemplateError as problem:
            return _raiser(problem)
        if quick is None:
            return self._compiled(source)
        exact: list[Callable[[Mapping[str, Any]], str]] = []

        def render(doc: Mapping[str, Any]) -> str:
            _check_names(doc)
            try:
                return quick(doc)
            except Exception:  # noqa: BLE001 - Jinja says what is wrong, and in its own words
                if not exact:
                    exact.append(self._compiled(source))
                return exact[0](doc)

        return render

    def _compiled(self, source: str) -> Callable[[Mapping[str, Any]], str]:
        """A function that renders the template with Jinja."""
        from jinja2 import TemplateError

        watch = self.watch
        try:
            template = self.environment.from_string(source)
        except TemplateError as problem:
            return _raiser(problem)
        make, environment, parent = template.root_render_func, self.environment, template.globals
        context_class, name, blocks = environment.context_class, template.name, template.blocks
        make.__globals__["str_join"] = _bounded_join

        def render(doc: Mapping[str, Any]) -> str:
            _check_names(doc)
            watch.count += 1
            watch.running = True
            try:
                context = context_class(environment, {**parent, **doc}, name, blocks, globals=parent)
                text = _bounded(make(context))
            finally:
                watch.running = False
            if " at 0x" in text and _ADDRESS.search(text) and not _ADDRESS.search(str(doc)):
                raise Unknown("the template prints an object's address, which differs from run to run")
            return text

        return render


def _constant(text: str) -> Callable[[Mapping[str, Any]], str]:
    def render(doc: Mapping[str, Any]) -> str:
        _check_names(doc)
        return text

    return render


def _raiser(problem: BaseException) -> Callable[[Mapping[str, Any]], str]:
    def render(_: Mapping[str, Any]) -> str:
        raise problem

    return render


def _check_names(doc: Mapping[str, Any]) -> None:
    """A row is handed to Jinja as keyword arguments, so not every column name will do."""
    if "self" in doc:
        raise TypeError("a column cannot be called 'self': it collides with the template's own argument")


def _bounded(made: Iterator[str]) -> str:
    """The pieces of a template's text, joined; there is a limit to how much they may come to."""
    pieces = list(islice(made, _PIECES))
    size = sum(map(len, pieces))
    if len(pieces) == _PIECES:
        for piece in made:
            size += len(piece)
            if size > SIZE:
                break
            pieces.append(piece)
    check_size(size)
    return "".join(pieces)


def normal_newlines(source: str) -> str:
    """A template's text with every line end as Jinja reads it."""
    return source.replace("\r\n", "\n").replace("\r", "\n") if "\r" in source else source


def _bounded_join(pieces: Iterable[Any]) -> str:
    """What `~` does in a template, with a limit on what comes out."""
    texts = [str(piece) for piece in pieces]
    check_size(sum(map(len, texts)), "concatenation")
    return "".join(texts)


def regex_replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    """Replace what a pattern matches, as `re.sub` does."""
    if all(isinstance(each, str) for each in (string, repl)):
        check_size((len(string) + 1) * len(repl), "replacement")
    return re.sub(pattern, repl, string, count=count)


#: Methods that read and return plain values: no need to ask the sandbox about them each time.
_SAFE_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(name for name in dir(str) if not name.startswith("_")) - {"format", "format_map"},
    list: frozenset(["index", "count"]),
}
_GROWING = frozenset(["ljust", "rjust", "center", "zfill", "expandtabs", "replace", "join", "translate"])


def _bounded_format(owner: str, wrapped: Callable[..., str]) -> Callable[..., str]:
    """`str.format` as the sandbox has it, with a limit on padding, also where an argument gives the width."""

    def bounded(*args: Any, **kwargs: Any) -> str:
        check_format(owner)
        if owner.count("{") > 1:
            numbers = [x for x in (*args, *kwargs.values()) if isinstance(x, int) and abs(x) < 1 << 62]
            if "{" in owner[owner.find(":") :]:
                check_size(max(numbers, default=0), "a padded field")
        return wrapped(*args, **kwargs)

    return bounded


def _bounded_range(*args: int) -> range:
    """`range` with the sandbox's bound on its length."""
    numbers = range(*args)
    if len(numbers) > _LONGEST_RANGE:
        raise TemplateLimit(f"the template counts {len(numbers)} times; the sandbox allows {_LONGEST_RANGE}")
    return numbers


def _bounded_lipsum(*args: Any, **kwargs: Any) -> str:
    from jinja2.utils import generate_lorem_ipsum

    check_size(
        sum(abs(size) for size in (*args, *kwargs.values()) if isinstance(size, int)) * 1000, "filler text"
    )
    return generate_lorem_ipsum(*args, **kwargs)


@lru_cache(maxsize=1)
def sandbox_class() -> type[ImmutableSandboxedEnvironment]:
    """The environment class: Jinja's immutable sandbox, with bounds on operations that can make much."""
    from jinja2 import sandbox as jinja_sandbox

    class Bounded(jinja_sandbox.ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(["*", "**", "%", "+"])

        @lru_cache(maxsize=_PARSED)  # noqa: B019 - an environment lives as long as the process
        def parse(self, source: str, name: str | None = None, filename: str | None = None) -> Any:
            """The template's syntax tree, to be read and not changed: a field is read for more than one purpose."""
            return super().parse(source, name, filename)

        def getattr(self, obj: Any, attribute: str) -> Any:
            if attribute in _SAFE_METHODS.get(type(obj), ()):
                return getattr(obj, attribute)
            return super().getattr(obj, attribute)

        def wrap_str_format(self, value: Any) -> Any:
            wrapped = super().wrap_str_format(value)
            return wrapped and _bounded_format(value.__self__, wrapped)

        def call_binop(self, _context: Any, operator: str, left: Any, right: Any) -> Any:
            return bounded_binop(operator, left, right, self.binop_table[operator])

        def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
            owner = getattr(obj, "__self__", None)
            if type(owner) is str:
                name = obj.__name__
                if name in _GROWING:
                    check_call(name, owner, args)
                # Inside loops and blocks Jinja hands its own variables along.
                kwargs.pop("_loop_vars", None)
                kwargs.pop("_block_vars", None)
                return obj(*args, **kwargs)
            return super().call(context, obj, *args, **kwargs)

    return Bounded


def bound(environment: Any) -> None:
    """Put bounds on the built-in filters and functions that can make much out of little."""
    filters = environment.filters
    environment.globals.update(range=_bounded_range, lipsum=_bounded_lipsum)
    for name in ("center", "indent", "format", "replace", "join", "batch", "slice", "wordwrap"):
        filters[name] = _bounded_filter(name, filters[name])


def _bounded_filter(name: str, plain: Any) -> Any:
    from functools import update_wrapper

    # A filter that wants the context or the environment gets it as its first argument, before the value.
    skip = 1 if hasattr(plain, "jinja_pass_arg") else 0

    def bounded(*args: Any, **kwargs: Any) -> Any:
        value, rest = args[skip], args[skip + 1 :]
        numbers = [x for x in (*rest, *kwargs.values()) if isinstance(x, int)]
        if name in ("center", "indent", "batch", "slice", "wordwrap"):
            lines = value.count("\n") + 1 if isinstance(value, str) and name == "indent" else 1
            check_size(max(numbers, default=0) * lines, name)
        elif name == "format" and isinstance(value, str):
            check_format(value)
        elif name == "replace" and isinstance(value, str):
            check_call("replace", value, rest)
        elif name == "join" and isinstance(value, list | tuple) and rest and isinstance(rest[0], str):
            check_size(len(value) * len(rest[0]), "joining")
        return plain(*args, **kwargs)

    return update_wrapper(bounded, plain)


@lru_cache(maxsize=1)
def field_environment() -> ImmutableSandboxedEnvironment:
    """The environment in which a task's fields are rendered."""
    from jinja2 import StrictUndefined

    environment = sandbox_class()(undefined=StrictUndefined, keep_trailing_newline=True, cache_size=0)
    bound(environment)
    environment.filters["regex_replace"] = regex_replace
    return environment
