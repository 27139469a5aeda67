"""What a comparison of prompts found, as Markdown: a pull request's comment or a job's summary.

The page keeps to a budget of characters and of bytes: changes are shown in order, whole, until the next one would not
fit, and the last line says how many were left out. The counts at the top, and the tasks whose version did not move, are
of everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalspec.diff.model import UnknownGroup
from evalspec.errors import cut
from evalspec.report.diff_text import (
    IDS,
    SAYS,
    cause_line,
    compared_line,
    edit_text,
    example_texts,
    reach,
    versions_moved,
)
from evalspec.report.markdown import code, fence, prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.diff.model import Comparison, Group


class Budget(NamedTuple):
    """What a page may be at most: characters, and bytes in UTF-8."""

    characters: int
    bytes: int


#: A comment on a pull request (GitHub takes 65,536 characters), and the summary of a job (1 MiB).
COMMENT = Budget(60_000, 65_000)
SUMMARY = Budget(900 * 1024, 900 * 1024)
BUDGETS = {"comment": COMMENT, "summary": SUMMARY}

#: So many notes and views, so many characters of a line from a file, and room for the last line.
_NOTES, _VIEWS, _LINE, _FOOTER = 5, 5, 200, 200


def diff_markdown(comparison: Comparison, budget: Budget = COMMENT) -> str:
    """The report as a page no longer than `budget`, of at least 20,000 characters, that ends with a line end."""
    head, last = "".join(_head(comparison)), "".join(_last(comparison))
    page = [head]
    changes: tuple[Group | UnknownGroup, ...] = (*comparison.groups, *comparison.unknown_groups)
    left = [limit - _FOOTER - size for limit, size in zip(budget, _sizes(head + last), strict=True)]
    for shown, change in enumerate(changes):
        block = _unknown(change) if isinstance(change, UnknownGroup) else _group(change)
        left = [room - size for room, size in zip(left, _sizes(block), strict=True)]
        if min(left) < 0:
            last += (
                f"\n---\n\n*Cut to fit: {shown:,} of {len(changes):,} changes are shown here. "
                "`evalspec diff` shows them all.*\n"
            )
            break
        page.append(block)
    return "".join([*page, last])


def _sizes(text: str) -> tuple[int, int]:
    return len(text), len(text.encode())


def _head(comparison: Comparison) -> Iterator[str]:
    compared = comparison.compared
    short = compared._replace(base=cut(compared.base, _LINE), head=cut(compared.head, _LINE))
    yield f"## Prompt changes\n\n{prose(compared_line(comparison._replace(compared=short)))}\n"
    for note in comparison.notes[:_NOTES]:
        yield f"\n> {prose(cut(note, _LINE))}\n"
    if len(comparison.notes) > _NOTES:
        yield f"\n> {len(comparison.notes) - _NOTES:,} more notes\n"
    if comparison.is_empty:
        yield "\n**No prompt changes.**\n"
        return
    yield "\n| tasks | class | what changed |\n|--:|---|---|\n"
    for name, count in comparison.summary.items():
        yield f"| {count:,} | `{name}` | {SAYS[name]} |\n"
    if comparison.unknown:
        yield f"| {len(comparison.unknown):,} | `unknown` | may have changed |\n"


def _group(group: Group) -> str:
    parts = ", ".join(code(part.replace("_", " ")) for part in group.parts[:IDS])
    views = ", ".join(map(code, group.views[:_VIEWS]))
    out = [f"\n### {group.change}: {reach(group)}\n\n"]
    out.append(f"In {parts}{_more(group.parts, IDS)}; views {views}{_more(group.views, _VIEWS)}. ")
    out.append(f"From {prose(cut(cause_line(group.cause), _LINE))}\n\n")
    if edit := edit_text(group):
        out += [fence(edit, "diff"), "\n"]
    out.append(f"Tasks: {_ids(group.tasks)}\n")
    for number, (example, shown) in enumerate(example_texts(group)):
        row = "" if example.row is None else f", row {example.row}"
        summary = "The same in another view" if number else "An example"
        out += [
            f"\n<details><summary>{summary}</summary>\n\n{code(example.task)}{row}, ",
            f"{code(example.view)}:\n\n{fence(shown, 'diff')}\n</details>\n",
        ]
    return "".join(out)


def _unknown(group: UnknownGroup) -> str:
    cause = f" From {prose(cut(cause_line(group.cause), _LINE))}." if group.cause is not None else ""
    head = f"\n### unknown: {reach(group)}\n\n{prose(cut(group.reason, _LINE))}"
    return f"{head}{cause}\n\nTasks: {_ids(group.tasks)}\n"


def _last(comparison: Comparison) -> Iterator[str]:
    if comparison.moved:
        moved = [each.task for each in comparison.moved]
        yield f"\nMoved or set otherwise, with the same prompts: {_ids(moved)}\n"
    if comparison.silent:
        yield f"\nChanged with the same version of their own: {_ids(comparison.silent)}\n"
    if moved := versions_moved(comparison):
        yield f"\nChanged with another version of their own: {_ids(moved)}\n"


def _ids(tasks: Sequence[str]) -> str:
    return ", ".join(map(code, tasks[:IDS])) + _more(tasks, IDS)


def _more(items: Sequence[object], limit: int) -> str:
    return f" and {len(items) - limit:,} more" if len(items) > limit else ""
