"""Write the findings that there are now to a file: `evalspec check` then fails on new ones only.

It is told to do so by --baseline FILE, or by `baseline = "FILE"` in the configuration. A finding is known again by its
rule, file, task, field and sentence, not by its line.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common, _gate, check
from evalspec.errors import counted

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
baseline
baseline --output old.jsonl lm_eval/tasks
"""

_NAME = "evalspec-baseline.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments: those of `check`."""
    check.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Check, and write what was found."""
    from evalspec.check.choose import baseline_text

    args.baseline = None
    found = _gate.checked(args, with_baseline=False).findings
    path = args.output or _NAME
    _common.write_to(path, baseline_text(found))
    sys.stdout.write(f"{path}: {counted(len(found), 'finding')}\n")
    return 0
