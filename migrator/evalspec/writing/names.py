"""What a run's own files are called."""

from __future__ import annotations

PREFIX = ".evalspec-"
JOURNAL = f"{PREFIX}journal"
GUARD = f"{PREFIX}guard"
#: A backup that is being copied.
BACKUP = f"{PREFIX}backup"


def temp_name(token: str, index: int, kind: str) -> str:
    """The name of a temp: `kind` is `new` (the file to be), `old` (the file that was) or `partN`."""
    return f"{PREFIX}{token}-{index}.{kind}"


def is_ours(name: str) -> bool:
    """Whether a file of this name is a run's own (a journal, guard or temp), never a task file."""
    return name.startswith(PREFIX)
