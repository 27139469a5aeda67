"""A chunk judged as a whole gets the verdicts of its lines judged one by one, whatever it holds."""

from __future__ import annotations

import json
import tempfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.migrating import SPOILER, own_project
from support.records import json_lines, records

from evalspec.errors import Finding
from evalspec.tasks import Reading, validate_path

Verdict = tuple[int, Counter[str], list[Finding]]


def verdict(data: bytes) -> Verdict:
    """How many lines are valid, their versions, and what is wrong with the others."""
    project = own_project()
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        report = validate_path(file.name, Reading(project.families, project.unmarked()))
    return report.valid, report.schemas, [finding._replace(path="tasks.jsonl") for finding in report.errors]


def line_by_line(data: bytes) -> Verdict:
    """The same, with each line looked at by itself: a chunk that holds a bad line is."""
    valid, schemas, errors = verdict(SPOILER + data)
    assert errors[0].rule == "bad_json"
    lowered = [finding._replace(line=finding.line - 1, message=_lowered(finding)) for finding in errors[1:]]
    return valid, schemas, lowered


def _lowered(finding: Finding) -> str:
    """A duplicate's message names the line of the first one."""
    head, mark, line = finding.message.rpartition(" of line ")
    return f"{head}{mark}{int(line) - 1}" if finding.rule == "duplicate_task_id" else finding.message


GOOD = (
    '{"task_id":"%s","category":"mcq","prompt":"Which?","targets":["B"],'
    '"metric_name":"exact_match","post_process":"none"}'
)


def good(task: str, *, old: str = "", new: str = "") -> str:
    return (GOOD % task).replace(old, new) if old else GOOD % task


def with_metadata(members: str) -> str:
    return good("a", old="{", new='{"metadata":{' + members + "},")


#: Pieces of a file that a judgement by counts could mistake for one record a line.
TRAPS = {
    "a long integer": with_metadata('"x":' + "9" * 5000),
    "a long integer in what is wrong": good("a", old="{", new='{"more":{"x":' + "9" * 5000 + "},"),
    "a long integer for a version": good("a", old="{", new='{"spec_version":' + "9" * 5000 + ","),
    "two on one line": good("a") + good("b") + "\n",
    "two on one line, a space between": good("a") + " " + good("b") + "\n",
    "one over two lines": good("a", old=',"prompt"', new=',\n"prompt"') + "\n",
    "one over two lines, CRLF": good("a", old=',"prompt"', new=',\r\n"prompt"') + "\r\n",
    "two on one line, then one over two": good("a") + good("b") + "\n" + good("c", old="{", new="{\n") + "\n",
    "one over two lines, then two on one": good("c", old="{", new="{\n") + "\n" + good("a") + good("b") + "\n",
    "split between records": good("a") + "\n\n" + good("b") + "\n",
    "a space before a colon": good("a", old='"prompt":', new='"prompt" :') + "\n",
    "a repeated key": good("a", old="{", new='{"task_id":"z",') + "\n",
    "a repeated key, a space before its colon": good("a", old="{", new='{"task_id" :"z",') + "\n",
    "a repeated key, a tab before its colon": good("a", old="{", new='{"task_id"\t:"z",') + "\n",
    "a repeated key, a return before its colon": good("a", old="{", new='{"task_id"\r:"z",') + "\n",
    "a repeated key, a line end before its colon": good("a", old="{", new='{"task_id"\n:"z",') + "\n",
    "a repeated key, escaped": good("a", old="{", new='{"task\\u005fid":"z",') + "\n",
    "a repeated key in metadata": with_metadata('"x":1,"x":1') + "\n",
    "a repeated key in metadata beside a quoted colon": with_metadata('"x":"\\":","x" :1') + "\n",
    "a repeated key in an example": good(
        "a", old="{", new='{"few_shot_examples":[{"prompt":"a","completion":"b","prompt":"a"}],'
    ) + "\n",
    "a quoted colon in a text": good("a", old="Which?", new='say \\":\\" twice') + "\n",
    "a quoted colon in a key": with_metadata('"a\\":":1') + "\n",
    "an escaped quote in a key": with_metadata('"a\\u0022":1') + "\n",
    "a space before a colon in a text": good("a", old="Which?", new="a :b") + "\n",
    "a gap in a text": good("a", old="Which?", new="}\\n{") + "\n",
    "an escaped NUL": good("a", old="Which?", new="a\\u0000b") + "\n",
    "an escaped backslash before u0000": good("a", old="Which?", new="a\\\\u0000b") + "\n",
    "a raw NUL": good("a", old="Which?", new="a\0b") + "\n",
    "a lone surrogate": good("a", old="Which?", new="\\ud83d") + "\n",
    "a pair of surrogates": good("a", old="Which?", new="\\ud83d\\ude00") + "\n",
    "not UTF-8": "{\udcff}\n",
    "not UTF-8 in a text": good("a", old="Which?", new="\udcff") + "\n",
    "not UTF-8 in a key": with_metadata('"\udcc3":1') + "\n",
    "overlong": good("a", old="Which?", new="\udcc0\udc80") + "\n",
    "an encoded surrogate": good("a", old="Which?", new="\udced\udca0\udc80") + "\n",
    "a mark": "\ufeff" + good("a") + "\n",
    "a mark in between": good("b") + "\n\ufeff" + good("a") + "\n",
    "blank": "\n",
    "spaces": " \t\r\n",
    "a form feed": "\f\n",
    "no-break space": "\u00a0\n",
    "CRLF": good("a") + "\r\n",
    "a return in between": good("a") + "\r" + good("b") + "\n",
    "spaces around": "  " + good("a") + "  \n",
    "a comma behind": good("a") + ",\n",
    "a comment": "// " + good("a") + "\n",
    "a list": "[" + good("a") + "]\n",
    "a number": "1\n",
    "NaN": with_metadata('"x":NaN') + "\n",
    "a number past a double": with_metadata('"x":1e999') + "\n",
    "a number past 64 bits": with_metadata('"x":123456789012345678901234567890') + "\n",
    "many digits": with_metadata('"x":' + "9" * 5000) + "\n",
    "a zero in front": with_metadata('"x":01') + "\n",
    "as deep as may be": with_metadata('"x":' + "[" * 98 + "]" * 98) + "\n",
    "one too deep": with_metadata('"x":' + "[" * 99 + "]" * 99) + "\n",
    "far too deep": with_metadata('"x":' + "[" * 9999 + "]" * 9999) + "\n",
    "a control character": good("a", old="Which?", new="a\x01b") + "\n",
    "a raw tab": good("a", old="Which?", new="a\tb") + "\n",
    "a raw delete": good("a", old="Which?", new="a\x7fb") + "\n",
    "a separator": good("a", old="Which?", new="a\u2028b\x85c") + "\n",
    "a version": good("a", old="{", new='{"spec_version":2,"output_type":"generate_until",') + "\n",
    "a version as a float": good("a", old="{", new='{"spec_version":2.0,"output_type":"generate_until",') + "\n",
    "a version that is not": good("a", old="{", new='{"spec_version":9,') + "\n",
    "a version that is null": good("a", old="{", new='{"spec_version":null,') + "\n",
    "a wrong word": good("a", old="none", new="nothing") + "\n",
    "a missing field": good("a", old=',"post_process":"none"', new="") + "\n",
    "an unknown field": good("a", old="{", new='{"comment":1,') + "\n",
    "an example in the prompt": good("a", old="Which?", new="Q: a\\nQ: b") + "\n",
    "twins": good("a") + "\n" + good("a") + "\n",
    "twins, one of them bad": good("a", old="none", new="nothing") + "\n" + good("a") + "\n",
}  # fmt: skip


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_trap_alone_and_among_good_lines(trap: str, *, around: bool, end: str) -> None:
    text = f"{good('x')}\n{trap}{good('y')}\n" if around else trap
    data = encoded(text.removesuffix("\n") + end)
    assert verdict(data) == line_by_line(data)


