"""List the rules of `evalspec check`: id, severity, and what each is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from evalspec.check.rule import Rule

EXAMPLES = """
rules
rules --format json
"""

_HEAD = """\
# The rules of `evalspec check`

Made by `evalspec rules --format markdown`. `evalspec explain RULE` tells one of them. The schema version's own rules,
which `evalspec show v3` lists, are looked at, too.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_format(parser, formats=("text", "json", "markdown"))


def run(args: argparse.Namespace) -> int:
    """Print the table, or with `markdown` the page that `docs/rules.md` is."""
    from evalspec.check.rules import RULES

    rules = list(RULES.values())
    if args.format == "json":
        _common.write_output(args, _common.dumps({"rules": [rule.to_dict() for rule in rules]}))
    elif args.format == "markdown":
        _common.write_output(args, _page(rules))
    else:
        widths = [max(len(rule.id) for rule in rules), max(len(rule.severity) for rule in rules)]
        lines = [f"{rule.id:<{widths[0]}}  {rule.severity:<{widths[1]}}  {rule.purpose}\n" for rule in rules]
        _common.write_output(args, "".join(lines))
    return 0


def _page(rules: Sequence[Rule]) -> str:
    """Every rule with its example and its fix, by group."""
    from evalspec.report.markdown import fence

    out = [_HEAD]
    for group in dict.fromkeys(rule.group for rule in rules):
        out.append(f"\n## {group}\n")
        for rule in rules:
            if rule.group == group:
                fixable = "; `--fix` mends it where no prompt changes" if rule.fixable else ""
                example = fence(visible(rule.example, keep="\n"))
                out.append(
                    f"\n### {rule.id}\n\n{rule.purpose} ({rule.severity}{fixable})\n\n{example}\nFix: {rule.fix}.\n"
                )
    return "".join(out)
