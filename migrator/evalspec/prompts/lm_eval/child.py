"""The process that runs a tree's Python functions; started by `trust`, one message a task on standard input."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Serve tasks until standard input ends.

    Lines go to the real standard output, an empty one after each task; what the functions print themselves goes
    nowhere.
    """
    setup = json.loads(sys.argv[1])
    sys.setrecursionlimit(5000)
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    # Loaded before anything is given up: they open what they need when they are imported.
    from evalspec.prompts.lm_eval.child_limits import confine
    from evalspec.prompts.lm_eval.child_render import TrustedTree

    tree = TrustedTree(setup)
    confine(setup["memory"], setup["scratch"])
    for line in sys.stdin.buffer:
        for row in tree.render(json.loads(line)):
            out.write(_line(row) + b"\n")
        out.write(b"\n")
        out.flush()


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


if __name__ == "__main__":
    main()
