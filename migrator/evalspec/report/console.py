"""Where text goes: with colours on a terminal, without them anywhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

    import rich.console

Style = Literal["error", "warning", "info", "good", "strong", "faint", "removed", "added"]

_CODES: dict[Style, str] = {
    "error": "31",
    "warning": "33",
    "info": "36",
    "good": "32",
    "strong": "1",
    "faint": "2",
    "removed": "31",
    "added": "32",
}


class Paint(Protocol):
    """Gives a text its style; the text is safe to print already."""

    def __call__(self, text: str, style: Style, /) -> str: ...


def plain(text: str, style: Style, /) -> str:  # noqa: ARG001 - the shape of every paint
    """The paint that leaves a text as it is."""
    return text


def coloured(text: str, style: Style, /) -> str:
    """The paint of a terminal."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text else text


class Console:
    """A stream that people read.

    Args:
        stream: where text goes.
        color: whether colours are wanted; None to decide by `NO_COLOR`, `FORCE_COLOR`, `TERM` and the stream.
        environ: the environment variables; the process's own unless given.

    Attributes:
        is_terminal: whether somebody sits at the other end.
        color: what was decided.
        paint: gives a text its style, or leaves it.
    """

    def __init__(
        self, stream: TextIO, color: bool | None = None, *, environ: Mapping[str, str] | None = None
    ) -> None:
        environ = os.environ if environ is None else environ
        self.stream = stream
        self.is_terminal = _is_terminal(stream)
        dumb = environ.get("TERM") == "dumb"
        if color is None:
            forced = environ.get("FORCE_COLOR", "") not in ("", "0")
            color = not environ.get("NO_COLOR") and (forced or (self.is_terminal and not dumb))
        self.color = color
        self.paint: Paint = coloured if color else plain
        self._rich: rich.console.Console | None = None

    @property
    def width(self) -> int:
        """Columns of the terminal; 100 where there is none."""
        if self.is_terminal:
            try:
                return os.get_terminal_size(self.stream.fileno()).columns or 100
            except (OSError, ValueError):
                pass
        return 100

    def write(self, text: str) -> None:
        """Write a text as it is; what the stream's encoding lacks is written as an escape."""
        try:
            self.stream.write(text)
        except UnicodeEncodeError:
            encoding = self.stream.encoding or "ascii"
            self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def line(self, text: str = "", style: Style | None = None) -> None:
        """Write a text and a line end."""
        self.write((text if style is None else self.paint(text, style)) + "\n")

    def rich(self) -> rich.console.Console | None:
        """The console of rich on the same stream, for tables and bars; None where nobody sits at the other end."""
        if not self.is_terminal:
            return None
        if self._rich is None:
            from rich.console import Console as RichConsole

            self._rich = RichConsole(
                file=self.stream, no_color=not self.color, highlight=False, markup=False, emoji=False
            )
        return self._rich


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
