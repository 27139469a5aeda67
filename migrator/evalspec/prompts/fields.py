"""How a field of a task becomes a value for one row (prompting.md, "Field dispatch").

A field is a column's name, a template, a number, a list or mapping, or a function. Which one is decided once a
task; what is left is a function from a row to a value.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from evalspec.prompts.problems import FieldError, FunctionRef, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from evalspec.prompts.sandbox import Sandbox

#: Numbers of so many digits are read at once.
_SHORT = 18
_NUMBER_AND_WORD = re.compile(r"[0-9][A-Za-z]")

Doc = dict[str, Any]
Reader = "Callable[[Doc], Any]"


class Fields:
    """The fields of one task, ready to be read.

    Args:
        sandbox: renders the templates.
        features: the names of the evaluated rows' columns.
        has_choices: the task has `doc_to_choice`, so a text of digits is a number.
        prompt: what `use_prompt` stands for; it takes the place of text, target and choices alike.
        fewshot_delimiter: what a prompt source that renders nothing is taken for.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        features: Collection[str],
        *,
        has_choices: bool,
        prompt: Any = None,
        fewshot_delimiter: Any = "\n\n",
    ) -> None:
        self.sandbox = sandbox
        self.features = frozenset(features)
        self.has_choices = has_choices
        self.prompt = prompt
        self.fewshot_delimiter = fewshot_delimiter

    def text(self, spec: Any, field: str = "doc_to_text") -> Callable[[Doc], Any]:
        """`doc_to_text` as a function of the row."""
        spec = self.prompt if self.prompt is not None else spec
        if isinstance(spec, str) and spec not in self.features:
            render = self.sandbox.renderer(spec)
            return _named(field, self._digits(render) if self.has_choices else render)
        return self._plain(spec, field, 0)

    def target(self, spec: Any, field: str = "doc_to_target") -> Callable[[Doc], Any]:
        """`doc_to_target` as a function of the row."""
        spec = self.prompt if self.prompt is not None else spec
        if isinstance(spec, list):
            return lambda _: spec
        if isinstance(spec, str) and spec not in self.features:
            render, has_choices = self.sandbox.renderer(spec), self.has_choices

            def read(doc: Doc) -> Any:
                text = render(doc)
                if has_choices and text.isdigit():
                    return literal(text)
                if text[:1] == "[" and text[-1:] == "]" and len(text) >= 2:
                    try:
                        return literal(text)
                    except (SyntaxError, ValueError):
                        return text
                return text

            return _named(field, read)
        return self._plain(spec, field, 1)

    def choice(self, spec: Any, field: str = "doc_to_choice") -> Callable[[Doc], Any]:
        """`doc_to_choice` as a function of the row."""
        spec = self.prompt if self.prompt is not None else spec
        if isinstance(spec, FunctionRef):
            return _unknown(spec, field)
        if isinstance(spec, str):
            if spec in self.features:
                return _named(field, lambda doc: doc[spec])
            return _named(field, self._literal(spec))
        if isinstance(spec, list):
            return lambda _: spec
        if isinstance(spec, dict):
            values = list(spec.values())
            return lambda _: list(values)
        if callable(spec):
            return _named(field, spec)
        if hasattr(spec, "get_answer_choices_list"):
            return _named(field, spec.get_answer_choices_list)
        return _refused(field, spec)

    def media(self, spec: Any, field: str) -> Callable[[Doc], Any]:
        """`doc_to_image` or `doc_to_audio` as a function of the row."""
        if isinstance(spec, FunctionRef):
            return _unknown(spec, field)
        if isinstance(spec, list):
            readers = [self.media(each, field) for each in spec if each is not None]
            return lambda doc: [value for value in [read(doc) for read in readers] if value is not None]
        if isinstance(spec, str):
            if spec in self.features:
                return _named(field, lambda doc: doc[spec])
            render = self.sandbox.renderer(spec)
            return _named(field, lambda doc: literal(render(doc)))
        if callable(spec):
            return _named(field, spec)
        return lambda _: None

    def prefix(self, spec: Any, field: str = "gen_prefix") -> Callable[[Doc], Any]:
        """`gen_prefix` of the evaluated row: a column, or a template."""
        if spec is None:
            return lambda _: None
        if isinstance(spec, FunctionRef):
            return _unknown(spec, field)
        if isinstance(spec, str) and spec in self.features:
            return _named(field, lambda doc: doc[spec])
        return _named(field, self._template(spec))

    def resolve_field(self, spec: Any, field: str) -> Callable[[Doc], Any]:
        """`description`, or `gen_prefix` of an example: a key of that row, or a template; nothing if empty."""
        if isinstance(spec, FunctionRef):
            return _unknown(spec, field)
        if not spec:
            return lambda _: None
        render = self._template(spec)
        return _named(field, lambda doc: doc[spec] if spec in doc else render(doc))

    def _template(self, spec: Any) -> Callable[[Mapping[str, Any]], Any]:
        if isinstance(spec, str):
            return self.sandbox.renderer(spec)

        def refuse(_: Mapping[str, Any]) -> Any:
            raise TypeError(f"a template must be a text, not {type(spec).__name__}")

        return refuse

    def _literal(self, spec: str) -> Callable[[Doc], Any]:
        """The Python literal that a template's text is."""
        render = self.sandbox.renderer(spec)
        texts = self.sandbox.lister(spec)
        if texts is None:
            return lambda doc: literal(render(doc))

        def read(doc: Doc) -> Any:
            try:
                return texts(doc)
            except Exception:  # noqa: BLE001 - Jinja says what is wrong, and in its own words
                return literal(render(doc))

        return read

    @staticmethod
    def _digits(render: Callable[[Doc], str]) -> Callable[[Doc], Any]:
        def read(doc: Doc) -> Any:
            text = render(doc)
            return literal(text) if text.isdigit() else text

        return read

    def _plain(self, spec: Any, field: str, side: int) -> Callable[[Doc], Any]:
        """What text and target have in common; `side` is the half of a prompt source's pair that is meant."""
        if isinstance(spec, FunctionRef):
            return _unknown(spec, field)
        if isinstance(spec, Unknown):
            return _raising(Unknown(spec.reason, field))
        if isinstance(spec, int):
            return lambda _: spec
        if isinstance(spec, str):
            return _named(field, lambda doc: doc[spec])
        if callable(spec):
            return _named(field, spec)
        if hasattr(spec, "apply"):
            instead = self.fewshot_delimiter

            def read(doc: Doc) -> Any:
                pair = spec.apply(doc)
                return pair[side] if len(pair) == 2 else instead

            return _named(field, read)
        return _refused(field, spec)


