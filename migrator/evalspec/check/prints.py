"""Fingerprints of what a lock holds: schema versions, migrations, and prompts under each view."""

from __future__ import annotations

import ast
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from evalspec.schema.fingerprint import serialise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalspec.migrate.migration import Migration

#: The names of the algorithms; a fingerprint of another one is unknown.
MIGRATION, PROMPT = "m1:sha256", "p1:sha256"


def migration_print(migration: Migration) -> str:
    """A migration's fingerprint: its script as a syntax tree, so a comment or a docstring is free."""
    with open(migration.path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    first = tree.body[0] if tree.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        del tree.body[0]
    return f"{MIGRATION}:{sha256(serialise(tree).encode()).hexdigest()}"


def prompt_print(lines: Iterable[dict[str, Any]], scoring: object = None) -> str:
    """The fingerprint of a task's prompts under one view, over all its rows (lines of `evalspec render`).

    How its answers are scored is part of it. A prompt that is not known, as a function of it was not run, counts by
    what its functions are made of.
    """
    digest = sha256(repr(scoring).encode("utf-8", "surrogatepass"))
    for line in lines:
        if line["unknown"] is None and not line.get("error"):
            said = [line["text"], line["requests"], line["target"], line["choices"]]
        else:
            said = [line["unknown"], line.get("error"), line.get("functions")]
        digest.update(json.dumps(said, ensure_ascii=True, sort_keys=True, default=str).encode())
        digest.update(b"\n")
    return f"{PROMPT}:{digest.hexdigest()}"


def algorithm(print_: str) -> str:
    """The name of a fingerprint's algorithm."""
    return print_.rpartition(":")[0]
