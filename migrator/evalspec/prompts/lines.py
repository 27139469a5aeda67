"""One printed line of `evalspec render`, of whatever kind of task, and how it is made.

Inline tasks, template tasks and trees of lm-eval YAML come down to the same keys, so that whoever reads the lines
need not know which is which.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.prompts.tasks import RowOptions
from evalspec.prompts.view import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalspec.errors import Finding
    from evalspec.prompts.prompt import Prompt
    from evalspec.prompts.render import RenderedRow
    from evalspec.prompts.view import View
    from evalspec.prompts.write_out import Scored


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the tasks is to be rendered, and how.

    Attributes:
        views: each task is shown under each.
        tasks: names and patterns; all tasks where there are none.
        rows: where the rows of template tasks come from.
        parts: also take texts apart; without, a line may have its text alone.
        finish: what is done to each line by the process that makes it.
    """

    views: tuple[View, ...] = (PLAIN,)
    tasks: tuple[str, ...] = ()
    rows: RowOptions = field(default_factory=RowOptions)
    parts: bool = True
    finish: Callable[[Line], Line] | None = None

    def finished(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines with that done to each."""
        return iter(lines) if self.finish is None else map(self.finish, lines)


class Line(NamedTuple):
    """One line.

    Attributes:
        data: the line as JSON.
        findings: what there is to report of it.
        notes: what its reader should be told once.
        encoded: the line as it is printed, where that has been made already.
    """

    data: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    encoded: bytes | None = None

    @property
    def task(self) -> str:
        """The task's name."""
        return str(self.data["task"])

    @property
    def texts(self) -> tuple[str, ...]:
        """The prompt; several where each choice is a context of its own, none where it is not known."""
        text = self.data.get("text")
        return () if text is None else (text,) if isinstance(text, str) else tuple(text)

    @property
    def failed(self) -> bool:
        """Whether there is an error among the findings."""
        return any(finding.severity == "error" for finding in self.findings)


def line_of(
    row: RenderedRow, path: str, number: int, schema: str, findings: tuple[Finding, ...] = ()
) -> Line:
    """The line of a rendered row of the task at `path`, line `number`."""
    said = row.to_dict()
    return Line({"path": path, "line": number, **said, "schema": schema}, findings, row.label.notes)


def prompt_of(data: dict[str, Any]) -> Prompt | None:
    """The prompt that a line holds, as far as a report on it needs: its parts and its requests."""
    from evalspec.prompts.prompt import Part, Prompt, Request

    if data.get("requests") is None:
        return None
    return Prompt(
        text=data["text"] if isinstance(data["text"], str) else tuple(data["text"]),
        messages=(),
        parts=tuple([Part(part["kind"], part["text"]) for part in data["parts"]]),
        requests=tuple(
            [
                Request(each["type"], each["context"], each.get("continuation"), each.get("generation"))
                for each in data["requests"]
            ]
        ),
        output_type=data["output_type"],
    )


def scored_of(data: dict[str, Any]) -> list[Scored]:
    """The pairs that a line's prompt is scored by, each compared with what is shown."""
    from evalspec.prompts.render import RenderedRow, TaskLabel
    from evalspec.prompts.write_out import write_out

    label = TaskLabel(data["task"], data["schema"], data["version"])
    return write_out(RenderedRow(label, data["row"], data["view"], prompt_of(data)))
