"""What differs between two prompts of one row: each edit as small as it can be said, with the parts it lies in."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import accumulate, compress, count
from operator import itemgetter, ne
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalspec.diff.ends import ends_of
from evalspec.errors import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalspec.diff.ends import Ends
    from evalspec.diff.model import ChangeClass

#: So many characters of what stands around an edit are kept on each side.
_AROUND = 24
#: What tells the placeholders of one example from those of another: `⟨question 2⟩`.
_NUMBERED = re.compile(r"(?<=\w) [0-9]+(?=⟩)")
_KIND_AND_TEXT, _FIRST = itemgetter("kind", "text"), itemgetter(0)
_JOINS = frozenset(["join", "separator", "gen_prefix"])

_Part = dict[str, Any]


class Edit(NamedTuple):
    """One edit of a prompt, row values as `⟨column⟩`.

    Attributes:
        change: what kind of change it is.
        parts: the kinds of the parts it lies in.
        before: the old text.
        after: the new text.
        left: what stands in front of it.
        right: what stands behind it.
        key: a setting that the edited text may come from; empty where that is not known.
        new_key: one that it comes from rather, if that was changed.
        column: the column whose value it is, where the row itself changed.
    """

    change: ChangeClass
    parts: tuple[str, ...]
    before: str
    after: str
    left: str = ""
    right: str = ""
    key: str = ""
    new_key: str = ""
    column: str = ""


def edits_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Edit]:
    """Every edit between two lines of one task, row and view (see `evalspec.prompts.lines`), layer by layer."""
    old, new = before["parts"] or [], after["parts"] or []
    if before["text"] != after["text"]:
        if before["shots"] == after["shots"]:
            yield from _text_edits(old, new)
        else:
            yield from _shot_edits(before, after)
    scored = False
    field: Literal["target", "choices"]
    for field, key in (("target", "doc_to_target"), ("choices", "doc_to_choice")):
        if before[field] != after[field]:
            scored = True
            yield _of_values(field, (field,), before[field], after[field], key)
    if before["requests"] == after["requests"]:
        return
    generation = _generation(before), _generation(after)
    if generation[0] != generation[1]:
        for key in sorted({*generation[0], *generation[1]}):
            values = generation[0].get(key), generation[1].get(key)
            if values[0] != values[1]:
                yield _of_values(
                    "stop" if key == "until" else "generation", (key,), *values, "generation_kwargs"
                )
    if not scored:
        yield from _continued(before, after)


def shown_value(value: object) -> str:
    """A setting as text: itself, or as JSON."""
    if value is None:
        return ""
    return value_text(value)


def _of_values(
    change: ChangeClass, parts: tuple[str, ...], before: object, after: object, key: str = ""
) -> Edit:
    return Edit(change, parts, shown_value(before), shown_value(after), key=key, new_key=key)


def _continued(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Edit]:
    """The edit of what is scored behind the context: of the first continuation that differs."""
    for values in zip(_continuations(before), _continuations(after), strict=False):
        texts = [shown_value(value) for value in values]
        if texts[0] != texts[1]:
            left, old, new, right = ends_of(*texts)
            key = "target_delimiter"
            yield Edit("delimiter", ("continuation",), old, new, left[-_AROUND:], right[:_AROUND], key, key)
            return


def _rows(shots: Sequence[int] | None) -> str:
    return "no examples" if not shots else "rows " + ", ".join(map(str, shots))


def _generation(line: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = [request.get("generation") for request in line["requests"] or ()]
    return next((each for each in settings if each), {})


def _continuations(line: Mapping[str, Any]) -> list[Any]:
    return [request.get("continuation") for request in line["requests"] or ()]


def _shot_edits(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Edit]:
    """Edits where the examples are not the same rows on both sides: those, and what changed beside them.

    Examples that were written into a field may have become rows, or the other way round. Then the text is nearly the
    same line by line, and less is said by telling the lines that differ.
    """
    old, new = before["parts"] or [], after["parts"] or []
    beside = [[part for part in parts if part["origin"].get("shot") is None] for parts in (old, new)]
    edits = list(_text_edits(*beside))
    if edits:
        lines = list(_line_edits(old, new))
        examples = abs(sum(map(len, map(_raw, (old, new)))) - sum(map(len, map(_raw, beside))))
        if _size(lines) < _size(edits) + examples:
            yield from lines
            return
    pieces = _rows(before["shots"]), _rows(after["shots"])
    yield Edit("shots", ("shots",), *pieces, key="fewshot_config", new_key="num_fewshot")
    yield from edits


def _size(edits: Sequence[Edit]) -> int:
    return sum(len(edit.before) + len(edit.after) for edit in edits)


def _line_edits(before: Sequence[_Part], after: Sequence[_Part]) -> Iterator[Edit]:
    """Edits of the text line by line, whatever parts it is made of."""
    texts = _normal(before), _normal(after)
    old, new = [[("", line) for line in text.splitlines(keepends=True)] for text in texts]
    starts = [[0, *accumulate(len(line) for _, line in lines)] for lines in (old, new)]
    for is_same, i1, i2, j1, j2 in _matched(old, new):
        if is_same:
            continue
        spans = (starts[0][i1], starts[0][i2]), (starts[1][j1], starts[1][j2])
        ends = ends_of(*(text[start:end] for text, (start, end) in zip(texts, spans, strict=True)))
        touched = [
            _touched(parts, start + len(ends.left), end - len(ends.right))
            for parts, (start, end) in zip((before, after), spans, strict=True)
        ]
        left = texts[0][: spans[0][0]] + ends.left
        yield _edit_of(ends, touched, left, ends.right + texts[0][spans[0][1] :])


def _text_edits(before: Sequence[_Part], after: Sequence[_Part]) -> Iterator[Edit]:
    """Edits of the text: of what is made from templates and settings, then of the row's values in it."""
    old, new = list(map(_KIND_AND_TEXT, before)), list(map(_KIND_AND_TEXT, after))
    stretches = list(_unlike(old, new))
    if not stretches or _raw(before) == _raw(after):
        return
    yield from _part_edits(before, after, old, stretches)
    if any(part["origin"].get("row_column") for i1, i2, _, _ in stretches for part in before[i1:i2]):
        yield from _row_edits(before, after)


