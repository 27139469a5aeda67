"""Everything that can go wrong, on one page, and the one shape in which it is told.

    EvalspecError                 exit status, and the data of the case as attributes
    ├── UsageError           2    the command or its arguments are at fault
    │   ├── UnknownVersion        a schema version that is not in the history (also a ValueError)
    │   ├── UnknownRule           a post-process rule that the version does not have (also a ValueError)
    │   └── HistoryError          the migrations of a family do not form one line
    ├── FormatError          1    bytes that are not the format they claim to be
    ├── FindingsError        1    findings stand in the way
    │   ├── BadTasks              invalid records, and no leave to go on without them
    │   └── BrokenPromise         a migration changed what it said it would not
    ├── WriteError           1    a file could not be read or written; the old bytes are intact
    ├── WorkerLost           1    a worker process was killed; nothing was written
    └── GuardHeld            75   another run holds the project

A `Finding` is one violated rule at one place. `validate`, `check` and `diff` all report in this shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Severity = Literal["error", "warning", "info"]


class Place(NamedTuple):
    """Where something is: a path as it was given, a line and a column from 1 (columns in code points)."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{visible(self.path)}:{self.line}:{self.column}"


class Finding(NamedTuple):
    """One violated rule (design.md, "Rules of the house").

    Attributes:
        rule: the rule's id, whole words in snake case.
        severity: `error`, `warning` or `info`.
        path: the file as it was named.
        line: line of the offending value, from 1.
        column: column of the offending value, from 1, in code points.
        task: the task's id where it is known.
        field: the field's path (`few_shot_examples[0].completion`), `_root` for the record itself.
        message: what is wrong, one sentence.
        text: the offending text as it is in the file, cut to a readable length; printers escape it.
        fix: the next step.
    """

    rule: str
    severity: Severity
    path: str
    line: int
    column: int
    task: str | None
    field: str | None
    message: str
    text: str
    fix: str

    def to_dict(self) -> dict[str, object]:
        """The finding as the JSON object that every command prints, its keys in the order above."""
        return self._asdict()


class EvalspecError(Exception):
    """Base of every error this package raises on purpose; `exit_code` is what the command line ends with."""

    exit_code: int = 2
    fix: str = ""

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        if fix:
            self.fix = fix

    def __reduce__(self) -> tuple[object, ...]:
        # As it is, from process to process: not made anew from its sentence, which is what Python would try.
        return _error, (type(self), self.args, vars(self))


def _error(kind: type[EvalspecError], args: tuple[object, ...], state: dict[str, object]) -> EvalspecError:
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(state)
    return error


class UsageError(EvalspecError):
    """The command, an argument or the configuration is at fault."""

    exit_code = 2


class UnknownVersion(UsageError, ValueError):
    """No such schema version; `known` lists those there are."""

    def __init__(self, version: str, known: Sequence[str]) -> None:
        self.version = version
        self.known = tuple(known)
        super().__init__(
            f"unknown schema version {visible(version)!r}",
            fix=did_you_mean(version, known) or f"the versions are: {', '.join(known)}",
        )


class UnknownRule(UsageError, ValueError):
    """No such post-process rule in this version; `known` lists its rules."""

    def __init__(self, rule: str, schema: str, known: Sequence[str]) -> None:
        self.rule = rule
        self.schema = schema
        self.known = tuple(known)
        near = did_you_mean(rule, known)
        super().__init__(
            f"{schema} has no post-process rule {visible(rule)!r}; its rules are: {', '.join(known)}",
            fix=near or "name one of them",
        )


class HistoryError(UsageError):
    """The migrations of a family do not form one line; `files` names the scripts at fault."""

    def __init__(self, message: str, files: Sequence[str], *, fix: str = "") -> None:
        self.files = tuple(files)
        super().__init__(f"{message}: {', '.join(self.files)}" if files else message, fix=fix)


class FormatError(EvalspecError):
    """Bytes that are not what they claim to be.

    Attributes:
        rule: the rule id (`bad_json`, `bad_encoding`, `duplicate_key`, …).
        line: from 1, counted from the start of what was parsed.
        column: from 1, in code points.
        text: the offending text, unescaped.
        field: the path of the field it is in, where one is known.
    """

    exit_code = 1

    def __init__(
        self,
        rule: str,
        message: str,
        *,
        line: int = 1,
        column: int = 1,
        text: str = "",
        field: str | None = None,
        fix: str = "",
    ) -> None:
        self.rule = rule
        self.message = message
        self.line = line
        self.column = column
        self.text = text
        self.field = field
        super().__init__(f"{line}:{column} {rule} {message}", fix=fix)


