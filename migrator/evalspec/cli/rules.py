"""List the rules of `evalspec check`: id, severity, and what each is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
rules
rules --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    from evalspec.check.rules import RULES

    rules = list(RULES.values())
    if args.format == "json":
        _common.write_output(args, _common.dumps({"rules": [rule.to_dict() for rule in rules]}))
        return 0
    widths = [max(len(rule.id) for rule in rules), max(len(rule.severity) for rule in rules)]
    lines = [f"{rule.id:<{widths[0]}}  {rule.severity:<{widths[1]}}  {rule.purpose}\n" for rule in rules]
    _common.write_output(args, "".join(lines))
    return 0
