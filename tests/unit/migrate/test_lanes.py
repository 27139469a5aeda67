"""Records that are edited alike: when their lane may stand for them, and that it gives the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.families import FIELDS, project_in, team_record, write_migration, write_version
from support.migrating import migrate_line_by_line, migrate_lines, own_project, upgrades_of

from evalspec.migrate.lanes import Lanes, is_determined
from evalspec.migrate.upgrade import Upgrades
from evalspec.project import Project

DEEP: Any = [[[[[[[[1]]]]]]]]


class Case(NamedTuple):
    """A step, and records of which a lane could only guess what becomes of the later ones."""

    upgrade: str
    records: tuple[dict[str, Any], ...] = ()
    determined: bool = True
    bad: int = 0
    more: tuple[str, ...] = ()
    new_fields: tuple[str, ...] = FIELDS
    new_more: tuple[str, ...] = ()
    rules: str = ""
    new_rules: str = ""
    above: str = ""


LEVEL = 'level: Annotated[str, OneOf(("low", "high"))] | Absent = ABSENT'
HINT = "hint: str | Absent = ABSENT"
SHORT = 'Annotated[str, Pattern(is_short, "be short")]'
ABOVE = '''
def is_short(text: str) -> bool:
    """Less than ten characters."""
    return len(text) < 10


def short_in_all(*texts: object) -> str | None:
    """All texts together are short."""
    return "too long" if sum(len(text) for text in texts if isinstance(text, str)) > 20 else None
'''
LONG = "a long text indeed"

CASES = {
    "optional words are looked at": Case(
        'op.map("level", {"low": "high", "high": "low"})', more=(LEVEL,), new_more=(LEVEL,),
        records=({"level": "low"}, {"level": "high"}, {}),
    ),
    "where, by optional words": Case(
        'op.where(level="low").set("category", "quiz")', more=(LEVEL,), new_more=(LEVEL,),
        records=({"level": "high"}, {"level": "low"}, {}),
    ),
    "where, by an optional flag": Case(
        'op.where(flag=True).set("category", "quiz")', records=({"flag": False}, {"flag": True}, {}),
        more=("flag: bool | Absent = ABSENT",), new_more=("flag: bool | Absent = ABSENT",),
    ),
    "where, by a free text": Case(
        'op.where(prompt="x").set("category", "quiz")', determined=False, records=({"prompt": "y"}, {"prompt": "x"}),
    ),
    "where, by a key of metadata": Case(
        'op.where(**{"metadata.kind": 1}).set("category", "quiz")',
        records=({}, {"metadata": {"kind": 2}}, {"metadata": {"kind": 1}}, {"metadata": {"kind": True}}),
    ),
    "added if absent": Case(
        'op.add("hint", "none", if_absent=True)', more=(HINT,), new_more=("hint: str",),
        records=({"hint": "a"}, {}, {"hint": "b"}),
    ),
    "added beside one that is there": Case(
        'op.add("hint", "none")', more=(HINT,), new_more=("hint: str",), records=({}, {"hint": "b"}, {}), bad=1,
    ),
    "taken out of metadata": Case(
        'op.remove("metadata.old", "unread")',
        records=({"metadata": {"a": 1}}, {"metadata": {"old": 1, "a": 1}}, {"metadata": {"a": {"old": 1}}}),
    ),
    "moved out of metadata that was renamed": Case(
        'op.rename("metadata", "info")\nop.move("info.level", "level", only=int, otherwise=0)',
        new_fields=(*FIELDS[:3], "info: dict[str, Any] = field(default_factory=dict)", "level: int"),
        records=({"metadata": {"a": 1}}, {"metadata": {"level": 5, "a": 1}}, {"metadata": {"level": "5"}}, {}),
    ),
    "a text under a stricter type": Case(
        'op.rename("hint", "title")', determined=False, more=(HINT,), new_more=(f"title: {SHORT} | Absent = ABSENT",),
        above=ABOVE, records=({"hint": "short"}, {"hint": LONG}), bad=1,
    ),
    "a text under a stricter type, for some": Case(
        'op.where(category="sum").rename("hint", "title")', determined=False, more=(HINT,), above=ABOVE,
        new_more=(HINT, f"title: {SHORT} | Absent = ABSENT"), records=({"hint": "short"}, {"hint": LONG}), bad=1,
    ),
    "a text under a stricter type, or else": Case(
        'op.move("hint", "title", otherwise="none")', determined=False, more=(HINT,), above=ABOVE,
        new_more=(f"title: {SHORT}",), records=({"hint": "short"}, {"hint": LONG}, {}), bad=1,
    ),
    "a text whose own type becomes stricter": Case(
        "", determined=False, more=(HINT,), new_more=(f"hint: {SHORT} | Absent = ABSENT",), above=ABOVE,
        records=({"hint": "short"}, {"hint": LONG}), bad=1,
    ),
    "two texts change places": Case(
        'op.rename("prompt", "x")\nop.rename("hint", "prompt")\nop.rename("x", "hint")', determined=False,
        more=("hint: str",), new_fields=(f"prompt: {SHORT}", *FIELDS[1:]), new_more=("hint: str",), above=ABOVE,
        records=({"hint": "short"}, {"hint": LONG}), bad=1,
    ),
    "a new rule over a text": Case(
        "", determined=False, more=(HINT,), new_more=(HINT,), above=ABOVE,
        new_rules='Rule("bad_value", short_in_all, ("hint",)),',
        records=({"hint": "short"}, {"hint": LONG + LONG}), bad=1,
    ),
    "a rule over a text whose default changes": Case(
        "", determined=False, more=('hint: str = ""',), new_more=(f'hint: str = "{LONG}"',), above=ABOVE,
        rules='Rule("bad_value", short_in_all, ("prompt", "hint")),',
        new_rules='Rule("bad_value", v1.short_in_all, ("prompt", "hint")),',
        records=({"prompt": "x"}, {"prompt": LONG}), bad=1,
    ),
    "the same rule over the same text": Case(
        'op.rename("hint", "title")', more=(HINT,), new_more=("title: str | Absent = ABSENT",), above=ABOVE,
        rules='Rule("bad_value", short_in_all, ("prompt", "hint")),',
        new_rules='Rule("bad_value", v1.short_in_all, ("prompt", "title")),',
        records=({"prompt": "x"}, {"prompt": "y", "hint": "z"}),
    ),
    "the same rule, for other records": Case(
        'op.set("category", "quiz")', determined=False, more=(HINT,), new_more=(HINT,), above=ABOVE,
        rules='Rule("bad_value", short_in_all, ("hint",), when=("category", ("quiz",))),',
        new_rules='Rule("bad_value", v1.short_in_all, ("hint",), when=("category", ("quiz",))),',
        records=({"hint": "short"}, {"hint": LONG + LONG}), bad=1,
    ),
    "free values go deeper": Case(
        'op.move("metadata", "info.metadata")', determined=False,
        new_fields=(*FIELDS[:3], "info: Info | Absent = ABSENT"), above="@dataclass(frozen=True)\nclass Info:\n"
        '    """What is known."""\n\n    metadata: dict[str, Any] = field(default_factory=dict)\n',
        records=({"metadata": {"a": 1}}, {"metadata": {"a": DEEP}}),
    ),
    "each": Case(
        'op.each(tidy, fields=("prompt",))', determined=False, records=({"prompt": "x"}, {"prompt": " x"}),
    ),
    "split": Case(
        'op.split("hint", ("hint", "size"), size)', determined=False, more=("hint: str",),
        new_more=("hint: str", "size: int"), records=({"hint": "a"}, {"hint": "abc"}),
    ),
}  # fmt: skip

FUNCTIONS = """
def tidy(record):
    record["prompt"] = record["prompt"].strip()


