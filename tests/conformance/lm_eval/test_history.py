"""`evalspec diff` over what really changed in lm-evaluation-harness: what it says, held against what the files say.

The facts were read off the commits by hand. A clone of EleutherAI/lm-evaluation-harness is needed for them, named by
`EVALSPEC_HARNESS_REPOSITORY`; two pairs of released trees come from the package registry.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.cli import Cli
from support.registry import run_with_registry

REPOSITORY = os.environ.get("EVALSPEC_HARNESS_REPOSITORY", "")
TASKS = "lm_eval/tasks"


class Fact(NamedTuple):
    """What a commit changed.

    Attributes:
        commit: its id.
        told: how many tasks there are in each class of change; `unknown` are those that could not be rendered.
        silent: how many of them kept their version.
    """

    commit: str
    told: dict[str, int]
    silent: int


FACTS = {
    # One character in the base of belebele, from U+FF1A to a colon; 122 files include it.
    "belebele": Fact("69502c063", {"text": 122}, 122),
    # The line end of `target_delimiter` moves to the end of `doc_to_text`.
    "mbpp": Fact("ed9c6fc8d", {"whitespace": 1}, 1),
    # Two texts leave single quotes, in which YAML keeps a backslash and an n.
    "humaneval": Fact("8c1016cb5", {"text": 1, "delimiter": 1}, 1),
    # `{premise}` becomes `{{premise}}` in 35 files (36 with the script that made them). Targets are a function's.
    "afrixnli": Fact("ad3ee8191", {"unknown": 35}, 0),
    # `target_delimiter: ""` in a file that nine others include, with a new version.
    "arithmetic": Fact("41b952f30", {"delimiter": 10}, 0),
    # A slice in a function of RACE, with a new version.
    "race": Fact("5eb304034", {"unknown": 1}, 0),
    # Eleven languages: the target is the number, no more the end of a text. It shows in the examples, too.
    "mgsm": Fact("7418f1c2b", {"target": 11, "text": 11}, 0),
    # Stop strings and settings of a generation in five files of four languages.
    "iberian mgsm": Fact("f2131517d", {"stop": 5, "generation": 5}, 0),
    # A column that there is not, in 16 languages by 5 prompts, with no new version.
    "masakhanews": Fact("10462f97d", {"text": 80}, 80),
    # A typing error in the names of 20 tasks.
    "darija": Fact("a212af8e1", {"renamed": 20}, 0),
    # A split of examples and a version that only a group sets for its own.
    "a group": Fact("bb4fa95ee", {}, 0),
}


def told(found: dict[str, Any]) -> dict[str, int]:
    """The tasks of each class of change."""
    tasks: dict[str, set[str]] = {}
    for group in found["groups"]:
        tasks.setdefault(group["class"], set()).update(group["tasks"])
    for each in found["unknown"]:
        tasks.setdefault("unknown", set()).add(each["task"])
    return {name: len(names) for name, names in tasks.items()}


@pytest.fixture
def changes_of(cli: Cli) -> Any:
    """A function that gives what `evalspec diff` says of a commit."""
    if not REPOSITORY:
        pytest.skip("NO CLONE OF THE HARNESS: name one in EVALSPEC_HARNESS_REPOSITORY")

    def changes(commit: str) -> dict[str, Any]:
        result = cli(
            "diff", f"{commit}^..{commit}", "--spec", "lm-eval", "--format", "json", "--", TASKS,
            cwd=Path(REPOSITORY), timeout=600,
        )  # fmt: skip
        assert result.code == 0, result.err
        found: dict[str, Any] = json.loads(result.out)
        return found

    return changes


@pytest.mark.conformance
@pytest.mark.parametrize("name", FACTS)
def test_a_commit(changes_of: Any, name: str) -> None:
    fact = FACTS[name]
    found = changes_of(fact.commit)
    assert told(found) == fact.told
    assert len(found["versions"]["silent"]) == fact.silent


@pytest.mark.conformance
def test_belebele_is_one_edit_in_one_place(changes_of: Any) -> None:
    [group] = changes_of("69502c063")["groups"]
    assert (group["before"], group["after"]) == ("\uff1a", ":")
    assert group["cause"]["kind"] == "include"
    assert group["cause"]["after"] == {"path": f"{TASKS}/belebele/_default_template_yaml", "line": 7}
    assert (group["characters"], group["bytes"]) == (0, -2)


@pytest.mark.conformance
def test_mbpp_ends_in_a_line_end_and_its_examples_are_as_before(changes_of: Any) -> None:
    [group] = changes_of("ed9c6fc8d")["groups"]
    assert (group["before"], group["after"], group["parts"]) == ("", "\n", ["question"])
    example = group["example"]
    assert example["after"] == example["before"] + "\n"
    assert example["before"].count("[BEGIN]\n") == 3  # of the three examples


@pytest.mark.conformance
def test_bbh_moves_its_examples_and_doubles_a_phrase(changes_of: Any) -> None:
    """4902aaaf1: `bbh/fewshot` is written otherwise and shown as before; `bbh/cot_fewshot` says a phrase twice."""
    found = changes_of("4902aaaf1")
    moved = {each["task"] for each in found["moved"]}
    assert len(moved) == 27
    assert all(name.startswith("bbh_fewshot_") for name in moved)
    doubled = {
        name
        for group in found["groups"]
        if group["class"] == "text" and group["after"].strip() == "Let's think step by step."
        for name in group["tasks"]
    }
    assert len(doubled) >= 25
    assert all(name.startswith("bbh_cot_fewshot_") for name in doubled)
    changed = {name for group in found["groups"] for name in group["tasks"]}
    assert not [name for name in changed if name.startswith("bbh_fewshot_")]


@pytest.mark.conformance
def test_humaneval_shows_line_ends_where_two_characters_stood(changes_of: Any) -> None:
    groups = changes_of("8c1016cb5")["groups"]
    for group in groups:
        example = group["example"]
        assert "\\n```python\\n" in example["before"]
        assert "\\n" not in example["after"]


@pytest.mark.conformance
def test_afrixnli_shows_what_changed_in_what_was_not_rendered(changes_of: Any) -> None:
    for each in changes_of("ad3ee8191")["unknown"]:
        assert "-Premise: {premise}" in each["source"]
        assert "+Premise: {{premise}}" in each["source"]


@pytest.mark.conformance
def test_race_shows_the_function(changes_of: Any) -> None:
    [unknown] = changes_of("5eb304034")["unknown"]
    assert "[-5:] + get_answer_option" in unknown["source"].replace('"question"]', "")


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The task folders of four releases."""
    folder = tmp_path_factory.mktemp("trees")
    for version in ("0.4.8", "0.4.9", "0.4.12", "0.4.13"):
        run_with_registry(
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder, f"lm-eval=={version}",
            cwd=folder,
        )  # fmt: skip
        [wheel] = folder.glob(f"lm_eval-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(f"{TASKS}/")]
            archive.extractall(folder / version, names)
    return folder


def names_in(tree: Path) -> Counter[str]:
    """The names that files give to tasks, read without YAML: enough to count them."""
    found: Counter[str] = Counter()
    for path in tree.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^['\"]?(?:group|class)['\"]?:", text, re.MULTILINE):
            continue
        for name in re.findall(
            r"^['\"]?task['\"]?:[ \t]*['\"]?([^'\"#\n\[{]+?)['\"]?[ \t]*(?:#.*)?$", text, re.MULTILINE
        ):
            found[name] += 1
    return found


@pytest.mark.parametrize(("old", "new"), [("0.4.8", "0.4.9"), ("0.4.12", "0.4.13")])
def test_two_releases(cli: Cli, trees: Path, old: str, new: str) -> None:
    result = cli(
        "diff", "--no-index", f"{old}/{TASKS}", f"{new}/{TASKS}", "--spec", "lm-eval", "--format", "json",
        cwd=trees, timeout=900,
    )  # fmt: skip
    assert result.code == 0, result.err
    found = json.loads(result.out)
    counts = told(found)
    before, after = set(names_in(trees / old / TASKS)), set(names_in(trees / new / TASKS))
    gone, come = before - after, after - before
    by_class: dict[str, set[str]] = {}
    for group in found["groups"]:
        by_class.setdefault(group["class"], set()).update(group["tasks"])
    news = by_class.get("new", set()) | by_class.get("renamed", set())
    assert come <= news
    # A name that two files had, or that only a group sets, is not to be seen in one file alone.
    assert len(news - come) <= len(come) / 20
    assert counts.get("removed", 0) + counts.get("renamed", 0) == pytest.approx(len(gone), rel=0.05, abs=3)
    # Each commit between the two shows here as it does alone.
    if new == "0.4.13":
        unknown = {each["task"] for each in found["unknown"]}
        assert {name for name in unknown if name.startswith("afrixnli") and name.endswith("prompt_1")} >= {
            "afrixnli_amh_prompt_1", "afrixnli_translate_zul_prompt_1"
        }  # fmt: skip
        assert "humaneval_random_span_infilling_light" in by_class["renamed"]
