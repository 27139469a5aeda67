"""Run a post-process rule on standard input and print what it makes of it, with no line end added."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common, _output
from evalspec.errors import FormatError

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
post-process extract_letter < generation.txt
post-process extract_letter --schema v1 < generation.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("rule", metavar="RULE", help="the rule's name, as in a record's `post_process`")
    parser.add_argument(
        "--schema", default="head", metavar="VERSION", help="whose rule: v2, family@v2 (default: head)"
    )
    parser.add_argument("--output", metavar="FILE", help="print to a file instead of standard output")


def run(args: argparse.Namespace) -> int:
    """Read, apply the rule, print."""
    project = _common.find_project(args)
    schema = _common.schema_of(project, args.schema)
    schema.post_process("", args.rule)  # an unknown rule is told before anything is read
    if not args.quiet:
        sys.stderr.write(f"{args.rule} of {schema.id}\n")
    data = sys.stdin.buffer.read()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        start = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[start : error.start].decode()) + 1
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8 here"
        raise FormatError("bad_encoding", message, line=line, column=column, fix="give it UTF-8") from None
    with _output.byte_sink(args) as write:
        write(schema.post_process(text, args.rule).encode())
    return 0