class FindingsError(EvalspecError):
    """Findings stand in the way; `findings` holds them all."""

    exit_code = 1

    def __init__(self, message: str, findings: Sequence[Finding], *, fix: str = "") -> None:
        self.findings = tuple(findings)
        super().__init__(message, fix=fix)


class BadTasks(FindingsError):
    """Invalid records, and no leave to go on without them."""


class BrokenPromise(FindingsError):
    """A migration changed what it promised to keep. Nothing was written."""


class WriteError(EvalspecError):
    """A file could not be read or written. Its old bytes are intact and nothing stray is left."""

    exit_code = 1

    def __init__(self, path: str, reason: str, *, fix: str = "") -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{visible(path)}: {reason}", fix=fix)


class WorkerLost(EvalspecError):
    """A worker process ended without an answer: somebody, or the system for want of memory, killed it."""

    exit_code = 1

    def __init__(self, pid: int) -> None:
        self.pid = pid
        super().__init__(
            f"the worker process {pid} was killed",
            fix="run again; with --jobs 1 if the machine is short of memory",
        )


class GuardHeld(EvalspecError):
    """Another run holds the project; `pid` and `host` say which, where it wrote them down."""

    exit_code = 75

    def __init__(self, folder: str, pid: int | None, host: str | None) -> None:
        self.folder = folder
        self.pid = pid
        self.host = host
        who = f"process {pid} on {host}" if pid else "another process"
        super().__init__(
            f"{visible(folder)} is being written by {who}", fix="wait for it to end, then run again"
        )


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A sentence that names the nearest of `known`, or nothing where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""


def cut(text: str, limit: int = 80) -> str:
    """`text` with its middle left out where it is longer than `limit` code points; the edges stay."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail - 1]}…{text[-tail:]}"


#: The digits of the longest integer that is read from a file. The time it takes grows faster than their number, so
#: Python refuses to write more than 4,300 unless it is told (`sys.set_int_max_str_digits`), as the commands tell it.
MAX_DIGITS = 100_000


def written(value: object, write: Callable[[Any], str] = repr) -> str:
    """A value of a file as text, by `write`; integers that Python refuses to write are told by their size."""
    try:
        return write(value)
    except ValueError:
        return write(_without_long_integers(value))


def value_text(value: object) -> str:
    """A value of a file for a person to read: a text as it is, all else as JSON."""
    import json

    if isinstance(value, str):
        return value
    return written(value, lambda each: json.dumps(each, ensure_ascii=False, default=str))


def _without_long_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_long_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_without_long_integers, value))
    if isinstance(value, int) and value.bit_length() > 14_000:
        return f"an integer of {value.bit_length():,} bits"
    return value


def counted(number: int, word: str, plural: str = "") -> str:
    """`1 record`, `2 records`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


#: Code points that print as nothing, or that move what follows them: shown by number instead.
_INVISIBLE = frozenset(
    [
        *(0xAD, 0x61C, 0x180E, 0xFEFF, 0x3164, 0xFFA0, 0x115F, 0x1160),
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFFF9, 0xFFFC),
        *range(0xE0000, 0xE0080),
    ]
)
_SHORT = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x00: "\\0"}


def visible(text: str, *, keep: str = "") -> str:
    """`text` made safe to show a person: control, bidi and zero-width code points become their escapes.

    Args:
        text: text from a file, a path or an argument.
        keep: characters to leave as they are (line ends and tabs, for a block of text).
    """
    if text.isascii() and text.isprintable():
        return text
    out = []
    for char in text:
        code = ord(char)
        if char in keep:
            out.append(char)
        elif code in _SHORT:
            out.append(_SHORT[code])
        elif code < 0x20 or 0x7F <= code < 0xA0:
            out.append(f"\\x{code:02x}")
        elif code in _INVISIBLE or 0xD800 <= code < 0xE000:
            out.append(f"\\u{{{code:04X}}}")
        else:
            out.append(char)
    return "".join(out)
