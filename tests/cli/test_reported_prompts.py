"""What people reported of prompts that went wrong or changed unseen, tried on harness task files.

Each is a public report about a tool of the field, by repository and number; files and rows are made up.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.cli import Cli
from support.projects import commit, git
from support.trees import lines, rows

if TYPE_CHECKING:
    from pathlib import Path

BASE = """\
dataset_path: made/up
output_type: generate_until
test_split: test
doc_to_text: "Q: {{q}}\\nA:"
doc_to_target: "{{a}}"
generation_kwargs: {until: ["\\n"]}
metadata: {version: 1.0}
"""
CONFIG = 'spec = "lm-eval"\ntasks = ["tree"]\n'


def write(folder: Path, **files: str) -> Path:
    """Files of a tree; `t` is `t.yaml`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / (name if "." in name else f"{name}.yaml")).write_text(text, encoding="utf-8")
    return folder


def prompts(cli: Cli, *words: object) -> list[dict[str, Any]]:
    result = cli("render", *words, "--format", "json")
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


@pytest.fixture
def repository(cli: Cli) -> Path:
    """A repository with 27 tasks that share a base; returns the base."""
    tree = write(cli.cwd / "tree", base=BASE)
    write(tree, **{f"t{number:02}": f"include: base.yaml\ntask: t{number:02}\n" for number in range(27)})
    (cli.cwd / "evalspec.toml").write_text(CONFIG)
    git(cli.cwd, "init", "-q", "-b", "main")
    commit(cli.cwd)
    return tree / "base.yaml"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def difference(cli: Cli) -> dict[str, Any]:
    result = cli("diff", "HEAD", "--format", "json")
    assert result.code in {0, 1}, result.err
    found: dict[str, Any] = json.loads(result.out)
    return found


def checked(cli: Cli) -> set[str]:
    result = cli("check", "--base", "HEAD", "--format", "json")
    assert result.code in {0, 1}, result.err
    errors = [each for each in json.loads(result.out)["findings"] if each["severity"] == "error"]
    return {each["rule"] for each in errors}


# ── functions, chat templates, seeds ─────────────────────────────────────────────────────────────────────────────


