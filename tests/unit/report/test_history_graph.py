"""The lines of a history's graph."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from evalspec.migrate.history import History
from evalspec.report.history_graph import history_text


class Step(NamedTuple):
    family: str
    parent: str
    title: str = "Change it."
    path: str = "x.py"
    prompts: str = "unchanged"
    outputs: str = "unchanged"

    @property
    def id(self) -> str:
        return f"{self.family}@v1"


def graph(tmp_path: Path, *steps: Step) -> list[str]:
    """The first columns of the graph, without what hangs below a version."""
    module = tmp_path / "v1.py"
    module.write_text('"""The root."""\n')
    families: Any = SimpleNamespace(
        by_name=dict.fromkeys(step.family for step in steps),
        schema=lambda _: SimpleNamespace(path=str(module)),
    )
    history: Any = History(steps, ["root@v1"])
    lines = history_text(history, families).splitlines()
    return [line.partition("@")[0] for line in lines if "*" in line or "/" in line]


def test_three_branches_of_one_version_join_one_by_one(tmp_path: Path) -> None:
    steps = [Step(name, "root@v1") for name in "abc"]
    assert graph(tmp_path, *steps) == ["* c", "| * b", "| | * a", "|_|/", "|/", "* root"]


def test_a_branch_may_join_past_another(tmp_path: Path) -> None:
    steps = [Step("a", "root@v1"), Step("b", "a@v1"), Step("c", "root@v1"), Step("d", "a@v1")]
    lines = graph(tmp_path, *steps)
    assert lines == ["* d", "| * b", "| | * c", "|/ /", "* | a", "|/", "* root"]


def test_what_a_title_holds_is_made_visible(tmp_path: Path) -> None:
    module = tmp_path / "v1.py"
    module.write_text('"""The \x1b[31mroot."""\n')
    families: Any = SimpleNamespace(by_name={}, schema=lambda _: SimpleNamespace(path=str(module)))
    text = history_text(History([], ["root@v1"]), families)
    assert text == "* root@v1\n    The \\x1b[31mroot.\n"
