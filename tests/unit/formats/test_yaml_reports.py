"""Bugs that users of other tools reported, tried on our YAML reader and writer (marks, lossy rewrites, quoting)."""

from __future__ import annotations

import pytest
from support.yaml_edits import edited

from evalspec.formats.edits import FIRST, Insert, Rename, Replace
from evalspec.formats.yaml import RecordKey, edit, read, records


def test_a_migration_keeps_every_comment() -> None:
    text = "# chapter 1\n- file: intro\n# chapter 2\n- file: end  # last\n"
    assert edited(text, Rename(("file",), "path"), key=RecordKey(0, 1)) == text.replace(
        "file: end", "path: end"
    )


def test_a_pinned_value_keeps_the_comment_that_explains_it() -> None:
    text = "- repo: x\n  rev: abc  # frozen: v1\n"
    assert edited(text, Replace(("rev",), "def"), key=RecordKey(0, 0)) == text.replace("abc", "def")


@pytest.mark.parametrize(
    "word", ["Yes", "no", "on", "OFF", "1.10", "012", "12:30", "1e3", "null", "2024-01-02"]
)
def test_an_answer_that_looks_like_another_type_stays_text(word: str) -> None:
    result = edited("answer: x\n", Replace(("answer",), word), Insert(("choices",), [word, "b"], FIRST))
    assert records(read(result.encode()))[0].value == {"choices": [word, "b"], "answer": word}


def test_backslash_n_is_two_characters_in_single_quotes_and_stays_so() -> None:
    text = "until: ['\\n']\nstop: [\"\\n\"]\ndoc: 'a\\nb\\n '\n"
    assert edited(text, Rename(("doc",), "text")) == text.replace("doc", "text")
    assert edited(text, Replace(("until", 0), "\n")) == text.replace("'\\n'", '"\\n"')
    assert edited(text, Replace(("stop", 0), "\\n")) == text.replace('"\\n"', '"\\\\n"')


def test_a_regular_expression_is_written_as_it_is_meant() -> None:
    pattern = r"answer is \(?([A-J])\)?"
    for text in ("p: x\n", "p: 'x'\n", 'p: "x"\n', "p: [x]\n"):
        assert pattern in str(
            records(read(edited(text, Replace(("p",), pattern)).encode()))[0].value
        ).replace("\\\\", "\\")


def test_a_trailing_space_of_a_prompt_is_kept() -> None:
    text = 'prompt: "Q: x\\nA: "\ndelimiter: " "\nnotes: |\n  a  \n  b\n'
    assert edited(text, Insert(("v",), 1, FIRST)) == "v: 1\n" + text
    assert edited(text, Replace(("notes",), "c ")) == text.replace("|\n  a  \n  b", '"c "')


def test_a_mark_is_told_once_and_kept() -> None:
    data = b'\xef\xbb\xbf{"cases":[]}\n'
    assert [warning.rule for warning in read(data).warnings] == ["byte_order_mark"]
    assert edit(data, [(RecordKey(), [Insert(("v",), 1)])]) == b'\xef\xbb\xbf{"cases":[], "v": 1}\n'
