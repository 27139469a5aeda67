"""`evalspec check` as a linter, `evalspec rules`, `evalspec explain`."""

from __future__ import annotations

import json

import pytest
from support.cli import ROOT, Cli
from support.sound import sound

from evalspec.check.rules import RULES

TASK = "task: t\ntest_split: test\ndoc_to_text: 'Q: {{q}}\\nA:'\ndoc_to_target: a\ngeneration_kwargs: {until: []}\n"


def test_a_tree_is_linted_where_it_stands(cli: Cli) -> None:
    folder = cli.cwd / "tasks"
    folder.mkdir()
    (folder / "t.yaml").write_text(TASK)
    code, out, _ = cli("check", "tasks")
    assert code == 1
    first, text, fix = out.splitlines()[2:5]
    assert first.startswith("tasks/t.yaml:3:14 - doc_to_text literal_escape the model sees a backslash")
    assert text.strip().startswith("| Q: {{q}}")
    assert "double quotes" in fix
    assert out.endswith("1 error, 1 note in 1 file\n")


def test_warnings_do_not_fail_and_a_clean_tree_says_so(cli: Cli) -> None:
    (cli.cwd / "t.yaml").write_text(
        TASK.replace("'Q: {{q}}\\nA:'", '"Q: {{q}} "').replace(
            "test_split: test", "training_split: x\ntest_split: test"
        )
    )
    code, out, _ = cli("check", "t.yaml")
    assert code == 0
    assert out.endswith("1 warning in 1 file\n")
    (cli.cwd / "t.yaml").write_text((cli.cwd / "t.yaml").read_text().replace("}} ", "}}"))
    assert cli("check", "t.yaml")[:2] == (0, "nothing found\n")


def test_json_has_the_findings_in_their_one_shape(cli: Cli) -> None:
    (cli.cwd / "t.yaml").write_text(TASK)
    code, out, _ = cli("check", "t.yaml", "--format", "json")
    assert code == 1
    found = json.loads(out)["findings"]
    assert [each["rule"] for each in found] == ["fewshot_pool_fallback", "literal_escape"]
    assert list(found[0]) == "rule severity path line column task field message text fix".split()  # noqa: SIM905


def test_joins_are_looked_at_under_every_configured_view(cli: Cli) -> None:
    letters = TASK.replace("'Q: {{q}}\\nA:'", "'{{q}}'").replace(
        "doc_to_target: a", "doc_to_target: 0\ndoc_to_choice: [A, B]"
    )
    task = letters.replace(
        "generation_kwargs: {until: []}", "output_type: multiple_choice\nfewshot_split: dev\nnum_fewshot: 1"
    )
    (cli.cwd / "t.yaml").write_text(task)
    assert cli("check", "t.yaml").out == "nothing found\n"
    (cli.cwd / "evalspec.toml").write_text('[views.chat]\nchat = "chatml"\nsingle_turn = true\n')
    out = cli("check", "t.yaml").out
    assert "shown_differs_from_scored" in out


def test_rows_of_the_project_count(cli: Cli) -> None:
    (cli.cwd / "evalspec.toml").write_text("")
    rows = cli.cwd / "fixtures" / "lm-eval" / "rows" / "t"
    rows.mkdir(parents=True)
    (rows / "test.jsonl").write_text('{"query": "x", "a": "y"}\n')
    (cli.cwd / "t.yaml").write_text(TASK.replace("'Q: {{q}}\\nA:'", '"{{quert}}"'))
    code, out, _ = cli("check", "t.yaml")
    assert code == 1
    assert "t.yaml:3:14 t doc_to_text undefined_variable" in out
    assert "fix: did you mean 'query'?" in out


def test_fix_mends_what_is_safe_and_tells_what_is_left(cli: Cli) -> None:
    path = cli.cwd / "t.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (TASK + "doc_to_target: a\n").encode())
    before = cli("check", "t.yaml").out
    assert "byte_order_mark" in before
    assert "duplicate_key" in before
    code, out, err = cli("check", "t.yaml", "--fix")
    assert code == 1
    assert "mended t.yaml: byte_order_mark, duplicate_key" in err
    assert "byte_order_mark" not in out
    assert "duplicate_key" not in out
    assert "literal_escape" in out
    kept = TASK.replace("doc_to_target: a\n", "") + "doc_to_target: a\n"
    assert path.read_bytes() == kept.encode()


def test_fix_takes_the_mark_out_of_a_file_of_records(cli: Cli) -> None:
    path = cli.cwd / "t.jsonl"
    line = json.dumps(sound("v3", "arithmetic")).encode() + b"\n"
    path.write_bytes(b"\xef\xbb\xbf" + line)
    code, out, _ = cli("check", path)
    assert code == 1
    assert out.count("byte_order_mark") == 1
    assert cli("check", path, "--fix").code == 0
    assert path.read_bytes() == line


def test_escapes_of_strangers_are_shown(cli: Cli) -> None:
    (cli.cwd / "t.yaml").write_text('task: t\n"\\e[31mkey": 1\ndoc_to_text: "a\\u202eb"\n')
    out = cli("check", "t.yaml").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "unknown_key" in out
    assert "invisible_character" in out


