"""What a harness would send for one prompt (prompting.md, "Requests")."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from evalspec.prompts.message import ends_with_whitespace
from evalspec.prompts.prompt import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLAIN = frozenset([str, int, float, bool, type(None)])
OUTPUT_TYPES = ("loglikelihood", "multiple_choice", "loglikelihood_rolling", "generate_until")


def continuation_delimiter(target_delimiter: str, gen_prefix: Any, *, chat: bool) -> str:
    """What stands before a scored choice.

    Under a chat template the template parts question and answer, so nothing does, unless the task names a
    generation prefix (its text as written, a template or a column name too) that does not end in white space.
    """
    if chat and (not gen_prefix or ends_with_whitespace(gen_prefix)):
        return ""
    return target_delimiter


def construct_requests(
    output_type: str,
    context: str | Sequence[str],
    *,
    target: Any = None,
    choices: Sequence[Any] | None = None,
    generation: Mapping[str, Any] | None = None,
    delimiter: str = "",
    multiple_input: bool = False,
    mutual_info: bool = False,
    media: Mapping[str, Any] | None = None,
) -> tuple[Request, ...]:
    """The requests of one row.

    Args:
        output_type: what is asked of the model.
        context: the prompt's text; a list of them, one a choice, where the task has several inputs.
        target: the expected answer, as the row has it.
        choices: the texts to choose from.
        generation: the settings of a generation; every request gets a copy of its own.
        delimiter: what `continuation_delimiter` says.
        multiple_input: the choices are in the contexts, and the target is what is scored.
        mutual_info: each choice is scored without a context too.
        media: images and sounds that go with every request.
    """
    contexts: Any = context
    if output_type == "loglikelihood":
        return (Request("loglikelihood", contexts, target, media=media),)
    if output_type == "loglikelihood_rolling":
        return (Request("loglikelihood_rolling", None, target, media=media),)
    if output_type == "generate_until":
        settings = _copied(dict(generation)) if generation is not None else None
        return (Request("generate_until", contexts, generation=settings, media=media),)
    alone = mutual_info or not multiple_input
    told = [f"{delimiter}{choice}" for choice in choices or ()] if alone else []
    if multiple_input:
        said = f"{delimiter}{target}"
        made = [Request("loglikelihood", each, said, None, media) for each in contexts]
    else:
        made = [Request("loglikelihood", contexts, each, None, media) for each in told]
    if mutual_info:
        made += [Request("loglikelihood", "", each, None, media) for each in told]
    return tuple(made)


def _copied(value: Any) -> Any:
    """`copy.deepcopy`, sooner for plain data."""
    kind = type(value)
    if kind is dict:
        return {key: _copied(each) for key, each in value.items()}
    if kind is list:
        return [_copied(each) for each in value]
    return value if kind in _PLAIN else copy.deepcopy(value)
