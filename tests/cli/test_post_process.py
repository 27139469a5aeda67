"""`evalspec post-process`: one rule, from standard input to standard output."""

from __future__ import annotations

import json
import subprocess

import pytest
from support.cli import ROOT, Cli

EXAMPLES = ROOT / "fixtures" / "evalspec" / "v3" / "post_process.jsonl"


def test_the_version_decides_and_is_said(cli: Cli) -> None:
    text = "Answer: C is right"
    assert cli("post-process", "extract_letter", stdin=text) == (0, "C", "extract_letter of evalspec@v3\n")
    assert cli("post-process", "extract_letter", "--schema", "v1", stdin=text) == (
        0,
        "A",
        "extract_letter of evalspec@v1\n",
    )
    assert cli("post-process", "-q", "extract_letter", "--schema", "evalspec@v2", stdin=text) == (0, "C", "")


def test_no_line_end_is_added_and_no_byte_translated(cli: Cli) -> None:
    for data in (b"", b"a\r\nb\r\n", "Straße ☕\u2028".encode(), b"\n\n"):
        done = subprocess.run(
            [*cli.command, "post-process", "-q", "none"],
            env=cli.env,
            input=data,
            capture_output=True,
            check=True,
        )
        assert done.stdout == data


@pytest.mark.parametrize("rule", ["extract_code_block", "extract_number"])
def test_the_examples_of_the_fixtures(cli: Cli, rule: str) -> None:
    examples = [json.loads(line) for line in EXAMPLES.read_bytes().splitlines()]
    for example in [example for example in examples if example["rule"] == rule][:4]:
        assert cli("post-process", "-q", rule, stdin=example["input"]).out == example["output"]


def test_an_unknown_rule_lists_the_rules(cli: Cli) -> None:
    code, out, err = cli("post-process", "extract_leter", stdin="x")
    assert (code, out) == (2, "")
    assert "strip_whitespace, lower, extract_letter" in err
    assert "did you mean 'extract_letter'?" in err
    assert cli("post-process", "extract_number", "--schema", "v2", stdin="x").code == 2


def test_bytes_that_are_no_utf8_are_told_with_their_place(cli: Cli) -> None:
    code, out, err = cli("post-process", "-q", "none", stdin="é\nab".encode() + b"\xff")
    assert (code, out) == (1, "")
    assert "2:3 bad_encoding the byte 0xFF" in err


def test_output_goes_to_a_file(cli: Cli) -> None:
    assert cli("post-process", "-q", "lower", "--output", "o.txt", stdin="AB\n") == (0, "", "")
    assert (cli.cwd / "o.txt").read_bytes() == b"ab\n"
