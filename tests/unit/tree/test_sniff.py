"""Task files told from what lies beside them by their first bytes."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspec.tree import looks_like, looks_like_bytes


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"task_id": "a", "category": "mcq"}', "evalspec"),
        ('\n \n{"spec_version": 3}\n', "evalspec"),
        ('{"category": "mcq", "prompt": "x", "targets": []}', "evalspec"),  # its id was forgotten
        ('{"task_id" : "a", "prompt": ""', "evalspec"),  # and broken
        ('{"unknown": nonsense}', "evalspec"),
        ("{" * 100_000, None),  # longer than what is looked at: nobody can say
        ("{" * 1000, "evalspec"),
        ('nonsense\n{"task_id": "a", "category": "mcq"}', "evalspec"),
        ('{"x": 1}\n{"task_id": "a", "category": "mcq"}', "evalspec"),
        ('\ufeff{"spec_version": 3}', "evalspec"),
        ('{"task_id": "a", "text": "a generation"}', None),
        ('{"task_id": "a", "rule": "lower", "generation": "x", "before": "x", "after": "x"}', None),
        ('{"question": "q", "answer": "a", "targets": 1}', None),
        ('{"text": "\\"task_id\\": 1, \\"category\\": 2"}', None),
        ("[1, 2]", None),
        ("", None),
        ("\n\n", None),
    ],
)
def test_json_lines(text: str, kind: str | None) -> None:
    assert looks_like_bytes(text.encode(), "jsonl") == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("task_id: a\ncategory: mcq\n", "evalspec"),
        ("- spec_version: 3\n", "evalspec"),
        ("# note\n%YAML 1.1\n---\n- version: 1\n  spec_version: 3\n", "evalspec"),
        ("-\n  task_id: a\n  category: mcq\n", "evalspec"),
        ("-   category: mcq\r\n    'task_id': a\r\n", "evalspec"),
        ("task_id: a\rcategory: mcq\r", "evalspec"),
        ("{task_id: a, category: mcq}", "evalspec"),
        ('[{"task_id": "a", "category": "mcq"}]', "evalspec"),
        ("- {spec_version: 2}\n", "evalspec"),
        ("--- {spec_version: 2}\n", "evalspec"),
        ("metadata:\n  task_id: a\n  category: mcq\n", None),
        ("text: |\n  task_id: a\n  category: mcq\n", None),
        ("task: arc\n", "lm-eval"),
        ("# base\ninclude: _base_yaml\ndoc_to_text: x\n", "lm-eval"),
        ("group: g\ntask:\n  - a\n", "lm-eval"),
        ("task: a\noutput_type: x\ndoc_to_text: x\ndoc_to_target: x\n", "lm-eval"),
        ("output_type: x\ndoc_to_text: x\ndoc_to_target: x\n", "lm-eval"),
        ("dataset: {}\noutput_type: x\ndoc_to_text: x\ndoc_to_target: x\n", "evalspec"),
        ("- task: a\n", None),
        ("jobs:\n  task: x\n", None),
        ("task_id: a\ncategory: mcq\ntask: x\n", "evalspec"),
        ("just text", None),
        ("", None),
    ],
)
def test_yaml(text: str, kind: str | None) -> None:
    assert looks_like_bytes(text.encode(), "yaml") == kind


def test_yaml_in_another_encoding() -> None:
    assert looks_like_bytes("spec_version: 3\n".encode("utf-16"), "yaml") == "evalspec"


@pytest.mark.parametrize("name", ["a.jsonl", "a", "a.txt"])
def test_a_file_is_judged_by_its_name_and_its_beginning(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"spec_version": 2}\n' + "x" * 100_000)
    assert looks_like(str(path)) == "evalspec"
    path.write_text("x" * 100_000 + '\n{"spec_version": 2}\n')
    assert looks_like(str(path)) is None


def test_packed_files_are_looked_into(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml.gz"
    path.write_bytes(gzip.compress(b"task: arc\n" + b"#" * 10_000_000))
    assert looks_like(str(path)) == "lm-eval"


def test_what_cannot_be_read_is_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("pipe.jsonl", "gone.jsonl", "."):
        assert looks_like(str(tmp_path / name)) is None


@given(st.binary(max_size=200), st.sampled_from(["jsonl", "yaml"]))
def test_any_bytes_can_be_asked(head: bytes, form: str) -> None:
    assert looks_like_bytes(head, form) in ("evalspec", "lm-eval", None)  # type: ignore[arg-type]
