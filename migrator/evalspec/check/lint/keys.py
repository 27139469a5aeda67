"""Keys that no reader knows, and what a file takes from others: includes and functions."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from evalspec.check.rule import Rule
from evalspec.errors import did_you_mean, visible
from evalspec.prompts.config import fewshot_fields, task_fields
from evalspec.prompts.lm_eval.groups import GROUP_FIELDS
from evalspec.prompts.lm_eval.loader import LoadError, resolve
from evalspec.prompts.problems import FunctionRef

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from evalspec.check.lint.pieces import LintFile, Step
    from evalspec.errors import Finding
    from evalspec.prompts.lm_eval.functions import Fingerprints
    from evalspec.prompts.lm_eval.loader import Loader

UNKNOWN_KEY = Rule(
    "unknown_key",
    "error",
    "A key that nothing reads: a typing error, or a key of another level or of an older release.",
    "task: sums\ndoc_to_txt: '{{question}}'\n",
    "write the key that is meant, or remove it",
)
INCLUDE_MISSING = Rule(
    "include_missing",
    "error",
    "A file includes another that is not there, and the harness leaves it out of its index without a word.",
    "include: _base_yaml\ntask: sums\n",
    "name a file that is there, by its path from this one",
)
INCLUDE_ORDER_MATTERS = Rule(
    "include_order_matters",
    "warning",
    "Two includes give one key different values: up to lm-eval 0.4.11 the first won, since 0.4.12 the last does.",
    "include: [_one_yaml, _two_yaml]\ntask: sums\n",
    "set the key in this file itself",
)
FUNCTION_UNRESOLVED = Rule(
    "function_unresolved",
    "error",
    "A `!function` names a module or a function that is not there.",
    "task: sums\nprocess_docs: !function utils.proces_docs\n",
    "name a function of a module that lies beside the file",
)
METADATA_SHADOWED = Rule(
    "metadata_shadowed",
    "warning",
    "A file's own `metadata` takes the place of the included one as a whole, so the version that stands there is lost.",
    "include: _base_yaml\ntask: sums\nmetadata:\n  language: en\n",
    "repeat the version in the file's own metadata",
)
RULES = (UNKNOWN_KEY, INCLUDE_MISSING, INCLUDE_ORDER_MATTERS, FUNCTION_UNRESOLVED, METADATA_SHADOWED)

#: Keys that a file has beside those of a task.
_FILE_KEYS = frozenset(["include", "group", "task_list", "class"])
#: What keys of older releases are called now (lm_eval.md, "Schema changes between releases").
_RENAMED = {
    "delimiter": "target_delimiter",
    "assistant_prefill": "gen_prefix",
    "gold_alias": "doc_to_target",
    "reference": "doc_to_target",
    "template_aliases": "doc_to_text",
}
_METRIC_KEYS = frozenset(["metric", "aggregation", "higher_is_better"])
#: What the metrics of the harness, and those of `evaluate` that its tasks use, take as arguments.
_METRIC_ARGUMENTS = frozenset(
    "ignore_case ignore_punctuation ignore_numbers regexes_to_ignore average hf_evaluate k num_workers".split()  # noqa: SIM905
)
_AGGREGATE_KEYS = frozenset(["metric", "aggregation", "weight_by_size", "filter_list"])
_PIPELINE_KEYS = frozenset(["name", "filter"])
#: What each built-in filter takes.
_FILTERS: dict[str, frozenset[str]] = {
    "regex": frozenset(["regex_pattern", "group_select", "fallback"]),
    "regex_pos": frozenset(["regex_pattern", "group_select", "fallback"]),
    "multi_choice_regex": frozenset(
        "regex_pattern group_select fallback ignore_case ignore_punctuation regexes_to_ignore".split()  # noqa: SIM905
    ),
    "map": frozenset(["mapping_dict", "default_value"]),
    "take_first_k": frozenset(["k"]),
    "decontaminate": frozenset(["path"]),
    **dict.fromkeys(
        ["take_first", "majority_vote", "remove_whitespace", "lowercase", "uppercase", "format_span"],
        frozenset(),
    ),
}
#: Generation settings that tasks use: models take many more, so only what is near one of these is told.
_GENERATION = frozenset(
    [
        *("until", "do_sample", "temperature", "top_p", "top_k", "min_p", "num_beams", "repetition_penalty"),
        *("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens"),
    ]
)
_NEAR = 0.8
#: So many keys can be listed.
_FEW = 12


def unknown_keys(file: LintFile, name: str, loader: Loader) -> Iterator[Finding]:
    """Keys of a file of lm-eval that nothing reads, at every level. A Python class has keys of its own."""
    keys = file.keys
    try:
        if "class" in loader.load(name).values:
            return
    except LoadError:
        pass  # what it includes cannot be read: its own keys can
    is_group = ("group",) in keys
    allowed = task_fields() | _FILE_KEYS | (GROUP_FIELDS if is_group else frozenset())
    kinds = (
        {piece.path: piece for piece in file.pieces} if any(path[0] == "filter_list" for path in keys) else {}
    )
    if is_group and _is_leaf(file):
        yield _leaf_with_group(file)
    for path, node in keys.items():
        if len(path) == 1:
            if path[0] not in allowed:
                yield _unknown(file, path, node, allowed, "a task")
            continue
        known, owner = _known(path, kinds)
        if known is not None and path[-1] not in known:
            yield from _nested(file, path, node, known, owner)


def _known(path: tuple[Step, ...], kinds: dict[Any, Any]) -> tuple[Collection[str] | None, str]:
    """The keys that may stand where a key stands, and of what they are; None where anything may."""
    first, depth = path[0], len(path)
    if first == "task" and depth == 3 and isinstance(path[1], int):
        return task_fields() | GROUP_FIELDS | _FILE_KEYS, "an item of a group"
    if first == "fewshot_config" and depth == 2:
        return fewshot_fields(), "fewshot_config"
    if first == "metric_list" and depth == 3:
        return _METRIC_KEYS | _METRIC_ARGUMENTS, "a metric"
    if first == "aggregate_metric_list" and depth == 2 + isinstance(path[1], int):
        return _AGGREGATE_KEYS, "an aggregated metric"
    if first == "filter_list" and depth == 3:
        return _PIPELINE_KEYS, "a filter pipeline"
    if first == "filter_list" and depth == 5 and path[2] == "filter":
        step = kinds.get((*path[:4], "function"))
        if step is None or step.tag != "str" or step.value not in _FILTERS:
            return None, ""
        return _FILTERS[step.value] | {"function"}, f"the filter {step.value}"
    if first == "generation_kwargs" and depth == 2:
        return _GENERATION, "generation_kwargs"
    return None, ""


def _nested(
    file: LintFile, path: tuple[Step, ...], node: Any, known: Collection[str], owner: str
) -> Iterator[Finding]:
    key = str(path[-1])
    if owner == "generation_kwargs":
        from difflib import get_close_matches

        if not get_close_matches(key, known, n=1, cutoff=_NEAR) or key.startswith("max_"):
            return  # models take settings of their own
    if owner == "a metric" and key in _AGGREGATE_KEYS:
        message = f"{key!r} is a key of a group's aggregate_metric_list; in a task's metric it does nothing"
        fix = "remove it here, and say it where the group is defined"
        yield UNKNOWN_KEY.at(
            file.place(node), message, field=_field(path), text=key, fix=fix, severity="warning"
        )
        return
    finding = _unknown(file, path, node, known, owner)
    yield finding._replace(severity="warning") if owner in ("a metric", "generation_kwargs") else finding


def _unknown(
    file: LintFile, path: tuple[Step, ...], node: Any, known: Collection[str], owner: str
) -> Finding:
    key = str(path[-1])
    renamed = _RENAMED.get(key) if len(path) == 1 else None
    fix = f"it is called {renamed} now" if renamed else did_you_mean(key, sorted(known))
    if not fix and len(known) <= _FEW:
        fix = f"its keys are: {', '.join(sorted(known))}"
    return UNKNOWN_KEY.at(
        file.place(node), f"{owner} has no key {visible(key)!r}", field=_field(path), text=key, fix=fix
    )


def _field(path: tuple[Step, ...]) -> str:
    from evalspec.check.lint.pieces import dotted

    return dotted(path)


def _is_leaf(file: LintFile) -> bool:
    """Whether a file with `group` is a task, in the manner of releases up to 0.4.3."""
    return any(piece.path == ("task",) for piece in file.pieces)


def _leaf_with_group(file: LintFile) -> Finding:
    message = (
        "a task has no key 'group': since lm-eval 0.4.5 the file counts as a group, and the task is lost"
    )
    node = file.keys["group",]
    return UNKNOWN_KEY.at(file.place(node), message, field="group", text="group", fix="call it `tag`")


def includes(file: LintFile, name: str, loader: Loader) -> Iterator[Finding]:
    """What a file includes: is it there, does the order count, what is lost."""
    if ("include",) not in file.keys:
        return
    folder, root = posixpath.dirname(name), getattr(loader.files, "root", None)
    below: list[tuple[str, dict[str, Any]]] = []
    for piece in file.pieces:
        if piece.path[0] != "include":
            continue
        target = resolve(folder, piece.value, root)
        if target is not None:
            try:
                below.append((piece.value, loader.load(target).values))
                continue
            except LoadError:
                if loader.files.read(target) is not None:
                    continue  # told where that file is looked at
        why = "leads out of the tree" if target is None else "is not there"
        message = f"the include {visible(piece.value)!r} {why}"
        fix = _near_file(loader, folder, piece.value)
        yield INCLUDE_MISSING.at(file.at(piece), message, field=piece.field, text=piece.value, fix=fix)
    if len(below) > 1:
        yield from _order(file, below)
    own = next((value for key, value in file.root.value if key.value == "metadata"), None)
    if own is not None and not (own.id == "mapping" and any(key.value == "version" for key, _ in own.value)):
        yield from _shadowed(file, below)


def _near_file(loader: Loader, folder: str, target: str) -> str:
    names = [name for name in loader.reached() if posixpath.dirname(name) == folder]
    return did_you_mean(target, [posixpath.relpath(name, folder or ".") for name in sorted(names)])


def _order(file: LintFile, below: list[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    own = {path[0] for path in file.keys if len(path) == 1}
    given: dict[str, tuple[str, Any]] = {}
    differing = []
    for name, values in below:
        for key, value in values.items():
            if key not in own and key in given and given[key][1] != value:
                differing.append(key)
            given[key] = (name, value)
    if differing:
        first, last = below[0][0], below[-1][0]
        keys = ", ".join(map(visible, dict.fromkeys(differing)))
        wins = f"{visible(last)} wins, and before 0.4.12 {visible(first)} did"
        message = f"the includes give {keys} different values; {wins}"
        yield INCLUDE_ORDER_MATTERS.at(file.place(file.keys["include",]), message, field="include")


def _shadowed(file: LintFile, below: list[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    for name, values in reversed(below):
        metadata = values.get("metadata")
        if isinstance(metadata, dict):
            if "version" in metadata:
                version = metadata["version"]
                lost = f"the version {version} of {visible(name)} is lost"
                message = f"{lost}: the file's own metadata takes the place of all of it"
                fix = f"write `version: {version}` into the file's own metadata"
                yield METADATA_SHADOWED.at(
                    file.place(file.keys["metadata",]), message, field="metadata", fix=fix
                )
            return


def functions(file: LintFile, name: str, prints: Fingerprints) -> Iterator[Finding]:
    """Functions that are not where they are said to be."""
    for piece in file.pieces:
        if piece.tag != "!function":
            continue
        function = FunctionRef(piece.value, posixpath.dirname(name))
        lacks = prints.lacks(function)
        if lacks is None or (lacks == "module" and _is_installed(function.module)):
            continue
        if lacks == "module":
            message = (
                f"there is no module {visible(function.module)!r} beside the file, and none is installed"
            )
            fix = f"add {visible(function.file)}, or name another module"
        else:
            message = f"{visible(function.file)} has no {visible(function.name)!r}"
            module = prints.module(function.file)
            fix = did_you_mean(function.name, list(module.named)) if module else ""
        yield FUNCTION_UNRESOLVED.at(file.at(piece), message, field=piece.field, text=piece.value, fix=fix)


def _is_installed(module: str) -> bool:
    """Whether the harness could find a module elsewhere; it is not imported. Its own ones are taken to be there."""
    from importlib.util import find_spec

    top = module.partition(".")[0]
    if top == "lm_eval":
        return True
    try:
        return bool(top) and find_spec(top) is not None
    except (ImportError, ValueError):
        return False
