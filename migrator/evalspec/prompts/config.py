"""A template task's settings, whichever family it comes from, with every default filled in.

Field names are those of lm-evaluation-harness 0.4.13 (lm_eval.md, "Task fields and defaults"); a template task of
our own family is told in the same words.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The seed of the example draws where nobody names another.
FEWSHOT_SEED = 1234


@dataclass(frozen=True, slots=True)
class FewshotConfig:
    """How examples are found and told, where that differs from the task's own row."""

    sampler: Any = "default"
    split: str | None = None
    process_docs: Any = None
    fewshot_indices: Any = None
    samples: Any = None
    doc_to_text: Any = None
    doc_to_choice: Any = None
    doc_to_target: Any = None
    gen_prefix: Any = None
    fewshot_delimiter: Any = None
    target_delimiter: Any = None


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """The settings of one task.

    `fewshot` is what its `fewshot_config` comes to; `given` are the keys that the task itself has.
    """

    task: Any = None
    task_alias: Any = None
    tag: Any = None
    custom_dataset: Any = None
    dataset_path: Any = None
    dataset_name: Any = None
    dataset_kwargs: Any = None
    training_split: Any = None
    validation_split: Any = None
    test_split: Any = None
    fewshot_split: Any = None
    process_docs: Any = None
    doc_to_text: Any = None
    doc_to_target: Any = None
    doc_to_image: Any = None
    doc_to_audio: Any = None
    unsafe_code: Any = False
    doc_to_choice: Any = None
    process_results: Any = None
    use_prompt: Any = None
    description: Any = ""
    target_delimiter: Any = " "
    fewshot_delimiter: Any = "\n\n"
    fewshot_config: Any = None
    num_fewshot: Any = None
    metric_list: Any = None
    output_type: Any = "generate_until"
    generation_kwargs: Any = None
    repeats: Any = 1
    filter_list: Any = None
    should_decontaminate: Any = False
    doc_to_decontamination_query: Any = None
    gen_prefix: Any = None
    metadata: Any = None
    fewshot: FewshotConfig = FewshotConfig()
    fewshot_seed: int = FEWSHOT_SEED
    given: frozenset[str] = frozenset()

    @property
    def eval_split(self) -> str | None:
        """The split that is evaluated: the test split, else the validation split."""
        split: str | None = self.validation_split if self.test_split is None else self.test_split
        return split


@lru_cache(maxsize=1)
def task_fields() -> frozenset[str]:
    """The keys a task's YAML may have."""
    return frozenset(each.name for each in fields(TaskConfig)) - {"fewshot", "fewshot_seed", "given"}


@lru_cache(maxsize=1)
def fewshot_fields() -> frozenset[str]:
    """The keys a task's `fewshot_config` may have."""
    return frozenset(each.name for each in fields(FewshotConfig))


def task_config(settings: Mapping[str, Any]) -> TaskConfig:
    """The settings of an lm-eval task, as the harness reads them.

    Raises:
        TypeError: a key that no task has.
        ValueError: a temperature that is no number.
    """
    allowed = task_fields()
    if not allowed.issuperset(settings):
        strange = next(key for key in settings if key not in allowed)
        raise TypeError(f"a task has no field {strange!r}")
    values = dict(settings)
    get = values.get
    few_delim = get("fewshot_delimiter", "\n\n")
    output_type = get("output_type", "generate_until")
    kwargs = get("generation_kwargs")
    if kwargs is not None:
        values["generation_kwargs"] = _generation(kwargs, few_delim)
    elif output_type == "generate_until":
        values["generation_kwargs"] = default_generation(few_delim)
    given = get("fewshot_config")
    if given is None or isinstance(given, dict):
        values["fewshot"] = _fewshot(given or {}, values, few_delim)
    else:
        raise AttributeError(f"fewshot_config must be a mapping, not {type(given).__name__}")
    return TaskConfig(**values, given=frozenset(settings))


