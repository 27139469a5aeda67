"""The report of a comparison at a terminal: what changed, how far it reaches and why, and only ever text."""

from __future__ import annotations

import pytest
from hypothesis import given

from evalspec.diff.model import Cause, Comparison, Moved, Unknown
from evalspec.errors import Place, visible
from evalspec.report.console import coloured
from evalspec.report.diff_text import cause_line, diff_text, reach
from tests.support.comparisons import COMPARED, COMPARISONS, a_comparison, a_group


def test_a_report_as_it_is_printed() -> None:
    comparison = a_comparison(
        a_group(),
        moved=(Moved("e", "doc_to_text", "description"),),
        silent=("a", "b"),
    )
    assert (
        diff_text(comparison)
        == """\
2 files, 3 tasks: the working tree against 1a2b3c4
       3  whitespace   white space

whitespace: 3 tasks, 9 rows, in the description
  from description, of an include: tasks/_base.yaml:3 → tasks/_base.yaml:4
  1 character, 1 byte more
  - …Choose.⟦⏎⟧Q:·…
  + …Choose.⟦⏎⏎⟧Q:·…
  a, b, c
  for example a, row 0, plain:
    1 character, 1 byte more, from character 9 (line 2)
    - Choose.⏎⟦⟧Q:·1
    + Choose.⏎⟦⏎⟧Q:·1

moved or set otherwise, with the same prompts: e

2 tasks changed with the same version of their own: a, b
"""
    )


def test_what_may_have_changed_is_told_with_its_cause() -> None:
    cause = Cause("function", None, Place("utils.py", 7), "to_text")
    text = diff_text(a_comparison(unknown=(Unknown("d", "utils.py changed", cause, 57),)))
    assert "may change 57 prompts\n  utils.py changed\n" in text
    assert "  from to_text, of a function: nowhere → utils.py:7\n" in text


def test_the_table_alone() -> None:
    assert diff_text(a_comparison(a_group()), stat=True).splitlines()[1:] == [
        "       3  whitespace   white space"
    ]


def test_nothing_changed_is_said() -> None:
    assert diff_text(a_comparison()).endswith("\nno prompt changes\n")


def test_what_may_have_changed_is_never_no_change() -> None:
    assert "no prompt changes" not in diff_text(a_comparison(unknown=(Unknown("d", "not run"),)))


def test_a_look_alike_is_named() -> None:
    text = diff_text(a_comparison(a_group(":", "\uff1a")))
    assert '+ U+FF1A FULLWIDTH COLON, looks like ":"' in text


def test_ten_ids_and_a_count_for_the_rest() -> None:
    text = diff_text(a_comparison(a_group(tasks=tuple(f"t{number}" for number in range(1234)))))
    assert "t9, … and 1,224 more\n" in text
    assert "t10" not in text


def test_the_edges_of_a_long_text_are_kept() -> None:
    text = diff_text(a_comparison(a_group("", "begin" + "x" * 100_000 + "end")))
    assert "⟦begin" in text
    assert "end⟧" in text
    assert len(text) < 4_000


def test_a_cause_on_one_line_is_told_once() -> None:
    place = Place("a.yaml", 3)
    assert cause_line(Cause("task_file", place, place, "stop")) == "stop, of the task's file: a.yaml:3"


@pytest.mark.parametrize(
    ("rows", "said"), [(0, "3 tasks"), (1, "3 tasks, 1 row"), (1171, "3 tasks, 1,171 rows")]
)
def test_how_far_a_change_reaches(rows: int, said: str) -> None:
    assert reach(a_group(rows=rows)) == said


@given(COMPARISONS)
def test_nothing_from_a_file_reaches_the_terminal_as_a_control(comparison: Comparison) -> None:
    text = diff_text(comparison)
    assert visible(text, keep="\n") == text


def test_colours_end_where_they_began() -> None:
    for line in diff_text(a_comparison(a_group()), paint=coloured).splitlines():
        assert line.count("\x1b[") == 2 * line.count("\x1b[0m")
    assert COMPARED.base in diff_text(a_comparison())


def test_a_name_that_stayed_while_what_it_names_changed_is_told_once() -> None:
    text = diff_text(a_comparison(a_group("utils.score", "utils.score", change="metric", left="", right="")))
    assert "  reads the same, what it names changed: …utils.score…\n" in text
    assert "⟦" not in text.partition("for example")[0]
