"""Print each family's newest version, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
heads
heads --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Print the heads."""
    from evalspec.migrate import load_history

    project = _common.find_project(args)
    history = load_history(project.families)
    heads = {name: head for name in project.families.by_name for head in history.heads(name)}
    if args.format == "json":
        _common.write_output(args, _common.dumps(heads))
    else:
        _common.write_output(args, "".join(f"{head}\n" for head in heads.values()))
    return 0
