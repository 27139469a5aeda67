"""Which rows are rendered, and which examples each is shown (prompting.md, "Samplers and randomness")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.prompts.problems import Unknown
from evalspec.prompts.samplers import ContextSampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.prompts.config import FewshotConfig, TaskConfig
    from evalspec.prompts.view import View

Doc = dict[str, Any]


class RowOrder:
    """A task's rows and pool, seen as a sequence of draws.

    Attributes:
        config: the task's settings.
        few: its few-shot settings.
        docs: the evaluated rows.
        pool: the rows that can serve as examples, or why they cannot be known.
        sampler_of: the sampler's class, or why it cannot be known.
        made_up: the pool is made up, so no row of it gives anything away.
        global_draws: examples are drawn over all rows in order, whatever the rank.
    """

    config: TaskConfig
    few: FewshotConfig
    docs: Sequence[Doc]
    pool: Sequence[Doc] | Unknown
    sampler_of: Any
    global_draws: bool
    made_up: bool

    def num_fewshot(self, view: View) -> int:
        """How many examples are shown: the view's number, unless the task insists on none; else the task's."""
        own = self.config.num_fewshot
        if view.shots is not None and own != 0:
            return view.shots
        return own or 0

    def doc_iterator(self, view: View) -> Iterator[tuple[int, Doc]]:
        """The rows that this rank renders, with their numbers."""
        from itertools import islice

        return islice(enumerate(self.docs), view.rank, self.stop(view), view.world_size)

    def stop(self, view: View) -> int | None:
        """The row to stop before. A limit below 1 is a share of the rows; 0 stops the harness nowhere."""
        limit = view.limit
        if limit is None or (limit == 0 and not self.global_draws):
            return None
        if limit < 1:
            from math import ceil

            return ceil(len(self.docs) * limit)
        return int(limit)

    def draws(self, view: View) -> Iterator[tuple[int, Doc, tuple[int, ...] | Exception]]:
        """This rank's rows, each with the positions of its examples in the pool.

        In place of the positions stands what keeps them from being known, or the error of the draw (the pool is
        empty or too small), which is the last.
        """
        count = self.num_fewshot(view)
        pool = self.pool
        if count <= 0 or isinstance(pool, Unknown) or isinstance(self.sampler_of, Unknown):
            lacking = pool if isinstance(pool, Unknown) else self.sampler_of
            nothing = lacking if count > 0 and isinstance(lacking, Unknown) else ()
            for number, doc in self.doc_iterator(view):
                yield number, doc, nothing
            return
        seed = self.config.fewshot_seed if view.seed is None else view.seed
        sampler = self.sampler_of(pool, rnd=None)
        sampler.set_rnd(seed)
        draw = _draw_of(sampler)
        guarded = self.few.split == self.config.test_split and not self.made_up
        stop = self.stop(view)
        rows = enumerate(self.docs) if self.global_draws else self.doc_iterator(view)
        for number, doc in rows:
            if self.global_draws and stop is not None and number >= stop:
                return
            try:
                drawn = tuple(draw(count, doc if guarded else None))
            except Exception as problem:  # noqa: BLE001 - whatever the harness would raise is an answer
                yield number, doc, problem
                return
            if not self.global_draws or number % view.world_size == view.rank:
                yield number, doc, drawn


def _draw_of(sampler: Any) -> Callable[[int, Doc | None], Sequence[int]]:
    """A function that draws positions; a sampler of the task's own gives rows, which are looked up."""
    if isinstance(sampler, ContextSampler):
        return sampler.draw

    def draw(count: int, doc: Doc | None) -> list[int]:
        pool = list(sampler.df)
        return [
            next(
                (at for at, row in enumerate(pool) if row is drawn),
                pool.index(drawn) if drawn in pool else -1,
            )
            for drawn in sampler.sample(n=count, eval_doc=doc)
        ]

    return draw
