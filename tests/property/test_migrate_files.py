"""What a migration of files promises, on files drawn at random: the same end by every way, and no surprise."""

from __future__ import annotations

import io
import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.migrating import own_project, upgrades_of
from support.records import json_lines, records

from evalspec.errors import visible
from evalspec.migrate.convert import Options
from evalspec.migrate.outcome import Outcome
from evalspec.migrate.run import Writing, migrate_paths
from evalspec.report.of_migration import file_diff
from evalspec.tasks import Reading

few = settings(max_examples=30)


@st.composite
def yaml_files(draw: st.DrawFn) -> bytes:
    """A YAML file of valid records as PyYAML writes it, block or flow, with comments between the lines."""
    versions = st.sampled_from(["v1", "v1", "v2", "v3"])
    drawn = [draw(records(draw(versions), number=number)) for number in range(draw(st.integers(1, 3)))]
    schema = own_project().schema
    for record in drawn:
        assume(not schema(f"v{record.get('spec_version', 1)}").check(record, format="yaml"))
        assume("\x85" not in json.dumps(record, ensure_ascii=False))
    style: dict[str, Any] = {
        "default_flow_style": draw(st.sampled_from([False, None])),
        "default_style": draw(st.sampled_from([None, None, '"', "'"])),
        "indent": draw(st.sampled_from([2, 4])),
        "width": draw(st.sampled_from([40, 80, 10_000])),
        "line_break": draw(st.sampled_from(["\n", "\r\n"])),
    }
    keys = draw(st.booleans())
    text = yaml.dump(
        drawn, allow_unicode=draw(st.booleans()), sort_keys=keys, Dumper=yaml.SafeDumper, **style
    )
    head = draw(st.sampled_from(["", "# tasks\n", "---\n"]))
    return (head + text).encode()


@st.composite
def jsonl_files(draw: st.DrawFn) -> bytes:
    versions = st.sampled_from(["v1", "v1", "v2", "v3"])
    drawn = [draw(records(draw(versions), number=number)) for number in range(draw(st.integers(1, 3)))]
    schema = own_project().schema
    assume(all(not schema(f"v{record.get('spec_version', 1)}").check(record) for record in drawn))
    return draw(json_lines(drawn))


@contextmanager
def task_file(data: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def migrate(path: Path, target: str = "v3", *, dry_run: bool = False, changes: bool = False) -> Outcome:
    project = own_project()
    reading = Reading(project.families, project.unmarked())
    writing = Writing(str(path.parent), dry_run=dry_run)
    return migrate_paths(
        [str(path)], upgrades_of(target, project), reading, writing, Options(want_changes=changes)
    )


FILES = pytest.mark.parametrize(("name", "files"), [("t.jsonl", jsonl_files()), ("t.yaml", yaml_files())])


@FILES
@few
@given(data=st.data())
def test_twice_is_once_and_two_steps_are_one(
    name: str, files: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    text = data.draw(files)
    with task_file(text, name) as path:
        outcome = migrate(path)
        assume(not outcome.bad)
        once = path.read_bytes()
        assert outcome.files[0].written == (once != text)
        again = migrate(path)
        assert path.read_bytes() == once
        assert (again.files[0].written, again.files[0].changed) == (False, 0)
    with task_file(text, name) as path:
        mixed = {int(key[-1]) for key in outcome.schemas}
        if 3 not in mixed:  # v3 has no way to v2
            migrate(path, "v2")
            migrate(path, "v3")
            assert path.read_bytes() == once


@FILES
@few
@given(data=st.data())
def test_the_diff_of_a_dry_run_is_what_a_run_does(
    name: str, files: st.SearchStrategy[bytes], data: st.DataObject
) -> None:
    text = data.draw(files)
    with task_file(text, name) as path:
        dry = migrate(path, dry_run=True, changes=True)
        assert path.read_bytes() == text
        assert [item.name for item in path.parent.iterdir()] == [name]
        patch = "".join(file_diff(dry.files[0]))
        wet = migrate(path)
        written = path.read_bytes()
        assert (wet.files[0].changed, len(wet.bad)) == (dry.files[0].changed, len(dry.bad))
        assert with_changes(text, dry.files[0].changes, name) == written
        assert bool(patch) == (text != written)
        path.write_bytes(text)
        if patch and shows_as_it_is(text) and shows_as_it_is(written):
            assert patched(path, patch) == written


def with_changes(text: bytes, changes: list[tuple[int, bytes, bytes]], name: str) -> bytes:
    """The file with the changes that a dry run noted: of YAML the whole text, of JSONL lines."""
    if name.endswith("yaml"):
        assert [old for _, old, _ in changes] == [text] * len(changes)
        return changes[0][2] if changes else text
    lines = [line + b"\n" for line in text.split(b"\n")]
    for number, old, new in changes:
        assert lines[number - 1].removesuffix(b"\n") == old.removesuffix(b"\n")
        lines[number - 1] = new.removesuffix(b"\n") + b"\n"
    return b"".join(lines).removesuffix(b"\n")


def shows_as_it_is(text: bytes) -> bool:
    """True where nothing in the text has to be escaped before a person may see it."""
    return visible(text.decode(), keep="\n\t") == text.decode()


def patched(path: Path, patch: str) -> bytes:
    """The file as `patch` makes it from a printed diff."""
    command = ["patch", "--binary", "-o", "-", path.name]
    done = subprocess.run(command, input=patch.encode(), cwd=path.parent, capture_output=True, check=False)
    assert done.returncode == 0, done
    return done.stdout


@few
@given(yaml_files())
def test_upgraded_yaml_holds_what_upgraded_lines_hold(text: bytes) -> None:
    """One record means one thing: from YAML and from JSON it becomes the same record, keys in the same order."""
    values = yaml.safe_load(io.BytesIO(text))
    with task_file(text, "t.yaml") as path:
        assume(not migrate(path).bad)
        from_yaml = yaml.safe_load(io.BytesIO(path.read_bytes()))
    lines = "".join(json.dumps(value) + "\n" for value in values)
    with task_file(lines.encode(), "t.jsonl") as path:
        assert not migrate(path).bad
        from_lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [list(record.items()) for record in from_yaml] == [list(record.items()) for record in from_lines]
