"""What a task's settings say of its examples and of where a generation ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.check.lint.remark import Remark
from evalspec.check.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalspec.errors import Severity
    from evalspec.prompts.config import TaskConfig
    from evalspec.prompts.view import View

FEWSHOT_POOL_FALLBACK = Rule(
    "fewshot_pool_fallback",
    "warning",
    "No pool of examples is named and there is no training split, so they come from the rows that are evaluated.",
    "task: sums\ntest_split: test\nnum_fewshot: 2\ndoc_to_text: '{{question}}'\ndoc_to_target: answer\n",
    "name a fewshot_split",
)
FEWSHOT_LEAK = Rule(
    "fewshot_leak",
    "error",
    "Rows that are evaluated serve as examples, so a row can be shown its own answer.",
    "task: sums\ntest_split: test\nfewshot_split: test\nnum_fewshot: 2\n"
    "doc_to_text: '{{question}}'\ndoc_to_target: answer\n",
    "draw the examples from a split that is not evaluated",
)
POOL_TOO_SMALL = Rule(
    "pool_too_small",
    "error",
    "More examples are asked for than the pool has, and the harness stops there.",
    "task: sums\ntest_split: test\nnum_fewshot: 2\ndoc_to_text: '{{question}}'\ndoc_to_target: answer\n"
    "fewshot_config:\n  samples:\n    - {question: 1 + 1, answer: '2'}\n",
    "ask for fewer examples, or add some to the pool",
)
IMPLICIT_STOP = Rule(
    "implicit_stop",
    "warning",
    "A generation has no stop string of its own, so it ends at the delimiter between examples.",
    "task: sums\ntest_split: test\ndoc_to_text: '{{question}}'\ndoc_to_target: answer\n"
    "generation_kwargs:\n  max_gen_toks: 512\n",
    "say where a generation ends: generation_kwargs.until",
)
STOP_IN_PROMPT = Rule(
    "stop_in_prompt",
    "warning",
    "A stop string stands in an answer, or where a model begins its own, so a right answer is cut off.",
    "task: sums\ntest_split: test\ndoc_to_text: '{{question}}'\ndoc_to_target: answer\nnum_fewshot: 1\n"
    'generation_kwargs:\n  until: ["\\n\\n"]\nfewshot_config:\n  samples:\n'
    '    - question: "1 + 1?"\n      answer: "First, add.\\n\\nThe answer is 2."\n',
    "choose a stop string that no answer holds",
)
RULES = (FEWSHOT_POOL_FALLBACK, FEWSHOT_LEAK, POOL_TOO_SMALL, IMPLICIT_STOP, STOP_IN_PROMPT)

_SPLITS = ("training_split", "validation_split", "test_split")


def settings(config: TaskConfig, given: Mapping[str, Any], view: View) -> Iterator[Remark]:
    """What a task's settings say by themselves, under one view.

    Args:
        config: the settings with every default.
        given: the settings as they stand in the files, or the record (which has no stop string but its own).
        view: how the task is shown.
    """
    shots = config.num_fewshot if config.num_fewshot == 0 or view.shots is None else view.shots
    yield from _pool(config, shots)
    kwargs = given.get("generation_kwargs")
    if (
        config.output_type == "generate_until"
        and "task_id" not in given
        and not (isinstance(kwargs, dict) and "until" in kwargs)
    ):
        until = config.generation_kwargs
        stop = until.get("until") if isinstance(until, dict) else None
        message = f"the generation has no stop string of its own; it stops at {stop!r}"
        anchors = ("output_type", "doc_to_text", "task")
        yield Remark(IMPLICIT_STOP, "generation_kwargs", message, "", "", None, anchors)


def _pool(config: TaskConfig, shots: int | None) -> Iterator[Remark]:
    few = config.fewshot
    if few.split is not None:
        if few.split == config.eval_split:
            # The harness leaves the row itself out where the pool is the test split by name, and nowhere else.
            is_left_out = few.split == config.test_split
            which = "other rows of it" if is_left_out else "its rows, the one that is asked about too,"
            when = "are shown with their answers" + ("" if shots else " as soon as there are examples")
            message = f"examples come from {few.split!r}, which is evaluated: {which} {when}"
            field = "fewshot_config.split" if _own(config, "split") else "fewshot_split"
            severity: Severity = ("warning" if is_left_out else "error") if shots else "info"
            yield Remark(FEWSHOT_LEAK, field, message, "", "", severity)
        return
    if few.samples is not None:
        if isinstance(few.samples, list) and shots and shots > len(few.samples):
            message = f"{shots} examples are asked for, and fewshot_config.samples has {len(few.samples)}"
            yield Remark(POOL_TOO_SMALL, "num_fewshot", message, "", "", None, ("fewshot_config.samples",))
        return
    name = next((each for each in _SPLITS if getattr(config, each) is not None), None)
    if name is None or name == "training_split" or shots == 0:
        return  # a training split is there to be drawn from, and with `num_fewshot: 0` nothing ever is
    split = getattr(config, name)
    is_evaluated = split == config.eval_split
    message = f"no pool of examples is named, so they are drawn from {split!r}" + (
        ", which is evaluated" if is_evaluated else ""
    )
    anchors = (name,)
    told: Severity = "warning" if shots and is_evaluated else "info"
    yield Remark(FEWSHOT_POOL_FALLBACK, "fewshot_split", message, "", "", told, anchors)
    if shots and name == "test_split":
        message = f"examples come from {split!r}, which is evaluated, and the row that is asked about is not left out"
        yield Remark(FEWSHOT_LEAK, "fewshot_split", message, "", "", None, anchors)


def _own(config: TaskConfig, key: str) -> bool:
    return isinstance(config.fewshot_config, dict) and config.fewshot_config.get(key) is not None