def default_generation(few_delim: Any) -> dict[str, Any]:
    """The generation settings of a task that names none; the order of the keys is the harness's."""
    until = [few_delim] if isinstance(few_delim, str) else few_delim
    return {
        "temperature": 0.0,
        "do_sample": False,
        "max_gen_toks": 256,
        "until": [] if until is None else until,
    }


def _generation(kwargs: Any, few_delim: Any) -> Any:
    settings = copy.copy(kwargs)
    if "temperature" in settings:
        settings["temperature"] = float(settings["temperature"])
    if "until" not in settings:
        settings["until"] = [few_delim]
    return settings


def _fewshot(given: dict[str, Any], task: Mapping[str, Any], few_delim: Any) -> FewshotConfig:
    """The task's own settings, overridden by what `fewshot_config` says (an explicit null overrides too)."""
    get = task.get
    merged = {
        "split": get("fewshot_split"),
        "process_docs": get("process_docs"),
        "fewshot_delimiter": few_delim,
        "target_delimiter": get("target_delimiter", " "),
        "gen_prefix": get("gen_prefix"),
        "doc_to_text": get("doc_to_text"),
        "doc_to_choice": get("doc_to_choice"),
        "doc_to_target": get("doc_to_target"),
        **given,
    }
    allowed = fewshot_fields()
    if not allowed.issuperset(merged):
        strange = next(key for key in merged if key not in allowed)
        raise TypeError(f"fewshot_config has no field {strange!r}")
    return FewshotConfig(**merged)


#: What fields of a template task of our own are called in `TaskConfig`.
_OWN_NAMES = {
    "dataset_path": "dataset.path",
    "dataset_name": "dataset.name",
    "dataset_kwargs": "dataset.kwargs",
    "training_split": "dataset.splits.train",
    "validation_split": "dataset.splits.validation",
    "test_split": "dataset.splits.test",
    "fewshot_split": "fewshot.split",
    "num_fewshot": "fewshot.num",
    "generation_kwargs": "generation",
    "fewshot_config": "fewshot",
}


def own_field(field: str) -> str:
    """What a field of `TaskConfig`, dotted, is called in a record of our own family (records.md, "v3")."""
    first, dot, rest = field.partition(".")
    return f"{_OWN_NAMES.get(first, first)}{dot}{rest}"


def record_config(record: Mapping[str, Any]) -> TaskConfig:
    """The settings of a template task of our own family (records.md, "v3")."""
    dataset = record.get("dataset") or {}
    splits = dataset.get("splits") or {}
    shots = dict(record.get("fewshot") or {})
    num, seed = shots.pop("num", None), shots.pop("seed", FEWSHOT_SEED)
    output_type = record.get("output_type", "generate_until")
    generation = None
    if output_type == "generate_until":
        generation = dict(record.get("generation") or {})
        generation.setdefault("until", [])
    values = {
        "task": record.get("task_id"),
        "dataset_path": dataset.get("path"),
        "dataset_name": dataset.get("name"),
        "dataset_kwargs": dataset.get("kwargs"),
        "training_split": splits.get("train"),
        "validation_split": splits.get("validation"),
        "test_split": splits.get("test"),
        "fewshot_split": shots.get("split"),
        "doc_to_text": record.get("doc_to_text"),
        "doc_to_target": record.get("doc_to_target"),
        "doc_to_choice": record.get("doc_to_choice"),
        "description": record.get("description", ""),
        "target_delimiter": record.get("target_delimiter", " "),
        "fewshot_delimiter": record.get("fewshot_delimiter", "\n\n"),
        "gen_prefix": record.get("gen_prefix"),
        "num_fewshot": num,
        "output_type": output_type,
        "generation_kwargs": generation,
        "metadata": record.get("metadata"),
    }
    few = _fewshot(shots, values, values["fewshot_delimiter"])
    return TaskConfig(**values, fewshot=few, fewshot_seed=seed, given=frozenset(record))
