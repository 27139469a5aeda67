"""What `use_prompt` can name (lm_eval.md, "Task fields and defaults")."""

from __future__ import annotations

from typing import Any

from evalspec.prompts.problems import Unknown

BUILT_IN = {
    "qa-basic:question-newline-answer": "Question: {{question}}\nAnswer:",
    "qa-basic:q-newline-a": "Q: {{question}}\nA:",
}


def named_prompt(name: Any, dataset_path: Any = None, dataset_name: Any = None) -> Any:
    """The prompt of that name: a template, a prompt source's own object, or why it is not known.

    Raises:
        ValueError: there is no such prompt.
    """
    if not isinstance(name, str) or name.count(":") != 1:
        raise ValueError(f"use_prompt must be one category and one name with a colon between, not {name!r}")
    category, _, wanted = name.partition(":")
    if category == "promptsource":
        return _promptsource(wanted, dataset_path, dataset_name)
    if ".yaml" in category:
        return Unknown("prompts from a file of their own are not read", "use_prompt")
    if name not in BUILT_IN:
        raise ValueError(f"there is no prompt {name!r}; there are {', '.join(BUILT_IN)}")
    return BUILT_IN[name]


def _promptsource(wanted: str, dataset_path: Any, dataset_name: Any) -> Any:
    from importlib.util import find_spec

    if find_spec("promptsource") is None:
        return Unknown("the promptsource package is not installed", "use_prompt")
    from importlib import import_module

    named = {} if dataset_name is None else {"subset_name": dataset_name}
    found = import_module("promptsource.templates").DatasetTemplates(dataset_name=dataset_path, **named)
    if wanted not in found.all_template_names:
        raise ValueError(f"promptsource has no prompt {wanted!r} for this data set")
    return found[wanted]
