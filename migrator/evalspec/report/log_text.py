"""The history of one task's prompts, for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import counted, cut, visible
from evalspec.formats.characters import with_marks
from evalspec.report.console import plain
from evalspec.report.excerpt import size_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.diff.history import Change, History
    from evalspec.diff.model import Group
    from evalspec.report.console import Paint

#: So many characters of a piece that changed are shown.
_PIECE = 80


def log_text(history: History, *, paint: Paint = plain) -> str:
    """The commits that changed a task's prompts, newest first."""
    of = f"{visible(history.task)} ({visible(history.path)})"
    said = (
        f"{counted(len(history.changes), 'commit')} changed the prompts of {of}, "
        f"of {history.commits:,} that touched what it is made of"
    )
    pieces = [paint(said, "strong") + "\n", *(f"note: {visible(note)}\n" for note in history.notes)]
    for change in history.changes:
        pieces += ["\n", *_change(change, paint)]
    return "".join(pieces)


def _change(change: Change, paint: Paint) -> Iterator[str]:
    told = change.commit
    yield paint(f"{told.sha[:9]} {told.date[:10]} {visible(told.author)}: {visible(told.subject)}", "strong")
    yield "\n"
    before, after = change.files
    if before and after and before != after:
        yield f"  {visible(before)} → {visible(after)}\n"
    yield f"  {_version(change, paint)}\n"
    for group in change.comparison.groups:
        yield from _group(group, paint)
    for each in change.comparison.unknown:
        yield paint("  unknown", "warning") + f", may have changed: {visible(each.reason)}\n"


def _version(change: Change, paint: Paint) -> str:
    old, new = ("none" if value is None else visible(str(value)) for value in change.versions)
    if change.silent:
        return f"version {new}: " + paint("silent", "warning")
    return f"version {new}" if old == new else f"version {old} → {new}"


def _group(group: Group, paint: Paint) -> Iterator[str]:
    if group.parts == ("task",):
        yield f"  {group.change}\n"
        return
    parts = " and ".join(visible(part).replace("_", " ") for part in group.parts)
    detail = f", from {visible(group.cause.detail)}" if group.cause.detail else ""
    yield f"  {group.change}, in the {parts}{detail}: {size_change(group.before, group.after)}\n"
    for sign, piece in (("-", group.before), ("+", group.after)):
        left, right = with_marks(group.left), with_marks(group.right)
        line = f"    {sign} …{left}⟦{with_marks(cut(piece, _PIECE))}⟧{right}…"
        yield paint(line, "removed" if sign == "-" else "added") + "\n"
