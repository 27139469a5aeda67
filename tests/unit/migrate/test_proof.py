"""When operations alone prove that no prompt changes, and that a promise is kept by rendering where they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.families import ASSEMBLY, FIELDS, project_in, team_record, write_migration, write_version
from support.migrating import migrate_lines, own_project

from evalspec.errors import BrokenPromise
from evalspec.migrate import load_history
from evalspec.migrate.convert import Options
from evalspec.migrate.proof import proved_by_operations

EXAMPLES = [{"prompt": "2 + 2?", "completion": "4"}]
DELIMITER = f'{ASSEMBLY}, target_delimiter=FromField("delimiter", " ")'
TEXT = 'str = " "'


class Case(NamedTuple):
    """A step between two versions: what it does, on what, and what comes of it.

    `kept` says whether the prompt of `record` is the same after it; a step is `proved` only if that is so for all.
    """

    upgrade: str
    kept: bool
    proved: bool = False
    record: dict[str, Any] = {}  # noqa: RUF012 - never changed
    more: tuple[str, ...] = ()
    assembly: str = ASSEMBLY
    new_fields: tuple[str, ...] = FIELDS
    new_more: tuple[str, ...] = ()
    new_assembly: str = ASSEMBLY
    above: str = ""
    same_text: bool = True


def with_field(name: str) -> str:
    return f"{name}: {TEXT}"


CASES = {
    "nothing": Case("", kept=True, proved=True),
    "a label": Case('op.add("note", "x")', kept=True, proved=True, new_more=("note: str",)),
    "assembly not said to be the same": Case("", kept=True, same_text=False),
    "the question": Case('op.set("prompt", "What?")', kept=False),
    "the question, for some": Case('op.where(category="sum").set("prompt", "What?")', kept=False),
    "the question, for none met": Case('op.where(category="quiz").set("prompt", "What?")', kept=True),
    "each on the question": Case(
        'op.each(strip, fields=("prompt",))', kept=True,
        above='def strip(record):\n    record["prompt"] = record["prompt"].strip()\n',
    ),
    "each on labels": Case(
        'op.each(note, fields=("metadata",))', kept=True, proved=True, record={"metadata": {"a": 1}},
        above='def note(record):\n    record["metadata"] = {"n": 1}\n',
    ),
    "question renamed": Case(
        'op.rename("prompt", "text")', kept=True, proved=True,
        new_fields=("text: str", *FIELDS[1:]), new_assembly='question="text", examples="examples"',
    ),
    "question renamed, assembly forgot": Case(
        'op.rename("prompt", "text")', kept=False, record={},
        new_fields=("text: str", 'prompt: str = ""', *FIELDS[1:]),
    ),
    "renamed and back": Case('op.rename("prompt", "text")\nop.rename("text", "prompt")', kept=True, proved=True),
    "renamed, changed and back": Case(
        'op.rename("prompt", "text")\nop.set("text", "What?")\nop.rename("text", "prompt")', kept=False
    ),
    "two fields change places": Case(
        'op.rename("prompt", "x")\nop.rename("hint", "prompt")\nop.rename("x", "hint")', kept=False,
        record={"hint": "2 + 3?"}, more=(with_field("hint"),), new_more=(with_field("hint"),),
    ),
    "two fields change places, and so does the assembly": Case(
        'op.rename("prompt", "x")\nop.rename("hint", "prompt")\nop.rename("x", "hint")', kept=True, proved=True,
        record={"hint": "2 + 3?"}, more=("hint: str",), new_more=("hint: str",),
        new_assembly='question="hint", examples="examples"',
    ),
    "examples moved": Case(
        'op.move("examples", "shots.list")', kept=True, proved=True, record={"examples": EXAMPLES},
        new_fields=(*FIELDS[:2], "shots: Shots | Absent = ABSENT", FIELDS[3]),
        new_assembly='question="prompt", examples="shots.list"',
    ),
    "examples taken away": Case(
        'op.remove("examples", "long")', kept=False, record={"examples": EXAMPLES},
    ),
    "a constant becomes a field with that default": Case(
        "", kept=True, proved=True, new_more=(with_field("delimiter"),), new_assembly=DELIMITER,
        record={"examples": EXAMPLES},
    ),
    "a constant becomes a field with another default": Case(
        "", kept=False, new_more=('delimiter: str = "\\n"',), record={"examples": EXAMPLES},
        new_assembly=f'{ASSEMBLY}, target_delimiter=FromField("delimiter", "\\n")',
    ),
    "a constant becomes a field that is set to it": Case(
        'op.add("delimiter", " ")', kept=True, proved=True, new_more=("delimiter: str",), record={"examples": EXAMPLES},
        new_assembly=f'{ASSEMBLY}, target_delimiter=FromField("delimiter", "\\n")',
    ),
    "set to it, and renamed away": Case(
        'op.add("delimiter", " ")\nop.rename("delimiter", "other")', kept=False, record={"examples": EXAMPLES},
        new_more=("other: str", 'delimiter: str = "\\n"'),
        new_assembly=f'{ASSEMBLY}, target_delimiter=FromField("delimiter", "\\n")',
    ),
    "set to it, for some": Case(
        'op.where(category="quiz").add("delimiter", " ")', kept=False, record={"examples": EXAMPLES},
        new_more=('delimiter: str = "\\n"',),
        new_assembly=f'{ASSEMBLY}, target_delimiter=FromField("delimiter", "\\n")',
    ),
    "a label becomes a part": Case(
        'op.rename("note", "lead")', kept=False, record={"note": "Think."}, more=(with_field("note"),),
        new_more=('lead: str = ""',), new_assembly=f'{ASSEMBLY}, system=FromField("lead", "")',
    ),
    "a part of metadata becomes a part": Case(
        'op.move("metadata.lead", "lead")', kept=False, record={"metadata": {"lead": "Think."}},
        new_more=('lead: str = ""',), new_assembly=f'{ASSEMBLY}, system=FromField("lead", "")',
    ),
    "a default changes": Case(
        "", kept=False, more=(with_field("delimiter"),), assembly=DELIMITER, record={"examples": EXAMPLES},
        new_more=('delimiter: str = "\\n"',),
        new_assembly=f'{ASSEMBLY}, target_delimiter=FromField("delimiter", "\\n")',
    ),
    "a default changes, for a record that does not need it": Case(
        "", kept=True, more=(with_field("delimiter"),), assembly=DELIMITER,
        record={"examples": EXAMPLES, "delimiter": "~"}, new_more=('delimiter: str = "\\n"',),
        new_assembly=f'{ASSEMBLY}, target_delimiter=FromField("delimiter", "\\n")',
    ),
    "a setting is taken out of the settings": Case(
        'op.move("settings.until", "stop", after="prompt")', kept=False, record={"settings": {"until": ["x"]}},
        more=("settings: dict[str, Any] | Absent = ABSENT",), assembly=f'{ASSEMBLY}, generation="settings"',
        new_more=("settings: dict[str, Any] | Absent = ABSENT", "stop: list[str] | Absent = ABSENT"),
        new_assembly=f'{ASSEMBLY}, generation="settings"',
    ),
    "a setting is put into the settings": Case(
        'op.add("settings.until", ["x"])', kept=False, record={"settings": {"max_gen_toks": 5}},
        more=("settings: dict[str, Any] | Absent = ABSENT",), assembly=f'{ASSEMBLY}, generation="settings"',
        new_more=("settings: dict[str, Any] | Absent = ABSENT",), new_assembly=f'{ASSEMBLY}, generation="settings"',
    ),
    "settings that were read are read no more": Case(
        "", kept=False, record={"settings": {"until": ["x"]}},
        more=("settings: dict[str, Any] | Absent = ABSENT",), assembly=f'{ASSEMBLY}, generation="settings"',
        new_more=("settings: dict[str, Any] | Absent = ABSENT",),
    ),
    "examples are read by other keys": Case(
        'op.each(swap, fields=("examples",))', kept=False, record={"examples": EXAMPLES},
        above="def swap(record):\n    for shot in record.get('examples', []):\n"
        "        shot['prompt'], shot['completion'] = shot['completion'], shot['prompt']\n",
    ),
    "examples are read by other keys, and nothing is done": Case(
        "", kept=False, record={"examples": EXAMPLES},
        new_assembly=f'{ASSEMBLY}, example_question="completion", example_answer="prompt"',
    ),
}  # fmt: skip

_SHOTS = """
@dataclass(frozen=True)
class Shot:
    prompt: str
    completion: str


