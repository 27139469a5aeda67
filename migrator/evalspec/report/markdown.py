"""The report of a migration, as Markdown (`evalspec migrate --report FILE.md`).

Everything that comes from a file is a code span or a fence longer than any run of backticks in it, so that it can be
neither Markdown nor HTML, and is cut with a line that says what is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import Place, counted, cut, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.errors import Finding

_PROMPTS = 20
_OUTPUTS = 50
_BAD = 100
_FILES = 500
_IDS = 10
_TEXT = 120

_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+!|~@$^=&-]|://|www\.")
#: What a backslash would not keep from meaning something: tags, entities, and what is made a link by its look.
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", "://": "&#58;//", "www.": "www&#46;"}
_TICKS = re.compile("`+")


class FileLine(NamedTuple):
    """A task file: how many records it has, how many changed, and whether it was written."""

    path: str
    records: int
    changed: int
    written: bool


class StepLine(NamedTuple):
    """A migration step: its revision, what it does, how many records it took, and the outcome of its promises."""

    revision: str
    title: str
    records: int
    prompts: str
    outputs: str


class RecordChange(NamedTuple):
    """A changed record: its place, its version before and after, and what changed where."""

    path: str
    line: int
    task: str
    before: str
    after: str
    changes: tuple[str, ...]


class PromptChange(NamedTuple):
    """A prompt that is not what it was."""

    path: str
    line: int
    task: str
    before: str
    after: str


class OutputChange(NamedTuple):
    """A sample generation that a task's post-process rule makes something else of."""

    task: str
    rule: str
    generation: str
    before: str
    after: str


class MigrationReport(NamedTuple):
    """What a migration did, or would do.

    Attributes:
        target: the version that records went to.
        origins: how many records came from which version.
        files: every task file.
        steps: the migrations, in order.
        records: the changed records; read once, so they may be made while the report is.
        prompts: the prompts that changed.
        outputs: the outputs that changed.
        bad: why records were left alone.
        dry_run: whether nothing was written, as asked.
    """

    target: str
    origins: dict[str, int]
    files: Sequence[FileLine]
    steps: Sequence[StepLine]
    records: Iterable[RecordChange] = ()
    prompts: Sequence[PromptChange] = ()
    outputs: Sequence[OutputChange] = ()
    bad: Sequence[Finding] = ()
    dry_run: bool = False


def migration_markdown(report: MigrationReport) -> str:
    """The report as a Markdown page that ends with a line end."""
    sections = [
        _summary(report),
        _steps(report.steps),
        _files(report.files),
        _records(report.records),
        _prompts(report.prompts),
        _outputs(report.outputs),
        _bad(report.bad),
    ]
    return "\n".join(section for section in sections if section)


def code(text: str, limit: int = _TEXT) -> str:
    """A code span of a text from a file, escaped and cut."""
    shown = cut(visible(text), limit)
    if not shown:
        return "(empty)"
    ticks = "`" * (max(map(len, _TICKS.findall(shown)), default=0) + 1)
    # A span loses one space on either side where it has both; a backtick at an edge needs one beside it.
    pad = " " if shown.strip() and (shown[0] in "` " or shown[-1] in "` ") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def cell(text: str, limit: int = _TEXT) -> str:
    """`code` for a table, where a bar ends the cell even in a span."""
    return code(text, limit).replace("|", "\\|")


def prose(text: str) -> str:
    """A sentence that may quote a file: no character of it means anything to Markdown or HTML."""
    return _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), visible(text))


def fence(text: str, language: str = "") -> str:
    """A fenced block; the text is safe to print already."""
    ticks = "`" * max(3, max(map(len, _TICKS.findall(text)), default=0) + 1)
    return f"{ticks}{language}\n{text.rstrip(chr(10))}\n{ticks}\n"


