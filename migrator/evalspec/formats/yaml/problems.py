"""What a YAML parser complains of, in our words, at the place a person would look.

libyaml and PyYAML's pure parser name the same faults in nearly the same phrases; `_SENTENCES` maps the distinctive
part of each to one sentence. A phrase that is not in the table is shown as the parser wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.errors import FormatError, cut

if TYPE_CHECKING:
    from evalspec.formats.yaml.source import Source

_QUOTE_FIX = "put the value in quotes"
_INDENT_FIX = "give all keys of a mapping, and all dashes of a list, the same indent"

#: The parser's phrase → (our sentence, the next step). The first phrase that occurs in the problem wins.
_SENTENCES: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a `: ` stands where no key can be",
        "put a text that holds `: ` in quotes, or mend the indent",
    ),
    (
        "block sequence entries are not allowed",
        "a list item (`- `) cannot begin here",
        "begin the list on the next line",
    ),
    ("mapping keys are not allowed", "a key cannot begin here", "begin the mapping on the next line"),
    (
        "could not find expected ':'",
        "a key has no `:` after it",
        "write `key: value`, or put a text of several lines in quotes",
    ),
    (
        "cannot start any token",
        "this character cannot begin a value",
        "put the value in quotes; indent with spaces, not tabs",
    ),
    ("found a tab character", "a tab stands where the indent is", "indent with spaces"),
    ("unexpected end of stream", "a quoted text is never closed", "close the quote"),
    (
        "unexpected document separator",
        "a quoted text is not closed before the document ends",
        "close the quote",
    ),
    (
        "unknown escape character",
        "a backslash is followed by no escape that YAML knows",
        "double the backslash, or use single quotes",
    ),
    (
        "invalid unicode character escape",
        "an escape names no character (half of a surrogate pair, or too high)",
        "write the character itself",
    ),
    (
        "did not find expected hexdecimal",
        "an escape has too few hexadecimal digits",
        "write \\xNN, \\uNNNN or \\UNNNNNNNN",
    ),
    (
        "expected escape sequence of",
        "an escape has too few hexadecimal digits",
        "write \\xNN, \\uNNNN or \\UNNNNNNNN",
    ),
    (
        "expected comment or line break",
        "text follows the header of a block text on the same line",
        "begin the text on the next line",
    ),
    (
        "expected a comment or a line break",
        "text follows the header of a block text on the same line",
        "begin the text on the next line",
    ),
    (
        "indentation indicator",
        "the number after `|` or `>` is no indent from 1 to 9",
        "write `|1` to `|9`, or leave it out",
    ),
    (
        "undefined alias",
        "an alias (`*name`) has no anchor (`&name`) before it",
        "put a text that begins with `*` in quotes",
    ),
    ("duplicate anchor", "the same anchor (`&name`) is given twice", "give each anchor its own name"),
    ("second occurrence", "the same anchor (`&name`) is given twice", "give each anchor its own name"),
    (
        "undefined tag handle",
        "a tag (`!name!…`) uses a short form that no %TAG line declares",
        "declare it, or put the text in quotes",
    ),
    ("incompatible yaml document", "the %YAML line names a version that is not 1.x", "write %YAML 1.1"),
    ("duplicate %yaml directive", "there are two %YAML lines for one document", "remove one"),
    ("duplicate %tag directive", "a %TAG line repeats an earlier one", "remove one"),
    ("unknown directive name", "a line that begins with `%` is no directive that YAML knows", _QUOTE_FIX),
    (
        "expected ',' or ']'",
        "a `[` is never closed, or two of its items have no comma between them",
        "add the `,` or the `]`",
    ),
    (
        "expected ',' or '}'",
        "a `{` is never closed, or two of its keys have no comma between them",
        "add the `,` or the `}`",
    ),
    ("expected '-' indicator", "a line does not fit the list above it", _INDENT_FIX),
    ("expected <block end>", "a line does not fit the indent above it", _INDENT_FIX),
    ("expected key", "a line does not fit the mapping above it", _INDENT_FIX),
    ("expected node content", "a value is missing", "write the value, or `null`"),
    ("expected the node content", "a value is missing", "write the value, or `null`"),
    ("<document start>", "more text follows where the document has ended", "separate documents with `---`"),
    ("maximum nesting depth", "mappings and lists are nested too deep", "flatten the value"),
    ("expected the '>'", "a tag that begins with `!<` is never closed", "close it with `>`"),
    ("expected '>'", "a tag that begins with `!<` is never closed", "close it with `>`"),
    (
        "alphabetic or numeric",
        "a name after `&` or `*` is missing or has a character that no name can have",
        _QUOTE_FIX,
    ),
)


def syntax_error(error: Any, source: Source) -> FormatError:
    """The `FormatError` for a `yaml.YAMLError`: one of `bad_yaml`, `too_deep`, `nul_character`.

    Args:
        error: what the parser raised.
        source: the text that was parsed.
    """
    mark = getattr(error, "problem_mark", None)
    if mark is None and hasattr(error, "position"):
        return _unreadable(source)
    context = getattr(error, "context_mark", None)
    phrase = str(getattr(error, "problem", None) or error)
    index = mark.index if mark is not None else 0
    if context is not None and not source.text[index:].strip():
        index = context.index  # what is missing at the end of the file is looked for where it began
    low = phrase.lower()
    known = ((sentence, fix) for words, sentence, fix in _SENTENCES if words in low)
    sentence, fix = next(known, (f"this is not YAML: {phrase}", "compare the line with its neighbours"))
    rule = "too_deep" if "nesting depth" in low else "bad_yaml"
    if (
        context is not None
        and context.index < index
        and (began := source.line(context.index)) != source.line(index)
    ):
        sentence += f" (what it belongs to begins on line {began})"
    return fault(source, index, rule, sentence, fix=fix)


def fault(source: Source, index: int, rule: str, message: str, *, fix: str) -> FormatError:
    """A `FormatError` at the code point `index` of the source, with its line as the offending text."""
    line, column = source.place(index)
    text = cut(source.line_text(index).strip())
    return FormatError(rule, message, line=line, column=column, text=text, fix=fix)


def _unreadable(source: Source) -> FormatError:
    """The first code point that YAML does not allow, as a `FormatError`."""
    import re

    found = re.search(
        "[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]", source.text
    )
    index = found.start() if found else 0
    code = ord(source.text[index]) if found else 0
    if code == 0:
        return fault(
            source, index, "nul_character", "a NUL character (U+0000) is in the file", fix="remove it"
        )
    if code == 0xFEFF:
        message = "a byte order mark (U+FEFF) stands in the middle of the file"
    else:
        message = f"the character U+{code:04X} may not stand in a YAML file as it is"
    fix = f'remove it, or write it as an escape in double quotes: "\\u{code:04X}"'
    return fault(source, index, "bad_yaml", message, fix=fix)
