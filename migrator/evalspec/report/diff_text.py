"""What a comparison of prompts found, for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.diff.model import UnknownGroup
from evalspec.errors import counted, cut, visible
from evalspec.formats.characters import with_marks
from evalspec.report.console import plain
from evalspec.report.excerpt import names_changed, prompt_diff, size_change
from evalspec.report.token_marks import CUT, LEGEND, marked
from evalspec.report.word_diff import word_diff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.diff.model import Cause, Comparison, Example, Group
    from evalspec.prompts.tokens import Span
    from evalspec.report.console import Paint, Style

    #: The spans of a text's tokens.
    Encode = Callable[[str], Sequence[Span]]

#: So many ids of a group, and so many characters of a piece that changed, are shown.
IDS, _PIECE = 10, 160
#: So many lines of a function's change are shown.
_SOURCE = 40

#: What each class of change is, for a person.
SAYS = {
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


def diff_text(
    comparison: Comparison,
    *,
    stat: bool = False,
    words: bool = False,
    paint: Paint = plain,
    encode: Encode | None = None,
) -> str:
    """The whole report, or with `stat` its table alone.

    Args:
        comparison: what was found.
        stat: print the table and no more.
        words: examples tell every word that changed.
        paint: paints text.
        encode: a tokenizer's spans of a text, which are shown in the examples.
    """
    pieces = [f"{paint(compared_line(comparison), 'strong')}\n"]
    pieces += [f"note: {visible(note)}\n" for note in comparison.notes]
    if comparison.is_empty:
        return "".join([*pieces, paint("no prompt changes", "good") + "\n", *_moved(comparison)])
    pieces += _table(comparison)
    if not stat:
        pieces += [f"{LEGEND}\n"] if encode is not None else []
        for group in comparison.groups:
            pieces += ["\n", *_group(group, words, paint, encode)]
        for unknown in comparison.unknown_groups:
            pieces += ["\n", *_unknown(unknown, paint)]
    pieces += _moved(comparison)
    if comparison.silent:
        pieces.append(
            paint(
                f"\n{counted(len(comparison.silent), 'task')} changed with the same version of their own: ",
                "warning",
            )
            + f"{_ids(comparison.silent)}\n"
        )
    if moved := versions_moved(comparison):
        tasks = counted(len(moved), "task")
        pieces.append(f"\n{tasks} changed with another version of their own: {_ids(moved)}\n")
    return "".join(pieces)


def versions_moved(comparison: Comparison) -> list[str]:
    """The tasks that changed and have another version: scores under the old one are told apart from new ones."""
    changed = {task for group in comparison.groups if not group.comparable for task in group.tasks}
    return [task for task in comparison.versioned if task in changed]


def compared_line(comparison: Comparison) -> str:
    """`412 files, 3 tasks: the working tree against 1a2b3c4`."""
    compared = comparison.compared
    sides = f"{visible(compared.head)} against {visible(compared.base)}"
    return f"{counted(compared.files, 'file')}, {counted(compared.tasks, 'task')}: {sides}"


def reach(group: Group | UnknownGroup) -> str:
    """`57 tasks, 171 rows`; of what may have changed, `57 tasks may change 171 prompts`."""
    tasks = counted(len(group.tasks), "task")
    if isinstance(group, UnknownGroup):
        return f"{tasks} may change {counted(group.prompts, 'prompt')}"
    return f"{tasks}, {counted(group.rows, 'row')}" if group.rows else tasks


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


def edit_text(group: Group, *, paint: Paint = plain) -> str:
    """The edit of a group in lines: its size, both pieces with white space visible, and what does not show in them."""
    if not group.before and not group.after:
        return ""
    left, right = with_marks(group.left), with_marks(group.right)
    if group.before == group.after:
        return f"reads the same, what it names changed: …{left}{_piece(group.before)}{right}…\n"
    return "".join(
        [
            f"{size_change(group.before, group.after)}\n",
            paint(f"- …{left}⟦{_piece(group.before)}⟧{right}…", "removed") + "\n",
            paint(f"+ …{left}⟦{_piece(group.after)}⟧{right}…", "added") + "\n",
            *names_changed(group.before, group.after),
        ]
    )


def example_texts(
    group: Group, *, words: bool = False, paint: Paint = plain, encode: Encode | None = None
) -> Iterator[tuple[Example, str]]:
    """One prompt of a group in lines, or with `words` word by word, and the same prompt as a chat where it is none.

    With a tokenizer its cuts are in them. Nothing where the edit says as much.
    """
    for example in shown_examples(group):
        before, after = example.before or "", example.after or ""
        counts = ""
        if encode is not None:
            before, after = (token_marks(text, encode) for text in (before, after))
            counts = f"{counted(before.count(CUT) + 1, 'token')} before, {after.count(CUT) + 1:,} after\n"
        shown = word_diff if words else prompt_diff
        yield example, counts + shown(before, after, paint=paint)


def shown_examples(group: Group) -> list[Example]:
    """The prompts of a group that say more than its edit does."""
    found = [group.example] if has_example(group) else []
    beside = group.beside
    if beside is not None and None not in (beside.before, beside.after) and beside.before != beside.after:
        found.append(beside)
    return found


def token_marks(text: str, encode: Encode) -> str:
    """A text with a mark at every cut of a tokenizer."""
    from evalspec.prompts.tokens import boundaries

    return marked(text, boundaries(encode(text), len(text)))


def has_example(group: Group) -> bool:
    """Whether the example of a group says more than its edit does."""
    pair = group.example.before, group.example.after
    return None not in pair and pair[0] != pair[1] and pair != (group.before, group.after)


def _table(comparison: Comparison) -> Iterator[str]:
    for name, count in comparison.summary.items():
        yield f"  {count:>6,}  {name:<13}{SAYS[name]}\n"
    if comparison.unknown:
        yield f"  {len(comparison.unknown):>6,}  {'unknown':<13}may have changed\n"


def _group(group: Group, words: bool, paint: Paint, encode: Encode | None) -> Iterator[str]:
    parts = " and ".join(visible(part).replace("_", " ") for part in group.parts)
    yield paint(f"{group.change}: {reach(group)}", "strong")
    yield f" ({', '.join(visible(view) for view in group.views)})" if len(group.views) > 1 else ""
    yield ", scores can still be compared" if group.comparable else ""
    yield f", in the {parts}\n" if group.parts != ("task",) else "\n"
    yield f"  from {cause_line(group.cause)}\n"
    yield _indented(edit_text(group, paint=paint), 2)
    yield f"  {_ids(group.tasks)}\n"
    for number, (example, shown) in enumerate(example_texts(group, words=words, paint=paint, encode=encode)):
        row = "" if example.row is None else f", row {example.row}"
        said = "the same as" if number else f"for example {visible(example.task)}{row},"
        yield f"  {said} {visible(example.view)}:\n"
        yield _indented(shown, 4)


def _unknown(group: UnknownGroup, paint: Paint) -> Iterator[str]:
    yield paint(f"unknown: {reach(group)}", "warning") + "\n"
    yield f"  {visible(group.reason)}\n"
    if group.cause is not None:
        yield f"  from {cause_line(group.cause)}\n"
    yield f"  {_ids(group.tasks)}\n"
    yield from _source(group.source, paint)


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


def _indented(lines: str, columns: int) -> str:
    return "".join(f"{' ' * columns}{line}\n" for line in lines.splitlines())


def _piece(text: str) -> str:
    return with_marks(cut(text, _PIECE))


def _ids(tasks: Sequence[str]) -> str:
    more = f", … and {len(tasks) - IDS:,} more" if len(tasks) > IDS else ""
    return ", ".join(map(visible, tasks[:IDS])) + more
