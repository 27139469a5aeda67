"""What other tools of the field got wrong, as reported in public, tried on ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.files import line
from support.sound import sound


def findings(cli: Cli, path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("validate", path, "--format", "json").json()["errors"]
    return found


def test_a_backslash_that_escapes_nothing_has_its_column(cli: Cli, tmp_path: Path) -> None:
    """openai/evals#179: a shrug in a prompt was "line 1 column 450" of a file with thousands of lines."""
    path = tmp_path / "tasks.jsonl"
    bad = line("b").replace(b"What is 12 times 12?", "Who says ¯\\_(ツ)_/¯?".encode())
    path.write_bytes(line("a") + bad)
    (found,) = findings(cli, path)
    assert found["rule"] == "bad_json"
    assert found["line"] == 2
    assert bad.decode()[found["column"] - 1 :].startswith("\\_")
    assert found["field"] == "prompt"


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_is_named(cli: Cli, tmp_path: Path, mark: bytes) -> None:
    """microsoft/promptflow#3670, pydantic-ai#8316, inspect_ai#5353: "no input", or an error that names no bytes."""
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(mark + line())
    (found,) = findings(cli, path)
    if mark == b"\xef\xbb\xbf":
        assert (found["rule"], found["line"], found["column"]) == ("byte_order_mark", 1, 1)
        assert "EF BB BF" in found["message"]
    else:
        assert found["rule"] == "bad_encoding"
        assert "UTF-16" in found["message"]


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_a_line_feed_ends_a_line(cli: Cli, tmp_path: Path, char: str) -> None:
    """marin#8042, wbolster/jsonlines#53: `splitlines` cut records in two at U+2028 or U+0085."""
    escaped = json.dumps(char).encode() if ord(char) < 0x20 else f'"{char}"'.encode()
    path = tmp_path / "tasks.jsonl"
    text = line("a").replace(b'"metric_name"', b'"metadata": {"x": ' + escaped + b'}, "metric_name"') + line(
        "b"
    )
    path.write_bytes(text)
    assert cli("migrate", "--to", "v3", path).code == 0
    after = path.read_bytes()
    assert after.count(b"\n") == 2
    assert escaped in after
    assert cli("validate", path).out.startswith("2 valid records")


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_files_are_utf_8_whatever_the_locale(cli: Cli, tmp_path: Path, locale: str) -> None:
    """huggingface/datasets#8648: read with the locale's encoding, cp936 there."""
    path, prompt = tmp_path / "täsks.jsonl", "介绍一下🤗北京?"
    path.write_bytes(line("é", prompt=prompt, category="nonsense") + line("b", prompt=prompt))
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, out, err = cli("validate", path, env=env)
    assert code == 1, err
    assert "category bad_value" in out
    assert cli("migrate", "--to", "v3", path, "--allow-bad-tasks", env=env).code == 0
    assert path.read_bytes().count(prompt.encode()) == 2
    code, out, err = cli("render", path, "--task", "b", "--allow-bad-tasks", env=env)
    assert (code, out) == (0, prompt)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("promt", "prompt"),
        ("metrics_name", "metric_name"),
        ("post-process", "post_process"),
        ("meta_data", "metadata"),
    ],
)
def test_a_misspelt_key_is_an_error_with_a_guess(cli: Cli, tmp_path: Path, wrong: str, right: str) -> None:
    """METR/inspect-action#72, microsoft/waza#133: unknown keys passed in silence."""
    record = sound("v1", "arithmetic") | {"metadata": {}}
    record[wrong] = record.pop(right)
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(record) + "\n")
    result = cli("validate", path, "--format", "json", "--all-errors").json()
    found = {finding["rule"]: finding for finding in result["errors"]}
    assert found["unknown_field"]["field"] == wrong
    assert right in found["unknown_field"]["fix"]


