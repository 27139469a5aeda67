"""Which rows of the pool serve as examples (prompting.md, "Samplers and randomness").

The draws are those of Python's own `random.Random`, in the same order and of the same sizes as the harness makes
them: one generator a task, shared by all its rows in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.prompts.problems import FunctionRef

if TYPE_CHECKING:
    from collections.abc import Sequence

Doc = dict[str, Any]


class ContextSampler:
    """Draws at random, without the row that is being asked about.

    Args:
        df: the pool.
        rnd: the seed; None takes one from the operating system.
    """

    def __init__(self, df: Sequence[Doc] | None = None, *, rnd: int | None = None, **_: Any) -> None:
        self.df: Sequence[Doc] = df or []
        self.set_rnd(rnd)

    def set_rnd(self, rnd: int | None) -> ContextSampler:
        """Begin anew from a seed."""
        import random

        self.rnd = random.Random(rnd)  # noqa: S311 - the harness draws from it, nothing is secret
        return self

    def draw(self, n: int, eval_doc: Doc | None = None) -> list[int]:
        """The positions in the pool of `n` examples, in the order in which they are shown.

        With a row to keep out, one more is drawn, the row's equals are dropped and the first `n` kept; where
        copies of it left too few, the draw is made again from a pool without them.

        Raises:
            AssertionError: the pool is empty.
            ValueError: the pool is too small.
        """
        if n == 0:
            return []
        df = self.df
        if not df:
            raise AssertionError("there are no rows to draw examples from")
        everything = range(len(df))
        if not eval_doc:
            return self.rnd.sample(everything, n)
        drawn = self.rnd.sample(everything, n + 1)
        kept = [at for at in drawn if df[at] != eval_doc][:n]
        if len(kept) < n:
            kept = self.rnd.sample([at for at in everything if df[at] != eval_doc], n)
        return kept

    def sample(self, n: int, eval_doc: Doc | None = None) -> list[Doc]:
        """The examples themselves."""
        return [self.df[at] for at in self.draw(n, eval_doc)]


class FirstNSampler(ContextSampler):
    """Takes the first rows of the pool, without the row that is being asked about. Nothing is random."""

    def draw(self, n: int, eval_doc: Doc | None = None) -> list[int]:
        """The positions of the first `n` rows.

        Raises:
            AssertionError: the pool is too small.
        """
        df = self.df
        if eval_doc is None:
            if n > len(df):
                raise AssertionError(f"{n} examples were asked for, and there are {len(df)}")
            return list(range(n))
        kept: list[int] = []
        for at, row in enumerate(df):
            if row != eval_doc:
                kept.append(at)
                if len(kept) == n:
                    return kept
        if n > len(kept):
            raise AssertionError(f"{n} examples were asked for, and there are {len(kept)}")
        return kept


SAMPLER_REGISTRY: dict[str, type[ContextSampler]] = {"default": ContextSampler, "first_n": FirstNSampler}


def get_sampler(name: str) -> type[ContextSampler]:
    """The sampler of that name.

    Raises:
        KeyError: there is none.
    """
    try:
        return SAMPLER_REGISTRY[name]
    except KeyError:
        raise KeyError(f"no sampler {name!r}; there are {', '.join(SAMPLER_REGISTRY)}") from None


def sampler_class(named: Any) -> Any:
    """The sampler that a task asks for; an `Unknown` where it is a function that was not run.

    Raises:
        KeyError: no sampler of that name.
        TypeError: neither a name nor a class.
    """
    if isinstance(named, FunctionRef):
        return named.unknown("fewshot_config.sampler")
    if isinstance(named, str):
        return get_sampler(named)
    if isinstance(named, type):
        return named
    raise TypeError(f"fewshot_config.sampler must be a name, not {type(named).__name__}")
