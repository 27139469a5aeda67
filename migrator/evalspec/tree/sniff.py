"""What a file is, told from its name and its first bytes, without parsing it."""

from __future__ import annotations

import os
import re
import stat
from typing import Literal

Format = Literal["jsonl", "yaml"]
Kind = Literal["evalspec", "lm-eval"]

#: Bytes that are looked at: enough for every key of a record but the longest prompt.
HEAD = 64 * 1024

_FORMATS: dict[str, Format] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".yaml": "yaml", ".yml": "yaml"}
_GZIP = ".gz"
_BOM = b"\xef\xbb\xbf"

#: Fields of our own contract (records.md). A generation or a row may have one of them by chance, not several.
_OWN = frozenset(
    b"task_id spec_version category prompt targets metric_name metrics post_process few_shot_examples fewshot"
    b" output_type doc_to_text doc_to_target".split()
)
_LM_EVAL = frozenset(b"task include group tag class dataset_path doc_to_text".split())
#: The fields of ours that lm-eval has too: a mapping with no other is a record of ours only over a `dataset`.
_SHARED = frozenset(b"output_type doc_to_text doc_to_target".split())

#: Compiled when a file is looked into; a file that is named is not.
_JSON_KEY = rb'"(' + b"|".join(sorted(_OWN)) + rb')"\s*:'
_FLOW_KEY = rb"[{,\s][\"']?(" + b"|".join(sorted(_OWN | _LM_EVAL)) + rb")[\"']?\s*:"
_YAML_KEY = rb"(?m)^( *(?:- +)*)([\"']?)([A-Za-z_][\w.-]*)\2[ \t]*:(?=\s|\Z)"


def format_of(name: str) -> Format | None:
    """The format that a file's name promises, `.gz` put aside; None for any other suffix."""
    lower = name.lower()
    return _FORMATS.get(os.path.splitext(lower.removesuffix(_GZIP))[1])


def is_compressed(name: str) -> bool:
    """Whether a file is read through gzip: its name ends in `.gz`."""
    return name.endswith(_GZIP)


def sniff_format(head: bytes) -> Format:
    """The format of bytes whose name says nothing: JSON begins with a brace or a bracket, all else is YAML."""
    return "jsonl" if _plain(head).lstrip()[:1] in (b"{", b"[") else "yaml"


def read_head(path: str, size: int = HEAD) -> bytes | None:
    """The first bytes of a regular file, unpacked if it is a `.gz`; None where they cannot be read.

    Never waits: what is no regular file by the time it is opened is not read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        head = os.read(descriptor, size)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return _unpacked(head, size) if is_compressed(path) else head


def looks_like(path: str) -> Kind | None:
    """Which family's tasks a file seems to hold, from its first 64 KiB; None where it seems to hold none.

    A guess, for choosing among the files of a folder: whether they are valid is for the reader to say.
    """
    head = read_head(path)
    if head is None:
        return None
    return looks_like_bytes(head, format_of(path) or sniff_format(head))


def looks_like_bytes(head: bytes, form: Format) -> Kind | None:
    """As `looks_like`, for the first bytes of a file of a known format."""
    head = _plain(head)
    if form == "jsonl":
        return "evalspec" if _has_json_records(head) else None
    names, one_mapping = _top_level(head.replace(b"\r", b"\n"))
    if _is_record(names) and (not one_mapping or names & _OWN != _SHARED or b"dataset" in names):
        return "evalspec"
    return "lm-eval" if one_mapping and names & _LM_EVAL else None


def _is_record(names: set[bytes]) -> bool:
    """A marker is enough; an id needs a field of the contract beside it, and fields with no id must be three."""
    own = names & _OWN
    return b"spec_version" in own or len(own) >= (2 if b"task_id" in own else 3)


def _has_json_records(head: bytes) -> bool:
    """A line that reads as a record, or a first line that wants to be an object and is broken JSON."""
    lines = [line for line in (line.strip() for line in head.split(b"\n")) if line]
    if any(line[:1] == b"{" and _is_record(set(re.findall(_JSON_KEY, line))) for line in lines):
        return True
    return bool(lines) and lines[0][:1] == b"{" and len(lines[0]) < HEAD and _is_broken(lines[0])


def _is_broken(line: bytes) -> bool:
    import json

    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _top_level(head: bytes) -> tuple[set[bytes], bool]:
    """The keys of a YAML file's top level, or of the records in its list, and whether it is one mapping."""
    first = next((line for line in head.split(b"\n") if _says_something(line)), b"")
    start = first.removeprefix(b"---").lstrip(b" -")[:1]
    if start in (b"{", b"["):
        return set(re.findall(_FLOW_KEY, head)), start == b"{" and not first.lstrip().startswith(b"- ")
    found = [(len(prefix), prefix, name) for prefix, _, name in re.findall(_YAML_KEY, head)]
    if not found:
        return set(), False
    column, prefix, _ = found[0]
    return {name for width, _, name in found if width == column}, b"-" not in prefix


def _says_something(line: bytes) -> bool:
    text = line.strip()
    return bool(text) and text != b"---" and text[:1] not in (b"#", b"%")


def _plain(head: bytes) -> bytes:
    """The bytes without a byte order mark, and as UTF-8 where the mark says UTF-16."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return head.decode("utf-16", "replace").encode()
    return head.removeprefix(_BOM)


def _unpacked(head: bytes, size: int) -> bytes | None:
    import zlib

    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, size)
    except zlib.error:
        return None
