"""What a migration promises about bytes, on records drawn at random and written in every style."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.migrating import migrate_line_by_line, migrate_lines, own_project
from support.records import json_lines, records

from evalspec.migrate.convert import Options
from evalspec.prompts import show_record


@st.composite
def files(draw: st.DrawFn, *, versions: tuple[str, ...] = ("v1",), size: int = 4) -> bytes:
    """A JSONL file of valid records, of one version or of several."""
    count = draw(st.integers(0, size))
    drawn = [draw(records(draw(st.sampled_from(versions)), number=number)) for number in range(count)]
    schema = own_project().schema
    assume(all(not schema(f"v{record.get('spec_version', 1)}").check(record) for record in drawn))
    return draw(json_lines(drawn))


@given(files(versions=("v1", "v2", "v3")))
def test_twice_is_once(data: bytes) -> None:
    once = migrate_lines(data)
    twice = migrate_lines(once.data)
    assert twice.data == once.data
    assert twice.file.changed == 0
    assert twice.file.bad == once.file.bad  # what cannot be upgraded stays, and is said again


@given(files(versions=("v1", "v2")))
def test_the_way_over_v2_gives_the_same_bytes(data: bytes) -> None:
    straight = migrate_lines(data, "v3")
    assume(not straight.file.bad)
    assert migrate_lines(migrate_lines(data, "v2").data, "v3").data == straight.data


@given(files(versions=("v1", "v2", "v3")))
def test_lanes_and_single_lines_give_the_same_bytes(data: bytes) -> None:
    quick, slow = migrate_lines(data), migrate_line_by_line(data)
    assert quick.data == slow.data
    assert quick.file.changed == slow.file.changed
    assert [finding._replace(line=finding.line + 1) for finding in quick.file.bad] == slow.file.bad
    assert quick.outcome.steps.keys() == slow.outcome.steps.keys()
    for id_, step in quick.outcome.steps.items():
        other = slow.outcome.steps[id_]
        assert (step.records, step.touched) == (other.records, other.touched)


@given(files(size=8))
def test_notes_and_quiet_runs_give_the_same_bytes(data: bytes) -> None:
    noted, quiet = migrate_lines(data, options=Options(want_ids=True, want_changes=True)), migrate_lines(data)
    assert noted.data == quiet.data
    assert len(noted.file.changes) == noted.file.changed
    lines = data.split(b"\n")
    for number, old, new in noted.file.changes:
        assert old.removesuffix(b"\n") == lines[number - 1]
        assert new.removesuffix(b"\n") == noted.data.split(b"\n")[number - 1]
    for id_, step in noted.outcome.steps.items():
        assert len(step.tasks) == step.touched == quiet.outcome.steps[id_].touched


# ── Nothing but the edits ────────────────────────────────────────────────────────────────────────────────────

_STRING = r'"(?:[^"\\]|\\.)*"'
_SPACE = r"[ \t\r\n]*"


class Members:
    """The members of one line as text, `[space, key, colon, value, space]` each, found by counting brackets."""

    def __init__(self, line: str) -> None:
        self.items: list[list[str]] = []
        start = line.index("{") + 1
        self.head = line[:start]
        for position, inside, char in self._outside_strings(line, start):
            if (char == "," and inside == 0) or (char == "}" and inside == -1):
                found = re.fullmatch(
                    rf"({_SPACE})({_STRING})({_SPACE}:{_SPACE})(.*?)({_SPACE})",
                    line[start:position],
                    re.DOTALL,
                )
                assert found is not None
                self.items.append([*found.groups()])
                start = position + 1
        self.tail = line[start - 1 :]

    @staticmethod
    def _outside_strings(line: str, start: int) -> list[tuple[int, int, str]]:
        found, depth = [], 0
        for match in re.compile(rf"{_STRING}|.", re.DOTALL).finditer(line, start):
            char = match[0]
            if char in "]}":
                depth -= 1
            found.append((match.start(), depth, char))
            if depth < 0:
                break
            if char in "[{":
                depth += 1
        return found

    def index(self, key: str) -> int | None:
        return next((at for at, item in enumerate(self.items) if json.loads(item[1]) == key), None)

    def remove(self, key: str) -> None:
        """Take a member out; the space at an edge of the object belongs to the edge."""
        at = self.index(key)
        assert at is not None, key
        lead, *_, trail = self.items.pop(at)
        if at == 0 and self.items:
            self.items[0][0] = lead
        elif at == len(self.items) and self.items:
            self.items[-1][4] = trail

    def text(self) -> str:
        return self.head + ",".join("".join(item) for item in self.items) + self.tail


def undone(line: str, before: dict[str, Any]) -> str:
    """The line of a v3 record without what the migrations from `before` put into it."""
    members = Members(line)
    if "spec_version" in before:
        at = members.index("spec_version")
        assert at is not None
        members.items[at][3] = "2"
    else:
        members.remove("spec_version")
        members.remove("output_type")
    members.remove("version")
    at = members.index("metrics")
    assert at is not None
    entry = json.loads(members.items[at][3])
    assert entry == [{"name": before["metric_name"], "higher_is_better": True,
                      "aggregation": "corpus_bleu" if before["metric_name"] == "bleu_4" else "mean"}]  # fmt: skip
    members.items[at][1], members.items[at][3] = '"metric_name"', json.dumps(before["metric_name"])
    at = members.index("fewshot")
    if at is not None:
        samples = Members(members.items[at][3])
        assert [json.loads(item[1]) for item in samples.items] == ["samples"]
        members.items[at][1], members.items[at][3] = '"few_shot_examples"', samples.items[0][3]
    return members.text()


@given(files(versions=("v1", "v2")))
def test_without_the_migrations_own_edits_a_line_is_what_it_was(data: bytes) -> None:
    migrated = migrate_lines(data).data
    assert migrated.count(b"\n") == data.count(b"\n")
    for old, new in zip(data.decode().split("\n"), migrated.decode().split("\n"), strict=True):
        if not old.strip():
            assert new == old
            continue
        before = json.loads(old)
        if old == new:  # it cannot be upgraded
            assert before["metadata"]["version"] < 0
        elif type(before.get("metadata", {}).get("version")) is int:
            _holds_every_member(old, new)
        else:
            assert undone(new, before) == old


def _holds_every_member(old: str, new: str) -> None:
    """Where `metadata.version` went to `version`: its text is that, and every other text is untouched."""
    before, after = Members(old), Members(new)
    metadata = Members(before.items[before.index("metadata") or 0][3])
    at, where = metadata.index("version"), after.index("version")
    assert at is not None
    assert where is not None
    assert after.items[where][3] == metadata.items[at][3]
    metadata.remove("version")
    where = after.index("metadata")
    assert where is None if not metadata.items else after.items[where or 0][3] == metadata.text()
    for key in ("task_id", "category", "prompt", "targets", "post_process"):
        assert after.items[after.index(key) or 0][1:4] == before.items[before.index(key) or 0][1:4]


# ── The result ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", ["v1", "v2"])
@given(st.data())
def test_an_upgraded_record_is_valid_and_shows_the_same(version: str, data: st.DataObject) -> None:
    record = data.draw(records(version))
    schema = own_project().schema
    assume(not schema(version).check(record))
    line = data.draw(json_lines([record]))
    migrated = migrate_lines(line)
    if migrated.file.bad:
        assert record["metadata"]["version"] < 0
        return
    after = json.loads(migrated.data)
    assert schema("v3").check(after) == []
    assert show_record(after, schema("v3")) == show_record(record, schema(version))


@given(files(versions=("v1", "v2", "v3")))
def test_rendering_every_record_finds_no_changed_prompt(data: bytes) -> None:
    proved = migrate_lines(data, options=Options(prove_all=True))
    assert proved.data == migrate_lines(data).data
    for step in proved.outcome.steps.values():
        assert (step.rendered, step.changed, step.unknown) == (step.records, 0, 0)
