"""The report of a migration: complete, honest about what it leaves out, and only ever text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evalspec.errors import Finding
from evalspec.report import (
    FileLine,
    MigrationReport,
    OutputChange,
    PromptChange,
    RecordChange,
    StepLine,
    migration_markdown,
)
from evalspec.report.markdown import cell, code, fence, prose

FINDING = Finding("bad_value", "error", "t.jsonl", 4, 2, "a_4", "targets", "must be a letter", "42", "")
REPORT = MigrationReport(
    target="v3",
    origins={"v1": 3, "v2": 1},
    files=[FileLine("t.jsonl", 4, 3, True)],
    steps=[
        StepLine(
            "v2", "Write prompt assembly down.", 3, "unchanged, proved on 3", "1 task uses extract_letter"
        )
    ],
    records=[
        RecordChange("t.jsonl", n, f"a_{n}", "v1", "v3", ("root['output_type'] added",)) for n in (1, 2, 3)
    ],
    prompts=[PromptChange("t.jsonl", 1, "a_1", "Answer:", "Answer: ")],
    outputs=[OutputChange("a_2", "extract_letter", "C or D", "C", "D")],
    bad=[FINDING],
)


def test_a_report_as_it_is_written() -> None:
    assert (
        migration_markdown(REPORT)
        == """\
# Migration to `v3`

4 records in 1 file (3 at `v1`, 1 at `v2`); 3 changed. 1 file written.

## Steps

| step | what | records | prompts | outputs |
|---|---|--:|---|---|
| `v2` | Write prompt assembly down. | 3 | unchanged, proved on 3 | 1 task uses extract\\_letter |

## Files

| file | records | changed | written |
|---|--:|--:|---|
| `t.jsonl` | 4 | 3 | yes |

## Records

### 3 records, `v1` → `v3`

- `root['output_type'] added`

Tasks: `a_1` (`t.jsonl:1`), `a_2` (`t.jsonl:2`), `a_3` (`t.jsonl:3`)

## Prompts

1 prompt changed.

### `a_1` (`t.jsonl:1`)

```diff
1 character, 1 byte more, from character 8 (line 1)
- Answer:⟦⟧
+ Answer:⟦·⟧
```

## Outputs

1 output of sample generations changed.

| task | rule | generation | before | after |
|---|---|---|---|---|
| `a_2` | `extract_letter` | `C or D` | `C` | `D` |

## Left as they are

1 finding.

- `t.jsonl:4:2` `a_4` `targets` `bad_value` must be a letter
"""
    )


def test_a_dry_run_says_that_nothing_was_written() -> None:
    page = migration_markdown(MigrationReport("v3", {}, [FileLine("a", 1, 1, False)], [], dry_run=True))
    assert "0 records in 1 file; 1 changed. Nothing was written: this is a dry run." in page
    assert "## Steps" not in page


def test_records_that_changed_alike_are_told_once_and_counted() -> None:
    def many() -> Iterator[RecordChange]:
        for n in range(5000):
            yield RecordChange("t.jsonl", n, f"a_{n}", "v1", "v3", ("root['x'] added",) if n % 5 else ())

    page = migration_markdown(REPORT._replace(records=many()))
    assert page.index("### 4,000 records") < page.index("### 1,000 records")
    assert "- the text alone\n" in page
    assert "`a_12` (`t.jsonl:12`) and 3,990 more\n" in page


def test_what_is_left_out_is_said() -> None:
    page = migration_markdown(
        REPORT._replace(
            prompts=list(REPORT.prompts) * 1021,
            outputs=list(REPORT.outputs) * 51,
            bad=[FINDING] * 1100,
            files=list(REPORT.files) * 502,
        )
    )
    for line in ("1,001 prompts more", "1 output more", "1,000 findings more", "2 files more"):
        assert f"\n{line}, not shown here.\n" in page
    assert page.count("```diff") == 20


HOSTILE = [
    "<script>alert(1)</script>",
    "`` ` ``` `",
    "` edge",
    " space ",
    "a|b\\|c",
    "[x](javascript:alert(1)) ![i](https://evil.example/p.png)",
    "# h\n\n- l\r\n> q",
    "\x1b[31m\u202e",
    "@everyone #1 &lt; $x$",
    "***b*** __b__ ~~s~~",
    "",
]


def parsed(page: str) -> list[tuple[str, str]]:
    """The page's elements: type and content, inline ones too."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page)
    flat = [inner for token in tokens for inner in [token, *(token.children or [])]]
    return [(token.type, token.content) for token in flat]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_a_file_is_only_ever_text(text: str) -> None:
    plain = parsed(migration_markdown(REPORT))
    page = migration_markdown(
        MigrationReport(
            target="v3",
            origins={"v1": 1},
            files=[FileLine(text, 4, 3, True)],
            steps=[StepLine("v2", text, 3, text, text)],
            records=[RecordChange(text, 1, text, "v1", "v3", (text,))],
            prompts=[PromptChange(text, 1, text, text, text + "x")],
            outputs=[OutputChange(text, "lower", text, text, text)],
            bad=[FINDING._replace(path=text, task=text, message=text)],
        )
    )
    found = parsed(page)
    assert {kind for kind, _ in found} <= {kind for kind, _ in plain}
    assert sum(kind == "td_open" for kind, _ in found) == sum(kind == "td_open" for kind, _ in plain)
    assert sum(kind == "heading_open" for kind, _ in found) == sum(
        kind == "heading_open" for kind, _ in plain
    )
    assert all(char.isprintable() or char == "\n" for char in page)


@given(st.text(st.sampled_from("ab`|\\ <\n"), max_size=12))
def test_a_span_shows_exactly_what_was_meant(text: str) -> None:
    from evalspec.errors import visible

    shown = visible(text)
    spans = [content for kind, content in parsed(code(text)) if kind == "code_inline"]
    assert spans == ([shown] if shown else [])
    rows = parsed(f"| a |\n|---|\n| {cell(text)} |\n")
    assert [content for kind, content in rows if kind == "code_inline"] == ([shown] if shown else [])
    assert sum(kind == "td_open" for kind, _ in rows) == 1


@given(st.text(max_size=20))
def test_prose_shows_exactly_what_was_meant(text: str) -> None:
    from evalspec.errors import visible

    shown = visible(text).strip()
    parts = [(kind, content) for kind, content in parsed("x" + prose(text).strip()) if kind != "inline"]
    assert {kind for kind, _ in parts} <= {"paragraph_open", "paragraph_close", "text", "text_special"}
    assert "".join(content for kind, content in parts if kind.startswith("text")) == "x" + shown


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fence("a\n````\nb\n", "diff") == "`````diff\na\n````\nb\n`````\n"
