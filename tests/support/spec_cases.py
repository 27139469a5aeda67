"""The record contract as a table: a sound record, one mutation, the rule it breaks and the field it is found at."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from support.sound import SHOTS, metrics, sound

GONE: Any = object()


class Case(NamedTuple):
    """`versions` by their digits; `path` leads to the value that `value` replaces (or takes away)."""

    versions: str
    base: str
    path: tuple[str | int, ...]
    value: Any
    rule: str
    field: str


E1 = ("few_shot_examples",)  # becomes fewshot.samples in v3
M = ("metric_name",)  # becomes metrics[0].name in v3

CASES = [
    # required
    *(Case("123", "arithmetic", (name,), GONE, "missing_required", name)
      for name in ("task_id", "category", "prompt", "targets", "post_process")),
    Case("12", "arithmetic", M, GONE, "missing_required", "metric_name"),
    Case("23", "arithmetic", ("output_type",), GONE, "missing_required", "output_type"),
    Case("23", "arithmetic", ("spec_version",), GONE, "missing_required", "spec_version"),
    Case("3", "arithmetic", ("version",), GONE, "missing_required", "version"),
    Case("3", "arithmetic", ("metrics",), GONE, "missing_required", "metrics"),
    *(Case("3", "arithmetic", ("metrics", 0, key), GONE, "missing_required", f"metrics[0].{key}")
      for key in ("name", "aggregation", "higher_is_better")),
    Case("123", "shots", (*E1, 0, "prompt"), GONE, "missing_required", "few_shot_examples[0].prompt"),
    Case("123", "shots", (*E1, 1, "completion"), GONE, "missing_required", "few_shot_examples[1].completion"),
    Case("23", "mcq_choices", ("choices",), GONE, "missing_required", "choices"),
    *(Case("3", "template", (name,), GONE, "missing_required", name)
      for name in ("dataset", "doc_to_text", "doc_to_target", "doc_to_choice", "category", "version", "metrics")),
    Case("3", "template", ("dataset", "path"), GONE, "missing_required", "dataset.path"),
    # unknown
    Case("123", "arithmetic", ("comment",), "by hand", "unknown_field", "comment"),
    Case("123", "arithmetic", ("Prompt",), "What?", "unknown_field", "Prompt"),
    Case("123", "shots", (*E1, 0, "answer"), "3", "unknown_field", "few_shot_examples[0].answer"),
    *(Case("1", "arithmetic", (name,), value, "unknown_field", name)
      for name, value in (("spec_version", 1), ("output_type", "generate_until"), ("description", ""),
                          ("choices", ["a", "b"]), ("generation", {}), ("version", 1))),
    *(Case("2", "arithmetic", (name,), value, "unknown_field", name)
      for name, value in (("version", 1), ("metrics", metrics("f1")), ("fewshot", {}), ("dataset", {"path": "x"}))),
    *(Case("3", "arithmetic", (name,), value, "unknown_field", name)
      for name, value in (("metric_name", "f1"), ("few_shot_examples", []))),
    Case("23", "arithmetic", ("generation",), {"max_tokens": 1}, "unknown_field", "generation.max_tokens"),
    Case("3", "arithmetic", ("metrics", 0, "weight"), 1, "unknown_field", "metrics[0].weight"),
    Case("3", "arithmetic", ("fewshot",), {"count": 2}, "unknown_field", "fewshot.count"),
    Case("3", "template", ("dataset", "revision"), "main", "unknown_field", "dataset.revision"),
    Case("3", "template", ("dataset", "splits", "dev"), "dev", "unknown_field", "dataset.splits.dev"),
    Case("3", "template", ("fewshot",), {"process_docs": "f"}, "unknown_field", "fewshot.process_docs"),
    # the other body's fields
    *(Case("3", "arithmetic", (name,), value, "not_allowed", name)
      for name, value in (("dataset", {"path": "x"}), ("doc_to_text", "q"), ("doc_to_target", "a"),
                          ("doc_to_choice", ["A", "B"]))),
    *(Case("3", "shots", ("fewshot", name), value, "not_allowed", f"fewshot.{name}")
      for name, value in (("num", 1), ("split", "train"), ("sampler", "first_n"), ("seed", 1), ("doc_to_text", "q"),
                          ("doc_to_target", "a"), ("doc_to_choice", ["A"]), ("target_delimiter", "\n"),
                          ("fewshot_delimiter", "\n"), ("gen_prefix", "So"))),
    # kinds
    *(Case("123", "arithmetic", (name,), value, "bad_type", name)
      for name in ("task_id", "category", "prompt", "post_process") for value in (None, 7, ["x"], {"a": 1}, True)),
    *(Case("123", "arithmetic", ("targets",), value, "bad_type", "targets")
      for value in (None, 144, "144", {"a": "b"})),
    *(Case("123", "arithmetic", ("targets",), ["1", value], "bad_type", "targets[1]") for value in (None, 2, ["2"])),
    *(Case("12", "arithmetic", M, value, "bad_type", "metric_name") for value in (None, 1, ["f1"])),
    *(Case("123", "arithmetic", ("metadata",), value, "bad_type", "metadata") for value in (None, "x", ["x"], 1)),
    *(Case("123", "shots", E1, value, "bad_type", "few_shot_examples") for value in (None, "x", {"prompt": "x"}, 2)),
    *(Case("123", "shots", (*E1, 1), value, "bad_type", "few_shot_examples[1]") for value in (None, "x", ["x", "y"])),
    *(Case("123", "shots", (*E1, 0, key), value, "bad_type", f"few_shot_examples[0].{key}")
      for key in ("prompt", "completion") for value in (None, 3, ["3"])),
    *(Case("23", "arithmetic", (name,), value, "bad_type", name)
      for name in ("output_type", "description", "target_delimiter", "fewshot_delimiter", "gen_prefix")
      for value in (None, 1, ["\n"])),
    *(Case("23", "mcq_choices", ("choices",), value, "bad_type", "choices") for value in (None, "a, b", {"A": "cold"})),
    Case("23", "mcq_choices", ("choices",), ["cold", 0], "bad_type", "choices[1]"),
    *(Case("23", "arithmetic", ("generation",), value, "bad_type", "generation") for value in (None, ["x"], "x")),
    *(Case("23", "arithmetic", ("generation",), {name: value}, "bad_type", f"generation.{name}")
      for name, values in (("until", (None, "\n")), ("max_gen_toks", (None, "1", 1.5, True)),
                           ("do_sample", (None, 0, "no")), ("temperature", (None, "0", False)))
      for value in values),
    Case("23", "arithmetic", ("generation",), {"until": ["\n", 0]}, "bad_type", "generation.until[1]"),
    *(Case("3", "arithmetic", ("version",), value, "bad_type", "version") for value in (None, "1", 1.5, True, [1])),
    *(Case("3", "arithmetic", ("metrics",), value, "bad_type", "metrics") for value in (None, "f1", {"name": "f1"})),
    Case("3", "arithmetic", ("metrics",), ["f1"], "bad_type", "metrics[0]"),
    *(Case("3", "arithmetic", ("metrics", 0, "name"), value, "bad_type", "metrics[0].name") for value in (None, 1)),
    *(Case("3", "arithmetic", ("metrics", 0, "higher_is_better"), value, "bad_type", "metrics[0].higher_is_better")
      for value in (None, 1, "true")),
    *(Case("3", "arithmetic", ("fewshot",), value, "bad_type", "fewshot") for value in (None, SHOTS, 2)),
    *(Case("3", "template", ("dataset",), value, "bad_type", "dataset") for value in (None, "tides", ["tides"])),
    *(Case("3", "template", ("dataset", name), value, "bad_type", f"dataset.{name}")
      for name, value in (("path", None), ("path", 1), ("name", None), ("kwargs", []), ("splits", ["test"]))),
    *(Case("3", "template", (name,), value, "bad_type", name)
      for name, values in (("doc_to_text", (None, 1.5, ["q"], {"a": "q"})), ("doc_to_target", (None, 1.5, {"a": "b"})),
                           ("doc_to_choice", (None, 4, ["A", 2], {"a": 1})))
      for value in values),
    *(Case("3", "template", ("fewshot",), {name: value}, "bad_type", f"fewshot.{name}")
      for name, value in (("num", "5"), ("num", None), ("num", True), ("split", 1), ("samples", {"q": 1}),
                          ("sampler", None), ("seed", "1"), ("seed", None), ("doc_to_text", ["q"]),
                          ("doc_to_choice", 4), ("target_delimiter", None), ("gen_prefix", ["x"]))),
    Case("3", "template", ("fewshot",), {"samples": [{"q": 1}, "x"]}, "bad_type", "fewshot.samples[1]"),
    # the marker
    *(Case("23", "arithmetic", ("spec_version",), value, "version_unknown", "spec_version")
      for value in (0, 9, "2", "3", 2.0, 3.0, None, True, [2], "v2", "evalspec@v2")),
    # values
    *(Case("123", "arithmetic", ("task_id",), value, "bad_value", "task_id")
      for value in ("", " ", "a b", "a\t", "\na", "a\u00a0b", "a\u3000", "a\u2028b", "a\x85b", "a\x1cb")),
    *(Case("123", "arithmetic", ("prompt",), value, "bad_value", "prompt")
      for value in ("", " ", "x ", "x\n", "x\t", "x\r", "x\u00a0", "x\u3000", "x\u2029", "x\x85", "x\x1f")),
    *(Case("123", "arithmetic", ("category",), value, "bad_value", "category")
      for value in ("", "algebra", "Arithmetic", "arithmetic ")),
    Case("12", "arithmetic", ("category",), "word_problem", "bad_value", "category"),
    Case("123", "arithmetic", ("targets",), [], "bad_value", "targets"),
    *(Case("123", "arithmetic", ("post_process",), value, "bad_value", "post_process")
      for value in ("", "upper", "None", "lower,strip_whitespace")),
    Case("12", "arithmetic", ("post_process",), "extract_number", "bad_value", "post_process"),
    *(Case("12", "arithmetic", M, value, "bad_value", "metric_name") for value in ("", "exact", "numeric_match")),
    Case("1", "arithmetic", M, "accuracy_norm", "bad_value", "metric_name"),
    Case("3", "arithmetic", ("metrics", 0, "name"), "exact", "bad_value", "metrics[0].name"),
    Case("3", "arithmetic", ("metrics", 0, "aggregation"), "median", "bad_value", "metrics[0].aggregation"),
    Case("3", "arithmetic", ("metrics",), [], "bad_value", "metrics"),
    Case("3", "arithmetic", ("metrics",), metrics("f1", "exact_match", "f1"), "bad_value", "metrics"),
    Case("123", "shots", E1, [SHOTS[0]] * 9, "bad_value", "few_shot_examples"),
    *(Case("123", "mcq", ("targets",), value, "bad_value", "targets")
      for value in (["A", "B"], ["F"], ["b"], [""], ["AB"], ["B."], [" B"], ["B\n"], ["\u0412"], ["Ｂ"])),
    *(Case("23", "arithmetic", ("output_type",), value, "bad_value", "output_type")
      for value in ("", "generate", "loglikelihood_rolling")),
    *(Case("23", "mcq_choices", ("choices",), value, "bad_value", "choices")
      for value in ([], ["cold"], ["cold", "cold"], ["cold", "hot", "hot"])),
    *(Case("23", base, ("targets",), ["cold", "hot"], "bad_value", "targets")
      for base in ("mcq_choices", "class_choices", "likelihood")),
    Case("3", "arithmetic", ("version",), -1, "bad_value", "version"),
    Case("3", "template", ("dataset", "path"), "", "bad_value", "dataset.path"),
    Case("3", "template", ("fewshot",), {"num": -1}, "bad_value", "fewshot.num"),
    Case("3", "template", ("fewshot",), {"sampler": "random"}, "bad_value", "fewshot.sampler"),
    # what the output type forbids
    *(Case("23", base, ("choices",), ["a", "b"], "not_allowed", "choices")
      for base in ("arithmetic", "mcq", "code_exec", "classification", "summary", "likelihood")),
    *(Case("23", base, ("generation",), value, "not_allowed", "generation")
      for base in ("mcq_choices", "class_choices", "likelihood")
      for value in ({}, {"until": ["\n"]}, {"temperature": 0.5})),
    Case("3", "template", ("generation",), {"max_gen_toks": 5}, "not_allowed", "generation"),
    *(Case("23", base, ("targets",), [value], "gold_not_in_choices", "targets")
      for base in ("mcq_choices", "class_choices") for value in ("wet", "Cold", " cold", "", "A", "0")),
    # few-shots in the prompt
    *(Case("123", "arithmetic", ("prompt",), value, "embedded_few_shot", "prompt")
      for value in ("Q: a\nQ: b", "Question: a\nA: 1\n\nQuestion: b\nA:", "example: a\nEXAMPLE: b",
                    "q: a\n  Question: b", "\n\tQ:\nx\nQ:",
                    "Solve.\nQ: a\r\nQ: b\r\nA:", "Q: a\n\u00a0Q: b", "x\nExample: a\nq: b")),
    Case("123", "shots", ("prompt",), "What is 1 + 2? 3\n\nWhat is 9 + 8?", "embedded_few_shot", "prompt"),
    Case("123", "shots", ("prompt",), "If What is 5 + 5? 10, then 9 + 8?", "embedded_few_shot", "prompt"),
]  # fmt: skip

#: What the contract allows, however odd: `rule` and `field` are empty.
ALLOWED = [
    Case("123", "arithmetic", ("prompt",), "Question: 17 + 24\nAnswer:", "", ""),
    Case("123", "arithmetic", ("prompt",), "Is this a question: yes?\nOr a Q: maybe\nQ: one", "", ""),
    Case("123", "arithmetic", ("prompt",), "Questions: a\nQuestions: b", "", ""),
    Case("123", "arithmetic", ("prompt",), "FAQ: a\nFAQ: b", "", ""),
    Case("123", "arithmetic", ("prompt",), "Q : a\nQ : b", "", ""),
    Case("123", "arithmetic", ("prompt",), " leading space, and \x85 and \u2028 inside", "", ""),
    Case("123", "arithmetic", ("prompt",), "zero width at the end\u200b", "", ""),
    Case("123", "shots", ("prompt",), "What is 1 + 2?", "", ""),
    Case("123", "shots", E1, [], "", ""),
    Case("123", "shots", E1, [SHOTS[0]] * 8, "", ""),
    Case("123", "shots", E1, [{"prompt": "", "completion": " x "}], "", ""),
    Case("123", "arithmetic", ("targets",), ["", " ", "144", "144"], "", ""),
    Case("123", "arithmetic", ("task_id",), "a/b:c-d_é.1\u200b", "", ""),
    Case("123", "arithmetic", ("metadata",), {}, "", ""),
    Case("123", "arithmetic", ("metadata",), {"": None, "a": [1, 2.5, {"b": True}], "version": "x"}, "", ""),
    Case("23", "arithmetic", ("description",), "", "", ""),
    Case("23", "arithmetic", ("target_delimiter",), "", "", ""),
    Case("23", "arithmetic", ("generation",), {}, "", ""),
    Case("23", "arithmetic", ("generation",), {"until": [], "max_gen_toks": 0, "temperature": 1}, "", ""),
    Case("23", "arithmetic", ("generation",), {"do_sample": True, "temperature": 0.7}, "", ""),
    Case("23", "mcq_choices", ("choices",), ["cold", ""], "", ""),
    Case("23", "mcq_choices", ("metric_name",), "accuracy_norm", "", ""),
    Case("23", "class_choices", ("metric_name",), "accuracy_norm", "", ""),
    Case("3", "arithmetic", ("version",), 0, "", ""),
    Case("3", "arithmetic", ("version",), 10**30, "", ""),
    Case("3", "arithmetic", ("fewshot",), {}, "", ""),
    Case("3", "arithmetic", ("metrics",), metrics("f1", "exact_match"), "", ""),
    Case("3", "summary", ("metrics",), metrics("bleu_4", "rouge_l", "f1", "exact_match"), "", ""),
    Case("3", "arithmetic", ("metrics", 0, "aggregation"), "corpus_bleu", "", ""),
    Case("3", "arithmetic", ("metrics", 0, "higher_is_better"), False, "", ""),
    Case("3", "template", ("doc_to_text",), 1, "", ""),
    Case("3", "template", ("doc_to_target",), 0, "", ""),
    Case("3", "template", ("doc_to_target",), ["a", 1], "", ""),
    Case("3", "template", ("doc_to_choice",), "options", "", ""),
    Case("3", "template", ("doc_to_choice",), {"a": "Yes", "b": "No"}, "", ""),
    Case("3", "template", ("fewshot",), {}, "", ""),
    Case(
        "3",
        "template",
        ("fewshot",),
        {"num": 9, "samples": [{"q": [1]}] * 9, "seed": 0, "gen_prefix": ""},
        "",
        "",
    ),
    Case(
        "3", "template", ("dataset",), {"path": "x", "name": "y", "kwargs": {"a": [1]}, "splits": {}}, "", ""
    ),
]


def in_version(version: str, case: Case) -> Case:
    """A case in v1's words, in the words of the version."""
    renamed = case.rule != "unknown_field" or len(case.path) > 1
    if version == "v3" and case.path[:1] == E1 and renamed:
        return case._replace(
            path=("fewshot", "samples", *case.path[1:]),
            field=case.field.replace("few_shot_examples", "fewshot.samples"),
        )
    if version == "v3" and case.path == M and not case.rule:
        return case._replace(path=("metrics", 0, "name"))
    return case


def mutated(version: str, case: Case) -> dict[str, Any]:
    """The sound record of the case with its one mutation. The case is in the version's words."""
    record = copy.deepcopy(sound(version, case.base))
    holder: Any = record
    for step in case.path[:-1]:
        holder = holder[step]
    if case.value is GONE:
        del holder[case.path[-1]]
    else:
        holder[case.path[-1]] = copy.deepcopy(case.value)
    return record
