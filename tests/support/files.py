"""Small task files, sound and hostile."""

from __future__ import annotations

import gzip
import json
from typing import Any

from support.sound import sound


def line(task: str = "a", *, version: str = "v1", base: str = "arithmetic", **more: Any) -> bytes:
    """A record as one line."""
    record = sound(version, base) | {"task_id": task} | more
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


_LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdef", "bcdefg", strict=True)
)
_YAML = "category: arithmetic\nprompt: 1 + 1?\ntargets: ['2']\nmetric_name: f1\npost_process: none\n"


def _with(old: bytes, new: bytes, data: bytes | None = None) -> bytes:
    data = line() if data is None else data
    assert data.count(old) == 1
    return data.replace(old, new)


def _metadata(text: bytes) -> bytes:
    return _with(b'{"task_id', b'{"metadata": {"x": ' + text + b'}, "task_id')


#: name → bytes, the rule of the first finding, its line. An empty rule is a file that cannot be read at all.
HOSTILE: dict[str, tuple[bytes, str, int]] = {
    "not_utf8.jsonl": (line() + b'{"task_id": "\xff"}\n', "bad_encoding", 2),
    "utf16.jsonl": (line().decode().encode("utf-16"), "bad_encoding", 1),
    "mark.jsonl": (b"\xef\xbb\xbf" + line(), "byte_order_mark", 1),
    "nul.jsonl": (line() + b"\0\0\0\n", "nul_character", 2),
    "escaped_nul.jsonl": (_with(b"12 times 12", b"\\u0000"), "nul_character", 1),
    "nan.jsonl": (_metadata(b"NaN"), "bad_number", 1),
    "infinity.jsonl": (_metadata(b"-Infinity"), "bad_number", 1),
    "past_doubles.jsonl": (_metadata(b"1e999"), "bad_number", 1),
    "twice_a_key.jsonl": (_with(b'{"task_id"', b'{"task_id": "z", "task_id"'), "duplicate_key", 1),
    "twice_a_key_below.jsonl": (_metadata(b'1, "x": 2'), "duplicate_key", 1),
    "deep_lists.jsonl": (_metadata(b"[" * 10_000 + b"]" * 10_000), "too_deep", 1),
    "deep_objects.jsonl": (_metadata(b'{"a":' * 10_000 + b"1" + b"}" * 10_000), "too_deep", 1),
    "unclosed.jsonl": (b"[" * 10_000 + b"\n", "too_deep", 1),
    "surrogate.jsonl": (_with(b"12 times 12", b"\\ud800"), "lone_surrogate", 1),
    "control.jsonl": (_with(b"12 times 12", b"\x1b[31m"), "bad_json", 1),
    "list.jsonl": (b"[1, 2]\n" + line(), "not_an_object", 1),
    "text.jsonl": (b"hello\n", "bad_json", 1),
    "two_on_a_line.jsonl": (line("a").strip() + line("b"), "bad_json", 1),
    "cut_short.jsonl": (line("a") + line("b")[:40], "bad_json", 2),
    "later_version.jsonl": (_with(b'{"task_id', b'{"spec_version": 9, "task_id'), "version_unknown", 1),
    "not_utf8.yaml": (b"task_id: \xff\n", "bad_encoding", 1),
    "nul.yaml": (b"task_id: a\0b\n", "nul_character", 1),
    "twice_a_key.yaml": (f"task_id: a\ntask_id: b\n{_YAML}".encode(), "duplicate_key", 2),
    "laughs.yaml": (_LAUGHS.encode(), "alias_bomb", 7),
    "itself.yaml": (b"task_id: &a [*a]\n", "alias_bomb", 1),
    "list_as_key.yaml": (b"? [1, 2]\n: x\n", "bad_yaml", 1),
    "mapping_as_key.yaml": (b"{a: 1}: x\n", "bad_yaml", 1),
    "scalar.yaml": (b"just text\n", "not_an_object", 1),
    "list_of_scalars.yaml": (b"- 1\n- x\n", "not_an_object", 1),
    "deep.yaml": (b"[" * 10_000 + b"]" * 10_000 + b"\n", "too_deep", 1),
    "deep_blocks.yaml": (b"".join(b" " * n + b"a:\n" for n in range(2000)), "too_deep", 101),
    "tab.yaml": (b"a:\n\t- b\n", "bad_yaml", 2),
    "nan.yaml": (f"task_id: a\n{_YAML}metadata: {{x: .nan}}\n".encode(), "bad_number", 7),
    "python.yaml": (b"task_id: !!python/object/apply:os.system ['touch hacked']\n", "bad_yaml", 1),
    "function.yaml": (b"task_id: !function utils.f\n", "bad_yaml", 1),
    "date.yaml": (b"task_id: 2020-99-99\n", "bad_yaml", 1),
    "digits.yaml": (f"task_id: a\n{_YAML}metadata: {{version: {'9' * 5000}}}\n".encode(), "bad_number", 7),
    "twins_on_a_line.yaml": (
        ("[%s, %s]\n" % ((f"{{task_id: a, {', '.join(_YAML.strip().splitlines())}}}",) * 2)).encode(),
        "duplicate_task_id",
        1,
    ),
    "no_gzip.jsonl.gz": (b"hello", "", 0),
    "cut_short.jsonl.gz": (gzip.compress(line() * 100)[:-20], "", 0),
}  # fmt: skip
