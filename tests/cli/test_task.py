"""`evalspec task`: where a task's settings come from, and its prompt as a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import ROOT, Cli

TEMPLATES = ROOT / "fixtures" / "evalspec" / "v3" / "templates.yaml"


@pytest.fixture
def tree(cli: Cli) -> Path:
    folder = cli.cwd / "tree"
    folder.mkdir()
    (folder / "_base").write_text('doc_to_text: "Q: {{q}}  "\ntest_split: test\ndoc_to_target: a\n')
    (folder / "a.yaml").write_text("task: a\ninclude: _base\ntag: letters\ndataset_path: x\n")
    return folder


def test_each_setting_has_the_place_it_comes_from(cli: Cli, tree: Path) -> None:
    code, out, _ = cli("task", "a", tree.name)
    assert code == 0
    assert 'doc_to_text: "Q: {{q}}  "\n    tree/_base:1:14\n' in out
    assert 'task: "a"\n    tree/a.yaml:1:7\n' in out
    assert 'target_delimiter: " "\n    the default\n' in out
    values = {each["key"]: each for each in cli("task", "a", tree, "--format", "json").json()["values"]}
    assert (values["doc_to_text"]["line"], values["doc_to_text"]["column"]) == (1, 14)
    assert values["repeats"]["origin"] == "the default"


def test_a_record_has_places_and_defaults_too(cli: Cli) -> None:
    said = cli("task", "opposites", TEMPLATES, "--format", "json").json()["values"]
    place = next(each for each in said if each["key"] == "doc_to_text")
    written = TEMPLATES.read_text(encoding="utf-8").splitlines()[place["line"] - 1]
    assert written[place["column"] - 1 :].startswith('"word: {{ word }}"')


def test_the_page_shows_parts_origins_and_white_space(cli: Cli, tree: Path) -> None:
    code, out, _ = cli("task", "a", tree.name, "--prompt", "--shots", "1")
    assert code == 0
    assert "question · example 1 · doc_to_text · tree/_base:1:14\n    Q: ⟨q 1⟩··\n" in out
    assert "separator · example 1 · fewshot_delimiter: the default\n    ↵\n    ↵\n" in out
    assert "generate_until" in out
    assert "view plain · row 0, a placeholder" in out


def test_an_unknown_task_and_a_tag_are_misuse(cli: Cli, tree: Path) -> None:
    assert cli("task", "letters", tree).code == 2
    code, _, err = cli("task", "oposites", TEMPLATES)
    assert code == 2
    assert "did you mean 'opposites'?" in err


def test_a_default_that_is_written_down_has_its_place(cli: Cli, tree: Path) -> None:
    (tree / "b.yaml").write_text('task: b\ninclude: _base\ntarget_delimiter: " "\n')
    out = cli("task", "b", tree.name, "--prompt", "--shots", "1").out
    assert "join · example 1 · target_delimiter · tree/b.yaml:3:19\n" in out
    assert "separator · example 1 · fewshot_delimiter: the default\n" in out
