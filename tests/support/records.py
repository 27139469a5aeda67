"""Valid records of each version, drawn at random, and the many ways in which programs write them down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from support.sound import BODIES, NEW_IN_V2, metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn

_characters = st.one_of(
    st.sampled_from('ab ,:{}[]"\\/\n\t\r\x1b\x7f\x85\u2028é🤗'),
    st.sampled_from(['","', '":', "}\n{", '"prompt":', ',"category":"mcq"', "\\u0000"]),
    st.characters(codec="utf-8", exclude_characters="\0"),
)  # fmt: skip
texts = st.lists(_characters, max_size=8).map("".join)
prompts = texts.map(lambda text: f"{text}?")

#: Names that stand at the top of a record too, and names that look like its syntax.
_KEYS = ["prompt", "metric_name", "category", "few_shot_examples", "spec_version", "output_type", "metrics", "fewshot",
         "version", "targets", "metadata", 'a"b', '":', "\\", "é", "", "}"]  # fmt: skip
_values = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, -1, 1.0, 1e3, -0.0, 10**15, 0.1]) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3),
    max_leaves=6,
)
_versions = st.sampled_from([0, 1, 7, 1.0, True, "2", None, [1], 10**30])
metadata = st.one_of(
    st.dictionaries(st.sampled_from(_KEYS).filter(lambda key: key != "version"), _values, max_size=4),
    st.dictionaries(st.sampled_from(_KEYS), _values, max_size=3).flatmap(
        lambda free: _versions.map(lambda version: free | {"version": version})
    ),
)
_examples = st.lists(st.fixed_dictionaries({"prompt": texts, "completion": texts}), max_size=3)

#: Optional fields of v2 and v3, with what they may hold.
_PARTS = {
    "description": texts,
    "target_delimiter": st.sampled_from(["", " ", "\n"]),
    "fewshot_delimiter": st.sampled_from(["", "\n\n", "\n---\n"]),
    "gen_prefix": texts,
}
_generation = st.fixed_dictionaries(
    {},
    optional={
        "until": st.lists(texts, max_size=2),
        "max_gen_toks": st.integers(0, 99),
        "do_sample": st.booleans(),
        "temperature": st.sampled_from([0, 0.5, 1.0]),
    },
)


@st.composite
def records(draw: DrawFn, version: str = "v1", *, number: int = 0) -> dict[str, Any]:
    """A record of our family that is valid, unless its prompt happens to hold one of its examples."""
    bodies = BODIES if version == "v1" else BODIES | NEW_IN_V2
    body = bodies[draw(st.sampled_from(sorted(bodies)))]
    record: dict[str, Any] = {
        "task_id": f"t{number}-{draw(st.integers(0, 9))}",
        **body,
        "prompt": draw(prompts),
    }
    if record["category"] in ("arithmetic", "summary", "code_exec"):
        record["targets"] = draw(st.lists(texts, min_size=1, max_size=3))
    if record["category"] == "arithmetic":
        record["metric_name"] = draw(st.sampled_from(["exact_match", "f1"]))
        record["post_process"] = draw(
            st.sampled_from(["none", "lower", "strip_whitespace", "extract_first_line"])
        )
    if draw(st.booleans()):
        record["few_shot_examples"] = draw(_examples)
    if draw(st.booleans()):
        record["metadata"] = draw(metadata)
    if version != "v1":
        record |= {"spec_version": int(version[1:])} | {"output_type": "generate_until"} | record
        for name, values in _PARTS.items():
            if draw(st.integers(0, 3)) == 0:
                record[name] = draw(values)
        if record["output_type"] == "generate_until" and draw(st.booleans()):
            record["generation"] = draw(_generation)
    if version == "v3":
        record["version"] = draw(st.integers(0, 9))
        record["metrics"] = metrics(record.pop("metric_name"))
        if "few_shot_examples" in record:
            record["fewshot"] = {"samples": record.pop("few_shot_examples")}
    return record


def in_order(record: dict[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """The record with its keys in the order of `order`; keys that are not named come last."""
    named = {key: record[key] for key in order if key in record}
    return named | record


_ALL_KEYS = ["spec_version", "task_id", "version", "category", "output_type", "prompt", "targets", "metric_name",
             "metrics", "few_shot_examples", "fewshot", "post_process", "metadata", "generation"]  # fmt: skip
_orders = st.one_of(
    st.just(_ALL_KEYS),
    st.just(["metadata", "few_shot_examples", *_ALL_KEYS]),
    st.permutations(_ALL_KEYS),
)


@st.composite
def json_lines(draw: DrawFn, values: Sequence[dict[str, Any]]) -> bytes:
    """A JSONL file of these records, as one program writes it or as several do."""
    order = draw(_orders)
    alike = draw(st.booleans())
    style = draw(_styles)
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    lines = []
    for value in values:
        if not alike:
            order, style = draw(_orders), draw(_styles)
        lines.append(_written(in_order(value, order), *style) + end)
    text = "".join(lines)
    if draw(st.integers(0, 3)) == 0:
        text = text.removesuffix(end)
    return text.encode()


_styles = st.tuples(
    st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : "), (",\t", ":\r")]), st.booleans(), st.booleans()
)


def _written(value: dict[str, Any], separators: tuple[str, str], ascii_only: bool, slashes: bool) -> str:
    text = json.dumps(value, separators=separators, ensure_ascii=ascii_only)
    return text.replace("/", "\\/") if slashes else text