def literal(text: str) -> Any:
    """The Python literal that a text is, as `ast.literal_eval` reads it.

    The parser warns of a backslash before an ordinary letter, and of a number with a word behind it. It reads them all
    the same, and nobody who renders a task can mend its rows, so the warning goes no further.
    """
    if len(text) <= _SHORT and text.isascii() and text.isdigit() and (text == "0" or text[0] != "0"):
        return int(text)
    if "\\" not in text and not _NUMBER_AND_WORD.search(text):
        return ast.literal_eval(text)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.literal_eval(text)


def _named(field: str, read: Callable[[Doc], Any]) -> Callable[[Doc], Any]:
    """The same function; what goes wrong in it names the field."""

    def named(doc: Doc) -> Any:
        try:
            return read(doc)
        except FieldError:
            raise
        except Unknown as unknown:
            raise Unknown(unknown.reason, unknown.field or field) from unknown
        except Exception as problem:
            reason = unknowable(problem)
            if reason is not None:
                raise Unknown(reason, field) from problem
            raise FieldError(field, problem) from problem

    return named


def unknowable(problem: BaseException) -> str | None:
    """Why an error of ours says nothing about the harness; None where the harness would fail as well."""
    from evalspec.prompts.limits import TemplateLimit

    if isinstance(problem, TemplateLimit):
        return str(problem)
    if type(problem).__name__ == "SecurityError":
        return f"the template works only outside the sandbox ({problem})"
    return None


def _unknown(spec: FunctionRef, field: str) -> Callable[[Doc], Any]:
    return _raising(spec.unknown(field))


def _raising(problem: Exception) -> Callable[[Doc], Any]:
    def read(_: Doc) -> Any:
        raise problem

    return read


def _refused(field: str, spec: Any) -> Callable[[Doc], Any]:
    return _raising(FieldError(field, TypeError(f"a field cannot be of type {type(spec).__name__}")))
