"""Comparisons made by hand, and strategies that make them of any text."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from evalspec.diff.model import (
    CLASSES,
    Cause,
    Compared,
    Comparison,
    Example,
    Group,
    Moved,
    RecordChange,
    Unknown,
    VersionMove,
)
from evalspec.errors import Place

COMPARED = Compared("1a2b3c4", "the working tree", 2, 3, 9)


def a_group(before: str = "\n", after: str = "\n\n", **changes: Any) -> Group:
    """A line end more after the description of three tasks, by an include, unless `changes` says otherwise."""
    tasks = changes.get("tasks", ("a", "b", "c"))
    given = {
        "change": "whitespace",
        "parts": ("description",),
        "cause": Cause("include", Place("tasks/_base.yaml", 3), Place("tasks/_base.yaml", 4), "description"),
        "before": before,
        "after": after,
        "left": "Choose.",
        "right": "Q: ",
        "tasks": tasks,
        "rows": 9,
        "views": ("plain",),
        "example": Example(tasks[0], 0, "plain", f"Choose.{before}Q: 1", f"Choose.{after}Q: 1"),
    }
    return Group(**{**given, **changes})


def a_comparison(*groups: Group, **changes: Any) -> Comparison:
    """A comparison that found `groups`."""
    return Comparison(changes.pop("compared", COMPARED), groups, **changes)


#: Every code point, and often one that means something to a terminal, Markdown, HTML, XML or a runner of workflows.
TEXTS = st.text(
    st.characters() | st.sampled_from("`<>&|*_[]()#%:,\n\r\t\x00\x1b\u202e\u200b\ufffe\ud800～：·⟦"),
    max_size=40,
)
_PLACES = st.none() | st.builds(Place, TEXTS, st.integers(1, 99))
_CAUSES = st.builds(
    Cause, st.sampled_from(("task_file", "include", "function", "row")), _PLACES, _PLACES, TEXTS
)
_IDS = st.lists(TEXTS, min_size=1, max_size=14).map(tuple)
_EXAMPLES = st.builds(
    Example, TEXTS, st.none() | st.integers(0, 9), TEXTS, st.none() | TEXTS, st.none() | TEXTS
)
GROUPS = st.builds(
    Group,
    change=st.sampled_from(CLASSES),
    parts=st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    cause=_CAUSES,
    before=TEXTS,
    after=TEXTS,
    left=TEXTS,
    right=TEXTS,
    tasks=_IDS,
    rows=st.integers(0, 9999),
    views=st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    example=_EXAMPLES,
    comparable=st.booleans(),
    beside=st.none() | _EXAMPLES,
)
COMPARISONS = st.builds(
    Comparison,
    compared=st.builds(Compared, TEXTS, TEXTS, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)),
    groups=st.lists(GROUPS, max_size=14).map(tuple),
    moved=st.lists(st.builds(Moved, TEXTS, TEXTS, TEXTS), max_size=2).map(tuple),
    unknown=st.lists(
        st.builds(Unknown, TEXTS, TEXTS, st.none() | _CAUSES, st.integers(0, 99)), max_size=3
    ).map(tuple),
    records=st.lists(
        st.builds(RecordChange, TEXTS, _PLACES, st.tuples(st.tuples(TEXTS, TEXTS, TEXTS))), max_size=2
    ).map(tuple),
    silent=_IDS,
    versioned=_IDS,
    notes=st.lists(TEXTS, max_size=2).map(tuple),
    versions=st.lists(
        st.builds(
            VersionMove,
            TEXTS,
            st.none() | TEXTS,
            st.none() | TEXTS,
            st.builds(Place, TEXTS, st.integers(1, 99)),
        ),
        max_size=2,
    ).map(tuple),
)
