"""Writing files so that no crash loses one: what the rest of the tool may call.

* `Run`: prepare files, then put them in place together, under the folder's guard and with a journal;
  `PendingFile`, `Identity`, `identify`, `Written`, `PartlyWritten`, `open_part`, `PartWriter`, `run_folder` go with it.
* `write_file`: one whole file, as a run of its own.
* `pending`: is there a run in this folder that did not end (`PendingRun`)? One system call where there is none.
  `pending_above` asks for the folders of files and those above, `pending_below` for a folder and those below.
* `recover`: finish it, or take it back; `Recovery` says what was done.
* `interruptible`, `Terminated`, `held`, `import_held`: SIGINT and SIGTERM.
* `is_ours`: whether a file name is one of a run's own.

Each is imported when it is first asked for: a command that only reads pays for `pending` and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec._lazy import lazily

if TYPE_CHECKING:
    from evalspec.writing.convenience import PartWriter, open_part, run_folder, write_file
    from evalspec.writing.guard import Guard
    from evalspec.writing.journal import Atomic, Holder
    from evalspec.writing.names import JOURNAL, is_ours
    from evalspec.writing.outcome import PartlyWritten, Written
    from evalspec.writing.pending_run import PendingRun, pending, pending_above, pending_below
    from evalspec.writing.recovery import Recovery, recover
    from evalspec.writing.replace import Run
    from evalspec.writing.signals import Terminated, held, import_held, interruptible
    from evalspec.writing.temp import Identity, PendingFile, identify

_HOME = {
    "JOURNAL": "names",
    "Atomic": "journal",
    "Guard": "guard",
    "Holder": "journal",
    "Identity": "temp",
    "PartWriter": "convenience",
    "PartlyWritten": "outcome",
    "PendingFile": "temp",
    "PendingRun": "pending_run",
    "Recovery": "recovery",
    "Run": "replace",
    "Terminated": "signals",
    "Written": "outcome",
    "held": "signals",
    "identify": "temp",
    "import_held": "signals",
    "interruptible": "signals",
    "is_ours": "names",
    "open_part": "convenience",
    "pending": "pending_run",
    "pending_above": "pending_run",
    "pending_below": "pending_run",
    "recover": "recovery",
    "run_folder": "convenience",
    "write_file": "convenience",
}

__getattr__ = lazily(__name__, _HOME)


__all__ = [
    "JOURNAL",
    "Atomic",
    "Guard",
    "Holder",
    "Identity",
    "PartWriter",
    "PartlyWritten",
    "PendingFile",
    "PendingRun",
    "Recovery",
    "Run",
    "Terminated",
    "Written",
    "held",
    "identify",
    "import_held",
    "interruptible",
    "is_ours",
    "open_part",
    "pending",
    "pending_above",
    "pending_below",
    "recover",
    "run_folder",
    "write_file",
]
