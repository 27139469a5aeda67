"""The report of a comparison as a comment: within its budget, honest about what it leaves out, and only ever text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from evalspec.diff.model import Comparison, Unknown
from evalspec.report.diff_markdown import COMMENT, SUMMARY, diff_markdown
from tests.support.comparisons import COMPARED, COMPARISONS, a_comparison, a_group

#: As long as text gets when it is escaped.
LONG = "\ufeff`<|" * 500


def test_a_comment_as_it_is_written() -> None:
    page = diff_markdown(a_comparison(a_group(), unknown=(Unknown("d", "not run", None, 57),), silent=("a",)))
    assert (
        page
        == """\
## Prompt changes

2 files, 3 tasks: the working tree against 1a2b3c4

| tasks | class | what changed |
|--:|---|---|
| 3 | `whitespace` | white space |
| 1 | `unknown` | may have changed |

### whitespace: 3 tasks, 9 rows

In `description`; views `plain`. From description, of an include: tasks/\\_base.yaml:3 → tasks/\\_base.yaml:4

```diff
1 character, 1 byte more
- …Choose.⟦⏎⟧Q:·…
+ …Choose.⟦⏎⏎⟧Q:·…
```

Tasks: `a`, `b`, `c`

<details><summary>An example</summary>

`a`, row 0, `plain`:

```diff
1 character, 1 byte more, from character 9 (line 2)
- Choose.⏎⟦⟧Q:·1
+ Choose.⏎⟦⏎⟧Q:·1
```

</details>

### unknown: 1 task may change 57 prompts

not run

Tasks: `d`

Changed with the same version of their own: `a`
"""
    )


def test_nothing_changed_is_said() -> None:
    assert diff_markdown(a_comparison()).endswith("\n**No prompt changes.**\n")


@pytest.mark.parametrize("budget", [COMMENT, SUMMARY])
@pytest.mark.parametrize("text", ["x", "\u0915\u093f", LONG])
def test_a_page_keeps_to_its_budget_and_says_what_it_left_out(budget: tuple[int, int], text: str) -> None:
    count = 4_000
    group = a_group(after=text * 9, tasks=(text,) * 11)
    comparison = a_comparison(
        *[group] * count,
        compared=COMPARED._replace(base=LONG, head=LONG),
        notes=(LONG,) * 40,
    )
    page = diff_markdown(comparison, budget)  # type: ignore[arg-type]
    assert len(page) <= budget[0]
    assert len(page.encode()) <= budget[1]
    shown = page.count("\n### whitespace: ")
    assert 0 < shown < count
    assert page.endswith(
        f"*Cut to fit: {shown:,} of 4,000 changes are shown here. `evalspec diff` shows them all.*\n"
    )


def test_what_may_have_changed_counts_among_what_is_left_out() -> None:
    comparison = a_comparison(
        a_group(), unknown=tuple(Unknown(f"t{n}", f"not run: {n}") for n in range(3_000))
    )
    assert re.search(r"\*Cut to fit: [\d,]+ of 3,001 changes", diff_markdown(comparison))


def test_tasks_that_may_change_for_one_reason_are_told_together() -> None:
    unknown = tuple(Unknown(f"t{n}", "not run", None, 2) for n in range(57))
    page = diff_markdown(a_comparison(unknown=unknown))
    assert "### unknown: 57 tasks may change 114 prompts\n" in page
    assert "`t9` and 47 more\n" in page


def test_a_cut_page_still_says_whose_version_did_not_move() -> None:
    page = diff_markdown(a_comparison(*[a_group()] * 9_000, silent=("the_silent_one",)))
    assert "same version of their own: `the_silent_one`\n\n---\n\n*Cut to fit" in page


def test_a_fence_is_longer_than_any_run_of_backticks_in_it() -> None:
    page = diff_markdown(a_comparison(a_group("", "````` ```````\n<img src=x>")))
    tokens = [token for token in MarkdownIt().parse(page) if token.type == "fence"]
    assert [token.markup for token in tokens] == ["`" * 8, "`" * 8]
    assert "<img·src=x>" in tokens[0].content


@given(COMPARISONS)
def test_text_from_a_file_is_only_ever_text(comparison: Comparison) -> None:
    tokens = (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .parse(diff_markdown(comparison))
    )
    flat = [inner for token in tokens for inner in [token, *(token.children or [])]]
    html = {token.content for token in flat if token.type in ("html_block", "html_inline")}
    assert html <= {
        "<details><summary>An example</summary>\n", "<details><summary>The same in another view</summary>\n",
        "</details>\n",
    }  # fmt: skip
    assert not {token.type for token in flat} & {"link_open", "image", "s_open", "em_open"}
    titles = [token for token in flat if token.type == "heading_open"]
    assert len(titles) == 1 + len(comparison.groups) + len(comparison.unknown_groups)
