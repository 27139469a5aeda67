"""`evalspec render` over trees of lm-eval YAML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli import ROOT, Cli
from support.tokenizers import write_tokenizer
from support.trees import TREE, lines, rows, write_tree

V1 = ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl"


@pytest.fixture
def tree(cli: Cli) -> Path:
    return write_tree(cli.cwd / "tree")


def test_a_tree_is_sniffed_and_one_unknown_task_stops_nothing(cli: Cli, tree: Path) -> None:
    code, out, err = cli("render", tree, "--format", "json")
    assert code == 0
    found = lines(out)
    assert list(found) == ["coded", "sky", "wine"]
    assert found["sky"]["text"] == "Q: ⟨q⟩\nA:"
    assert (found["sky"]["schema"], found["sky"]["version"]) == ("lm-eval@0.4.13", 2)
    assert found["sky"]["path"] == str(tree / "colours" / "sky.yaml")
    assert found["sky"]["parts"][0]["origin"]["path"] == str(tree / "colours" / "_base")
    assert "code.text" in found["coded"]["unknown"]
    assert found["coded"]["functions"]["doc_to_text"]["fingerprint"]
    assert "unknown_prompt" in err
    given = cli("render", tree / "colours", "--spec", "lm-eval@0.4.13", "--format", "json")
    assert given.out == out


def test_the_configuration_can_say_that_the_files_are_lm_eval(cli: Cli, tree: Path) -> None:
    plain = tree / "odd"
    plain.mkdir()
    (plain / "odd.yaml").write_text("task: odd\ntask_id: odd\ncategory: mcq\n")  # looks like a record of ours
    assert cli("tasks", plain).out.count("\n") == 1
    for name, head in (("pyproject.toml", "[tool.evalspec]"), ("evalspec.toml", "")):
        (cli.cwd / name).write_text(f'{head}\nspec = "lm-eval@0.4.13"\ntasks = ["tree"]\n')
        assert cli("tasks", plain).out == cli("tasks", plain, "--spec", "lm-eval@0.4.13").out != ""
        assert set(lines(cli("render", "--format", "json", "--task", "sky").out)) == {"sky"}
        assert cli("task", "sky").code == 0
        assert cli("render", V1, "--spec", "evalspec", "--task", "arith_001").code == 0
        assert cli("history").code == 0
        assert cli("check").out.splitlines()[-1] == cli("check", tree).out.splitlines()[-1]
        for command in ("validate", "current"):
            code, out, err = cli(command)
            assert (code, out) == (2, ""), command
            assert "render, task or tasks" in err
    (cli.cwd / "evalspec.toml").write_text('spec = "lm-eval@0.4.12"\n')
    code, _, err = cli("render", tree)
    assert code == 2
    assert "lm-eval@0.4.13" in err


@pytest.mark.usefixtures("tree")
def test_patterns_mean_the_files_that_they_match(cli: Cli) -> None:
    found = lines(cli("render", "tree/colours/[sw]*.yaml", "--format", "json").out)
    assert list(found) == ["sky", "wine"]
    (cli.cwd / "evalspec.toml").write_text(
        'spec = "lm-eval"\ntasks = ["tree/**/s*.yaml", "tree/colours/w*"]\n'
    )
    code, out, err = cli("render", "--format", "json")
    assert code == 0
    assert list(lines(out)) == ["sky", "wine"]
    assert "tree/colours/sky.yaml, tree/colours/wine.yaml: 3 names" in err  # two tasks and a tag
    code, _, err = cli("render", "tree/*.yml", "--spec", "lm-eval")
    assert code == 2
    assert "tree/*.yml" in err


def test_files_without_a_task_are_misuse(cli: Cli, tree: Path) -> None:
    (tree / "sub").mkdir()
    (tree / "sub" / "base.yaml").write_text("dataset_path: x\n")
    for paths in ([tree / "sub"], [V1, "--spec", "lm-eval"]):
        code, out, err = cli("render", *paths)
        assert (code, out) == (2, "")
        assert "no task of lm-eval" in err


def test_tasks_are_named_by_pattern_list_and_group(cli: Cli, tree: Path) -> None:
    (cli.cwd / "names.txt").write_text("# those of the tree\nwine\n")
    out = cli("render", tree, "--task", "s*", "--task", "@names.txt", "--format", "json").out
    assert set(lines(out)) == {"sky", "wine"}
    both = lines(cli("render", tree, "--task", "both", "--format", "json").out)
    assert both["sky"]["text"].endswith("So")
    code, out, err = cli("render", tree, "--task", "both", "--task", "sky")
    assert (code, out) == (2, "")
    assert "name one of the two" in err
    code, _, err = cli("render", tree, "--task", "skye")
    assert code == 2
    assert "did you mean 'sky'?" in err


def test_a_row_error_is_a_line_and_ends_in_1(cli: Cli, tree: Path) -> None:
    rows(cli.cwd / "rows" / "sky" / "test.jsonl", {"qq": "x", "a": "y"})
    rows(cli.cwd / "rows" / "wine" / "test.jsonl", {"q": "which?", "a": "y"})
    code, out, err = cli("render", tree, "--rows-dir", "rows", "--format", "json", "--shots", "2")
    found = lines(out)
    assert code == 1
    assert found["sky"]["error"] == {"type": "UndefinedError", "message": "'q' is undefined"}
    assert "undefined_variable" in err
    assert found["wine"]["text"] == "Q: which?\nA:"
    assert err.count("num_fewshot: 0") == 1


def test_trusted_functions_are_run(cli: Cli, tree: Path) -> None:
    path = rows(cli.cwd / "r.jsonl", {"q": "hello", "a": "y"})
    flags = ["--task", "coded", "--rows", path, "--trust-code", "--format", "json"]
    code, out, _ = cli("render", tree, *flags)
    assert code == 0
    assert json.loads(out)["text"] == "code says hello"


def test_a_task_without_functions_is_told_of_alike_under_trust(cli: Cli, tree: Path) -> None:
    (tree / "colours" / "sky.yaml").write_text(TREE["colours/sky.yaml"] + 'doc_to_text: "Q:\\n {{ qq }}"\n')
    rows(cli.cwd / "rows" / "sky" / "test.jsonl", {"q": "x", "a": "y"})
    rows(cli.cwd / "rows" / "wine" / "test.jsonl", {"q": "which?", "a": "y"})
    for chat in ([], ["--chat", "tokenizer_config.json"]):
        template = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}x"
        (cli.cwd / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
        flags = ["--task", "[sw]*", "--rows-dir", "rows", "--shots", "2", "--system", "S", *chat]
        flags += ["--format", "json"]
        plain, trusted = cli("render", tree, *flags), cli("render", tree, *flags, "--trust-code")
        assert trusted == plain
        assert plain.code == 1
        assert "sky.yaml:6:14 sky doc_to_text undefined_variable" in plain.err
        assert "line 2, column 5 of the template" in plain.err
        assert "did you mean 'q'?" in plain.err
        assert "num_fewshot: 0" in plain.err
        assert ("chat_retry" in plain.err) is bool(chat)


def test_the_rows_a_project_keeps_are_used_under_trust_too(cli: Cli, tree: Path) -> None:
    (cli.cwd / "evalspec.toml").write_text("")
    rows(cli.cwd / "fixtures" / "lm-eval" / "rows" / "coded" / "test.jsonl", {"q": "kept", "a": "y"})
    out = cli("render", tree, "--task", "coded", "--trust-code").out
    assert out == "code says kept"


def test_a_python_class_is_unknown_and_trust_is_not_promised_to_help(cli: Cli, tree: Path) -> None:
    (tree / "colours" / "classy.yaml").write_text("task: classy\nclass: !function code.Classy\n")
    plain = cli("render", tree, "--task", "classy", "--format", "json")
    assert cli("render", tree, "--task", "classy", "--format", "json", "--trust-code") == plain
    assert plain.code == 0
    line = plain.json()
    assert "Python class" in line["unknown"]
    assert line["functions"]["class"]["function"] == "code.Classy"
    assert "--trust-code runs" not in plain.err


@pytest.mark.parametrize("trust", [[], ["--trust-code"]])
def test_a_broken_group_is_told_and_the_others_go_on(cli: Cli, tree: Path, trust: list[str]) -> None:
    (tree / "loop.yaml").write_text("group: loop\ntask: [sky, {group: loop}]\n")
    (tree / "odd.yaml").write_text("group: odd\ntask:\n- sky\n- {num_fewshot: 2}\n")
    (tree / "number.yaml").write_text("group: number\ntask: [7]\n")
    flags = ["--task", "loop", "--task", "odd", "--task", "number", "--task", "wine", *trust]
    code, out, err = cli("render", tree, *flags, "--format", "json")
    found = lines(out)
    assert code == 1
    assert list(found) == ["loop", "odd", "number", "wine"]
    assert [found[name]["error"]["type"] for name in ("loop", "odd", "number")] == [
        "RecursionError",
        "ValueError",
        "TypeError",
    ]
    assert found["wine"]["text"]
    assert f"{tree / 'odd.yaml'}:1:1 odd - render_error" in err
    keys = cli("render", tree, *flags, "--cache-key")
    assert keys.code == 1
    assert keys.out.startswith("wine\t")


def test_what_is_scored_stands_beside_what_is_shown(cli: Cli, tree: Path) -> None:
    (tree / "colours" / "wine.yaml").write_text(TREE["colours/wine.yaml"].replace("num_fewshot: 0\n", ""))
    flags = ["--task", "wine", "--shots", "1", "--chat", "chatml", "--single-turn", "--write-out"]
    code, out, _ = cli("render", tree, *flags)
    assert code == 0
    assert '≠ "red"' in out
    assert 'the examples show " " before an answer' in out
    (line,) = map(json.loads, cli("render", tree, *flags, "--format", "json").out.splitlines())
    assert [pair["differs"] for pair in line["write_out"]] == [True, True]


def test_the_cache_key_is_that_of_the_harness(cli: Cli, tree: Path) -> None:
    out = cli("render", tree, "--task", "sky", "--cache-key", "--shots", "3").out
    assert out.split("\t")[:2] == ["sky", "requests-sky-3shot-rank0-world_size1-tokenizer"]
    flags = ["--chat", "chatml", "--tokenizer-name", "me", "--format", "json"]
    (line,) = map(json.loads, cli("render", tree, "--task", "wine", "--cache-key", *flags).out.splitlines())
    assert line["cache_key"] == (
        "requests-wine-0shot-rank0-world_size1-chat_template-fewshot_as_multiturn-tokenizerme"
    )
    assert cli("render", V1, "--cache-key").code == 2


def test_several_processes_print_what_one_prints(cli: Cli, tree: Path) -> None:
    for number in range(70):
        (tree / "colours" / f"n{number}.yaml").write_text(f"include: _base\ntask: n{number}\n")
    one = cli("render", tree, "--jobs", "1", "--format", "json")
    assert cli("render", tree, "--jobs", "2", "--format", "json") == one
    assert len(lines(one.out)) == 73


def test_a_tokenizer_shows_its_cuts_and_the_joins_inside_its_tokens(cli: Cli, tree: Path) -> None:
    write_tokenizer(cli.cwd / "tokenizer.json")
    (tree / "colours" / "wine.yaml").write_text(TREE["colours/wine.yaml"].replace("num_fewshot: 0\n", ""))
    path = rows(cli.cwd / "r.jsonl", {"q": "which?", "a": "y"}, {"q": "which?", "a": "z"})
    flags = ["--task", "wine", "--rows", path, "--limit", "1", "--shots", "1"]
    cut = [*flags, "--tokenizer", "tokenizer.json"]
    bare = cli("render", tree, *flags).out
    assert bare == "Q: which?\nA: red\n\nQ: which?\nA:"
    shown = cli("render", tree, *cut)
    assert "A│:│ ‿red│\n" in shown.out
    assert "a join inside a token" in shown.err
    assert shown.out.replace("│", "").replace("‿", "") == bare
    assert cli("render", tree, *cut, "-0").out == bare + "\0"
    (line,) = map(json.loads, cli("render", tree, *cut, "--format", "json").out.splitlines())
    assert line["text"] == bare
    moved = [join for join in line["tokens"]["joins"] if join["moved"]]
    assert [(join["before"], join["after"]) for join in moved] == [("join", "answer")]
    assert [request["moved"] for request in line["tokens"]["requests"]] == [False, False]
    beside = cli("render", tree, *cut, "--write-out").out
    assert '"│ red"' in beside
    assert "A│:│ ‿red" in beside
    page = cli("task", "wine", tree, "--prompt", "--rows", path, *cut[4:]).out
    assert "a token reaches over this join" in page
    assert '"│ white"' in page
