"""What a comparison of prompts found, as annotations of a GitHub workflow: `::warning file=…,line=…::…`.

GitHub shows ten of a kind for one step; of more, nine are printed and the tenth says how many are left. A percent sign
or a line end in a message, and a colon or a comma in a property, are written as GitHub's runner decodes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import cut, visible
from evalspec.formats.characters import with_marks
from evalspec.report.diff_text import IDS, SAYS, cause_line, reach
from evalspec.report.excerpt import names_changed, size_change

if TYPE_CHECKING:
    from evalspec.diff.model import Cause, Comparison, Group, UnknownGroup

#: How many annotations are printed at most: GitHub shows ten of a step.
ANNOTATIONS = 10
_PIECE, _LINE = 80, 400


def diff_github(comparison: Comparison) -> str:
    """The annotations, one a line; nothing where nothing changed."""
    lines = [*map(_group, comparison.groups), *map(_unknown, comparison.unknown_groups)]
    if len(lines) > ANNOTATIONS:
        left = len(lines) - ANNOTATIONS + 1
        rest = f"{left:,} more changes; `evalspec diff` shows them all"
        lines[ANNOTATIONS - 1 :] = [_annotation(None, "Prompts", rest)]
    return "".join(lines)


def _group(group: Group) -> str:
    said = f"{reach(group)}: {SAYS[group.change]}, from {cut(cause_line(group.cause), _LINE)}"
    if group.before or group.after:
        pieces = [with_marks(cut(piece, _PIECE)) for piece in (group.before, group.after)]
        said += f"\n{size_change(group.before, group.after)}\n- ⟦{pieces[0]}⟧\n+ ⟦{pieces[1]}⟧\n"
        said = (said + "".join(names_changed(group.before, group.after))).rstrip("\n")
    return _annotation(group.cause, f"Prompts: {group.change}", said)


def _unknown(group: UnknownGroup) -> str:
    tasks = cut(", ".join(visible(task) for task in group.tasks[:IDS]), _LINE)
    more = f" and {len(group.tasks) - IDS:,} more" if len(group.tasks) > IDS else ""
    said = f"{reach(group)}: {visible(cut(group.reason, _LINE))}\n{tasks}{more}"
    return _annotation(group.cause, "Prompts: unknown", said)


def _annotation(cause: Cause | None, title: str, message: str) -> str:
    place = "" if cause is None else _place(cause)
    return f"::warning {place}title={_property(title)}::{_data(message)}\n"


def _place(cause: Cause) -> str:
    place = cause.after or cause.before
    return "" if place is None else f"file={_property(place.path)},line={place.line},"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
