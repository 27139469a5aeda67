"""Print a completion script for a shell; `eval` or source it where the shell starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
completion bash >> ~/.bash_completion
completion zsh > ~/.zfunc/_evalspec
completion fish > ~/.config/fish/completions/evalspec.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    parser.add_argument("--output", metavar="FILE", help="print to a file instead of standard output")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from evalspec.cli._completion import completion, read_commands

    _common.write_output(args, completion(args.shell, read_commands()))
    return 0
