"""What differs between two records that a plain comparison found changed.

(design.md, "Records and trees that differ")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = {
    "dictionary_item_added": "added",
    "dictionary_item_removed": "removed",
    "iterable_item_added": "added",
    "iterable_item_removed": "removed",
    "set_item_added": "added",
    "set_item_removed": "removed",
    "values_changed": "changed",
    "type_changes": "changed to another type",
}


class ValueChange(NamedTuple):
    """One place that differs.

    Attributes:
        path: where, as deepdiff writes it: `root['metrics'][0]['name']`.
        what: `added`, `removed`, `changed` or `changed to another type`.
        before: the old value; None where there was none.
        after: the new value; None where there is none.
    """

    path: str
    what: str
    before: Any
    after: Any


def value_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[ValueChange]:
    """The places that differ, by path.

    deepdiff is slow (a millisecond a record): call this for records that are shown, not to find the changed ones. It is
    asked about what is nested only.
    """
    found, left = _of_texts(old, new)
    if repr(left[0]) != repr(left[1]):
        found += _nested(*left)
    return sorted(found, key=lambda change: (change.path, change.what))


def _of_texts(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[list[ValueChange], tuple[dict[str, Any], dict[str, Any]]]:
    """What is plain to see: fields that are on one side only, and texts; and all other fields of both."""
    found = []
    left: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for name in {**old, **new}:
        path, pair = f"root['{name}']", (old.get(name), new.get(name))
        if not name.isidentifier() or (name in old and name in new and not _are_texts(pair)):
            for side, values in zip(left, (old, new), strict=True):
                side.update({name: values[name]} if name in values else {})
        elif name not in new:
            found.append(ValueChange(path, "removed", *pair))
        elif name not in old:
            found.append(ValueChange(path, "added", *pair))
        elif pair[0] != pair[1]:
            found.append(ValueChange(path, "changed", *pair))
    return found, left


def _are_texts(pair: tuple[Any, Any]) -> bool:
    return isinstance(pair[0], str) and isinstance(pair[1], str)


def _nested(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[ValueChange]:
    from deepdiff import DeepDiff
    from deepdiff.helper import notpresent

    options: dict[str, Any] = {"verbose_level": 2, "view": "tree"}
    # Since release 8 a mapping with few keys in common would be told as one change.
    if "threshold_to_diff_deeper" in DeepDiff.__init__.__code__.co_varnames:
        options["threshold_to_diff_deeper"] = 0
    return [
        ValueChange(
            level.path(),
            _WORDS.get(kind, kind.replace("_", " ")),
            *(None if value is notpresent else value for value in (level.t1, level.t2)),
        )
        for kind, levels in DeepDiff(old, new, **options).items()
        for level in levels
    ]
