"""Trees of lm-eval YAML: includes, names, groups, places (lm_eval.md, "Finding and loading YAML")."""
# ruff: noqa: E501 - one case a line, however long its texts

from __future__ import annotations

from pathlib import Path

import pytest

from evalspec.errors import Place
from evalspec.prompts.lm_eval import (
    BadGroup,
    Fingerprints,
    FolderFiles,
    Index,
    Loader,
    LoadError,
    MemoryFiles,
    Places,
    check_requests,
    requested,
)
from evalspec.prompts.problems import FunctionRef


def index(files: dict[str, str]) -> Index:
    return Index([MemoryFiles({name: text.encode() for name, text in files.items()})])


def test_the_last_include_wins_and_the_file_itself_over_all() -> None:
    files = {
        "t.yaml": "include: [a, sub/b]\ntask: t\nz: own\n",
        "a": "x: a\ny: a\nz: a\nmetadata: {version: 1}\ntask_list: [1]\n",
        "sub/b": "include: c\ny: b\nmetadata: {other: 2}\n",
        "sub/c": "y: c\nw: !function utils.f\n",
    }
    loaded = Loader(MemoryFiles({name: text.encode() for name, text in files.items()})).load("t.yaml")
    assert loaded.values == {
        "x": "a",
        "y": "b",
        "z": "own",
        "task": "t",
        "metadata": {"other": 2},
        "w": FunctionRef("utils.f", "sub"),
    }
    assert loaded.files == ("t.yaml", "a", "sub/b", "sub/c")


TROUBLE = [
    ({"t.yaml": "include: t.yaml"}, "itself"),
    ({"t.yaml": "include: [a, b]", "a": "include: c", "b": "include: c", "c": "x: 1"}, "twice"),
    ({"t.yaml": "include: ../out"}, "out of the tree"),
    ({"t.yaml": "include: missing"}, "no such file"),
    ({"t.yaml": "include:"}, "an include is a path"),
    ({"t.yaml": "- a"}, "mapping"),
    ({"t.yaml": "a: [1"}, "expected"),
    ({"t.yaml": "a: !!python/name:os.system"}, "could not determine a constructor"),
    ({"t.yaml": "[" * 600}, "deep"),
]


@pytest.mark.parametrize(("files", "reason"), TROUBLE)
def test_a_file_that_cannot_be_loaded(files: dict[str, str], reason: str) -> None:
    loader = Loader(MemoryFiles({name: text.encode() for name, text in files.items()}))
    with pytest.raises(LoadError, match=reason):
        loader.load("t.yaml")


def test_the_dialect_is_yaml_1_1() -> None:
    values = (
        index({"t.yaml": "task: t\na: yes\nb: 010\nc: 12:30\nd: 1e-3\n"}).loaders[0].load("t.yaml").values
    )
    assert (values["a"], values["b"], values["c"], values["d"]) == (True, 8, 750, "1e-3")


TREE = {
    "a/one.yaml": "task: one\ntag: [odd, both]\nnum_fewshot: 1\nmetadata: {version: 1.0}\n",
    "a/two.yaml": "task: two\ntag: both\n",
    "b/one.yaml": "task: one\n",
    "b/group.yaml": "group: g\nnum_fewshot: 3\ntask: [one, {task: two, num_fewshot: 4}, {task: new, doc_to_text: x}]\n",
    "c/outer.yaml": "group: outer\ndescription: D\ntask:\n  - {group: g, num_fewshot: 9}\n  - {group: inner, task: [both]}\n",
    "d/class.yaml": "task: py\nclass: !function task.X\n",
    "e/base.yaml": "doc_to_text: x\n",
    "e/_base_yaml": "task: never\n",
    "f/.ipynb_checkpoints/x.yaml": "task: never\n",
    "g/list.yaml": "group: [a, b]\ntask: three\n",
    "h/odd.yaml": "task: odd\n",
}


def test_names_kinds_and_what_is_left_out() -> None:
    made = index(TREE)
    kinds = {name: entry.kind for name, entry in made.entries.items()}
    assert kinds == {
        "one": "task", "odd": "tag", "both": "tag", "two": "task", "g": "group", "outer": "group", "py": "python task",
    }  # fmt: skip
    assert made.entries["one"].path == "a/one.yaml"
    assert {(skipped.path, skipped.rule) for skipped in made.skipped} == {
        ("b/one.yaml", "duplicate_task_id"),
        ("e/base.yaml", "unknown_shape"),
        ("g/list.yaml", "unknown_shape"),
        ("h/odd.yaml", "duplicate_task_id"),
    }
    assert made.match(["o*", "tw?"]) == ["odd", "one", "outer", "two"]


def test_a_later_tree_wins() -> None:
    trees = [
        MemoryFiles({"x.yaml": b"task: t\nnum_fewshot: 1"}),
        MemoryFiles({"y.yaml": b"task: t\nnum_fewshot: 2"}),
    ]
    [task] = requested(Index(trees), "t")
    assert task.settings["num_fewshot"] == 2


def test_a_group_overrides_its_members_and_is_overridden() -> None:
    tasks = {task.name: task for task in requested(index(TREE), "g")}
    assert list(tasks) == ["one", "two", "g::new"]
    assert tasks["one"].settings["num_fewshot"] == 3
    assert tasks["two"].settings["num_fewshot"] == 4
    assert tasks["g::new"].settings["doc_to_text"] == "x"
    assert "config_source" not in tasks["g::new"].settings["metadata"]
    assert tasks["one"].settings["metadata"] == {"version": 1.0, "config_source": "a/one.yaml"}


