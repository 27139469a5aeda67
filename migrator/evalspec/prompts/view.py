"""A view: how prompts are shown (design.md, "Words")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspec.prompts.chat import ChatTemplate


@dataclass(frozen=True, slots=True)
class View:
    """How prompts are shown, and which of them.

    Attributes:
        name: what the view is called in reports.
        chat: the chat template, or None for plain text.
        multiturn: under a chat template, each example is a turn of its own; else all are one user message.
        system: a system instruction, put before the task's description.
        shots: the number of examples; None leaves it to the task.
        limit: the row to stop before (a fraction below 1 is a share of the rows, rounded up); None is all.
        rank: which of `world_size` processes this is, from 0.
        world_size: over how many processes the rows are dealt out.
        seed: the seed of the example draws; None leaves it to the task (1234).
        tokenizer_name: the tokenizer's name, which only the request-cache key needs.
    """

    name: str = "plain"
    chat: ChatTemplate | None = None
    multiturn: bool = True
    system: str | None = None
    shots: int | None = None
    limit: int | float | None = None
    rank: int = 0
    world_size: int = 1
    seed: int | None = None
    tokenizer_name: str = ""

    @property
    def as_chat(self) -> bool:
        """Whether a chat template is applied."""
        return self.chat is not None


PLAIN = View()
