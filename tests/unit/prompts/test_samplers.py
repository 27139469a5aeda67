"""The draws of examples are Python's own, in the harness's order (prompting.md, "Samplers and randomness")."""

from __future__ import annotations

import random

import pytest

from evalspec.prompts.config import task_config
from evalspec.prompts.samplers import SAMPLER_REGISTRY, ContextSampler, FirstNSampler, get_sampler
from evalspec.prompts.sandbox import Sandbox
from evalspec.prompts.template import TemplateTask
from evalspec.prompts.view import View

POOL = [{"id": number} for number in range(30)]


@pytest.mark.parametrize("n", [1, 5, 6, 21])
def test_a_draw_is_a_plain_sample(n: int) -> None:
    assert ContextSampler(POOL).set_rnd(1234).sample(n) == random.Random(1234).sample(POOL, n)


def test_with_a_row_to_keep_out_one_more_is_drawn() -> None:
    drawn = random.Random(7).sample(POOL, 4)
    for row in (drawn[0], drawn[3], {"id": "elsewhere"}):
        kept = [each for each in drawn if each != row][:3]
        assert ContextSampler(POOL, rnd=7).sample(3, row) == kept


def test_copies_of_the_row_make_a_second_draw() -> None:
    pool = [{"id": 0}] * 8 + [{"id": 1}, {"id": 2}]
    made = ContextSampler(pool).set_rnd(1).sample(2, {"id": 0})
    generator = random.Random(1)
    generator.sample(pool, 3)
    assert made == generator.sample([{"id": 1}, {"id": 2}], 2)


def test_a_pool_that_is_empty_or_too_small() -> None:
    with pytest.raises(AssertionError):
        ContextSampler([]).sample(1)
    with pytest.raises(ValueError, match="larger than population"):
        ContextSampler(POOL).sample(30, POOL[0])
    with pytest.raises(AssertionError):
        FirstNSampler(POOL).sample(30, POOL[0])


def test_the_first_rows_without_the_row_itself() -> None:
    sampler = FirstNSampler(POOL)
    assert sampler.draw(2) == [0, 1]
    assert sampler.draw(2, POOL[0]) == [1, 2]
    assert sampler.draw(2, {"id": "elsewhere"}) == [0, 1]


def test_the_names() -> None:
    assert {"default": ContextSampler, "first_n": FirstNSampler} == SAMPLER_REGISTRY
    with pytest.raises(KeyError):
        get_sampler("balanced")


SETTINGS = {
    "test_split": "test",
    "fewshot_split": "train",
    "doc_to_text": "{{id}}",
    "doc_to_target": "x",
    "num_fewshot": 3,
}


def shots(view: View, *, ours: bool) -> dict[int, tuple[int, ...]]:
    docs = [{"id": f"doc {number}"} for number in range(9)]
    task = TemplateTask(task_config(SETTINGS), docs, ["id"], POOL, Sandbox(), global_draws=ours)
    return {number: drawn for number, _, drawn in task.draws(view) if isinstance(drawn, tuple)}


def test_a_row_of_a_rank_has_the_draws_of_that_rank() -> None:
    generator = random.Random(1234)
    expected = {number: tuple(generator.sample(range(30), 3)) for number in (1, 3, 5, 7)}
    assert shots(View(rank=1, world_size=2), ours=False) == expected


def test_a_row_of_our_family_has_the_same_examples_for_any_number_of_machines() -> None:
    alone = shots(View(), ours=True)
    spread = {}
    for rank in range(3):
        spread |= shots(View(rank=rank, world_size=3), ours=True)
    assert spread == alone
    assert alone == shots(View(), ours=False)


def test_a_limit_is_a_stop_and_a_share() -> None:
    assert list(shots(View(limit=4, rank=1, world_size=2), ours=False)) == [1, 3]
    assert list(shots(View(limit=0.3), ours=False)) == [0, 1, 2]
    assert list(shots(View(limit=0), ours=True)) == []


def test_none_is_firm() -> None:
    docs = [{"id": "a"}]
    task = TemplateTask(task_config({**SETTINGS, "num_fewshot": 0}), docs, ["id"], POOL, Sandbox())
    assert task.num_fewshot(View(shots=5)) == 0