@dataclass(frozen=True)
class Shots:
    list: list[Shot]
"""


def lay_out(folder: Path, case: Case) -> None:
    write_version(folder, "v1", more=case.more, assembly=case.assembly)
    write_version(
        folder, "v2", fields=case.new_fields, more=case.new_more, assembly=case.new_assembly, above=_SHOTS
    )
    write_migration(folder, case.upgrade, above=case.above, same_text=case.same_text)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_step_is_proved_only_where_no_prompt_can_change(tmp_path: Path, case: Case) -> None:
    lay_out(tmp_path, case)
    project = project_in(tmp_path)
    step = load_history(project.families).steps["team@v2"]
    proved = proved_by_operations(step, project.schema("team@v1"), project.schema("team@v2"))
    assert proved == case.proved
    assert case.kept or not proved


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("prove_all", [False, True])
def test_a_promise_is_kept_or_the_run_stops(tmp_path: Path, case: Case, *, prove_all: bool) -> None:
    lay_out(tmp_path, case)
    project = project_in(tmp_path)
    record = team_record(**case.record)
    assert project.schema("team@v1").check(record) == []
    line = (json.dumps(record) + "\n").encode()
    options = Options(prove_all=prove_all)
    if not case.kept:
        with pytest.raises(BrokenPromise) as caught:
            migrate_lines(line, "team@v2", project=project, options=options)
        (finding,) = caught.value.findings
        assert (finding.rule, finding.task, finding.line) == ("promise_broken", "t1", 1)
        return
    migrated = migrate_lines(line, "team@v2", project=project, options=options)
    assert migrated.file.bad == []
    step = migrated.outcome.steps["team@v2"]
    assert step.proved_by == ("operations" if case.proved and not prove_all else "rendering")
    assert (step.records, step.changed, step.unknown) == (1, 0, 0)


def test_a_change_that_is_announced_is_counted(tmp_path: Path) -> None:
    write_version(tmp_path)
    write_version(tmp_path, "v2")
    write_migration(
        tmp_path, 'op.where(category="quiz").set("prompt", "What?")', prompts="changes: quizzes ask alike"
    )
    lines = [
        team_record(task_id=f"t{number}", category=kind)
        for number, kind in enumerate(["sum", "quiz", "quiz"])
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    migrated = migrate_lines(data, "team@v2", project=project_in(tmp_path))
    step = migrated.outcome.steps["team@v2"]
    assert (step.records, step.rendered, step.changed) == (3, 3, 2)
    assert step.prompts_sentence() == "prompts change (quizzes ask alike): 2 of 3"


def test_our_own_steps_are_proved() -> None:
    project = own_project()
    for step in load_history(project.families).steps.values():
        assert proved_by_operations(step, project.schema(step.parent), project.schema(step.id))
