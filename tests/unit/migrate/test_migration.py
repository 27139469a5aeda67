"""Reading migration scripts: what one has to say, and what is said of one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.families import project_in, write_migration, write_version

from evalspec.errors import HistoryError, UsageError
from evalspec.migrate import load_history
from evalspec.migrate.history import History
from evalspec.migrate.migration import Migration


def load(folder: Path) -> History[Migration]:
    return load_history(project_in(folder).families)


def test_a_script_is_read_and_not_run(tmp_path: Path) -> None:
    write_version(tmp_path)
    write_version(tmp_path, "v2")
    path = write_migration(tmp_path, 'raise ValueError("must not run")', outputs="changes: because")
    (path.parent / "_notes.py").write_text("this is no Python")
    (path.parent / "README.md").write_text("nor this")
    step = load(tmp_path).steps["team@v2"]
    assert (step.parent, step.title, step.path) == ("team@v1", "A step.", str(path))
    assert (step.prompts.unchanged, step.outputs.unchanged) == (True, False)
    assert (str(step.prompts), str(step.outputs)) == ("unchanged", "changes: because")
    with pytest.raises(UsageError, match=r"v2\.py: ValueError: must not run") as caught:
        _ = step.records
    assert caught.value.fix == "mend its upgrade(op)"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('revision = "v2"', "", r'needs `revision = "…"`'),
        ('down_revision = "v1"', "down_revision = 1", r'needs `down_revision = "…"`'),
        ('prompts = "unchanged"', "", r'needs `prompts = "…"`'),
        ('outputs = "unchanged"', "outputs = None", r'needs `outputs = "…"`'),
        (
            'prompts = "unchanged"',
            'prompts = "changed"',
            '`prompts` is "unchanged" or "changes: …" with a reason',
        ),
        (
            'outputs = "unchanged"',
            'outputs = "changes: "',
            '`outputs` is "unchanged" or "changes: …" with a reason',
        ),
        ('prompts = "unchanged"', 'prompts = ""', "`prompts` is"),
        ("def upgrade(op):", "def downgrade(op):", r"needs `def upgrade\(op\)`"),
        ('down_revision = "v1"', 'down_revision = "v0"', "team@v2 revises team@v0, which is not there"),
        ('down_revision = "v1"', 'down_revision = "evalspec@v9"', "revises evalspec@v9, which is not there"),
    ],
)
def test_a_script_that_says_too_little_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    write_version(tmp_path)
    path = write_migration(tmp_path, "")
    text = path.read_text()
    assert text.count(f"\n{old}\n") == 1
    path.write_text(text.replace(f"\n{old}\n", f"\n{new}\n"))
    with pytest.raises(HistoryError, match=message) as caught:
        load(tmp_path)
    assert caught.value.files == (str(path),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def upgrade(op:\n", r"v2\.py:1: SyntaxError"),
        ("import os\n\nos.nothing\n", r"v2\.py:3: AttributeError: .*nothing"),
        ("import no_such_module\n", r"v2\.py:1: ModuleNotFoundError"),
    ],
)
def test_a_script_that_does_not_load_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    write_version(tmp_path)
    write_migration(tmp_path, "").write_text(text)
    with pytest.raises(UsageError, match=message):
        load(tmp_path)


@pytest.mark.parametrize(
    ("second", "message"),
    [("v2", "two migrations make team@v2"), ("v3", r"family team has 2 heads \(team@v2, team@v3\)")],
)
def test_the_errors_of_a_history_name_the_scripts(tmp_path: Path, second: str, message: str) -> None:
    write_version(tmp_path)
    one = write_migration(tmp_path, "", revision="v2", name="one")
    two = write_migration(tmp_path, "", revision=second, name="two")
    with pytest.raises(HistoryError, match=message) as caught:
        load(tmp_path)
    assert caught.value.files == (str(one), str(two))


def test_a_family_that_branches_off_ours(tmp_path: Path) -> None:
    write_version(tmp_path)
    write_migration(tmp_path, "", revision="v1", parent="evalspec@v3")
    history = load(tmp_path)
    assert history.line("team@v1") == ["evalspec@v1", "evalspec@v2", "evalspec@v3", "team@v1"]
    assert history.head("evalspec") == "evalspec@v3"


def test_the_migrations_that_come_with_the_tool() -> None:
    from support.migrating import own_project

    history = load_history(own_project().families)
    assert history.versions[:3] == ("evalspec@v1", "evalspec@v2", "evalspec@v3")
    assert history.steps["evalspec@v2"].changed_rules == {"extract_letter"}
    assert history.steps["evalspec@v3"].changed_rules == frozenset()
    assert all(step.same_text for step in history.steps.values())
