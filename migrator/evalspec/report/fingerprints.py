"""A name for each finding that stays while lines move, for services that follow findings from run to run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalspec.errors import Finding


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """One fingerprint for each finding, all different.

    It is made of the rule, the path, the task, the field, the text and the message without its numbers (they count
    lines and records); never of the line and the column. Findings that agree in all of that are numbered.
    """
    return numbered(
        [
            each.rule,
            repository_path(each.path),
            each.task,
            each.field,
            each.text,
            without_numbers(each.message),
        ]
        for each in findings
    )


def numbered(keys: Iterable[Sequence[str | None]]) -> list[str]:
    """A hash for each key; keys that are the same get a number, in their order, so no two hashes are."""
    import hashlib
    import json

    seen: dict[str, int] = {}
    out = []
    for key in keys:
        text = json.dumps(key)
        seen[text] = seen.get(text, 0) + 1
        out.append(hashlib.sha256(f"{text} {seen[text]}".encode()).hexdigest()[:40])
    return out


def without_numbers(message: str) -> str:
    """A message with `#` in place of every number."""
    return re.sub(r"\d[\d,]*", "#", message)


def repository_path(path: str) -> str:
    """A path as services want it that know files by their path from the top: no `./`, no `a/../`."""
    from posixpath import normpath

    return normpath(path)
