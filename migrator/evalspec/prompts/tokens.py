"""Where a tokenizer cuts a prompt, and the joins that it does not cut at (extra `[tokens]`).

The same bytes can be scored as other tokens: a token may reach over the end of a part, and a harness moves the white
space that ends a context to the front of the continuation (prompting.md, "Requests"). That is shown here, and is no
change of a prompt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import UsageError, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalspec.prompts.lines import Line
    from evalspec.prompts.view import View

#: A token's first code point, and the one behind its last, from 0.
Span = tuple[int, int]

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer of this machine.

    Attributes:
        path: its `tokenizer.json`, as it was named.
        encode: the spans of a text's tokens, in order.
    """

    path: str
    encode: Callable[[str], Sequence[Span]]


class Join(NamedTuple):
    """The end of one part and the start of the next.

    Attributes:
        at: where in the text, from 0, in code points.
        before: the kind of the part that ends.
        after: the kind of the part that begins.
        moved: a token covers both sides, so neither part is read as it would be alone.
    """

    at: int
    before: str
    after: str
    moved: bool


class Seam(NamedTuple):
    """Where a scored continuation begins, in the text of its context and itself.

    Attributes:
        at: where the harness parts the two, from 0, in code points: before the white space that ends the context.
        moved: that is not where the context ends, or a token covers both sides.
        boundaries: where the continuation is cut, from its own start.
    """

    at: int
    moved: bool
    boundaries: tuple[int, ...]


def load_tokenizer(path: str) -> Tokenizer:
    """A tokenizer from a local `tokenizer.json`. Nothing is downloaded.

    Special tokens are not added, and neither a limit of length nor a padding that the file asks for is applied: a
    prompt is cut as a harness would cut it.

    Raises:
        UsageError: the `tokenizers` package is not installed, or the file cannot be read or is no tokenizer.
    """
    try:
        import tokenizers
    except ImportError:
        raise UsageError(
            "showing tokens needs the tokenizers package", fix="pip install 'evalspec-migrator[tokens]'"
        ) from None
    try:
        made = tokenizers.Tokenizer.from_str(_untrimmed(path))
    except OSError as problem:
        raise UsageError(
            f"cannot read {visible(path)}: {problem.strerror}", fix="name a tokenizer.json"
        ) from None
    except Exception as problem:  # noqa: BLE001 - the library raises nothing more exact
        raise UsageError(
            f"{visible(path)} is no tokenizer.json: {visible(str(problem))}",
            fix="name the tokenizer.json of a model, as the tokenizers library writes it",
        ) from None
    made.no_truncation()
    made.no_padding()

    def encode(text: str) -> Sequence[Span]:
        whole = _SURROGATE.sub("\ufffd", text)  # which is as long, and can be encoded
        spans: Sequence[Span] = made.encode(whole, add_special_tokens=False).offsets
        return spans

    return Tokenizer(path, encode)


def _untrimmed(path: str) -> str:
    """A tokenizer file that counts the white space of a token as part of it, as the token itself does.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not JSON.
    """
    import json

    def untrim(value: dict[str, Any]) -> dict[str, Any]:
        return {**value, "trim_offsets": False} if "trim_offsets" in value else value

    with open(path, "rb") as file:
        return json.dumps(json.loads(file.read(), object_hook=untrim))


def boundaries(spans: Iterable[Span], length: int) -> tuple[int, ...]:
    """Where a text of that length is cut, its two ends left out."""
    return tuple(sorted({at for span in spans for at in span if 0 < at < length}))


def joins(parts: Sequence[tuple[str, str]], spans: Iterable[Span]) -> list[Join]:
    """Every join of parts, given by kind and text, whose text together has these tokens."""
    inside = _inside(spans)
    out, at = [], 0
    for (before, text), (after, _) in pairwise(parts):
        at += len(text)
        out.append(Join(at, before, after, at in inside))
    return out


def seam(context: str, continuation: str, encode: Callable[[str], Sequence[Span]]) -> Seam:
    """How a continuation is cut behind its context."""
    start, at = len(context), len(context.rstrip())
    spans = encode(context + continuation)
    behind = boundaries([(left - start, right - start) for left, right in spans], len(continuation))
    return Seam(at, at != start or at in _inside(spans), behind)


def _inside(spans: Iterable[Span]) -> set[int]:
    """The places that lie inside of a token."""
    return {at for start, end in spans for at in range(start + 1, end)}


def token_teller(views: Iterable[View]) -> Callable[[Line], Line] | None:
    """What gives a line of a view with a tokenizer `tokens`, which say how its prompt is cut; None without any."""
    tokenizers = {view.name: view.tokenizer for view in views if view.tokenizer is not None}

    def tell(line: Line) -> Line:
        tokenizer = tokenizers.get(line.data["view"])
        if tokenizer is None or line.data.get("parts") is None:
            return line
        return line._replace(data={**line.data, "tokens": cuts(line.data, tokenizer.encode)})

    return tell if tokenizers else None


def cuts(data: Mapping[str, Any], encode: Callable[[str], Sequence[Span]]) -> dict[str, Any]:
    """How the prompt of a line of `evalspec render --format json` is cut.

    Returns:
        `boundaries`, where the text is cut (a list of them for each context, where there are several); `joins`, those
        of the parts; `requests`, for each request the seam of its continuation, or None where nothing is scored.
    """
    text = data["text"]
    spans = [encode(each) for each in ([text] if isinstance(text, str) else text)]
    lengths = [len(text)] if isinstance(text, str) else [len(each) for each in text]
    places = [list(boundaries(each, length)) for each, length in zip(spans, lengths, strict=True)]
    parts = [(part["kind"], part["text"]) for part in data["parts"]]
    scored: list[dict[str, Any] | None] = []
    for request in data["requests"] or ():
        continuation = request.get("continuation")
        if isinstance(continuation, str):
            found = seam(request["context"] or "", continuation, encode)
            scored.append({**found._asdict(), "boundaries": list(found.boundaries)})
        else:
            scored.append(None)
    return {
        "boundaries": places[0] if isinstance(text, str) else places,
        "joins": [join._asdict() for join in joins(parts, spans[0])],
        "requests": scored,
    }
