"""The rules of a specification's fixtures, migrations and modules."""

from __future__ import annotations

from evalspec.check.rule import Rule

FIXTURE_STALE = Rule(
    "fixture_stale",
    "error",
    "A fixture does not give what it says: a task is not valid; an output, a prompt or a migrated line is another.",
    '{"rule": "lower", "input": "A", "output": "A"}  # in post_process.jsonl, and the rule gives "a"\n',
    "mend the fixture, or what it is about",
    group="fixtures",
)
PROMISE_BROKEN = Rule(
    "promise_broken",
    "error",
    "A migration says that prompts or outputs stay, and the fixtures show one that does not.",
    'prompts = "unchanged"  # and a line of prompts.jsonl differs from before to after\n',
    'promise `prompts = "changes: …"` or `outputs = "changes: …"`, or mend the migration',
    group="fixtures",
)
UPGRADE_NOT_REPEATABLE = Rule(
    "upgrade_not_repeatable",
    "error",
    "Upgrading twice, or step by step, gives other bytes than upgrading once.",
    'op.each(lambda task: task.update(prompt=task["prompt"] + "!"), fields=("prompt",))\n',
    "let each operation depend on the record alone",
    group="fixtures",
)
SPEC_REACHES_OUTSIDE = Rule(
    "spec_reaches_outside",
    "error",
    "A schema version or a migration can see the network, the clock or a file: it may mean another thing tomorrow.",
    "import datetime  # in schemas/acme/v2.py\n",
    "import building blocks of evalspec.schema and evalspec.migrate, and versions of the same family",
    group="chain",
)

FIXTURE_WEAK = Rule(
    "fixture_weak",
    "error",
    "A rule, pair, word, delimiter or step could be another one, and no fixture would tell (`evalspec test --mutate`).",
    'PAIRS = (Pair("mcq", ("accuracy", "f1"), ("none",)),)  # and no task of mcq has the metric f1\n',
    "add a fixture that would tell",
    group="fixtures",
)

RULES = (FIXTURE_STALE, FIXTURE_WEAK, PROMISE_BROKEN, UPGRADE_NOT_REPEATABLE, SPEC_REACHES_OUTSIDE)
