"""Rows made up for a task of the catalogue, so that the real harness can build it without its data."""

from __future__ import annotations

import random
from typing import Any

from evalspec.prompts.config import TaskConfig
from evalspec.prompts.placeholder import shape_of
from evalspec.prompts.sandbox import Sandbox
from evalspec.prompts.shapes import Shape

PHRASES = (
    "What is the capital of France?",
    " leading and trailing ",
    "two\nlines",
    "7",
    "  ",
    "ends in a no-break space\u00a0",
    "{{ not_a_variable }} and {% neither %}",
    "[1, 2, 3]",
    "日本語のテキスト",
    "a \\ backslash and a \"quote\" and an 'apostrophe'",
    "carriage\r\nreturn",
    "e\u0301 combined",
    "Answer:",
    "x" * 300,
    "-3.5",
    "007",
)


def rows_for(config: TaskConfig, sandbox: Sandbox, seed: str, count: int) -> list[dict[str, Any]]:
    """Rows whose columns fit the task's templates, no two splits alike; one row in ten is a copy of another."""
    shape = shape_of(config, sandbox, None)
    rnd = random.Random(f"{config.task}/{seed}")
    rows: list[dict[str, Any]] = []
    for number in range(count):
        if number and rnd.random() < 0.1:
            rows.append(rows[rnd.randrange(number)])
            continue
        rows.append({"made_up_id": number, **_members(shape, rnd)})
    return rows


def _members(shape: Shape, rnd: random.Random) -> dict[str, Any]:
    made = {name: _value(member, rnd) for name, member in shape.members.items()}
    for name, member in shape.members.items():
        if member.like is not None:
            for other, candidate in shape.members.items():
                if candidate is member.like and isinstance(made[other], list):
                    made[name] = rnd.choice(made[other])
                for key, below in candidate.members.items():
                    if below is member.like and isinstance(made[other], dict):
                        made[name] = rnd.choice(made[other][key])
    return made


def _value(shape: Shape, rnd: random.Random) -> Any:
    if shape.fixed is not None:
        return shape.fixed
    if shape.members and shape.kind != "list":
        return _members(shape, rnd)
    if shape.kind == "list":
        item = shape.item or Shape()
        return [_value(item, rnd) for _ in range(max(2, shape.least))]
    if shape.kind == "dict":
        return {"one": rnd.choice(PHRASES), "two": rnd.choice(PHRASES)}
    if shape.kind == "number":
        return rnd.randrange(2)
    return rnd.choice(PHRASES)