def test_a_function_whose_module_imports_its_neighbour(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#2713: opaque without trust; with it, the neighbour is found."""
    tree = write(
        cli.cwd / "tree",
        t=BASE.replace('"Q: {{q}}\\nA:"', "!function utils.text") + "task: t\n",
        **{"utils.py": "from . import words\n\ndef text(doc):\n    return words.ASK + doc['q']\n"},
        **{"words.py": "ASK = 'Say: '\n"},
    )
    (tree / "__init__.py").touch()
    rows(cli.cwd / "r.jsonl", {"q": "why", "a": "so"})
    untrusted = cli("render", tree, "--rows", "r.jsonl")
    assert untrusted.code == 0
    assert "function" in untrusted.err
    assert "Say" not in untrusted.out
    trusted = cli("render", tree, "--rows", "r.jsonl", "--trust-code")
    assert trusted.out == "Say: why" or "relative import" in trusted.err


@pytest.mark.parametrize(
    ("report", "template", "said"),
    [
        (
            "huggingface/text-generation-inference#2987",
            '{%- set today = strftime_now("%Y-%m-%d") %}{{ today }}: {{ messages[0].content }}',
            "strftime_now says 2025-01-01",
        ),
        (
            "sgl-project/sglang#3296",
            '{%- if not date_string is defined %}{%- set date_string = "26 Jul" %}{%- endif %}{{ date_string }}:',
            "date_string is not given",
        ),
    ],
)
def test_a_chat_template_that_asks_for_the_date_is_told_of(
    cli: Cli, report: str, template: str, said: str
) -> None:
    tree = write(cli.cwd / "tree", t=BASE + "task: t\n")
    (cli.cwd / "dated.jinja").write_text(template)
    result = cli("render", tree, "--chat", "dated.jinja")
    assert result.code == 0
    assert said in result.err, report
    assert result.out == cli("render", tree, "--chat", "dated.jinja", "--quiet").out
    assert said not in cli("render", tree, "--chat", "chatml").err


@pytest.mark.usefixtures("repository")
def test_another_chat_template_is_another_prompt(cli: Cli) -> None:
    """allenai/open-instruct#1497: what had been rendered was used again after the template had changed."""
    (cli.cwd / "evalspec.toml").write_text(CONFIG + '[views.chat]\nchat = "c.jinja"\n')
    (cli.cwd / "c.jinja").write_text("{{ messages[0].content }}")
    commit(cli.cwd)
    (cli.cwd / "c.jinja").write_text("{{ messages[0].content }}!")
    [group] = difference(cli)["groups"]
    assert (len(group["tasks"]), group["cause"]["kind"]) == (27, "chat_template")
    assert checked(cli) == {"prompt_changed_silently"}


def test_several_inputs_render_under_a_chat_template_without_examples(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#2430: zero examples and a template crashed."""
    tree = write(
        cli.cwd / "tree",
        t="task: t\ndataset_path: made/up\noutput_type: multiple_choice\ntest_split: test\nnum_fewshot: 0\n"
        "doc_to_text: '{{answer_to_num[answer]}}'\ndoc_to_target: '{{rest}}'\n"
        "doc_to_choice: '{{[first, second]}}'\n",
    )
    rows(
        cli.cwd / "r.jsonl",
        {
            "first": "She went",
            "second": "They went",
            "rest": "home.",
            "answer": "1",
            "answer_to_num": {"1": 0},
        },
    )
    for view in ([], ["--chat", "chatml"], ["--shots", "0"]):
        [row] = prompts(cli, tree, "--rows", "r.jsonl", *view)
        assert ["She went" in row["text"][0], "They went" in row["text"][1]] == [True, True]
        assert [request["continuation"].strip() for request in row["requests"]] == ["home.", "home."]


def test_the_last_line_end_of_a_begun_answer_stays(cli: Cli) -> None:
    """huggingface/transformers#34253: whether it is stripped depended on the release."""
    tree = write(cli.cwd / "tree", t=BASE + 'task: t\ngen_prefix: "<think>\\n"\n')
    [one] = prompts(cli, tree, "--chat", "chatml")
    assert one["text"].endswith("<|im_start|>assistant\n<think>\n")


def test_messages_are_shown_as_messages(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#1490: is the system turn given once, or with each example?"""
    tree = write(cli.cwd / "tree", t=BASE + "task: t\nfewshot_split: dev\n")
    for split in ("test", "dev"):
        rows(cli.cwd / "rows" / "t" / f"{split}.jsonl", {"q": split, "a": "x"})
    [one] = prompts(cli, tree, "--rows-dir", "rows", "--shots", "1", "--chat", "chatml", "--system", "Short.")
    assert [each["role"] for each in one["messages"]] == ["system", "user", "assistant", "user"]
    [flat] = prompts(
        cli, tree, "--rows-dir", "rows", "--shots", "1", "--chat", "chatml", "--system", "S", "--single-turn"
    )
    assert [each["role"] for each in flat["messages"]] == ["system", "user"]


def test_the_seed_that_is_given_is_the_seed_that_is_used(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#1044 and #1906: a seed could not be given, or was ignored."""
    tree = write(cli.cwd / "tree", t=BASE + "task: t\nfewshot_split: dev\nnum_fewshot: 5\n")
    rows(cli.cwd / "rows" / "t" / "test.jsonl", {"q": "?", "a": "!"})
    rows(cli.cwd / "rows" / "t" / "dev.jsonl", *({"q": f"q{n}", "a": f"a{n}"} for n in range(40)))

    def drawn(*seed: str) -> list[int]:
        shots: list[int] = prompts(cli, tree, "--rows-dir", "rows", *seed)[0]["shots"]
        return shots

    assert drawn() == drawn("--seed", "1234")
    assert drawn("--seed", "42") != drawn()
    assert len(drawn("--seed", "42")) == 5


def test_the_first_examples_leave_the_row_itself_out(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#3978: the row that is asked about was its own example."""
    tree = write(
        cli.cwd / "tree",
        t=BASE + "task: t\nfewshot_split: test\nnum_fewshot: 2\nfewshot_config: {sampler: first_n}\n",
    )
    rows(cli.cwd / "rows" / "t" / "test.jsonl", *({"q": f"q{n}", "a": f"secret{n}"} for n in range(3)))
    found = prompts(cli, tree, "--rows-dir", "rows")
    leaking = [line["row"] for line in found if f"secret{line['row']}" in line["text"]]
    says = {each["rule"] for each in cli("check", tree, "--format", "json").json()["findings"]}
    assert not leaking or "fewshot_leak" in says


def test_text_of_a_data_set_is_never_run(cli: Cli) -> None:
    """huggingface/lighteval#1348: `eval` of what a row says."""
    tree = write(
        cli.cwd / "tree",
        t="task: t\ndataset_path: made/up\noutput_type: multiple_choice\ntest_split: test\n"
        "doc_to_text: '{{q}}'\ndoc_to_target: 0\ndoc_to_choice: '{{endings}}'\n",
    )
    rows(cli.cwd / "good.jsonl", {"q": "x", "endings": "['a', 'b']"})
    assert [line["choices"] for line in prompts(cli, tree, "--rows", "good.jsonl")] == [["a", "b"]]
    rows(cli.cwd / "bad.jsonl", {"q": "x", "endings": "[open('made', 'w').write('x'), 'b']"})
    result = cli("render", tree, "--rows", "bad.jsonl")
    assert result.code == 1
    assert not (cli.cwd / "made").exists()


def test_a_row_that_brings_white_space_to_the_edge(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#3795: scores rose threefold once rows were stripped."""
    write(cli.cwd / "tree", t=BASE.replace("Q: {{q}}\\nA:", "{{q}}") + "task: t\n")
    rows(cli.cwd / "rows" / "t" / "test.jsonl", {"q": "  The device was cleared in ", "a": " 1998 "})
    (cli.cwd / "evalspec.toml").write_text(CONFIG + 'rows = "rows"\n')
    found = cli("check", "--format", "json").json()["findings"]
    assert [each["field"] for each in found if each["rule"] == "space_from_row"] == [
        "doc_to_text",
        "doc_to_target",
    ]
    page = cli("task", "t", "tree", "--prompt", "--rows-dir", "rows").out
    assert "··The device was cleared in·" in page


def test_a_path_is_a_file_a_folder_or_a_pattern(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#3424: a path that the manual named did not work."""
    write(cli.cwd / "tree", t=BASE + "task: t\n")
    shown = {cli("render", path).out for path in ("tree/t.yaml", "./tree/t.yaml", "tree", "tree/*.yaml")}
    assert len(shown) == 1
    assert shown.pop()


def test_two_tasks_of_one_name(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#3549: the second silently took the place of the first."""
    for folder in ("a", "b"):
        write(cli.cwd / "tree" / folder, x=BASE + "task: foo\n")
    (cli.cwd / "evalspec.toml").write_text(CONFIG)
    result = cli("check")
    assert result.code == 1
    assert "task_id_in_two_files" in result.out
    assert "tree/a/x.yaml" in result.out
    assert "tree/b/x.yaml" in result.out


def test_line_ends_of_a_description_stay(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#1817 and #2144: Jinja took the last one, and nobody saw it."""
    for ends, shown in (("\\n\\n", "\n\n"), ("\\n", "\n")):
        tree = write(cli.cwd / "tree", t=BASE + f'task: t\ndescription: "Think.{ends}"\n')
        [one] = prompts(cli, tree)
        assert one["text"].startswith(f"Think.{shown}Q:")


# ── changes, and versions that do or do not move ─────────────────────────────────────────────────────────────────


def test_a_changed_format_of_27_tasks_is_one_group_and_an_error(cli: Cli, repository: Path) -> None:
    """EleutherAI/lm-evaluation-harness#1118 and #614, huggingface/lighteval#694: a score of 0.89 or of 38.63."""
    edit(repository, 'doc_to_text: "Q: {{q}}\\nA:"', 'doc_to_text: "Q: {{q}}\\nA: ...\\n\\n"')
    groups = difference(cli)["groups"]
    assert [len(each["tasks"]) for each in groups] == [27]
    assert checked(cli) == {"prompt_changed_silently"}
    edit(repository, "version: 1.0", "version: 2.0")
    assert checked(cli) == set()
    edit(repository, "version: 2.0", "version: 1.0")
    names = [f"t{number:02}" for number in range(27)]
    assert cli("accept", *names, "--reason", "the old one made no sense").code == 0
    assert checked(cli) == set()


def test_a_line_end_that_moves_from_the_delimiter_into_the_text(cli: Cli, repository: Path) -> None:
    """EleutherAI/lm-evaluation-harness#2645: examples as before, the last question one byte longer."""
    edit(repository, "generation_kwargs", 'target_delimiter: "\\n"\ngeneration_kwargs')
    commit(cli.cwd)
    edit(repository, 'A:"\n', 'A:\\n"\n')
    edit(repository, 'target_delimiter: "\\n"', 'target_delimiter: ""')
    [group] = difference(cli)["groups"]
    example = group["example"]
    assert example["after"] == example["before"] + "\n"
    assert "prompt_changed_silently" in checked(cli)


@pytest.mark.parametrize("version", ["0", "1.0"])
def test_a_version_that_stays_while_the_text_does_not(cli: Cli, repository: Path, version: str) -> None:
    """EleutherAI/lm-evaluation-harness#2322, huggingface/lighteval#172: one version, two prompts."""
    edit(repository, "version: 1.0", f"version: {version}")
    git(cli.cwd, "commit", "-q", "--allow-empty", "-am", "more")
    edit(repository, "Q: ", "Question: ")
    assert checked(cli) == {"prompt_changed_silently"}


def test_a_metric_that_changes_under_one_version(cli: Cli, repository: Path) -> None:
    """huggingface/lighteval#1090."""
    commit_metric = "metric_list: [{metric: exact_match}]\n"
    repository.write_text(repository.read_text() + commit_metric)
    commit(cli.cwd)
    edit(repository, "metric: exact_match", "metric: acc")
    assert checked(cli) == {"prompt_changed_silently"}
    assert {each["class"] for each in difference(cli)["groups"]} == {"metric"}


def test_a_filter_that_comes_with_a_new_version_is_accepted(cli: Cli, repository: Path) -> None:
    """EleutherAI/lm-evaluation-harness#1206, where the maintainer did it right."""
    added = "filter_list: [{name: n, filter: [{function: remove_whitespace}, {function: take_first}]}]\n"
    repository.write_text(repository.read_text() + added)
    assert checked(cli) == {"prompt_changed_silently"}
    assert {each["class"] for each in difference(cli)["groups"]} == {"post_process"}
    edit(repository, "version: 1.0", "version: 2.0")
    assert checked(cli) == set()


def test_a_version_alone_is_told_as_another(cli: Cli, repository: Path) -> None:
    """UKGovernmentBEIS/inspect_ai#3014: results of the old version were reused."""
    edit(repository, "version: 1.0", "version: 2-A")
    said = difference(cli)
    assert said["groups"] == []
    assert len(said["versions"]["moved"]) == 27


def test_every_file_that_is_wrong_is_told_in_one_run(cli: Cli, repository: Path) -> None:
    """EleutherAI/lm-evaluation-harness#965 and #2320: "thought I'd caught everything"."""
    for name in ("t00", "t13", "t26"):
        path = repository.with_name(f"{name}.yaml")
        path.write_text(path.read_text() + 'gold_alias: "{{label}}"\n')
    found = cli("check", "--no-base", "--format", "json").json()["findings"]
    unknown = [each for each in found if each["rule"] == "unknown_key"]
    assert [(each["path"], each["line"]) for each in unknown] == [
        (f"tree/{name}.yaml", 3) for name in ("t00", "t13", "t26")
    ]


def test_settings_of_the_file_and_of_the_view_are_taken_together(cli: Cli) -> None:
    """EleutherAI/lm-evaluation-harness#2161: the examples' number was looked for in one place only."""
    tree = write(cli.cwd / "tree", t=BASE + "task: t\nfewshot_split: dev\nnum_fewshot: 2\n")
    rows(cli.cwd / "rows" / "t" / "test.jsonl", {"q": "?", "a": "!"})
    rows(cli.cwd / "rows" / "t" / "dev.jsonl", *({"q": f"q{n}", "a": f"a{n}"} for n in range(4)))
    [one] = prompts(cli, tree, "--rows-dir", "rows", "--chat", "chatml")
    assert [each["role"] for each in one["messages"]] == ["user", "assistant"] * 2 + ["user"]


def test_a_task_is_seen_without_a_data_set_or_a_network(cli: Cli) -> None:
    """huggingface/lighteval#1266, confident-ai/deepeval#731: an error that showed only on the compute node."""
    tree = write(cli.cwd / "tree", t=BASE.replace("{{q}}", "{{q.split()}}") + "task: t\n")
    assert lines(cli("render", tree, "--format", "json").out)["t"]["text"].startswith("Q: ['⟨q⟩']")