def test_groups_in_groups_and_tags() -> None:
    tasks = requested(index(TREE), "outer")
    assert [(task.name, task.settings.get("num_fewshot"), task.group) for task in tasks] == [
        ("one", 9, "outer/g"),
        ("two", 4, "outer/g"),
        ("g::new", 9, "outer/g"),
        ("one", 1, "outer/outer::inner"),
        ("two", None, "outer/outer::inner"),
    ]
    assert all(task.settings["description"] == "D" for task in tasks)
    assert [task.name for task in requested(index(TREE), "both")] == ["one", "two"]


def test_a_task_that_two_requests_reach() -> None:
    made = index(TREE)
    with pytest.raises(BadGroup, match="both"):
        check_requests([("g", requested(made, "g")), ("one", requested(made, "one"))])


def test_groups_that_are_wrong() -> None:
    made = index(
        {"g.yaml": "group: g\ntask: [h]", "h.yaml": "group: h\ntask: [g]", "i.yaml": "group: i\ntask: [3]"}
    )
    for name in ("g", "i", "nowhere"):
        with pytest.raises(BadGroup):
            requested(made, name)


def test_every_setting_has_its_place() -> None:
    made = index(
        {
            "x/t.yaml": "include: ../base\ntask: t\ndescription: own\n",
            "base": "# a comment\ndoc_to_text: '{{q}}'\nfewshot_config:\n  sampler: first_n\ndescription: base\n",
        }
    )
    places = Places(made, "tasks")
    [task] = requested(made, "t")
    find = places.place_of(task)
    assert find("description") == Place("tasks/x/t.yaml", 3, 14)
    assert find("doc_to_text") == Place("tasks/base", 2, 14)
    assert find("fewshot_config.sampler") == Place("tasks/base", 4, 12)
    assert find("target_delimiter") is None
    told = {value.key: value for value in places.resolved(task)}
    assert (told["target_delimiter"].value, told["target_delimiter"].origin) == (" ", "the default")
    assert told["fewshot_config.doc_to_text"].origin == "taken from doc_to_text"


PYTHON = {
    "t/utils.py": (
        "import re\nfrom functools import partial\nfrom helper import clean\nimport other as o\n"
        "LETTERS = ['A', 'B']\nLETTERS.append('C')\n"
        "def f(doc):\n    '''Say.'''\n    return clean(doc['x']) + LETTERS[0]  # why\n"
        "def unused():\n    return 1\n"
        "g = partial(f, 1)\n"
        "for n in 'ab':\n    globals()[f'h_{n}'] = partial(f, n)\n"
        "def uses_module(doc):\n    return o.thing(doc)\n"
    ),
    "t/helper.py": "def clean(x):\n    return x.strip()\n",
    "t/other.py": "SETTING = 1\ndef thing(d):\n    return SETTING\n",
}


def fingerprint(name: str, **changed: str) -> str | None:
    files = {path: text.encode() for path, text in PYTHON.items()}
    for path, text in changed.items():
        files[f"t/{path}.py"] = text.encode()
    return Fingerprints(MemoryFiles(files)).of(FunctionRef(f"utils.{name}", "t"))


def test_comments_layout_and_docstrings_do_not_count() -> None:
    changed = (
        PYTHON["t/utils.py"]
        .replace("  # why", "")
        .replace("    '''Say.'''\n", "")
        .replace("def f", "\n\ndef f")
    )
    assert fingerprint("f") == fingerprint("f", utils=changed)
    assert str(fingerprint("f")).startswith("f1:sha256:")


COUNTS = [
    ("f", "utils", "LETTERS[0]", "LETTERS[1]"),
    ("f", "utils", "['A', 'B']", "['X', 'B']"),
    ("f", "utils", "append('C')", "append('D')"),
    ("f", "helper", "strip", "lstrip"),
    ("g", "utils", "partial(f, 1)", "partial(f, 2)"),
    ("g", "helper", "strip", "lstrip"),
    ("h_a", "utils", "'ab'", "'abc'"),
    ("h_a", "helper", "strip", "lstrip"),
    ("uses_module", "other", "SETTING = 1", "SETTING = 2"),
]


@pytest.mark.parametrize(("name", "module", "old", "new"), COUNTS)
def test_what_a_function_reaches_counts(name: str, module: str, old: str, new: str) -> None:
    text = PYTHON[f"t/{module}.py"]
    assert old in text
    assert fingerprint(name) != fingerprint(name, **{module: text.replace(old, new)})


def test_what_it_does_not_reach_does_not_count() -> None:
    changed = PYTHON["t/utils.py"].replace("return 1", "return 2")
    assert fingerprint("f") == fingerprint("f", utils=changed)
    assert fingerprint("nowhere", utils="x = 1") is not None
    assert Fingerprints(MemoryFiles({})).of(FunctionRef("utils.f", "t")) is None


def test_a_folder_does_not_let_anyone_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("task: s")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link.yaml").symlink_to(tmp_path / "secret")
    (tree / "t.yaml").write_text("task: t")
    files = FolderFiles(str(tree))
    assert files.read("../secret") is None
    assert files.read("link.yaml") is None
    assert list(Index([files]).entries) == ["t"]


def test_a_name_that_two_trees_have_is_told_of_the_one_that_is_not_loaded() -> None:
    trees = [
        MemoryFiles({"a.yaml": b"task: one\n"}),
        MemoryFiles({"b.yaml": b"task: one\n", "c.yaml": b"task: two\n"}),
    ]
    index = Index(trees)
    assert (index.entries["one"].root, index.entries["one"].path) == (1, "b.yaml")
    [skipped] = index.skipped
    assert (skipped.root, skipped.path, skipped.rule) == (0, "a.yaml", "duplicate_task_id")
    assert skipped.twin is index.entries["one"]
