"""Two prompts, shown at their first difference (how a reviewer sees what changed for the model)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.diff.ends import ends_of
from evalspec.errors import counted
from evalspec.formats.characters import named, with_marks
from evalspec.report.console import Paint, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Code points of unchanged text on either side of a change.
_AROUND = 32
#: Code points of a change that are shown; the middle of a longer one is left out.
_SHOWN = 160
#: So many characters that do not show are named, on each side.
_NAMES = 10


def prompt_diff(before: str, after: str, *, paint: Paint = plain) -> str:
    """What changed between two prompts; nothing where they are equal.

    The size comes first, then both texts around their first difference, with what changed between `⟦` and `⟧` and all
    white space visible, then the names of characters in it that do not show or look like others.
    """
    if before == after:
        return ""
    left, old, new, right = ends_of(before, after)
    lead, tail = _lead(left), _tail(right)
    line = left.count("\n") + 1
    out = [
        f"{size_change(before, after)}, from character {len(left) + 1:,} (line {line:,})\n",
        paint(f"- {lead}⟦{middle_cut(old)}⟧{tail}", "removed") + "\n",
        paint(f"+ {lead}⟦{middle_cut(new)}⟧{tail}", "added") + "\n",
        *names_changed(old, new),
    ]
    return "".join(out)


def names_changed(before: str, after: str) -> Iterator[str]:
    """A line for each invisible or look-alike character that one text has and the other has not, the first ten each."""
    for sign, mine, other in (("-", before, after), ("+", after, before)):
        has = set(other)
        names = named("".join(char for char in dict.fromkeys(mine) if char not in has))
        yield from (f"  {sign} {name}\n" for name in names[:_NAMES])
        if len(names) > _NAMES:
            yield f"  {sign} … and {len(names) - _NAMES:,} more\n"


def size_change(before: str, after: str) -> str:
    """`1 character, 1 byte more`; bytes are those of UTF-8."""
    characters = len(after) - len(before)
    octets = _octets(after) - _octets(before)
    if characters == octets == 0:
        return "the same size"
    if characters == 0:
        return f"as many characters, {counted(abs(octets), 'byte')} {_way(octets)}"
    if octets == 0:
        return f"{counted(abs(characters), 'character')} {_way(characters)}, as many bytes"
    if (characters > 0) == (octets > 0):
        return f"{counted(abs(characters), 'character')}, {counted(abs(octets), 'byte')} {_way(octets)}"
    return f"{counted(abs(characters), 'character')} {_way(characters)}, {counted(abs(octets), 'byte')} {_way(octets)}"


def _way(number: int) -> str:
    return "more" if number > 0 else "fewer"


def _octets(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _lead(text: str) -> str:
    return ("…" if len(text) > _AROUND else "") + with_marks(text[-_AROUND:])


def _tail(text: str) -> str:
    return with_marks(text[:_AROUND]) + ("…" if len(text) > _AROUND else "")


def middle_cut(text: str) -> str:
    """`text` with marks, in one line, the middle of a long one left out."""
    if len(text) <= _SHOWN:
        return with_marks(text)
    tail = _SHOWN // 4
    head = _SHOWN - tail
    return f"{with_marks(text[:head])}[… {len(text) - head - tail:,} characters …]{with_marks(text[-tail:])}"
