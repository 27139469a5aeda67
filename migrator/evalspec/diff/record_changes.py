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

    deepdiff is slow (a millisecond a record): call this for records that are shown, not to find the changed ones.
    """
    from deepdiff import DeepDiff
    from deepdiff.helper import notpresent

    options: dict[str, Any] = {"verbose_level": 2, "view": "tree"}
    # Since release 8 a mapping with few keys in common would be told as one change.
    if "threshold_to_diff_deeper" in DeepDiff.__init__.__code__.co_varnames:
        options["threshold_to_diff_deeper"] = 0
    found = [
        ValueChange(
            level.path(),
            _WORDS.get(kind, kind.replace("_", " ")),
            *(None if value is notpresent else value for value in (level.t1, level.t2)),
        )
        for kind, levels in DeepDiff(old, new, **options).items()
        for level in levels
    ]
    return sorted(found, key=lambda change: (change.path, change.what))
