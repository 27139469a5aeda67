"""What came of a run, file by file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import WriteError
from evalspec.writing import _os

if TYPE_CHECKING:
    from types import TracebackType

    from evalspec.writing.journal import Atomic
    from evalspec.writing.temp import PendingFile


class Written(NamedTuple):
    """What a run did.

    Attributes:
        paths: the files that have their new bytes, as they were named.
        refused: why others were not replaced (only with `atomic="file"`); their old bytes are intact.
        backups: for each replaced file, where its copy is; empty unless backups were asked for.
    """

    paths: tuple[str, ...] = ()
    refused: tuple[WriteError, ...] = ()
    backups: tuple[tuple[str, str], ...] = ()


class PartlyWritten(WriteError):
    """Some files were replaced, others refused; `written` says which. Each of them is whole."""

    def __init__(self, written: Written) -> None:
        self.written = written
        first = written.refused[0]
        more = f" (and {len(written.refused) - 1} more were refused)" if len(written.refused) > 1 else ""
        super().__init__(first.path, f"{first.reason}{more}", fix=first.fix)


class Refusal:
    """With `atomic="file"`: what is raised within is kept for the end, and the other files go on."""

    def __init__(self, atomic: Atomic, file: PendingFile, refused: dict[int, WriteError]) -> None:
        self.atomic = atomic
        self.file = file
        self.refused = refused

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, OSError):
            error = _os.refusal(self.file.target.given, error)
            if self.atomic == "run":
                raise error
        if not isinstance(error, WriteError) or self.atomic == "run":
            return False
        self.refused[self.file.target.number] = error
        return True
