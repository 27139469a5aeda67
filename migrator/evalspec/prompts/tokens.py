"""Where a tokenizer cuts a prompt, and the joins at which it cuts elsewhere than the parts end (extra `[tokens]`).

The same bytes can be scored as other tokens: a harness cuts context and continuation apart, or moves the space that
ends the one to the front of the other. That is shown here, and is no change of a prompt.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalspec.prompts.prompt import Part

Span = tuple[int, int]
Encode = "Callable[[str], list[Span]]"


class Join(NamedTuple):
    """The end of one part and the start of the next.

    Attributes:
        at: where in the text, from 0, in code points.
        before: the kind of the part that ends.
        after: the kind of the part that begins.
        moved: a token covers both sides, so the part's last characters are not read as they are alone.
    """

    at: int
    before: str
    after: str
    moved: bool


def load_tokenizer(path: str) -> Callable[[str], list[Span]]:
    """A function from a text to its tokens' spans, from a local `tokenizer.json`. Nothing is downloaded.

    Raises:
        UsageError: the `tokenizers` package is not installed, or the file is no tokenizer.
    """
    if find_spec("tokenizers") is None:
        raise UsageError("showing tokens needs the tokenizers package", fix="pip install 'evalspec[tokens]'")
    try:
        tokenizer = import_module("tokenizers").Tokenizer.from_file(path)
    except Exception as problem:  # noqa: BLE001 - the library raises nothing more exact
        raise UsageError(f"{visible(path)} is no tokenizer.json: {problem}") from None

    def encode(text: str) -> list[Span]:
        return [(start, end) for start, end in tokenizer.encode(text, add_special_tokens=False).offsets]

    return encode


def joins(parts: Iterable[Part], encode: Callable[[str], list[Span]]) -> list[Join]:
    """Every join of a prompt's parts, and whether a token reaches over it."""
    told = list(parts)
    spans = encode("".join(part.text for part in told))
    inside = {at for start, end in spans for at in range(start + 1, end)}
    out, at = [], 0
    for before, after in pairwise(told):
        at += len(before.text)
        out.append(Join(at, before.kind, after.kind, at in inside))
    return out


def scored_apart(context: str, continuation: str, encode: Callable[[str], list[Span]]) -> bool:
    """Whether a continuation is cut into other tokens alone than behind its context."""
    start = len(context)
    whole = [(left - start, right - start) for left, right in encode(context + continuation) if right > start]
    return whole != encode(continuation)
