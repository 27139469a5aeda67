"""What an edit of a YAML file is asked for, and what cannot be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import EvalspecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.formats.edits import Edit
    from evalspec.formats.yaml.records import RecordKey

    Changes = Sequence[tuple[RecordKey, Sequence[Edit]]]

_FIX = "run it with --reformat: this one file is then laid out anew, its comments kept"


class Unwritable(ValueError):
    """A value that YAML has no way to hold, or that no reader of ours would take back."""


class EditRefused(EvalspecError):
    """A file that cannot be edited in place. Nothing was written.

    Attributes:
        reason: why, one sentence.
        key: the record at which the change got stuck, where one is known.
        line: where it got stuck, from 1.
        column: from 1, in code points.
    """

    exit_code = 1

    def __init__(
        self, reason: str, *, line: int = 1, column: int = 1, key: RecordKey | None = None, fix: str = _FIX
    ) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        self.key = key
        super().__init__(f"{line}:{column} not edited: {reason}", fix=fix)
