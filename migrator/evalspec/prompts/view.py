"""A view: how prompts are shown (design.md, "Words")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalspec.errors import UsageError, did_you_mean, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalspec.prompts.chat import ChatTemplate
    from evalspec.prompts.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class View:
    """How prompts are shown, and which of them.

    Attributes:
        name: what the view is called in reports; with several processes it says which one is meant.
        chat: the chat template, or None for plain text.
        multiturn: under a chat template, each example is a turn of its own; else all are one user message.
        system: a system instruction, put before the task's description.
        shots: the number of examples; None leaves it to the task.
        limit: the row to stop before (a fraction below 1 is a share of the rows, rounded up); None is all.
        rank: which of `world_size` processes this is, from 0.
        world_size: over how many processes the rows are dealt out.
        seed: the seed of the example draws; None leaves it to the task (1234).
        tokenizer_name: the tokenizer's name, which only the request-cache key needs.
        tokenizer: shows where the text is cut into tokens; no part of what is shown.
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
    tokenizer: Tokenizer | None = None

    @property
    def as_chat(self) -> bool:
        """Whether a chat template is applied."""
        return self.chat is not None


PLAIN = View()

#: The keys of `[tool.evalspec.views.<name>]`, and what each must be.
_SETTINGS: dict[str, tuple[type, ...]] = {
    "shots": (int,),
    "chat": (str,),
    "single_turn": (bool,),
    "system": (str,),
    "limit": (int, float),
    "rank": (int,),
    "world_size": (int,),
    "seed": (int,),
    "tokenizer_name": (str,),
    "tokenizer": (str,),
}


def view_of_settings(
    name: str, settings: Mapping[str, Any], read: Callable[[str], bytes | None] | None = None
) -> View:
    """A view from its settings in a project's configuration, or from flags of the same names.

    Args:
        name: what the view is called.
        settings: `shots`, `chat`, `single_turn`, `system`, `limit`, `rank`, `world_size`, `seed`, `tokenizer_name`,
            `tokenizer`.
        read: reads a chat template's file; the file system by default.

    Raises:
        UsageError: an unknown key, a value of the wrong kind or out of range, no such chat template, no tokenizer.
    """
    from evalspec.prompts.chat import chat_template

    for key, value in settings.items():
        kinds = _SETTINGS.get(key)
        if kinds is None:
            raise UsageError(
                f"view {visible(name)} has no setting {visible(key)!r}",
                fix=did_you_mean(key, list(_SETTINGS)) or f"its settings are: {', '.join(_SETTINGS)}",
            )
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise UsageError(f"view {visible(name)}: {key} must be {wanted}, not {value!r}")
        if isinstance(value, int | float) and value < 0 and key != "seed":
            raise UsageError(f"view {visible(name)}: {key} must not be negative")
    values = dict(settings)
    multiturn = not values.pop("single_turn", False)
    chat = values.pop("chat", None)
    tokenizer = values.pop("tokenizer", None)
    made = View(name, chat_template(chat, read) if chat is not None else None, multiturn, **values)
    if made.world_size < 1 or made.rank >= made.world_size:
        raise UsageError(
            f"view {visible(name)}: rank {made.rank} is none of {made.world_size} processes",
            fix="ranks are counted from 0; say of how many processes with --world-size",
        )
    if made.world_size > 1:
        # In lm-eval the examples of a row depend on the rank, so its view is another.
        made = replace(made, name=f"{name}, rank {made.rank} of {made.world_size}")
    if tokenizer is None:
        return made
    from evalspec.prompts.tokens import load_tokenizer

    return replace(made, tokenizer=load_tokenizer(tokenizer))
