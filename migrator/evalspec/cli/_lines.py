"""Prints rendered lines: results to where they go, what there is to say of them to standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.errors import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from evalspec.errors import Severity
    from evalspec.prompts.lines import Line

    Write = Callable[[bytes], object]

#: So many findings of a severity are told in full, and so many tasks with placeholder rows by name.
_TOLD, _NAMED = 50, 3


class Told:
    """Passes lines on, saying what there is to say of each; what would be said too often is counted.

    Attributes:
        failed: whether a line had an error.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.failed = False
        self._quiet: bool = args.quiet
        self._most = sys.maxsize if args.verbose else _TOLD
        self._findings: dict[Severity, int] = {}
        self._made_up: dict[str, None] = {}
        self._notes: dict[str, None] = {}

    def each(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines, one by one."""
        for line in lines:
            self._tell(line)
            yield line
        self._close()

    def _tell(self, line: Line) -> None:
        self.failed = self.failed or line.failed
        if line.findings:
            from evalspec.report import Console, finding_text

            console = Console(sys.stderr)
            for finding in line.findings:
                count = self._findings[finding.severity] = self._findings.get(finding.severity, 0) + 1
                if count <= self._most and (finding.severity == "error" or not self._quiet):
                    console.write(finding_text(finding, paint=console.paint))
        if line.data.get("placeholder") and line.texts and line.task not in self._made_up:
            self._made_up[line.task] = None
            if len(self._made_up) <= _NAMED:
                self._say(f"{visible(line.task)} is a template: shown with a placeholder row")
        self._notes.update(dict.fromkeys(line.notes))

    def _close(self) -> None:
        for severity, count in self._findings.items():
            if count > self._most:
                self._say(f"… and {count - self._most:,} more of severity {severity} (-v shows all)")
        if len(self._made_up) > _NAMED:
            self._say(f"… and {len(self._made_up) - _NAMED:,} more tasks are shown with placeholder rows")
        if self._notes:
            more = f" (and {len(self._notes) - 1:,} more such tasks)" if len(self._notes) > 1 else ""
            self._say(visible(next(iter(self._notes))) + more)

    def _say(self, sentence: str) -> None:
        if not self._quiet:
            sys.stderr.write(f"{sentence}\n")


def encoded(line: Line) -> Line:
    """A line as ASCII JSON, and of its data only what `Told` asks for."""
    import json

    text = "" if line.texts else None
    kept = {"task": line.task, "text": text, "placeholder": line.data.get("placeholder")}
    return line._replace(data=kept, encoded=json.dumps(line.data, default=str).encode())


def write_json(write: Write, lines: Iterable[Line]) -> None:
    """One object a line, of lines that are `encoded`."""
    for line in lines:
        if line.encoded is not None:
            write(line.encoded + b"\n")


def write_null(write: Write, lines: Iterable[Line]) -> None:
    """A NUL behind each text, and nothing else."""
    for line in lines:
        for text in line.texts:
            write(_bytes(text) + b"\0")


def write_texts(write: Write, lines: Iterable[Line], *, views: bool) -> None:
    """Every text; where there are several, a line before each that names it. A text alone has nothing added."""
    waiting: tuple[str, str] | None = None
    several = False
    for line in lines:
        for text in _shown(line):
            if waiting is not None:
                write(_headed(*waiting, first=not several))
                several = True
            waiting = heading(line, view=views), text
    if waiting is not None:
        write(_headed(*waiting, first=False) if several else _bytes(waiting[1]))


def _shown(line: Line) -> tuple[str, ...]:
    """A line's texts, with the cuts of its view's tokenizer, where it has one."""
    if not line.data.get("tokens"):
        return line.texts
    from evalspec.report.token_marks import marked_texts

    return marked_texts(line.data)


def write_side_by_side(write: Write, lines: Iterable[Line], *, views: bool) -> None:
    """The context and each scored continuation of every line, in two columns."""
    from evalspec.prompts.lines import prompt_of, scored_of
    from evalspec.report.side_by_side import side_by_side

    for line in lines:
        prompt = prompt_of(line.data)
        if prompt is not None:
            table = side_by_side(prompt, scored_of(line.data), line.data)
            write(_bytes(f"--- {heading(line, view=views)}\n{table}\n"))


def write_keys(write: Write, lines: Iterable[Line], *, views: bool) -> None:
    """The task, the key and the name of the file, with tabs between."""
    for line in lines:
        if "cache_key" in line.data:
            key, file = line.data["cache_key"], line.data["cache_file"]
            write(_bytes(f"{heading(line, view=views)}\t{visible(key)}\t{visible(file)}\n"))


def heading(line: Line, *, view: bool) -> str:
    """A line's task, its row where the data set has it, and its view where there are several."""
    row = line.data.get("row")
    shown = visible(line.task)
    if row is not None and not line.data.get("placeholder"):
        shown += f" row {row}"
    return f"{shown} ({visible(line.data['view'])})" if view else shown


def _headed(name: str, text: str, *, first: bool) -> bytes:
    return _bytes(f"{'' if first else chr(10)}--- {name}\n{text}")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
