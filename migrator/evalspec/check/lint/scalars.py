"""Values that YAML reads otherwise than their writer did."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from evalspec.check.lint.pieces import outside_jinja
from evalspec.check.rule import Rule
from evalspec.errors import FormatError, Place, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.check.lint.pieces import LintFile, Piece
    from evalspec.errors import Finding

LITERAL_ESCAPE = Rule(
    "literal_escape",
    "error",
    "A backslash and an n reach the model as two characters: YAML reads `\\n` as a line end in double quotes only.",
    "task: sums\ndoc_to_text: 'Question: {{question}}\\nAnswer:'\n",
    "write the text in double quotes, or as a block text (`|-`); it changes the prompt, so raise the task's version",
)
IMPLICIT_YAML_TYPE = Rule(
    "implicit_yaml_type",
    "error",
    "A text is none for YAML 1.1: yes, no, on and off are truth values, 010 is 8, 12:30 is 750, 2020-01-01 is a date.",
    "task: verdicts\ndoc_to_choice: [yes, no]\n",
    "put the value in quotes",
)
BAD_NUMBER = Rule(
    "bad_number",
    "warning",
    "A number is none for YAML 1.1, or no finite one: 1e-3 without a point is a text, .nan and .inf are no settings.",
    "task: sums\ngeneration_kwargs:\n  temperature: 1e-3\n",
    "write it with a point and a sign (1.0e-3), or in quotes if a text is meant",
)
DUPLICATE_KEY = Rule(
    "duplicate_key",
    "warning",
    "A key stands twice in one mapping, and the last one wins without a word.",
    "task: sums\nnum_fewshot: 0\ntest_split: test\nnum_fewshot: 5\n",
    "remove one of the two",
    fixable=True,
)
RULES = (LITERAL_ESCAPE, IMPLICIT_YAML_TYPE, BAD_NUMBER, DUPLICATE_KEY)

#: A backslash escape that no command of TeX begins with.
_ESCAPE = re.compile(
    r"(?<!\\)\\(?:n(?!(?:u|eq?|abla|ot|otin|ewline|oindent|ormalsize|mid|i|less|ewcommand|leq|geq|subseteq)\b)|t(?![a-z])|r(?![a-z]))"
)
_WORDS = frozenset(["true", "false"])
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+")
#: The settings that are numbers.
_NUMBERS = frozenset(
    ["temperature", "top_p", "top_k", "min_p", "max_gen_toks", "repetition_penalty", "num_fewshot"]
)


def escapes(file: LintFile) -> Iterator[Finding]:
    """Backslash escapes that YAML left as they are, outside of Jinja."""
    if file.text and "\\" not in file.text:
        return
    for piece in file.pieces:
        if not piece.role or "\\" not in piece.value or (piece.style == '"' and "\n" in piece.value):
            continue  # a text with both a line end and two backslashes in double quotes means what it says
        if piece.path[-1] == "doc_to_choice":
            continue  # the list in it is read as Python's, which knows these escapes
        if found := literal_escape(piece.value):
            how = {
                "'": "single quotes keep",
                '"': "two backslashes give",
                "": "a text without quotes keeps",
            }.get(piece.style, "a block text keeps")
            yield LITERAL_ESCAPE.at(
                file.at(piece),
                f"the model sees a backslash and the letter {found[1]}: {how} {found} as it is",
                field=piece.field,
                text=excerpt(piece.value, piece.value.find(found)),
            )


def literal_escape(text: str) -> str:
    """The first escape of a text outside of its Jinja, as it stands there; empty where there is none."""
    found = _ESCAPE.search(outside_jinja(text))
    return found.group() if found else ""


def excerpt(text: str, at: int, width: int = 60) -> str:
    """So much of a text around a position."""
    start = max(0, at - width // 3)
    end = start + width
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def kinds(file: LintFile) -> Iterator[Finding]:
    """Texts that YAML takes for something else, and numbers that it takes for texts."""
    for piece in file.pieces:
        if piece.style:
            continue
        tag = piece.tag
        if tag == "str":
            if _is_setting(piece) and _EXPONENT.fullmatch(piece.value):
                message = f"{piece.value} is a text for YAML 1.1, not a number"
                yield BAD_NUMBER.at(file.at(piece), message, field=piece.field, text=piece.value)
        elif tag == "float" and piece.value.lower().lstrip("+-.") in ("nan", "inf"):
            message = f"{piece.value} is no finite number"
            fix = "write a number, or put it in quotes if a text is meant"
            yield BAD_NUMBER.at(file.at(piece), message, field=piece.field, text=piece.value, fix=fix)
        elif tag in ("bool", "int", "float", "timestamp"):
            yield from _implicit(file, piece)


#: Names of splits and of what is printed, where a number may be the text.
_NAMES = frozenset(
    [
        "task_alias",
        "group_alias",
        "dataset_path",
        "training_split",
        "validation_split",
        "test_split",
        "fewshot_split",
    ]
)
#: Keys whose values are texts, beside those that a model sees.
_TEXTS = frozenset(["task", "tag", "group", "dataset_name", "targets"]) | _NAMES


def _is_setting(piece: Piece) -> bool:
    return piece.path[-1] in _NUMBERS


def _implicit(file: LintFile, piece: Piece) -> Iterator[Finding]:
    text, tag, path = piece.value, piece.tag, piece.path
    if path[-1] == "version" and len(path) > 1:
        if tag in ("timestamp", "bool") or (tag == "int" and ":" in text):
            yield _said(file, piece, "a version")
        elif tag == "float" and "." in text and text.rstrip("0") != text and not text.endswith(".0"):
            message = f"the version {text} is the number {float(text.replace('_', ''))}, its last zero lost"
            fix = f'write it in quotes: "{text}"'
            yield IMPLICIT_YAML_TYPE.at(
                file.at(piece), message, field=piece.field, text=text, fix=fix, severity="warning"
            )
        return
    if not piece.role and path[0] not in _TEXTS:
        return
    if path[0] in _NAMES and _reads_back(piece):
        return  # a year is a year, with quotes or without
    if piece.role == "template" and tag == "int" and text.isdecimal() and (text == "0" or text[0] != "0"):
        return  # the number of a choice, as the harness has it
    if path[0] == "task" and len(path) > 2:
        return
    if "samples" in path and not (tag == "bool" and text.lower() not in _WORDS):
        if tag == "bool" or (text.isdecimal() and text[0] != "0") or tag == "float":
            return  # a row's own numbers and truth values
        if text == "0":
            return
    yield _said(file, piece, "a text")


def _reads_back(piece: Piece) -> bool:
    """Whether a number is written as it stands."""
    return piece.tag in ("int", "float") and _value(piece) == f"the number {piece.value}"


def _said(file: LintFile, piece: Piece, meant: str) -> Finding:
    value = _value(piece)
    message = f"{piece.value} is {value} for YAML 1.1, where {meant} is meant"
    fix = f'write it in quotes: "{visible(piece.value)}"'
    return IMPLICIT_YAML_TYPE.at(file.at(piece), message, field=piece.field, text=piece.value, fix=fix)


def _value(piece: Piece) -> str:
    """What YAML makes of a plain scalar, in words."""
    from yaml.constructor import SafeConstructor
    from yaml.nodes import ScalarNode

    if piece.tag == "timestamp":
        return "a date"
    made: Any = getattr(SafeConstructor(), f"construct_yaml_{piece.tag}")(
        ScalarNode(f"tag:yaml.org,2002:{piece.tag}", piece.value)
    )
    return f"the truth value {str(made).lower()}" if piece.tag == "bool" else f"the number {made}"


def duplicates(file: LintFile) -> Iterator[Finding]:
    """Keys that stand twice in one mapping."""
    if file.yaml is None or not file.has_twice:
        return
    from evalspec.formats.yaml import LM_EVAL
    from evalspec.formats.yaml.values import Builder

    builder = Builder(file.yaml._replace(dialect=LM_EVAL))
    with suppress(FormatError):  # what cannot be built is told by whoever reads the file
        builder.build(file.root)
    for each in builder.warnings:
        place = Place(file.path, each.line, each.column)
        yield DUPLICATE_KEY.at(place, each.message, field=each.field, text=each.text)
