"""The graph of versions: it takes a list and knows nothing of files."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from evalspec.errors import HistoryError, UnknownVersion, UsageError
from evalspec.migrate.history import History


class Step(NamedTuple):
    id: str
    parent: str

    @property
    def family(self) -> str:
        return self.id.rpartition("@")[0]

    @property
    def path(self) -> str:
        return f"migrations/{self.id}.py"


def history(*steps: tuple[str, str], roots: tuple[str, ...] = ("a@v1",)) -> History[Step]:
    return History([Step(*step) for step in steps], roots)


LINE = (("a@v2", "a@v1"), ("a@v3", "a@v2"))


def test_a_line_has_one_head_and_an_order() -> None:
    graph = history(*reversed(LINE))
    assert graph.versions == ("a@v1", "a@v2", "a@v3")
    assert graph.head("a") == "a@v3"
    assert graph.line("a@v2") == ["a@v1", "a@v2"]
    assert graph.children("a@v2") == ["a@v3"]
    assert graph.children("a@v3") == []


@pytest.mark.parametrize(
    ("start", "target", "steps"),
    [("a@v1", "a@v3", ["a@v2", "a@v3"]), ("a@v2", "a@v3", ["a@v3"]), ("a@v3", "a@v3", [])],
)
def test_the_path_between_two_versions(start: str, target: str, steps: list[str]) -> None:
    assert [step.id for step in history(*LINE).path(start, target)] == steps


def test_going_back_is_refused_with_a_sentence() -> None:
    with pytest.raises(UsageError, match="cannot go back from a@v3 to a@v1") as caught:
        history(*LINE).path("a@v3", "a@v1")
    assert caught.value.exit_code == 2
    assert "version control" in caught.value.fix


def test_another_branch_cannot_be_reached() -> None:
    graph = history(*LINE, ("b@v1", "a@v2"), ("b@v2", "b@v1"))
    assert [step.id for step in graph.path("a@v1", "b@v2")] == ["a@v2", "b@v1", "b@v2"]
    with pytest.raises(UsageError, match="no migration leads from a@v3 to b@v2"):
        graph.path("a@v3", "b@v2")
    with pytest.raises(UsageError, match="cannot go back from b@v1 to a@v2"):
        graph.path("b@v1", "a@v2")


def test_a_branch_off_another_family_is_no_head_of_it() -> None:
    graph = history(*LINE, ("b@v1", "a@v2"))
    assert (graph.heads("a"), graph.heads("b")) == (["a@v3"], ["b@v1"])


def test_a_family_without_migrations_has_its_first_version_as_head() -> None:
    graph = history(roots=("a@v1", "b@v1"))
    assert (graph.head("a"), graph.head("b"), graph.line("b@v1")) == ("a@v1", "b@v1", ["b@v1"])


@pytest.mark.parametrize("asked", ["a@v9", "c@v1", "v1", ""])
def test_an_unknown_version_lists_those_there_are(asked: str) -> None:
    for start, target in ((asked, "a@v3"), ("a@v1", asked)):
        with pytest.raises(UnknownVersion) as caught:
            history(*LINE).path(start, target)
        assert caught.value.version == asked
        assert caught.value.known == ("a@v1", "a@v2", "a@v3")
    with pytest.raises(UnknownVersion):
        history(*LINE).head("c")


@pytest.mark.parametrize(
    ("steps", "message", "files"),
    [
        ([("a@v3", "a@v2")], "a@v3 revises a@v2, which is not there", ["a@v3"]),
        ([*LINE, ("a@v2", "a@v1")], "two migrations make a@v2", ["a@v2", "a@v2"]),
        ([*LINE, ("a@v4", "a@v2")], r"family a has 2 heads \(a@v3, a@v4\)", ["a@v3", "a@v4"]),
        ([("a@v2", "a@v1"), ("a@v7", "a@v8"), ("a@v8", "a@v7")], "in a circle", ["a@v7", "a@v8"]),
        ([("a@v7", "a@v7")], "in a circle", ["a@v7"]),
        ([("a@v6", "a@v8"), ("a@v7", "a@v8"), ("a@v8", "a@v7")], "in a circle", ["a@v7", "a@v8"]),
    ],
    ids=["missing parent", "duplicate id", "two heads", "circle", "own parent", "tail into a circle"],
)
def test_what_is_no_line_is_an_error_that_names_the_files(
    steps: list[tuple[str, str]], message: str, files: list[str]
) -> None:
    with pytest.raises(HistoryError, match=message) as caught:
        history(*steps)
    assert sorted(caught.value.files) == [f"migrations/{name}.py" for name in files]
    assert all(file in str(caught.value) for file in caught.value.files)
    assert caught.value.fix
    assert caught.value.exit_code == 2


def test_the_first_version_beside_a_branch_is_a_second_head() -> None:
    with pytest.raises(HistoryError, match="2 heads"):
        history(("a@v2", "b@v1"), roots=("a@v1", "b@v1"))
