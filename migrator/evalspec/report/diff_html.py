"""What a comparison of prompts found, as one page of HTML that opens from disk and asks the network for nothing.

The page's parts are in `html/`. What was found stands in the page as JSON, and the page's script shows it as text and
never as markup; a policy in the page lets no other script or style run and nothing be fetched.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from evalspec.diff.edits import shown_value
from evalspec.errors import visible
from evalspec.formats.characters import name_of, with_marks
from evalspec.report.diff_text import SAYS, cause_line, compared_line, reach, shown_examples
from evalspec.report.excerpt import names_changed, size_change
from evalspec.report.word_diff import Piece, word_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalspec.diff.model import Cause, Comparison, Example, Group, UnknownGroup

#: The script's files, in the order in which they need each other.
_SCRIPTS = ("text.js", "list.js", "detail.js", "page.js")
#: So many characters of unchanged text, and of text that changed, are kept in the page; of longer ones both ends.
_KEPT = {"=": 8_192, "-": 65_536, "+": 65_536}
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def diff_html(comparison: Comparison) -> str:
    """The report as a page of HTML."""
    style, script = _file("page.css"), "".join(map(_file, _SCRIPTS))
    parts = {
        "policy": (
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
            "base-uri 'none'; form-action 'none'"
        ),
        "style": style,
        "script": script,
        "data": _embedded(_data(comparison)),
    }
    return _PLACE.sub(lambda match: parts[match[1]], _file("page.html"))


def _file(name: str) -> str:
    from importlib.resources import files

    return files("evalspec.report").joinpath("html", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _embedded(data: object) -> str:
    """JSON that ends no element and begins no comment, whatever is in it: every `<` and all but ASCII by number."""
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _data(comparison: Comparison) -> dict[str, Any]:
    """What the page's script reads (`html/page.js`)."""
    data: dict[str, Any] = {
        "compared": {**comparison.compared._asdict(), "line": compared_line(comparison)},
        "says": {**SAYS, "unknown": "may have changed"},
        "summary": dict(comparison.summary)
        | ({"unknown": unknown} if (unknown := len(comparison.unknown)) else {}),
        "groups": [
            *map(_group, comparison.groups),
            *map(_unknown, comparison.unknown_groups),
        ],
        "moved": [list(each) for each in comparison.moved],
        "silent": list(comparison.silent),
        "versioned": list(comparison.versioned),
        "records": [
            [each.task, [[path, shown_value(old), shown_value(new)] for path, old, new in each.changes]]
            for each in comparison.records
        ],
        "notes": list(comparison.notes),
    }
    return {**data, "marks": _marks(_texts(data))}


def _group(group: Group) -> dict[str, Any]:
    example = group.example
    changed = bool(group.before or group.after)
    return {
        "class": group.change,
        "reach": reach(group),
        "parts": [part.replace("_", " ") for part in group.parts],
        **_cause(group.cause),
        "size": size_change(group.before, group.after) if changed else "",
        "left": group.left,
        "right": group.right,
        "edit": list(map(_kept, word_pieces(group.before, group.after))),
        "names": [line.strip() for line in names_changed(group.before, group.after)],
        "tasks": list(group.tasks),
        "rows": group.rows,
        "views": list(group.views),
        "comparable": group.comparable,
        "example": [example.task, example.row, example.view],
        "examples": list(map(_example, shown_examples(group))),
    }


def _example(example: Example) -> dict[str, Any]:
    return {
        "of": [example.task, example.row, example.view],
        "pieces": list(map(_kept, word_pieces(example.before or "", example.after or ""))),
    }


def _unknown(group: UnknownGroup) -> dict[str, Any]:
    return {
        "class": "unknown",
        "reach": reach(group),
        **_cause(group.cause),
        "reason": group.reason,
        "prompts": group.prompts,
        "tasks": list(group.tasks),
    }


def _cause(cause: Cause | None) -> dict[str, str]:
    """Its kind, all there is to say of it, and in short what was changed and where that is now."""
    if cause is None:
        return {"kind": "", "cause": "", "detail": "", "place": ""}
    place = cause.after or cause.before
    return {
        "kind": cause.kind.replace("_", " "),
        "cause": cause_line(cause),
        "detail": visible(cause.detail),
        "place": f"{visible(place.path)}:{place.line}" if place else "",
    }


def _kept(piece: Piece) -> list[str | int]:
    """A piece for the page: its sign and its text, or of a long one its head, how much is left out, and its tail."""
    limit = _KEPT[piece.sign]
    if len(piece.text) <= limit:
        return list(piece)
    half = limit // 2
    return [piece.sign, piece.text[:half], len(piece.text) - 2 * half, piece.text[-half:]]


def _texts(data: object) -> Iterable[str]:
    """Every text in the data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)


def _marks(texts: Iterable[str]) -> dict[str, tuple[str, str, bool]]:
    """For each character that does not show, or looks like another: its mark, its name, and if it is always marked.

    Those that are always marked could hide or move what stands around them; the rest are marked in what changed.
    """
    found: set[str] = set()
    for text in texts:
        found.update(text)
    marks = {char: (with_marks(char), name_of(char) or "", _must_show(char)) for char in sorted(found)}
    return {char: mark for char, mark in marks.items() if mark[0] != char or mark[1]}


def _must_show(char: str) -> bool:
    return visible(char, keep="\n\t") != char
