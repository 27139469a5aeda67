"""Every change of a prefix and of a delimiter, plain and as a chat: which groups it makes, of which class and size.

How a prompt is joined is the harness's: an answer follows a prefix after a delimiter unless one of the two has white
space there, a question ends with the delimiter only where a prefix follows, and a chat's turns have no delimiters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evalspec.diff import compare, named_sides
from evalspec.diff.causes import ViewPair
from evalspec.project import Project
from evalspec.prompts.view import view_of_settings

if TYPE_CHECKING:
    from pathlib import Path

#: The variants: the prefix (`-` is none), and the delimiter.
NONE_SPACE, NONE_EMPTY = (None, " "), (None, "")
BARE_SPACE, BARE_EMPTY = ("Answer:", " "), ("Answer:", "")
FULL_SPACE, FULL_EMPTY = ("Answer: ", " "), ("Answer: ", "")
VARIANTS = (NONE_SPACE, NONE_EMPTY, BARE_SPACE, BARE_EMPTY, FULL_SPACE, FULL_EMPTY)

D, P = "target_delimiter", "gen_prefix"
Told = tuple[str, str, str, int, int]
#: By view, and by the variants before and after: each group as old text, new text, cause, characters and bytes more.
#: All of them are `delimiter`. Where there are two, one is in the examples and the other at the end of the question.
TABLE: dict[tuple[str, tuple[str | None, str], tuple[str | None, str]], list[Told]] = {
    ("plain", NONE_SPACE, NONE_EMPTY): [(" ", "", D, -1, -1)],
    ("plain", NONE_SPACE, BARE_SPACE): [("", " Answer:", P, 8, 8), ("", "Answer: ", P, 8, 8)],
    ("plain", NONE_SPACE, BARE_EMPTY): [("", "Answer:", P, 7, 7)],
    ("plain", NONE_SPACE, FULL_SPACE): [("", " Answer: ", P, 9, 9), ("", "Answer: ", P, 8, 8)],
    ("plain", NONE_SPACE, FULL_EMPTY): [("", "Answer: ", P, 8, 8), ("", "Answer:", P, 7, 7)],
    ("plain", NONE_EMPTY, BARE_SPACE): [("", " Answer: ", D, 9, 9), ("", " Answer:", D, 8, 8)],
    ("plain", NONE_EMPTY, BARE_EMPTY): [("", "Answer: ", P, 8, 8), ("", "Answer:", P, 7, 7)],
    ("plain", NONE_EMPTY, FULL_SPACE): [("", " Answer: ", D, 9, 9)],
    ("plain", NONE_EMPTY, FULL_EMPTY): [("", "Answer: ", P, 8, 8)],
    ("plain", BARE_SPACE, BARE_EMPTY): [(" ", "", D, -1, -1)],
    ("plain", BARE_SPACE, FULL_SPACE): [("", " ", P, 1, 1)],
    ("plain", BARE_SPACE, FULL_EMPTY): [(" ", "", D, -1, -1), ("", " ", P, 1, 1)],
    ("plain", BARE_EMPTY, FULL_SPACE): [("", " ", D, 1, 1), ("", " ", P, 1, 1)],
    ("plain", BARE_EMPTY, FULL_EMPTY): [("", " ", P, 1, 1)],
    ("plain", FULL_SPACE, FULL_EMPTY): [(" ", "", D, -1, -1)],
    ("chat", NONE_SPACE, NONE_EMPTY): [],
    ("chat", NONE_SPACE, BARE_SPACE): [("", "Answer: ", P, 8, 8), ("", "Answer:", P, 7, 7)],
    ("chat", NONE_SPACE, BARE_EMPTY): [("", "Answer: ", P, 8, 8), ("", "Answer:", P, 7, 7)],
    ("chat", NONE_SPACE, FULL_SPACE): [("", "Answer: ", P, 8, 8)],
    ("chat", NONE_SPACE, FULL_EMPTY): [("", "Answer: ", P, 8, 8)],
    ("chat", NONE_EMPTY, BARE_SPACE): [("", "Answer: ", P, 8, 8), ("", "Answer:", P, 7, 7)],
    ("chat", NONE_EMPTY, BARE_EMPTY): [("", "Answer: ", P, 8, 8), ("", "Answer:", P, 7, 7)],
    ("chat", NONE_EMPTY, FULL_SPACE): [("", "Answer: ", P, 8, 8)],
    ("chat", NONE_EMPTY, FULL_EMPTY): [("", "Answer: ", P, 8, 8)],
    ("chat", BARE_SPACE, BARE_EMPTY): [],
    ("chat", BARE_SPACE, FULL_SPACE): [("", " ", P, 1, 1)],
    ("chat", BARE_SPACE, FULL_EMPTY): [("", " ", P, 1, 1)],
    ("chat", BARE_EMPTY, FULL_SPACE): [("", " ", P, 1, 1)],
    ("chat", BARE_EMPTY, FULL_EMPTY): [("", " ", P, 1, 1)],
    ("chat", FULL_SPACE, FULL_EMPTY): [],
}


def write(folder: Path, prefix: str | None, delimiter: str) -> str:
    folder.mkdir()
    text = (
        "task: joined\ndataset_path: made/up\noutput_type: generate_until\ntest_split: test\n"
        'doc_to_text: "Q: {{question}}"\ndoc_to_target: "{{answer}}"\n'
        f"target_delimiter: {delimiter!r}\n" + (f"gen_prefix: {prefix!r}\n" if prefix is not None else "")
    )
    (folder / "joined.yaml").write_text(text, encoding="utf-8")
    return str(folder)


def groups_between(before: str, after: str, view: str) -> list[Any]:
    shown = view_of_settings(view, {"shots": 2, **({"chat": "chatml"} if view == "chat" else {})})
    found = compare(named_sides(before, after, "lm-eval"), Project(None), [ViewPair(shown, shown)])
    assert (found.unknown, found.compared.prompts) == ((), 1)
    return list(found.groups)


def test_the_table_has_every_pair() -> None:
    assert len(TABLE) == 2 * len(VARIANTS) * (len(VARIANTS) - 1) / 2


@pytest.mark.parametrize(
    ("view", "before", "after"), TABLE, ids=lambda value: value if isinstance(value, str) else f"{value}"
)
def test_a_change_of_joins(
    view: str, before: tuple[str | None, str], after: tuple[str | None, str], tmp_path: Path
) -> None:
    one, other = write(tmp_path / "one", *before), write(tmp_path / "other", *after)
    expected = sorted(TABLE[view, before, after])
    groups = groups_between(one, other, view)
    assert expected == sorted(
        (group.before, group.after, group.cause.detail, group.characters, group.bytes) for group in groups
    )
    for group in groups:
        assert (group.change, group.tasks, group.rows, group.views) == ("delimiter", ("joined",), 1, (view,))
        assert set(group.parts) <= {"join", "gen_prefix"}
        assert not group.comparable
    back = groups_between(other, one, view)
    assert sorted((group.after, group.before, group.cause.detail) for group in back) == [
        row[:3] for row in expected
    ]
