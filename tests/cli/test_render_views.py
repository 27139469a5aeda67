"""`evalspec render` under views and over rows, of task files of our own contract."""

from __future__ import annotations

import json
import sys

import pytest
from support.cli import ROOT, Cli
from support.tokenizers import write_tokenizer
from support.trees import lines, rows

V1 = ROOT / "fixtures" / "evalspec" / "v1" / "tasks.jsonl"
V3 = ROOT / "fixtures" / "evalspec" / "v3"


def test_v1_is_assembled_by_the_rules_of_v2_under_a_chat_template(cli: Cli) -> None:
    old = cli.cwd / "old.jsonl"
    old.write_bytes(V1.read_bytes())
    view = ["--chat", "chatml", "--system", "Briefly.", "--shots", "1", "--format", "json"]
    for turns in ([], ["--single-turn"]):
        before = lines(cli("render", old, *view, *turns).out)
        new = cli.cwd / "new.jsonl"
        new.write_bytes(V1.read_bytes())
        assert cli("migrate", "--to", "v2", new).code == 0
        after = lines(cli("render", new, *view, *turns).out)
        keys = ("text", "messages", "system", "shots")
        assert [{key: each[key] for key in keys} for each in before.values()] == [
            {key: each[key] for key in keys} for each in after.values()
        ]
        assert before["arith_001"]["text"].startswith("<|im_start|>system\nBriefly.<|im_end|>\n")


def test_configured_views_are_shown_by_name_and_flags_win(cli: Cli) -> None:
    (cli.cwd / "evalspec.toml").write_text(
        '[views.talk]\nchat = "chatml"\nmultiturn = false\nshots = 0\n[views.bare]\nshots = 0\n'
    )
    code, out, _ = cli(
        "render", V1, "--task", "arith_001", "--view", "talk", "--view", "bare", "--format", "json"
    )
    assert code == 0
    talk, bare = map(json.loads, out.splitlines())
    assert (talk["view"], bare["view"], bare["shots"]) == ("talk", "bare", [])
    assert talk["text"] == f"<|im_start|>user\n{bare['text']}<|im_end|>\n<|im_start|>assistant\n"
    out = cli("render", V1, "--task", "arith_001", "--view", "bare", "--shots", "1", "--format", "json").out
    assert json.loads(out)["shots"] == [0]


@pytest.mark.parametrize(
    ("flags", "fix"),
    [
        (["--view", "tlak"], "did you mean 'talk'?"),
        (["--chat", "chatlm"], "did you mean 'chatml'?"),
        (["--rank", "2", "--world-size", "2"], ""),
        (["--rows", "nowhere.jsonl"], "JSONL"),
        (["--rows-are-docs"], "give one of them"),
        (["--spec", "lm-eval@0.4.12"], "--spec lm-eval@0.4.13"),
    ],
)
def test_misuse_has_a_suggestion(cli: Cli, flags: list[str], fix: str) -> None:
    (cli.cwd / "evalspec.toml").write_text('[views.talk]\nchat = "chatml"\n')
    code, out, err = cli("render", V1, *flags)
    assert (code, out) == (2, "")
    assert fix in err


@pytest.mark.parametrize("setting", ["multiturn = false", "single_turn = true"])
def test_a_view_of_one_turn_in_either_word(cli: Cli, setting: str) -> None:
    (cli.cwd / "evalspec.toml").write_text(f'[views.one]\nchat = "chatml"\n{setting}\n')
    one = cli("render", V1, "--task", "arith_001", "--view", "one")
    assert one.code == 0
    assert one.out == cli("render", V1, "--task", "arith_001", "--chat", "chatml", "--single-turn").out
    (cli.cwd / "evalspec.toml").write_text("[views.one]\nmultiturn = true\nsingle_turn = true\n")
    assert cli("render", V1, "--view", "one").code == 2


def test_a_misspelt_setting_of_a_view_is_refused(cli: Cli) -> None:
    (cli.cwd / "evalspec.toml").write_text('[views.talk]\nchta = "chatml"\n')
    code, _, err = cli("render", V1)
    assert code == 2
    assert "did you mean 'chat'?" in err


def test_a_template_file_names_its_templates(cli: Cli) -> None:
    templates = [{"name": "one", "template": "1"}, {"name": "two", "template": "{{ messages[0].content }}"}]
    (cli.cwd / "tokenizer_config.json").write_text(json.dumps({"chat_template": templates}))
    out = cli("render", V1, "--task", "arith_001", "--shots", "0", "--chat", "tokenizer_config.json#two").out
    assert out == cli("render", V1, "--task", "arith_001", "--shots", "0").out
    code, _, err = cli("render", V1, "--chat", "tokenizer_config.json#three")
    assert code == 2
    assert "one, two" in err


def test_rows_of_a_file_are_rendered_and_limited(cli: Cli) -> None:
    path = rows(cli.cwd / "r.jsonl", *({"word": word, "opposite": "x"} for word in ("up", "in", "on")))
    flags = ["--task", "opposites", "--rows", path, "--shots", "0"]
    code, out, _ = cli("render", V3 / "templates.yaml", *flags, "--limit", "2", "--format", "json")
    assert code == 0
    assert [(line["row"], line["split"]) for line in map(json.loads, out.splitlines())] == [
        (0, "test"),
        (1, "test"),
    ]
    out = cli("render", V3 / "templates.yaml", *flags, "--rank", "1", "--world-size", "2").out
    assert out == "Name the opposite.\nword: in\nopposite:"
    said = cli(
        "render", V3 / "templates.yaml", *flags, "--rank", "1", "--world-size", "2", "--format", "json"
    )
    assert said.json()["view"] == "plain, rank 1 of 2"
    code, out, err = cli("render", V3 / "templates.yaml", "--rows", path)
    assert (code, out) == (2, "")
    assert "one template task" in err


