"""How `evalspec diff` prints: each format from one comparison, and a pager on a terminal only."""

from __future__ import annotations

import json
import os
import subprocess
from xml.etree import ElementTree as ET

import pytest
from support.cli import Cli
from support.files import line


@pytest.fixture
def sides(cli: Cli) -> tuple[str, str]:
    """Two files of one task whose prompt changed in two words."""
    names = "before.jsonl", "after.jsonl"
    for name, prompt in zip(names, ("Read it and say why:", "Read this and say how:"), strict=True):
        (cli.cwd / name).write_bytes(line("a", prompt=prompt))
    return names


def test_markdown_is_a_comment_unless_said(cli: Cli, sides: tuple[str, str]) -> None:
    code, out, err = cli("diff", "--no-index", *sides, "--format", "markdown")
    assert (code, err) == (0, "1 file, 1 task: after.jsonl against before.jsonl\n")
    assert out.startswith("## Prompt changes\n\n1 file, 1 task: after.jsonl against before.jsonl\n")
    assert cli("diff", "--no-index", *sides, "--format", "markdown", "--budget", "summary").out == out
    assert cli("diff", "--no-index", *sides, "--format", "markdown", "--budget", "all").code == 2


def test_html_is_one_file(cli: Cli, sides: tuple[str, str]) -> None:
    code, out, _ = cli("diff", "--no-index", *sides, "--format", "html", "--output", "page.html")
    assert (code, out) == (0, "")
    page = (cli.cwd / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>\n")
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert [group["tasks"] for group in data["groups"]] == [["a"]]


def test_what_programs_read(cli: Cli, sides: tuple[str, str]) -> None:
    assert cli("diff", "--no-index", *sides, "--format", "github").out.startswith(
        "::warning file=after.jsonl,line=1,title=Prompts%3A text::"
    )
    suite = ET.fromstring(cli("diff", "--no-index", *sides, "--format", "junit").out)  # noqa: S314 - our own
    assert suite.get("failures") == "1"


def test_word_diff_shows_every_word_that_changed(cli: Cli, sides: tuple[str, str]) -> None:
    out = cli("diff", "--no-index", *sides, "--word-diff").out
    assert "Read ⟦-it-⟧⟦+this+⟧ and say ⟦-why-⟧⟦+how+⟧:" in out
    code, _, err = cli("diff", "--to", "v3", sides[0], "--word-diff")
    assert (code, "leave the other flags out" in err) == (2, True)


@pytest.mark.parametrize("flag", ["--stat", "--word-diff"])
def test_what_is_of_text_is_refused_elsewhere(cli: Cli, sides: tuple[str, str], flag: str) -> None:
    code, out, err = cli("diff", "--no-index", *sides, "--format", "html", flag)
    assert (code, out) == (2, "")
    assert "are of text, not of html" in err


def on_a_terminal(cli: Cli, *words: str, **environ: str) -> str:
    """What the command writes to a terminal."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*cli.command, *words], cwd=cli.cwd, env=cli.env | environ, stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    out = b""
    try:
        while piece := os.read(ours, 65_536):
            out += piece
    except OSError:  # Linux's way to say that nobody has the other end any more
        pass
    finally:
        os.close(ours)
    assert process.wait(60) == 0
    return out.decode()


@pytest.mark.parametrize(
    ("environ", "flags", "paged"),
    [
        ({"TERM": "xterm", "PAGER": "sed s/^/paged:/"}, (), True),
        ({"TERM": "xterm", "PAGER": "sed s/^/paged:/"}, ("--no-pager",), False),
        ({"TERM": "xterm", "PAGER": "cat"}, (), False),
        ({"TERM": "xterm", "PAGER": ""}, (), False),
        ({"TERM": "xterm", "PAGER": "no-such-pager"}, (), False),
        ({"TERM": "dumb", "PAGER": "sed s/^/paged:/"}, (), False),
    ],
)
def test_a_terminal_is_paged(
    cli: Cli, sides: tuple[str, str], environ: dict[str, str], flags: tuple[str, ...], paged: bool
) -> None:
    out = on_a_terminal(cli, "diff", "--no-index", *sides, *flags, **environ)
    assert "1 task: after.jsonl against before.jsonl" in out
    assert ("paged:" in out) is paged


def test_the_pager_is_told_to_leave_what_fits_on_the_screen(cli: Cli, sides: tuple[str, str]) -> None:
    pager = 'cat >/dev/null; echo "less is $LESS"'
    out = on_a_terminal(cli, "diff", "--no-index", *sides, TERM="xterm", PAGER=pager)
    assert out == "less is FRX\r\n"
    assert "less is R" in on_a_terminal(
        cli, "diff", "--no-index", *sides, TERM="xterm", PAGER=pager, LESS="R"
    )


def test_nothing_is_paged_in_a_pipe(cli: Cli, sides: tuple[str, str]) -> None:
    out = cli("diff", "--no-index", *sides, env={"TERM": "xterm", "PAGER": "sed s/^/paged:/"}).out
    assert "paged:" not in out