def _part_edits(
    before: Sequence[_Part],
    after: Sequence[_Part],
    old: Sequence[tuple[str, str]],
    stretches: Sequence[tuple[int, int, int, int]],
) -> Iterator[Edit]:
    """Edits from the parts that are not the same on both sides; white space between two is told with them."""
    changed: list[tuple[int, int, int, int]] = []
    for i1, i2, j1, j2 in stretches:
        if changed and not any(text.strip() for _, text in old[changed[-1][1] : i1]):
            # White space is like white space: what only that stands between is told as one.
            first = changed.pop()
            i1, j1 = first[0], first[2]  # noqa: PLW2901 - the stretch begins where the last one did
        changed.append((i1, i2, j1, j2))
    for i1, i2, j1, j2 in changed:
        yield from _smallest(before[:i1], before[i1:i2], after[j1:j2], before[i2:])


def _unlike(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> Iterator[tuple[int, int, int, int]]:
    """The stretches of two lists of kinds and texts that differ, in order. Mostly it is one item between equal ends."""
    if list(map(_FIRST, old)) == list(map(_FIRST, new)):
        # The same kinds in the same order: each belongs to the one in its place.
        start = stop = -1
        for at in compress(count(), map(ne, old, new)):
            if at > stop:
                if stop >= 0:
                    yield start, stop, start, stop
                start = at
            stop = at + 1
        if stop >= 0:
            yield start, stop, start, stop
        return
    start, end, shorter = 0, 0, min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    stop, new_stop = len(old) - end, len(new) - end
    if stop - start <= 1 and new_stop - start <= 1:
        if stop > start or new_stop > start:
            yield start, stop, start, new_stop
        return
    for is_same, i1, i2, j1, j2 in _matched(old[start:stop], new[start:new_stop]):
        if not is_same:
            yield i1 + start, i2 + start, j1 + start, j2 + start


def _matched(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> Iterator[tuple[bool, int, int, int, int]]:
    """What two lists share and what they do not, in order; the same from either side, which `difflib` is not."""
    swapped = new < old
    pair = (new, old) if swapped else (old, new)
    for kind, a, b, c, d in SequenceMatcher(None, *pair, autojunk=False).get_opcodes():
        yield (kind == "equal", c, d, a, b) if swapped else (kind == "equal", a, b, c, d)


def _row_edits(before: Sequence[_Part], after: Sequence[_Part]) -> Iterator[Edit]:
    """Edits of the row itself: columns that are shown on both sides, with other values."""
    old, new = _columns(before), _columns(after)
    for key, part in old.items():
        if key in new and part["text"] != new[key]["text"]:
            left, was, now, right = ends_of(part["text"], new[key]["text"])
            kinds = tuple(dict.fromkeys((part["kind"], new[key]["kind"])))
            change = _class_of(kinds, was, now)
            yield Edit(change, kinds, was, now, left[-_AROUND:], right[:_AROUND], column=key[1])


def _columns(parts: Sequence[_Part]) -> dict[tuple[object, str], _Part]:
    """The parts that show a column's value as it stands, by example and column."""
    return {
        (part["origin"].get("shot"), part["origin"]["row_column"]): part
        for part in reversed(parts)
        if part["origin"].get("row_column")
    }


def _raw(parts: Sequence[_Part]) -> str:
    return "".join([part["text"] for part in parts])


def _smallest(
    left: Sequence[_Part], old: Sequence[_Part], new: Sequence[_Part], right: Sequence[_Part]
) -> Iterator[Edit]:
    """The edit from some parts to others, without what both begin and end with; none where their text is one."""
    if len(old) == len(new) == 1:
        if texts := _unlike_texts(old[0], new[0]):
            ends = ends_of(*texts)
            yield _edit_of(ends, (old, new), _end(left) + ends.left, ends.right + _beginning(right))
        return
    if _raw(old) == _raw(new):
        return
    texts = _normal(old), _normal(new)
    if texts[0] == texts[1]:  # the values of the row alone: see `_row_edits`
        return
    ends = ends_of(*texts)
    touched = [
        _touched(parts, len(ends.left), len(text) - len(ends.right))
        for parts, text in zip((old, new), texts, strict=True)
    ]
    if any(len({_source(part) for part in parts}) > 1 for parts in touched):
        smaller = list(_by_source(left, old, new, right))
        if len(smaller) > 1:
            for each in smaller:
                yield from _smallest(*each)
            return
    yield _edit_of(ends, touched, _end(left) + ends.left, ends.right + _beginning(right))


def _unlike_texts(old: _Part, new: _Part) -> tuple[str, str] | None:
    """The texts of two parts as templates make them; None where only a value of the row differs, or nothing."""
    texts = _named(old), _named(new)
    return texts if texts[0] != texts[1] and old["text"] != new["text"] else None


def _edit_of(ends: Ends, touched: Sequence[Sequence[_Part]], left: str, right: str) -> Edit:
    """The edit between two ends of a text, in the parts that it touches on each side."""
    pieces = zip((ends.old, ends.new), touched, strict=True)
    kinds = tuple(dict.fromkeys(part["kind"] for piece, parts in pieces if piece for part in parts))
    keys = [next(filter(None, map(_source, parts)), "") for parts in touched]
    if not ends.old or not ends.new:  # the piece that there is tells where the edit comes from
        keys = keys if ends.new else keys[::-1]
    else:
        keys.sort()
    change = _class_of(kinds, ends.old, ends.new)
    return Edit(change, kinds, ends.old, ends.new, left[-_AROUND:], right[:_AROUND], *keys)


def _by_source(
    left: Sequence[_Part], old: Sequence[_Part], new: Sequence[_Part], right: Sequence[_Part]
) -> Iterator[tuple[Sequence[_Part], Sequence[_Part], Sequence[_Part], Sequence[_Part]]]:
    """An edit over the text of several settings, taken apart where both sides have the part of the same one.

    Each piece is what `_smallest` takes. One change of two settings is two edits, each with its own cause.
    """
    before, after = ([(part["kind"], _source(part)) for part in parts] for parts in (old, new))
    for is_same, i1, i2, j1, j2 in _matched(before, after):
        stretches = (
            [(i, i + 1, j, j + 1) for i, j in zip(range(i1, i2), range(j1, j2), strict=True)]
            if is_same
            else [(i1, i2, j1, j2)]
        )
        for a, b, c, d in stretches:
            if _raw(old[a:b]) != _raw(new[c:d]):
                yield [*left, *old[:a]], old[a:b], new[c:d], [*old[b:], *right]


def _source(part: _Part) -> str:
    """The setting that a part's text comes from; empty where that is not known."""
    return str(part["origin"].get("key") or "")


def _normal(parts: Sequence[_Part]) -> str:
    """The text of parts, what is a row's value as it stands named by its column, in every example by the same name."""
    return "".join(map(_named, parts))


def _named(part: _Part) -> str:
    column, text = part["origin"].get("row_column"), part["text"]
    if column:
        return f"⟨{column}⟩"
    return _NUMBERED.sub("", text) if "⟩" in text else text


def _end(parts: Sequence[_Part]) -> str:
    """What shows of a text that stands in front of an edit: its last characters, or more."""
    text = ""
    for part in reversed(parts):
        if len(text) >= _AROUND:
            break
        text = _named(part) + text
    return text


def _beginning(parts: Sequence[_Part]) -> str:
    """What shows of a text that stands behind an edit: its first characters, or more."""
    text = ""
    for part in parts:
        if len(text) >= _AROUND:
            break
        text += _named(part)
    return text


def _touched(parts: Sequence[_Part], start: int, end: int) -> list[_Part]:
    """The parts in which a stretch of their text lies; of an empty stretch the part in front of it."""
    found, at = [], 0
    for part in parts:
        length = len(_named(part))
        if at < max(end, start + 1) and at + length > start:
            found.append(part)
        at += length
    return found or list(parts[-1:])


def _class_of(kinds: Sequence[str], before: str, after: str) -> ChangeClass:
    if kinds and _JOINS.issuperset(kinds):
        return "delimiter"
    if before.split() == after.split():
        return "whitespace"
    return "system" if set(kinds) == {"system"} else "text"
