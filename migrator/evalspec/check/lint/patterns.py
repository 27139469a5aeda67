"""Patterns that answers are looked for with."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.check.lint.remark import Remark
from evalspec.check.rule import Rule
from evalspec.errors import cut, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.check.lint.pieces import LintFile
    from evalspec.errors import Finding
    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.limits import Watch

EXTRACTS_NOTHING = Rule(
    "extracts_nothing",
    "error",
    "A pattern finds no answer: it does not compile, asks for a backslash, or misses the task's own examples.",
    "task: sums\nfilter_list:\n  - name: strict\n    filter:\n      - function: regex\n"
    "        regex_pattern: 'answer is (\\d+'\n",
    "mend the pattern and try it on the answers of the task's own examples",
)
UNESCAPED_DOT = Rule(
    "unescaped_dot",
    "warning",
    "A dot between digits matches any character, so a comma or a space after a number is taken for its decimal point.",
    "task: sums\nfilter_list:\n  - name: flexible\n    filter:\n      - function: regex\n"
    "        regex_pattern: '-?[\\d,]+(?:.\\d+)?'\n",
    "write `\\.`; what is extracted can change, so raise the task's version",
)
PATTERN_MATCHES_EMPTY = Rule(
    "pattern_matches_empty",
    "warning",
    "A pattern can match with nothing in any of its groups, so an empty answer is extracted where there is none.",
    "task: sums\nfilter_list:\n  - name: strict\n    filter:\n      - function: regex\n"
    "        regex_pattern: 'answer(: [0-9]+)?'\n",
    "let at least one group match something whenever the pattern does",
)
RULES = (EXTRACTS_NOTHING, UNESCAPED_DOT, PATTERN_MATCHES_EMPTY)

_DIGITS = r"(?:\\d|\[[^\]]*(?:0-9|\\d)[^\]]*\])"
_BARE_DOT = re.compile(rf"{_DIGITS}(?:[+*?]\??|\{{[0-9,]*\}})?(?:\((?:\?:)?)?(?<!\\)\.(?![+*?{{]){_DIGITS}")
#: A backslash that is asked for, and then a class that was meant: what single quotes make of a doubled backslash.
_DOUBLED = re.compile(r"\\\\[dswDSW](?![A-Za-z])")
#: Nobody writes longer patterns than this; a stranger's could take for ever.
_LONG = 4096


class Flaw(NamedTuple):
    """What is wrong with a pattern."""

    rule: Rule
    message: str
    fix: str = ""


def patterns(file: LintFile) -> Iterator[Finding]:
    """The flaws of a file's patterns, as they are after YAML has read them."""
    for piece in file.pieces:
        if piece.path[-1] == "regex_pattern" and piece.tag == "str":
            for flaw in flaws(piece.value):
                yield flaw.rule.at(
                    file.at(piece), flaw.message, field=piece.field, text=piece.value, fix=flaw.fix
                )


@lru_cache(maxsize=1024)
def flaws(pattern: str) -> tuple[Flaw, ...]:
    """What is wrong with a pattern, by itself."""
    import warnings

    if len(pattern) > _LONG:
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
            tree = import_module("re._parser").parse(pattern)
        can_be_empty = _can_be_empty(tree, groups=tree.state.groups > 1)
    except (re.error, OverflowError, RecursionError) as problem:
        return (Flaw(EXTRACTS_NOTHING, f"the pattern does not compile: {visible(str(problem))}"),)
    out = []
    if _DOUBLED.search(pattern):
        message = "the pattern asks for a backslash before a letter, which no answer has"
        fix = "single quotes keep both backslashes: write one of them"
        out.append(Flaw(EXTRACTS_NOTHING, message, fix))
    dot = _BARE_DOT.search(pattern)
    if dot is not None:
        out.append(Flaw(UNESCAPED_DOT, f"the dot in {dot.group()} matches any character, not only a point"))
    if can_be_empty:
        groups = "any of its groups" if tree.state.groups > 1 else "it"
        out.append(Flaw(PATTERN_MATCHES_EMPTY, f"the pattern can match with nothing in {groups}"))
    return tuple(out)


def missed(config: TaskConfig, answers: Sequence[str], watch: Watch) -> Iterator[Remark]:
    """Patterns that find nothing in any answer of the task's own examples, where all of its pipelines have one.

    Args:
        config: the task's settings.
        answers: the answers that the examples show.
        watch: stops a pattern that takes too long.
    """
    from evalspec.prompts.limits import TemplateLimit

    pipelines = config.filter_list if isinstance(config.filter_list, list) else []
    found = [_pattern_of(pipeline) for pipeline in pipelines]
    if not answers or not found or None in found:
        return
    watch.count += 1
    watch.running = True
    try:
        if any(re.search(pattern, answer) for pattern in found if pattern for answer in answers):
            return
    except (TemplateLimit, re.error, RecursionError):
        return
    finally:
        watch.running = False
    message = f"no pattern of the filters finds anything in an answer that the examples show: {cut(answers[0], 40)!r}"
    yield Remark(EXTRACTS_NOTHING, "filter_list", message, answers[0], severity="warning")


def _pattern_of(pipeline: Any) -> str | None:
    """The first pattern of a pipeline; None where it has none of its own."""
    steps = pipeline.get("filter") if isinstance(pipeline, dict) else None
    for step in steps if isinstance(steps, list) else ():
        if (
            isinstance(step, dict)
            and step.get("function") == "regex"
            and isinstance(step.get("regex_pattern"), str)
        ):
            return str(step["regex_pattern"])
    return None


def _can_be_empty(tree: Any, *, groups: bool) -> bool:
    """Whether a pattern can match so that every group (or, where it has none, the match) is empty or has no part."""
    if not groups:
        return bool(tree.getwidth()[0] == 0)
    for operation, argument in tree:
        name = str(operation)
        if name == "SUBPATTERN":
            number, _, _, inner = argument
            empty = inner.getwidth()[0] == 0 if number is not None else _can_be_empty(inner, groups=True)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            empty = argument[0] == 0 or _can_be_empty(argument[2], groups=True)
        elif name == "BRANCH":
            empty = any(_can_be_empty(each, groups=True) for each in argument[1])
        elif name == "ASSERT":
            empty = _can_be_empty(argument[1], groups=True)
        elif name == "ATOMIC_GROUP":
            empty = _can_be_empty(argument, groups=True)
        else:
            empty = True  # it holds no group
        if not empty:
            return False
    return True
