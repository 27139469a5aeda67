"""Runs one command: finds its module, parses its arguments, turns what it raises into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from evalspec.errors import BrokenPromise, EvalspecError, FindingsError, did_you_mean, visible

if TYPE_CHECKING:
    from types import ModuleType

INTERNAL_ERROR, TERMINATED, BROKEN_PIPE = 3, 143, 141


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, found without `shutil`: argparse makes one of these for every flag it is told."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns
        except (ValueError, OSError):
            width = 80
        super().__init__(prog, width=width - 2)


class Parser(argparse.ArgumentParser):
    """argparse, with a suggestion for a misspelt flag and no guessing of shortened ones."""

    def __init__(self, name: str, *, description: str, examples: str) -> None:
        shown = "".join(f"  evalspec {line}\n" for line in examples.strip().splitlines())
        super().__init__(
            prog=f"evalspec {name}",
            description=description,
            epilog=f"examples:\n{shown}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        self._given: list[str] = []

    def all_actions(self) -> list[argparse.Action]:
        """Every flag and argument, in order."""
        return list(self._actions)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and remember what was given for `error`; `after_dashes` is what stands behind `--`, if one does."""
        self._given = list(args or ())
        split = self._given.index("--") if "--" in self._given else None
        after_dashes = self._given[split + 1 :] if split is not None else None
        parsed, left = self.parse_known_args(args, namespace)
        self._take_left(parsed, left, after_dashes or [])
        parsed.after_dashes = after_dashes
        return parsed

    def _take_left(self, parsed: argparse.Namespace, left: list[str], after_dashes: list[str]) -> None:
        """Give the words behind a flag to the argument that takes any number of words.

        argparse gives it those of one place only: of `task NAME --prompt PATH`, none.
        """
        several = next(
            (each for each in self._actions if not each.option_strings and each.nargs in ("*", "+")), None
        )
        free = len(after_dashes) if left[len(left) - len(after_dashes) :] == after_dashes else 0
        words = [word for word in left[: len(left) - free] if word != "--"]
        if words and (several is None or any(word.startswith("-") for word in words)):
            self.error(f"unrecognized arguments: {' '.join(words)}")
        if several is not None and left:
            took = getattr(parsed, several.dest) or []
            setattr(parsed, several.dest, [*took, *words, *left[len(left) - free :]])

    def error(self, message: str) -> NoReturn:
        """Print the message, and the flag or word that was perhaps meant; exit 2."""
        hint = ""
        if choice := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            hint = did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
        else:
            known = list(self._option_string_actions)
            given = [word.partition("=")[0] for word in self._given if word.startswith("-")]
            hint = next(
                (near for word in given if word not in known and (near := did_you_mean(word, known))), ""
            )
        sys.stderr.write(f"{self.prog}: {visible(message)}\n")
        sys.stderr.write(f"    fix: {hint or f'`{self.prog} --help` shows what it takes'}\n")
        raise SystemExit(2)


def build_parser(name: str, module: ModuleType) -> Parser:
    """A command's parser: its own arguments, and those that every command takes."""
    parser = Parser(name, description=module.__doc__ or "", examples=module.EXAMPLES)
    module.add_arguments(parser)
    everywhere = parser.add_argument_group("with every command")
    everywhere.add_argument("-q", "--quiet", action="store_true", help="print results and errors only")
    everywhere.add_argument("-v", "--verbose", action="store_true", help="print more")
    everywhere.add_argument(
        "--config", metavar="FILE", help="the configuration (default: the nearest upwards)"
    )
    return parser


def load_command(name: str) -> ModuleType:
    """The module of a command.

    Raises:
        SystemExit: there is no such command.
    """
    from importlib import import_module

    from evalspec.cli import COMMANDS

    if name not in COMMANDS:
        hint = did_you_mean(name, list(COMMANDS)) or "`evalspec --help` lists the commands"
        what = "flag" if name.startswith("-") else "command"
        sys.stderr.write(f"evalspec: no {what} {visible(name)!r}\n    fix: {hint}\n")
        raise SystemExit(2)
    return import_module(f"evalspec.cli.{name.replace('-', '_')}")


def run(name: str, arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    from evalspec.writing import Terminated, interruptible

    try:
        module = load_command(name)
        args = build_parser(name, module).parse_args(arguments)
        with interruptible():
            code: int = module.run(args)
            sys.stdout.flush()
            return code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except FindingsError as error:
        return _tell_findings(error)
    except EvalspecError as error:
        return _tell(error)
    except Terminated:
        sys.stderr.write("evalspec: terminated; every file is whole\n")
        return TERMINATED
    except BrokenPipeError:
        # Whoever read our output has gone. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception:  # noqa: BLE001 - the last stop: a fault of ours, told so that it can be reported
        return _tell_fault(name, arguments)


def _tell(error: EvalspecError) -> int:
    sys.stderr.write(f"evalspec: {error}\n")
    for note in getattr(error, "__notes__", ()):
        sys.stderr.write(f"    {note}\n")
    if error.fix:
        sys.stderr.write(f"    fix: {error.fix}\n")
    return error.exit_code


def _tell_findings(error: FindingsError) -> int:
    from evalspec.report import Console, finding_text

    console = Console(sys.stderr)
    for finding in error.findings[:50]:
        console.write(finding_text(finding, paint=console.paint))
    if len(error.findings) > 50:
        console.line(f"… and {len(error.findings) - 50} more")
    if isinstance(error, BrokenPromise):
        from evalspec.migrate.rendering import PromptChanged
        from evalspec.report.version_diff import shown_difference

        if isinstance(error, PromptChanged):
            console.write(shown_difference(error.before, error.after, paint=console.paint))
    return _tell(error)


def _tell_fault(name: str, arguments: list[str]) -> int:
    """An error nobody foresaw, with all that a report of it needs."""
    import platform
    import traceback

    from evalspec._version import __version__

    words = " ".join(map(visible, [name, *arguments]))
    sys.stderr.write(
        "evalspec: internal error. No file was left half-written. Please report it with the lines below.\n\n"
        f"evalspec {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"evalspec {words}\n{traceback.format_exc()}"
    )
    return INTERNAL_ERROR