def test_a_yaml_word_that_is_no_text(cli: Cli, tmp_path: Path) -> None:
    """instructlab#813: `answer: Yes` became True, and `1.0` a number."""
    path = tmp_path / "tasks.yaml"
    path.write_text(
        "task_id: a\ncategory: classification\nprompt: Is it?\ntargets: [Yes, 'No', 1.0, ~]\n"
        "metric_name: exact_match\npost_process: none\n"
    )
    result = cli("validate", path, "--format", "json", "--all-errors").json()
    found = [(finding["rule"], finding["field"], finding["line"]) for finding in result["errors"]]
    assert found == [("bad_type", f"targets[{at}]", 4) for at in (0, 2, 3)]
    first = result["errors"][0]
    assert first["column"] == 11
    assert "quot" in first["fix"]


@pytest.mark.parametrize(
    "prompt",
    [
        'a < b & "c" > d',  # promptfoo#92: &lt; &amp; &quot;
        'Return JSON: {"answer": "value"}',  # inspect_ai#5166: str.format on braces
        "today's date: {todays_date}",  # lve-org/lve#28
        "{{ question }} {% if x %}",  # promptfoo#1258: a template language that was never asked for
        "Quesion: 1 + 1?",  # allenai/open-instruct#147: a misspelling that scores depend on
        "Answer：",  # lm-evaluation-harness#2111: U+FF1A is no colon
        "¯\\_(ツ)_/¯ \\n is no line end",
        " two  spaces, a tab\t, a\u00a0space: kept",
        "e\u0301 is not é",
    ],
)
def test_a_text_is_shown_and_kept_as_it_is(cli: Cli, tmp_path: Path, prompt: str) -> None:
    for name in ("tasks.jsonl", "tasks.yaml"):
        path = tmp_path / name
        path.write_bytes(line("a", prompt=prompt))
        assert cli("render", path).out == prompt
        assert cli("migrate", "--to", "v3", path).code == 0
        assert cli("render", path).out == prompt


@pytest.mark.parametrize("end", [" ", "\n", "\u3000"])
def test_white_space_at_a_prompts_end_is_found(cli: Cli, tmp_path: Path, end: str) -> None:
    """Gen-Verse/dLLM-RL#39, EuroEval#194: one invisible character at the end moved scores."""
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line("a", prompt=f"Sentiment:{end}"))
    (found,) = findings(cli, path)
    assert (found["rule"], found["field"]) == ("bad_value", "prompt")


@pytest.mark.parametrize(
    ("rule", "schema", "text", "wanted"),
    [
        ("extract_letter", "v1", "Antwort:\n\nAntwort: C", "A"),  # openai/simple-evals#33
        ("extract_letter", "v2", "Antwort:\n\nAntwort: C", "C"),
        ("extract_number", "v3", "profit is $70,000", "70000"),  # open-compass/opencompass#2426
        (
            "extract_number",
            "v3",
            "The answer is 72, in total, so she earns that much.",
            "72",
        ),  # stanford-crfm/helm#4337
        ("extract_first_line", "v1", " B\n", "B"),  # lm-evaluation-harness#2279
        ("strip_whitespace", "v1", "Paris \n", "Paris"),  # lm-evaluation-harness#3399
    ],
)
def test_an_answer_is_found_in_what_was_said(
    cli: Cli, rule: str, schema: str, text: str, wanted: str
) -> None:
    assert cli("post-process", rule, "--schema", schema, stdin=text).out == wanted


def test_comments_and_paths_outside_of_the_working_folder(cli: Cli, tmp_path: Path) -> None:
    """jupyter-book#1354, pre-commit#210: comments lost; lm-evaluation-harness#3436: a path "not in the subpath"."""
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    here.mkdir()
    path = elsewhere / "tasks.yaml"
    path.write_text(
        "# part 1\n- task_id: a  # frozen\n  category: arithmetic\n  prompt: 1 + 1?   # plain\n  targets: ['2']\n"
        "  metric_name: f1 # one\n  post_process: none\n# the end\n"
    )
    assert cli("migrate", "--to", "v3", Path("..") / "elsewhere" / "tasks.yaml", cwd=here).code == 0
    text = path.read_text()
    for comment in ("# part 1\n", "a  # frozen\n", "?   # plain\n", "# one\n", "# the end\n"):
        assert comment in text
