"""The report of a comparison as a page: whatever is in it, its data is data and its script is the only one."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

from hypothesis import given

from evalspec.diff.model import Comparison, Example, RecordChange
from evalspec.report.diff_html import diff_html
from tests.support.comparisons import COMPARISONS, a_comparison, a_group


class Elements(HTMLParser):
    """The elements of a page, each with its attributes and the text right behind its start."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}, ""))

    def handle_data(self, data: str) -> None:
        if self.found:
            tag, attributes, text = self.found[-1]
            self.found[-1] = tag, attributes, text + data


def data_of(comparison: Comparison) -> Any:
    (text,) = [text for _, with_, text in Elements(diff_html(comparison)).found if with_.get("id") == "data"]
    return json.loads(text)


@given(COMPARISONS)
def test_no_text_is_an_element(comparison: Comparison) -> None:
    page, empty = Elements(diff_html(comparison)).found, Elements(diff_html(a_comparison())).found
    assert [(tag, attributes) for tag, attributes, _ in page] == [
        (tag, attributes) for tag, attributes, _ in empty
    ]


@given(COMPARISONS)
def test_every_change_is_in_the_data(comparison: Comparison) -> None:
    data = data_of(comparison)
    told = [group["tasks"] for group in data["groups"]]
    assert told == [list(group.tasks) for group in (*comparison.groups, *comparison.unknown_groups)]
    for group, given_ in zip(data["groups"], comparison.groups, strict=False):
        assert "".join(text for sign, text in group["edit"] if sign != "+") == given_.before
        assert "".join(text for sign, text in group["edit"] if sign != "-") == given_.after


def test_the_policy_lets_only_the_page_itself_run() -> None:
    page = Elements(diff_html(a_comparison(a_group()))).found
    (policy,) = [each["content"] or "" for _, each, _ in page if each.get("http-equiv")]
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        texts = [text for name, each, text in page if name == tag and "type" not in each]
        allowed = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts]
        assert re.findall(rf"{directive} (\S+);", policy) == allowed
    assert policy.startswith("default-src 'none'; ")
    assert not [each for _, each, _ in page if each.keys() & {"src", "href", "style", "onclick"}]


def test_a_placeholder_in_a_text_stays_as_it_is() -> None:
    assert data_of(a_comparison(notes=("{{script}} {{data}}",)))["notes"] == ["{{script}} {{data}}"]


def test_both_ends_of_a_long_text_are_kept() -> None:
    same, more = f"a{'x' * 99_998}b", f"c{'y' * 99_998}d"
    group = a_group("", "+", example=Example("a", 0, "plain", same, f"{same} {more}"))
    (first, second) = data_of(a_comparison(group))["groups"][0]["examples"][0]["pieces"]
    assert [first[0], first[2], second[0], second[2]] == ["=", 100_000 - 8_192, "+", 100_001 - 65_536]
    assert (first[1][0], first[3][-1], second[1][:2], second[3][-1]) == ("a", "b", " c", "d")


def test_values_of_records_are_texts_even_where_json_has_none() -> None:
    change = RecordChange("a", None, (("root['x']", None, float("nan")), ("root['y']", "é", [1, "é"])))
    assert data_of(a_comparison(records=(change,)))["records"] == [
        ["a", [["root['x']", "", "NaN"], ["root['y']", "é", '[1, "é"]']]]
    ]


def test_marks_are_of_what_does_not_show() -> None:
    marks = data_of(a_comparison(a_group(" a\u200b", "\uff1ab\n")))["marks"]
    assert marks["\u200b"] == ["\\u{200B}", "U+200B ZERO WIDTH SPACE, does not show", True]
    assert marks["\uff1a"] == ["\uff1a", 'U+FF1A FULLWIDTH COLON, looks like ":"', False]
    assert (marks[" "], marks["\n"]) == (["·", "", False], ["⏎", "", False])
    assert "a" not in marks
