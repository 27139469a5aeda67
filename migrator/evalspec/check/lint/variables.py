"""The names in templates: are there columns of these names?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalspec.check.lint.remark import Remark
from evalspec.check.rule import Rule
from evalspec.errors import did_you_mean, visible
from evalspec.prompts.shapes import Shape, read_template

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterator, Mapping

    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.sandbox import Sandbox

UNDEFINED_VARIABLE = Rule(
    "undefined_variable",
    "error",
    "A template names a column that its data set does not have, or that no other template of the data set knows.",
    "task: topics\ndataset_path: news\ntest_split: test\ndoc_to_text: 'The topic of {{headline_text}} is'\n",
    "name a column that is there",
)
RULES = (UNDEFINED_VARIABLE,)

_FIELDS = ("doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix")
_OVERRIDES = ("doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
#: So many other templates must agree on a name before one that is nearly it counts as misspelt.
_AGREEING = 2
_NEAR = 0.84


def templates_of(config: TaskConfig) -> Iterator[tuple[str, str]]:
    """The fields of a task that are templates, by their dotted names."""
    for key in _FIELDS:
        value = getattr(config, key)
        if isinstance(value, str) and "{" in value:
            yield key, value
    own = config.fewshot_config
    for key in _OVERRIDES if isinstance(own, dict) else ():
        value = own.get(key)
        if isinstance(value, str) and "{" in value:
            yield f"fewshot_config.{key}", value


class Names:
    """The names that templates use, each template read once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._known: dict[str, frozenset[str]] = {}
        self._nearest: dict[tuple[str, str], str] = {}

    def of(self, template: str) -> frozenset[str]:
        """The columns that a template names; none where it does not parse."""
        found = self._known.get(template)
        if found is None:
            found = self._known[template] = self._read(template)
        return found

    def nearest(self, name: str, data_set: str, known: Collection[str]) -> str:
        """What `nearest` finds among the names of a data set; looked for once."""
        found = self._nearest.get((data_set, name))
        if found is None:
            found = self._nearest[data_set, name] = nearest(name, known)
        return found

    def _read(self, template: str) -> frozenset[str]:
        root = Shape()
        read_template(self._sandbox.environment, template, root)
        return frozenset(root.members)

    def exactly(self, template: str) -> frozenset[str]:
        """The same as Jinja itself has it, where an error hangs on it."""
        from jinja2 import TemplateError, meta

        try:
            names: set[str] = meta.find_undeclared_variables(self._sandbox.environment.parse(template))
        except (TemplateError, RecursionError):
            return frozenset()
        return frozenset(names - self._sandbox.environment.globals.keys())


def undefined(config: TaskConfig, names: Names, columns: Collection[str]) -> Iterator[Remark]:
    """Names in a task's templates that are no columns of its rows."""
    for field, template in templates_of(config):
        for name in sorted(names.exactly(template) - set(columns)):
            if re.search(
                rf"\b{re.escape(name)}\s+is\s+(?:not\s+)?defined|\b{re.escape(name)}\s*\|\s*default", template
            ):
                continue
            message = f"the template names {visible(name)!r}, and the rows have no such column"
            fix = did_you_mean(name, list(columns)) or f"the columns are: {', '.join(list(columns)[:20])}"
            yield Remark(UNDEFINED_VARIABLE, field, message, name, fix)
    for field in ("doc_to_text", "doc_to_target", "doc_to_choice"):
        value = getattr(config, field)
        if isinstance(value, str) and _WORD.match(value) and value not in columns:
            near = did_you_mean(value, list(columns))
            if near:
                message = f"{visible(value)!r} is no column, so every row shows the word itself"
                yield Remark(UNDEFINED_VARIABLE, field, message, value, near)


def misspelt(config: TaskConfig, names: Names, siblings: Mapping[str, Counter[str]]) -> Iterator[Remark]:
    """Names that no other template of the data set knows, and that are nearly one that several use.

    Args:
        config: the task's settings.
        names: reads templates.
        siblings: by data set, how many different templates use a name.
    """
    known = siblings.get(str(config.dataset_path))
    if not known:
        return
    for field, template in templates_of(config):
        used = names.of(template)
        for name in sorted(used):
            if known[name] > 1:
                continue
            agreed = [each for each, count in known.items() if count > _AGREEING]
            near = names.nearest(name, str(config.dataset_path), agreed) if agreed else ""
            if near and near not in used:
                others = f"other templates of this data set name {visible(near)!r}"
                message = f"the template names {visible(name)!r}; {others}"
                fix = f"did you mean {near!r}?"
                yield Remark(UNDEFINED_VARIABLE, field, message, name, fix, "warning")


def nearest(name: str, known: Collection[str]) -> str:
    """The name that another is probably a typing error of; empty where it is more likely a column of its own."""
    from difflib import get_close_matches

    for near in get_close_matches(name, known, n=3, cutoff=_NEAR):
        plain = [re.sub(r"[0-9]+", "", each).lower() for each in (name, near)]
        words = [set(each.split("_")) for each in plain]
        apart = words[0] ^ words[1]
        if plain[0] == plain[1] or min(map(len, apart), default=0) < 4 or len(apart) == 1:
            continue
        if {name + "s", near + "s"} & {name, near}:
            continue
        return near
    return ""
