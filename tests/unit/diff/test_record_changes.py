"""What differs between two records."""

from __future__ import annotations

import pytest

from evalspec.diff.record_changes import ValueChange, value_changes


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": 2}, {"c": 1}, ["root['a'] removed", "root['b'] removed", "root['c'] added"]),
        ({"a": 1}, {"a": 2}, ["root['a'] changed"]),
        ({"a": 1}, {"a": True}, ["root['a'] changed to another type"]),
        ({"a": 1}, {"a": 1.0}, ["root['a'] changed to another type"]),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}, 4]}, ["root['a'][1]['b'] changed", "root['a'][2] added"]),
        ({"a": {"x": 1, "y": 2, "z": 3}}, {"a": {"z": 4}},
         ["root['a']['x'] removed", "root['a']['y'] removed", "root['a']['z'] changed"]),
        ({"it's": 1}, {}, ["root[\"it's\"] removed"]),
    ],
)  # fmt: skip
def test_the_places_that_differ(old: dict[str, object], new: dict[str, object], paths: list[str]) -> None:
    assert [f"{change.path} {change.what}" for change in value_changes(old, new)] == paths


def test_the_values_are_told() -> None:
    assert value_changes({"a": None, "b": 1}, {"a": 2, "c": 3}) == [
        ValueChange("root['a']", "changed to another type", None, 2),
        ValueChange("root['b']", "removed", 1, None),
        ValueChange("root['c']", "added", None, 3),
    ]
