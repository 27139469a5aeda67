"""`evalspec rules` and `explain`: every rule is told, and its page is made of the rules."""

from __future__ import annotations

import pytest
from support.cli import ROOT, Cli

from evalspec.check.rules import RULES


def test_the_page_is_what_the_rules_say(cli: Cli) -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert cli("rules", "--format", "markdown").out == page, "make it anew: evalspec rules --format markdown"
    assert all(f"\n### {rule}\n" in page for rule in RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_says_what_it_is_for_and_what_to_do(rule: object) -> None:
    for said in (rule.purpose, rule.fix, rule.example):  # type: ignore[attr-defined]
        assert said.strip()
    assert rule.purpose.endswith(".")  # type: ignore[attr-defined]
    assert not rule.fix.endswith(".")  # type: ignore[attr-defined]
