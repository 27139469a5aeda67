"""Print a schema version's contract as a page: fields, vocabularies, what goes together, rules, assembly."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
show v2
show evalspec@v3 --format markdown --output v3.md
show --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument(
        "version", nargs="?", default="head", metavar="VERSION", help="v2, family@v2 (default: head)"
    )
    _common.add_format(parser, formats=("text", "markdown", "json"))


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    from evalspec.schema.page import page_markdown, page_of, page_text

    schema = _common.schema_of(_common.find_project(args), args.version)
    if args.format == "json":
        from evalspec.schema.contract import contract_of, fingerprint

        said = {"schema": schema.id, "fingerprint": fingerprint(schema), "contract": contract_of(schema)}
        _common.write_output(args, _common.dumps(said))
        return 0
    if args.format == "markdown":
        text = page_markdown(page_of(schema))
    else:
        from evalspec.report import Console

        text = page_text(page_of(schema), width=Console(sys.stdout).width)
    _common.write_output(args, text)
    return 0
