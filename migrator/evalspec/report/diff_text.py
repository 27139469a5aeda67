"""What a comparison of prompts found, for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import counted, cut, visible
from evalspec.formats.characters import named, with_marks
from evalspec.report.console import plain
from evalspec.report.excerpt import prompt_diff, size_change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.diff.model import Cause, Comparison, Group, Unknown
    from evalspec.report.console import Paint, Style

#: So many ids of a group, and so many characters of a piece that changed, are shown.
IDS, _PIECE = 10, 160
#: So many lines of a function's change are shown.
_SOURCE = 40

_SAYS = {
    "target": "the target",
    "choices": "the choices",
    "shots": "the examples",
    "text": "text",
    "delimiter": "a delimiter",
    "whitespace": "white space",
    "system": "the system message",
    "stop": "stop strings",
    "generation": "a generation setting",
    "post_process": "how answers are read",
    "metric": "a metric",
    "new": "new tasks",
    "removed": "tasks that are gone",
    "renamed": "tasks with another name",
}


def diff_text(comparison: Comparison, *, stat: bool = False, paint: Paint = plain) -> str:
    """The whole report, or with `stat` its table alone."""
    pieces = [f"{paint(compared_line(comparison), 'strong')}\n"]
    pieces += [f"note: {visible(note)}\n" for note in comparison.notes]
    if comparison.is_empty:
        return "".join([*pieces, paint("no prompt changes", "good") + "\n", *_moved(comparison)])
    pieces += _table(comparison)
    if not stat:
        for group in comparison.groups:
            pieces += ["\n", *_group(group, paint)]
        pieces += _unknown(comparison, paint)
    pieces += _moved(comparison)
    if comparison.silent:
        pieces.append(
            paint(
                f"\n{counted(len(comparison.silent), 'task')} changed with the same version of their own: ",
                "warning",
            )
            + f"{_ids(comparison.silent)}\n"
        )
    return "".join(pieces)


def compared_line(comparison: Comparison) -> str:
    """`412 files, 3 tasks: the working tree against 1a2b3c4`."""
    compared = comparison.compared
    sides = f"{visible(compared.head)} against {visible(compared.base)}"
    return f"{counted(compared.files, 'file')}, {counted(compared.tasks, 'task')}: {sides}"


def reach(group: Group) -> str:
    """`57 tasks, 171 rows`."""
    rows = f", {counted(group.rows, 'row')}" if group.rows else ""
    return counted(len(group.tasks), "task") + rows


def cause_line(cause: Cause) -> str:
    """`doc_to_text of an include, a.yaml:3 → a.yaml:4`."""
    kind = {"task_file": "the task's file", "include": "an include", "function": "a function"}.get(
        cause.kind, cause.kind.replace("_", " ")
    )
    what = f"{visible(cause.detail)}, of {kind}" if cause.detail else kind
    places = [
        f"{visible(place.path)}:{place.line}" if place else "nowhere" for place in (cause.before, cause.after)
    ]
    return f"{what}: {places[0] if places[0] == places[1] else ' → '.join(places)}"


def _table(comparison: Comparison) -> Iterator[str]:
    for name, count in comparison.summary.items():
        yield f"  {count:>6,}  {name:<13}{_SAYS[name]}\n"
    if comparison.unknown:
        yield f"  {len(comparison.unknown):>6,}  {'unknown':<13}may have changed\n"


def _group(group: Group, paint: Paint) -> Iterator[str]:
    parts = " and ".join(visible(part).replace("_", " ") for part in group.parts)
    yield paint(f"{group.change}: {reach(group)}", "strong")
    yield f" ({', '.join(visible(view) for view in group.views)})" if len(group.views) > 1 else ""
    yield f", in the {parts}\n" if group.parts != ("task",) else "\n"
    yield f"  from {cause_line(group.cause)}\n"
    if group.before or group.after:
        yield f"  {size_change(group.before, group.after)}\n"
        left, right = with_marks(group.left), with_marks(group.right)
        yield "  " + paint(f"- …{left}⟦{_piece(group.before)}⟧{right}…", "removed") + "\n"
        yield "  " + paint(f"+ …{left}⟦{_piece(group.after)}⟧{right}…", "added") + "\n"
        for sign, mine, other in (("-", group.before, group.after), ("+", group.after, group.before)):
            for name in named("".join(char for char in mine if char not in other)):
                yield f"    {sign} {name}\n"
    yield f"  {_ids(group.tasks)}\n"
    example = group.example
    pair = (example.before, example.after)
    if None not in pair and example.before != example.after and pair != (group.before, group.after):
        row = "" if example.row is None else f", row {example.row}"
        yield f"  for example {visible(example.task)}{row}, {visible(example.view)}:\n"
        shown = prompt_diff(example.before or "", example.after or "", paint=paint)
        yield "".join(f"    {line}\n" for line in shown.splitlines())


def _unknown(comparison: Comparison, paint: Paint) -> Iterator[str]:
    """Tasks that may have changed, those of one reason and cause together."""
    found: dict[tuple[str, str, str], list[Unknown]] = {}
    for each in comparison.unknown:
        line = cause_line(each.cause) if each.cause is not None else ""
        found.setdefault((each.reason, line, each.source), []).append(each)
    for (reason, line, source), all_of in found.items():
        prompts = sum(each.prompts for each in all_of)
        yield "\n" + paint(f"unknown: {counted(len(all_of), 'task')}", "warning")
        yield f" may change {counted(prompts, 'prompt')}\n"
        yield f"  {visible(reason)}\n"
        if line:
            yield f"  from {line}\n"
        yield f"  {_ids([each.task for each in all_of])}\n"
        yield from _source(source, paint)


def _source(source: str, paint: Paint) -> Iterator[str]:
    """What was changed in a function that was not run."""
    lines = source.splitlines()
    for line in lines[:_SOURCE]:
        style: Style = "added" if line.startswith("+") else "removed" if line.startswith("-") else "faint"
        yield f"    {paint(visible(line), style)}\n"
    if len(lines) > _SOURCE:
        yield f"    … and {counted(len(lines) - _SOURCE, 'line')} more\n"


def _moved(comparison: Comparison) -> Iterator[str]:
    if comparison.moved:
        yield f"\nmoved or set otherwise, with the same prompts: {_ids([each.task for each in comparison.moved])}\n"


def _piece(text: str) -> str:
    return with_marks(cut(text, _PIECE))


def _ids(tasks: Sequence[str]) -> str:
    more = f", … and {len(tasks) - IDS:,} more" if len(tasks) > IDS else ""
    return ", ".join(map(visible, tasks[:IDS])) + more
