r"""A file's old and new text as a unified diff, made safe to print.

Lines end at `\n` and nowhere else. Tabs stay; any other character that would not show is an escape (a line end `\r\n`
shows its `\r`), so the diff of a file without such characters can be applied as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import visible
from evalspec.report.console import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalspec.report.console import Paint
    from evalspec.report.line_matching import Block

_CONTEXT = 3
#: What is kept in memory of a hunk, in bytes; the rest goes to a temporary file.
_SPOOL = 8 * 1024 * 1024
_BAD_BYTE = re.compile("[\udc80-\udcff]")


class _Change(NamedTuple):
    """A block with the context that is shown around it."""

    blocks: list[Block]
    before: int
    after: int


def unified(
    old: bytes | str, new: bytes | str, path: str, *, context: int = _CONTEXT, paint: Paint = plain
) -> str:
    """The diff of two texts; nothing where they are the same bytes.

    Args:
        old: the text as it was.
        new: the text as it will be.
        path: the file's name.
        context: how many unchanged lines are shown around a change.
        paint: gives lines their colours.
    """
    from evalspec.report.line_matching import blocks

    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    out = [_header(path, paint)]
    for change in _changes(blocks(before, after), context):
        first, last = change.blocks[0], change.blocks[-1]
        old_at, new_at = first.old_start - change.before, first.new_start - change.before
        old_end, new_end = last.old_end + change.after, last.new_end + change.after
        out.append(_hunk_header(old_at, old_end - old_at, new_at, new_end - new_at, paint))
        out += [_shown(" ", line, paint) for line in before[old_at : first.old_start]]
        for block in change.blocks:
            if block.same:
                out += [_shown(" ", line, paint) for line in before[block.old_start : block.old_end]]
            else:
                out += [_shown("-", line, paint) for line in before[block.old_start : block.old_end]]
                out += [_shown("+", line, paint) for line in after[block.new_start : block.new_end]]
        out += [_shown(" ", line, paint) for line in before[last.old_end : old_end]]
    return "".join(out)


def unified_by_line(
    pairs: Iterable[tuple[bytes, bytes]], path: str, *, context: int = _CONTEXT, paint: Paint = plain
) -> Iterator[str]:
    """The diff of a file whose lines correspond one to one, in constant memory; no piece where nothing changed.

    Each changed line stands right above what it became.

    Args:
        pairs: every line of the file, with its line end, as it was and as it will be; `b""` for a line that was not
            there or will not be.
        path: the file's name.
        context: how many unchanged lines are shown around a change.
        paint: gives lines their colours.
    """
    from tempfile import SpooledTemporaryFile

    leading: list[str] = []  # unchanged lines that a change may follow
    started = False
    old_line = new_line = 0  # lines behind us
    pairs = iter(pairs)
    for old, new in pairs:
        if old == new:
            leading = [*leading, _decoded(old)][-context:] if context else []
            old_line, new_line = old_line + 1, new_line + 1
            continue
        if not started:
            started = True
            yield _header(path, paint)
        old_at, new_at = old_line - len(leading), new_line - len(leading)
        old_count = new_count = len(leading)
        trailing: list[str] = []  # unchanged lines since the last change
        with SpooledTemporaryFile(max_size=_SPOOL, mode="w+", encoding="utf-8", newline="") as body:
            body.writelines(_shown(" ", line, paint) for line in leading)
            pair: tuple[bytes, bytes] | None = (old, new)
            while pair is not None and len(trailing) <= 2 * context:
                if pair[0] == pair[1]:
                    trailing.append(_decoded(pair[0]))
                    old_line, new_line = old_line + 1, new_line + 1
                else:
                    body.writelines(_shown(" ", line, paint) for line in trailing)
                    old_count, new_count = old_count + len(trailing), new_count + len(trailing)
                    trailing = []
                    for sign, line in zip("-+", pair, strict=True):
                        if line:
                            body.write(_shown(sign, _decoded(line), paint))
                    old_count, new_count = old_count + bool(pair[0]), new_count + bool(pair[1])
                    old_line, new_line = old_line + bool(pair[0]), new_line + bool(pair[1])
                pair = next(pairs, None) if len(trailing) <= 2 * context else None
            shown = trailing[:context]
            body.writelines(_shown(" ", line, paint) for line in shown)
            yield _hunk_header(old_at, old_count + len(shown), new_at, new_count + len(shown), paint)
            body.seek(0)
            while piece := body.read(64 * 1024):
                yield piece
        leading = trailing[-context:] if context else []


def _changes(blocks: list[Block], context: int) -> Iterator[_Change]:
    """The changed blocks, those that lie close together as one."""
    held: list[Block] = []
    before = 0
    gap: Block | None = None
    for block in blocks:
        if not block.same:
            if not held:
                before = min(context, gap.old_end - gap.old_start) if gap else 0
            elif gap is not None:
                held.append(gap)
            held.append(block)
            gap = None
            continue
        gap = block
        size = block.old_end - block.old_start
        if held and size > 2 * context:
            yield _Change(held, before, context)
            held = []
    if held:
        yield _Change(held, before, min(context, gap.old_end - gap.old_start) if gap else 0)


def _header(path: str, paint: Paint) -> str:
    name = visible(path).lstrip("/")
    return paint(f"--- a/{name}", "strong") + "\n" + paint(f"+++ b/{name}", "strong") + "\n"


def _hunk_header(old_at: int, old_count: int, new_at: int, new_count: int, paint: Paint) -> str:
    return paint(f"@@ -{_range(old_at, old_count)} +{_range(new_at, new_count)} @@", "info") + "\n"


def _range(start: int, count: int) -> str:
    """Lines from 1; an empty range names the line before it."""
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _shown(sign: str, line: str, paint: Paint) -> str:
    body = line.removesuffix("\n")
    text = sign + _visible(body)
    if sign == "-":
        text = paint(text, "removed")
    elif sign == "+":
        text = paint(text, "added")
    return text + ("\n" if len(body) < len(line) else "\n\\ No newline at end of file\n")


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return visible(_BAD_BYTE.sub(lambda match: f"\\x{ord(match[0]) - 0xDC00:02x}", text), keep="\t")


def _lines(text: bytes | str) -> list[str]:
    """Lines with their ends."""
    whole = _decoded(text) if isinstance(text, bytes) else text
    lines = [f"{line}\n" for line in whole.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
