"""Export a schema version as JSON Schema, for editors and other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
schema export v3
schema export evalspec@v2 --output v2.schema.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("action", choices=("export",), help="what to do: export")
    parser.add_argument(
        "version", nargs="?", default="head", metavar="VERSION", help="v3, family@v3 (default: head)"
    )
    parser.add_argument("--output", metavar="FILE", help="print to a file instead of standard output")


def run(args: argparse.Namespace) -> int:
    """Print the JSON Schema."""
    from evalspec.schema.json_schema import json_schema

    schema = _common.schema_of(_common.find_project(args), args.version)
    _common.write_output(args, _common.dumps(json_schema(schema)))
    return 0