def test_an_inline_task_is_one_prompt_whatever_is_said_of_rows(cli: Cli) -> None:
    plain = cli("render", V1, "--format", "json").out
    for flags in (["--limit", "0"], ["--rank", "1", "--world-size", "2"], ["--limit", "0.01"]):
        out = cli("render", V1, "--format", "json", *flags).out
        assert out.replace('"view": "plain, rank 1 of 2"', '"view": "plain"') == plain
    assert {json.loads(line)["row"] for line in plain.splitlines()} == {None}
    assert "one prompt" in cli("render", "--help").out


def test_parts_of_a_template_task_point_into_its_record(cli: Cli) -> None:
    text = (
        "- task_id: near\n  spec_version: 3\n  version: 1\n  category: classification\n"
        "  output_type: generate_until\n  dataset: {path: x, splits: {test: test, train: train}}\n"
        '  doc_to_text: "{{q}}"\n  doc_to_target: a\n'
        '  fewshot:\n    num: 1\n    doc_to_text: "shot {{q}}"\n    target_delimiter: "\\n"\n'
        "  metrics: [{name: f1, aggregation: mean, higher_is_better: true}]\n  post_process: none\n"
    )
    (cli.cwd / "t.yaml").write_text(text)
    (line,) = map(json.loads, cli("render", "t.yaml", "--format", "json").out.splitlines())
    found = [(part["kind"], part["text"], part["origin"].get("key")) for part in line["parts"]]
    assert found == [
        ("question", "shot ⟨q 1⟩", "fewshot.doc_to_text"),
        ("join", "\n", "fewshot.target_delimiter"),
        ("answer", "⟨a 1⟩", "doc_to_target"),
        ("separator", "\n\n", None),
        ("question", "⟨q⟩", "doc_to_text"),
    ]
    written = text.splitlines()
    for part, value in zip(line["parts"], ['"shot', '"\\n"', "a", None, '"{{q}}"'], strict=True):
        if value is not None:
            place = part["origin"]
            assert place["path"] == "t.yaml"
            assert written[place["line"] - 1][place["column"] - 1 :].startswith(value)
    rows(cli.cwd / "d" / "near" / "test.jsonl", {"q": "x", "a": "y"})
    rows(cli.cwd / "d" / "near" / "train.jsonl", {"qq": "x", "a": "y"})
    code, _, err = cli("render", "t.yaml", "--rows-dir", "d")
    assert code == 1
    assert err.startswith("t.yaml:11:18 near fewshot.doc_to_text undefined_variable")
    assert "did you mean 'qq'" not in err  # the pool's column is not one of the evaluated rows
    (cli.cwd / "d" / "near" / "train.jsonl").unlink()
    err = cli("render", "t.yaml", "--rows-dir", "d").err
    assert "near fewshot.split unknown_prompt" in err
    assert "fewshot.split: there are no rows" in err


def test_several_processes_print_what_one_prints_of_records(cli: Cli) -> None:
    record = json.loads(V1.read_bytes().splitlines()[0])
    many = [{**record, "task_id": f"t{number}", "prompt": "é" * (number % 7)} for number in range(1100)]
    rows(cli.cwd / "many.jsonl", *[{**each, "prompt": each["prompt"] or "?"} for each in many])
    for flags in (["--format", "json"], ["--chat", "chatml"], ["--task", "t10*", "--format", "json"]):
        one = cli("render", "many.jsonl", *flags, "--jobs", "1")
        assert one.code == 0
        assert cli("render", "many.jsonl", *flags, "--jobs", "3") == one
    code, _, err = cli("render", "many.jsonl", "--jobs", "3", "--format", "json", "--task", "t1l")
    assert code == 2
    assert "did you mean" in err


def test_many_files_are_not_held_open(cli: Cli) -> None:
    record = json.loads(V1.read_bytes().splitlines()[0])
    for number in range(100):
        rows(cli.cwd / "many" / f"{number}.jsonl", {**record, "task_id": f"t{number}"})
    script = 'ulimit -n 64; exec "$0" -m evalspec "$@"'
    few = Cli(cli.cwd, command=("sh", "-c", script, sys.executable))
    code, out, err = few("render", "many", "--format", "json")
    assert code == 0, err
    assert out.count("\n") == 100


def test_a_view_names_its_tokenizer(cli: Cli) -> None:
    (cli.cwd / "evalspec.toml").write_text('[views.cut]\ntokenizer = "models/tokenizer.json"\n')
    code, out, err = cli("render", V1, "--view", "cut")
    assert (code, out) == (2, "")
    assert "models/tokenizer.json" in err
    (cli.cwd / "models").mkdir()
    write_tokenizer(cli.cwd / "models" / "tokenizer.json")
    (cli.cwd / "below").mkdir()
    code, out, _ = cli("render", V1, "--view", "cut", "--task", "arith_001", cwd=cli.cwd / "below")
    assert code == 0
    assert "│" in out