@st.composite
def mixtures(draw: st.DrawFn) -> bytes:
    """Lines good and bad, in any order."""
    pieces = []
    for number in range(draw(st.integers(0, 5))):
        match draw(st.integers(0, 3)):
            case 0:
                pieces.append(encoded(draw(st.sampled_from(sorted(TRAPS.values())))))
            case 1:
                version = draw(st.sampled_from(["v1", "v2", "v3"]))
                line = draw(json_lines([draw(records(version, number=number))]))
                pieces.append(line if line.endswith(b"\n") else line + b"\n")
            case _:
                pieces.append(
                    encoded(good(draw(st.sampled_from("abcdefgh"))) + draw(st.sampled_from(["\n", "\r\n"])))
                )
    data = b"".join(pieces)
    return data.removesuffix(b"\n") if draw(st.booleans()) else data


@given(mixtures())
def test_any_mixture(data: bytes) -> None:
    assert verdict(data) == line_by_line(data)


@given(mixtures(), st.integers(0, 400), st.binary(max_size=2))
def test_any_mixture_with_a_wound(data: bytes, place: int, wound: bytes) -> None:
    place = min(place, len(data))
    data = data[:place] + wound + data[place + 1 :]
    assert verdict(data) == line_by_line(data)


def test_many_chunks_share_their_ids() -> None:
    lines = [
        json.dumps(json.loads(good(f"t{number}")) | {"prompt": "x" * 200}) + "\n" for number in range(1500)
    ]
    lines[1400] = lines[3]
    valid, schemas, (twin,) = verdict("".join(lines).encode())
    assert (valid, schemas) == (1499, Counter({"evalspec@v1": 1500}))
    assert (twin.rule, twin.line, twin.task) == ("duplicate_task_id", 1401, "t3")
    assert twin.message == "the task id is already that of line 4"