def size(text):
    return {"hint": text, "size": len(text)}

"""


def lay_out(folder: Path, case: Case) -> Project:
    write_version(folder, "v1", more=case.more, rules=case.rules, above=case.above)
    write_version(
        folder, "v2", fields=case.new_fields, more=case.new_more, rules=case.new_rules,
        above="from . import v1\n" + case.above,
    )  # fmt: skip
    write_migration(folder, case.upgrade, prompts="changes: it is not what this is about", above=FUNCTIONS)
    return project_in(folder)


def styles(records: list[dict[str, Any]]) -> list[bytes]:
    """The records in several styles; the first one is the canonical one."""
    ways: list[dict[str, Any]] = [
        {"separators": (",", ":"), "ensure_ascii": False}, {}, {"ensure_ascii": False}, {"separators": (" , ", ": ")},
    ]  # fmt: skip
    return ["".join(json.dumps(record, **way) + "\n" for record in records).encode() for way in ways]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_lane_stands_only_for_records_that_it_decides(tmp_path: Path, case: Case) -> None:
    project = lay_out(tmp_path, case)
    upgrade = upgrades_of("team@v2", project).from_(project.schema("team@v1"))
    assert is_determined(upgrade, upgrade.source.declaration.shapes[0]) == case.determined


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_lanes_give_the_bytes_of_the_whole_way(tmp_path: Path, case: Case) -> None:
    project = lay_out(tmp_path, case)
    drawn = [team_record(task_id=f"t{number}", **more) for number, more in enumerate(case.records)]
    # Each of them first, in turn: the first one of a lane goes the whole way in any case.
    for start in range(len(drawn)):
        for data in styles([*drawn[start:], *drawn[:start]] * 2):
            quick = migrate_lines(data, "team@v2", project=project)
            slow = migrate_line_by_line(data, "team@v2", project=project)
            assert quick.data == slow.data
            assert [finding._replace(line=finding.line + 1) for finding in quick.file.bad] == slow.file.bad
            assert len(quick.file.bad) == 2 * case.bad


def test_our_own_steps_have_lanes() -> None:
    project = own_project()
    for target, source in (("v2", "v1"), ("v3", "v1"), ("v3", "v2")):
        upgrade = Upgrades(project.families, upgrades_of("v3", project).history, f"evalspec@{target}").from_(
            project.schema(source)
        )
        assert is_determined(upgrade, upgrade.source.declaration.shapes[0])
        assert Lanes(upgrade, upgrade.source.accepter()).usable


BASE = {"task_id": "t", "category": "mcq", "prompt": "Which?", "targets": ["B"], "metric_name": "exact_match",
        "post_process": "none"}  # fmt: skip
TRICKY: dict[str, dict[str, Any]] = {
    "plain": {},
    "metadata named like fields": {"metadata": {"prompt": "x", "metric_name": "f1", "category": {"category": 1}}},
    "metadata with every name behind a comma": {
        "metadata": {"a": 1, **dict.fromkeys((*BASE, "metadata", "few_shot_examples", "output_type"), 2)}
    },
    "metadata with keys that look like syntax": {
        "metadata": {'"': 1, ',"metric_name":': 2, '":': 3, "}\n{": 4, "\\": 5}
    },
    "texts that look like syntax": {"prompt": 'a,"metric_name":"f1","post_process":"none"}\n{"task_id":'},
    "a text that ends in a comma": {"prompt": "a,", "targets": ["B"]},
    "a version in a version": {"metadata": {"a": {"version": 1}}},
    "a version": {"metadata": {"version": 3}},
    "a version beside others": {"metadata": {"x": 1, "version": 3, "y": 2}},
    "a version that is no integer": {"metadata": {"version": 3.0}},
    "a version past 64 bits": {"metadata": {"version": 10**40}},
    "a number past 64 bits": {"metadata": {"seed": 10**40, "f": 1e300}},
    "empty metadata": {"metadata": {}},
    "examples": {"few_shot_examples": [{"prompt": 'a"b', "completion": "é\u2028"}]},
    "no examples": {"few_shot_examples": []},
    "escapes": {"prompt": 'é 🤗 \u2028 \x7f \t / \\ " end'},
}  # fmt: skip
ORDERS = [
    (),
    ("metadata", "few_shot_examples", "task_id"),
    ("few_shot_examples", "metadata"),
    ("post_process", "metric_name", "targets", "prompt", "category", "task_id"),
    ("task_id", "metric_name", "metadata", "category"),
]


@pytest.mark.parametrize("order", ORDERS)
def test_lanes_of_our_own_steps_give_the_bytes_of_the_whole_way(order: tuple[str, ...]) -> None:
    records = []
    for number, more in enumerate([*TRICKY.values()] * 3):
        record = BASE | more | {"task_id": f"t{number}"}
        records.append({key: record[key] for key in order if key in record} | record)
    for data in styles(records):
        for target in ("v2", "v3"):
            quick, slow = migrate_lines(data, target), migrate_line_by_line(data, target)
            assert quick.data == slow.data
            assert quick.file.bad == slow.file.bad == []
            assert quick.file.changed == len(records)


@pytest.mark.parametrize("more", TRICKY.values(), ids=TRICKY)
@pytest.mark.parametrize("order", ORDERS)
def test_many_lines_of_a_lane_are_cut_as_the_whole_way_edits_them(
    more: dict[str, Any], order: tuple[str, ...]
) -> None:
    """Chunk after chunk of lines written alike, as one program writes them: the quickest way there is."""
    records = []
    for number in range(30):
        record = BASE | more | {"task_id": f"t{number}"}
        if number % 3 == 0:
            record["targets"] = ["ABCDE"[number % 5]]
        records.append({key: record[key] for key in order if key in record} | record)
    data = styles(records)[0]
    for target in ("v2", "v3"):
        quick, slow = migrate_lines(data, target), migrate_line_by_line(data, target)
        assert quick.data == slow.data
        assert (quick.file.changed, quick.file.bad) == (30, [])
        assert {id_: (step.records, step.touched) for id_, step in quick.outcome.steps.items()} == {
            id_: (step.records, step.touched) for id_, step in slow.outcome.steps.items()
        }