def test_rules_lists_every_rule(cli: Cli) -> None:
    code, out, _ = cli("rules")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(RULES)
    said = json.loads(cli("rules", "--format", "json").out)["rules"]
    assert [rule["id"] for rule in said] == list(RULES)
    assert set(said[0]) == {"id", "severity", "purpose", "example", "fix", "group", "fixable"}


@pytest.mark.parametrize("rule", ["literal_escape", "byte_order_mark"])
def test_explain_tells_one(cli: Cli, rule: str) -> None:
    code, out, _ = cli("explain", rule)
    assert code == 0
    assert out.startswith(f"{rule} ({RULES[rule].severity})\n\n{RULES[rule].purpose}\n")
    assert "fix: " in out
    assert json.loads(cli("explain", rule, "--format", "json").out)["id"] == rule


def test_an_unknown_rule_is_misuse_with_a_suggestion(cli: Cli) -> None:
    code, _, err = cli("explain", "literal_escapes")
    assert code == 2
    assert "did you mean 'literal_escape'?" in err


SUGGESTED = {
    "literal_escape": (
        "doc_to_text: 'Q: {{q}}\\nA:'",
        "doc_to_text: |-\n  Q: {{q}}\n  A:",
        "+ Q:·⟨q·1⟩⟦⏎A:·⟨a·1⟩⏎⏎Q:·⟨q⟩⏎⟧A:",
    ),
    "html_entities": (
        'doc_to_text: "{{q}} &lt; 3?"',
        'doc_to_text: "{{q}} < 3?"',
        "+ ⟨q·1⟩·⟦<·3?·⟨a·1⟩⏎⏎⟨q⟩·<⟧·3?",
    ),
    "single_braces": (
        'doc_to_text: "Q: {question}\\nA:"',
        'doc_to_text: "Q: {{question}}\\nA:"',
        "⟨question⟩",
    ),
    "space_on_both_sides": (
        'doc_to_text: "{{q}} A: "',
        'doc_to_text: "{{q}} A:"',
        "+ ⟨q·1⟩·A:·⟦⟨a·1⟩⏎⏎⟨q⟩·A:⟧",
    ),
}


@pytest.mark.parametrize("rule", SUGGESTED)
def test_what_changes_a_prompt_is_suggested_with_its_prompts_and_not_written(cli: Cli, rule: str) -> None:
    wrong, right, prompt = SUGGESTED[rule]
    tree = cli.cwd / "tree"
    tree.mkdir()
    rest = 'dataset_path: made/up\noutput_type: generate_until\ntest_split: test\ndoc_to_target: "{{a}}"\n'
    (tree / "_base").write_text(f"{rest}{wrong}\n", encoding="utf-8")
    (tree / "a.yaml").write_text("include: _base\ntask: sums\n", encoding="utf-8")
    out = cli("check", "tree", "--fix").out
    assert (tree / "_base").read_text(encoding="utf-8") == f"{rest}{wrong}\n"
    part = out.partition(f"suggestion for {rule} at tree/_base:5:14, not made because a prompt changes:\n")[2]
    assert f"\n-{wrong}\n" + "".join(f"+{line}\n" for line in right.split("\n")) in part
    told = part.partition("the prompt of sums: ")[2].partition("suggestion")[0]
    assert prompt in told
    assert "suggestion" not in cli("check", "tree").out
    (tree / "_base").write_text(f"{rest}{right}\n", encoding="utf-8")
    assert f"suggestion for {rule}" not in cli("check", "tree", "--fix").out


def test_what_does_not_count_is_not_suggested(cli: Cli) -> None:
    (cli.cwd / "evalspec.toml").write_text(
        'tasks = ["tree"]\nignore = ["literal_escape"]\n', encoding="utf-8"
    )
    (cli.cwd / "tree").mkdir()
    (cli.cwd / "tree/a.yaml").write_text("task: a\ndoc_to_text: 'Q\\nA'\n", encoding="utf-8")
    assert "suggestion" not in cli("check", "--fix").out


SOUND = """\
task: a
dataset_path: x
output_type: generate_until
generation_kwargs: {until: ["\\n"]}
test_split: test
fewshot_split: train
doc_to_text: "Q: {{q}}"
doc_to_target: "{{a}}"
"""


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("", []),
        ("# evalspec: ignore[html_entities] as published\n", ["it hides no html_entities"]),
        ("# evalspec: ignore[html_entities]\n", ["it hides no html_entities, as it gives no reason"]),
    ],
)
def test_an_ignore_that_hides_nothing_is_told(cli: Cli, comment: str, said: list[str]) -> None:
    (cli.cwd / "t").mkdir()
    (cli.cwd / "t/a.yaml").write_text(comment + SOUND, encoding="utf-8")
    found = cli("check", "t", "--format", "json").json()["findings"]
    assert [(each["rule"], each["path"], each["line"], each["message"]) for each in found] == [
        ("unused_ignore", "t/a.yaml", 1, message) for message in said
    ]


def test_an_ignore_in_a_file_of_records_is_told_too(cli: Cli) -> None:
    path = cli.cwd / "tasks.yaml"
    path.write_text(
        "# evalspec: ignore[html_entities] as published\n"
        + (ROOT / "fixtures/evalspec/v3/tasks.yaml").read_text(encoding="utf-8"),
        encoding="utf-8",
    )
    found = cli("check", path, "--format", "json").json()["findings"]
    assert [each["line"] for each in found if each["rule"] == "unused_ignore"] == [1]
