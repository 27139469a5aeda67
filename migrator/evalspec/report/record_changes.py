"""What differs between two records that a plain comparison found changed.

(design.md, "Records and trees that differ")
"""

from __future__ import annotations

from typing import Any

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


def changed_paths(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The places that differ, sorted: deepdiff's path and what happened there (`root['version'] added`).

    deepdiff is slow (a millisecond a record): call this for records that are shown, not to find the changed ones.
    """
    from deepdiff import DeepDiff

    options: dict[str, Any] = {"verbose_level": 1}
    # Since release 8 a mapping with few keys in common would be told as one change.
    if "threshold_to_diff_deeper" in DeepDiff.__init__.__code__.co_varnames:
        options["threshold_to_diff_deeper"] = 0
    difference = DeepDiff(old, new, **options)
    return sorted(
        f"{path} {_WORDS.get(kind, kind.replace('_', ' '))}"
        for kind, paths in difference.items()
        for path in paths
    )
