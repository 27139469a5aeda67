"""What differs between two prompts of one row: each edit as small as it can be said, with the parts it lies in."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalspec.diff.model import ChangeClass

#: So many characters of what stands around an edit are kept on each side.
_AROUND = 24
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
        key: the setting that the edited text comes from, on the old side; empty where that is not known.
        new_key: the same, on the new side.
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
    if before["shots"] != after["shots"]:
        yield Edit("shots", ("shots",), _rows(before["shots"]), _rows(after["shots"]))
        old = [part for part in old if part["origin"].get("shot") is None]
        new = [part for part in new if part["origin"].get("shot") is None]
    yield from _part_edits(old, new)
    yield from _row_edits(old, new)
    scored = False
    field: Literal["target", "choices"]
    for field, key in (("target", "doc_to_target"), ("choices", "doc_to_choice")):
        if before[field] != after[field]:
            scored = True
            yield _of_values(field, (field,), before[field], after[field], key)
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
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _of_values(
    change: ChangeClass, parts: tuple[str, ...], before: object, after: object, key: str = ""
) -> Edit:
    return Edit(change, parts, shown_value(before), shown_value(after), key=key, new_key=key)


def _continued(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Edit]:
    """The edit of what is scored behind the context: of the first continuation that differs."""
    for values in zip(_continuations(before), _continuations(after), strict=False):
        texts = [shown_value(value) for value in values]
        if texts[0] != texts[1]:
            start = _shared(*texts)
            end = _shared(*[text[start:][::-1] for text in texts])
            old, new = [text[start : len(text) - end] for text in texts]
            left, right = texts[0][:start][-_AROUND:], texts[0][len(texts[0]) - end :][:_AROUND]
            key = "target_delimiter"
            yield Edit("delimiter", ("continuation",), old, new, left, right, key, key)
            return


def _rows(shots: Sequence[int] | None) -> str:
    return "no examples" if not shots else "rows " + ", ".join(map(str, shots))


def _generation(line: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = [request.get("generation") for request in line["requests"] or ()]
    return next((each for each in settings if each), {})


def _continuations(line: Mapping[str, Any]) -> list[Any]:
    return [request.get("continuation") for request in line["requests"] or ()]


def _part_edits(before: Sequence[_Part], after: Sequence[_Part]) -> Iterator[Edit]:
    """Edits of the text, from the parts that are not the same on both sides."""
    old, new = [[(part["kind"], part["text"]) for part in parts] for parts in (before, after)]
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            edit = _smallest(before[:i1], before[i1:i2], after[j1:j2], before[i2:])
            if edit is not None:
                yield edit


def _row_edits(before: Sequence[_Part], after: Sequence[_Part]) -> Iterator[Edit]:
    """Edits of the row itself: columns that are shown on both sides, with other values."""
    old, new = _columns(before), _columns(after)
    for key, part in old.items():
        if key in new and part["text"] != new[key]["text"]:
            texts = part["text"], new[key]["text"]
            start = _shared(*texts)
            end = _shared(*[text[start:][::-1] for text in texts])
            pieces = [text[start : len(text) - end] for text in texts]
            kinds = tuple(dict.fromkeys((part["kind"], new[key]["kind"])))
            left, right = texts[0][:start][-_AROUND:], texts[0][len(texts[0]) - end :][:_AROUND]
            yield Edit(_class_of(kinds, *pieces), kinds, pieces[0], pieces[1], left, right, column=key[1])


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
) -> Edit | None:
    """The edit from some parts to others, without what both begin and end with; None where their text is one."""
    if _raw(old) == _raw(new):
        return None
    texts = _normal(old), _normal(new)
    if texts[0] == texts[1]:  # the values of the row alone: see `_row_edits`
        return None
    start = _shared(*texts)
    end = _shared(*[text[start:][::-1] for text in texts])
    pieces = [text[start : len(text) - end] for text in texts]
    touched = [_touched(parts, start, len(text) - end) for parts, text in zip((old, new), texts, strict=True)]
    kinds = tuple(dict.fromkeys(part["kind"] for part in (*touched[0], *touched[1])))
    same = texts[0]
    around = _normal(left) + same[:start], same[len(same) - end :] + _normal(right)
    keys = [
        next((part["origin"].get("key") for part in parts if part["origin"].get("key")), "")
        for parts in touched
    ]
    return Edit(
        _class_of(kinds, *pieces),
        kinds,
        pieces[0],
        pieces[1],
        around[0][-_AROUND:],
        around[1][:_AROUND],
        keys[0],
        keys[1],
    )


def _shared(one: str, two: str) -> int:
    """How many characters both begin with."""
    at = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        at += 1
    return at


def _normal(parts: Sequence[_Part]) -> str:
    """The text of parts, what is a row's value as it stands named by its column."""
    return "".join(
        [
            f"⟨{part['origin']['row_column']}⟩" if part["origin"].get("row_column") else part["text"]
            for part in parts
        ]
    )


def _touched(parts: Sequence[_Part], start: int, end: int) -> list[_Part]:
    """The parts in which a stretch of their text lies; of an empty stretch the part in front of it."""
    found, at = [], 0
    for part in parts:
        length = len(_normal([part]))
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