def _summary(report: MigrationReport) -> str:
    changed = sum(file.changed for file in report.files)
    written = sum(file.written for file in report.files)
    origins = ", ".join(f"{count:,} at {code(version)}" for version, count in report.origins.items())
    done = (
        "Nothing was written: this is a dry run."
        if report.dry_run
        else f"{counted(written, 'file')} written."
    )
    return (
        f"# Migration to {code(report.target)}\n\n"
        f"{counted(sum(report.origins.values()), 'record')} in {counted(len(report.files), 'file')}"
        f"{f' ({origins})' if origins else ''}; {changed:,} changed. {done}\n"
    )


def _steps(steps: Sequence[StepLine]) -> str:
    if not steps:
        return ""
    rows = [
        "| "
        + " | ".join(
            (
                cell(step.revision),
                prose(step.title),
                f"{step.records:,}",
                prose(step.prompts),
                prose(step.outputs),
            )
        )
        + " |\n"
        for step in steps
    ]
    return "## Steps\n\n| step | what | records | prompts | outputs |\n|---|---|--:|---|---|\n" + "".join(
        rows
    )


def _files(files: Sequence[FileLine]) -> str:
    if not files:
        return ""
    rows = [
        f"| {cell(file.path)} | {file.records:,} | {file.changed:,} | {'yes' if file.written else 'no'} |\n"
        for file in files[:_FILES]
    ]
    table = "## Files\n\n| file | records | changed | written |\n|---|--:|--:|---|\n" + "".join(rows)
    return table + _rest(len(files), _FILES, "file")


class _Group:
    """Records that changed in the same places."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[RecordChange] = []

    def add(self, record: RecordChange) -> None:
        self.count += 1
        if len(self.first) < _IDS:
            self.first.append(record)


def _records(records: Iterable[RecordChange]) -> str:
    groups: dict[tuple[str, str, tuple[str, ...]], _Group] = {}
    for record in records:
        groups.setdefault((record.before, record.after, record.changes), _Group()).add(record)
    if not groups:
        return ""
    out = ["## Records\n"]
    for (before, after, changes), group in sorted(groups.items(), key=lambda item: -item[1].count):
        out.append(f"\n### {counted(group.count, 'record')}, {code(before)} → {code(after)}\n\n")
        out += [f"- {code(change)}\n" for change in changes] or ["- the text alone\n"]
        ids = ", ".join(f"{code(item.task)} ({code(f'{item.path}:{item.line}')})" for item in group.first)
        more = f" and {group.count - len(group.first):,} more" if group.count > len(group.first) else ""
        out.append(f"\nTasks: {ids}{more}\n")
    return "".join(out)


def _prompts(prompts: Sequence[PromptChange]) -> str:
    if not prompts:
        return ""
    from evalspec.report.excerpt import prompt_diff

    out = [f"## Prompts\n\n{counted(len(prompts), 'prompt')} changed.\n"]
    for item in prompts[:_PROMPTS]:
        out.append(f"\n### {code(item.task)} ({code(f'{item.path}:{item.line}')})\n\n")
        out.append(fence(prompt_diff(item.before, item.after), "diff"))
    return "".join(out) + _rest(len(prompts), _PROMPTS, "prompt")


def _outputs(outputs: Sequence[OutputChange]) -> str:
    if not outputs:
        return ""
    rows = ["| " + " | ".join(cell(text) for text in item) + " |\n" for item in outputs[:_OUTPUTS]]
    head = f"## Outputs\n\n{counted(len(outputs), 'output')} of sample generations changed.\n\n"
    table = "| task | rule | generation | before | after |\n|---|---|---|---|---|\n"
    return head + table + "".join(rows) + _rest(len(outputs), _OUTPUTS, "output")


def _bad(bad: Sequence[Finding]) -> str:
    if not bad:
        return ""
    rows = [
        f"- {code(str(Place(item.path, item.line, item.column)))} {code(item.task or '-')} {code(item.field or '-')} "
        f"{code(item.rule)} {prose(item.message)}\n"
        for item in bad[:_BAD]
    ]
    return (
        f"## Left as they are\n\n{counted(len(bad), 'finding')}.\n\n"
        + "".join(rows)
        + _rest(len(bad), _BAD, "finding")
    )


def _rest(count: int, shown: int, word: str) -> str:
    return f"\n{counted(count - shown, word)} more, not shown here.\n" if count > shown else ""
