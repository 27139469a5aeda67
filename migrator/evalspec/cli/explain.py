"""Tell what a rule of `evalspec check` is for: a file that breaks it, what is then said, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import UsageError, did_you_mean, visible

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
explain literal_escape
explain fewshot_leak --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("rule", metavar="RULE", help="the rule's id; `evalspec rules` lists them")
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print one rule."""
    from evalspec.check.rules import RULES

    rule = RULES.get(args.rule)
    if rule is None:
        near = did_you_mean(args.rule, list(RULES)) or "`evalspec rules` lists the rules"
        raise UsageError(f"no rule {visible(args.rule)!r}", fix=near)
    if args.format == "json":
        _common.write_output(args, _common.dumps(rule.to_dict()))
        return 0
    example = "".join(f"    {visible(line)}\n" for line in rule.example.splitlines())
    text = f"{rule.id} ({rule.severity})\n\n{rule.purpose}\n\nA file that breaks it:\n\n{example}\nfix: {rule.fix}\n"
    if rule.fixable:
        text += "`evalspec check --fix` mends it where that changes no prompt.\n"
    _common.write_output(args, text)
    return 0
