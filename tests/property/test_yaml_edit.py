"""The law of edits on YAML: a text that reads as the edits mean, or a refusal; and every other byte is kept."""

from __future__ import annotations

import random
import re
from typing import Any

import yaml as pyyaml
from hypothesis import event, given
from hypothesis import strategies as st
from support.yaml_texts import Writer, edits_for

from evalspec.errors import FormatError
from evalspec.formats.edits import Edit, Insert, Remove, Rename, Replace, apply_to_value
from evalspec.formats.yaml import Dialect, EditRefused, YamlRecord, edit, read, records
from evalspec.formats.yaml.verify import equal

DIALECT = Dialect(tags=True, keys=True)
seeds = st.integers(min_value=0, max_value=2**48)


def a_record(rnd: random.Random, *, rich: bool) -> tuple[bytes, list[YamlRecord], YamlRecord] | None:
    data = Writer(rnd, rich=rich).file()
    try:
        found = records(read(data, dialect=DIALECT))
    except FormatError:  # an alias inside of what it names
        return None
    good = [record for record in found if record.error is None]
    return (data, found, rnd.choice(good)) if good else None


def check_law(rnd: random.Random, *, rich: bool, reformat: bool = False) -> None:
    made = a_record(rnd, rich=rich)
    if made is None:
        return
    data, found, record = made
    edits = edits_for(rnd, record.value, rnd.choice([1, 1, 2, 3, 6]), apply_to_value)
    wanted: list[Any] = [
        apply_to_value(other.value, edits) if other.key == record.key else other.value for other in found
    ]
    try:
        result = edit(data, [(record.key, edits)], dialect=DIALECT, reformat=reformat)
    except EditRefused as error:
        event("refused")
        assert error.reason
        assert error.line >= 1
        return
    event("edited")
    got = [other.value for other in records(read(result, dialect=DIALECT))]
    assert got == wanted if b"<<" in data else equal(got, wanted)  # merged keys come first, wherever they are
    assert result.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")


@given(seeds)
def test_edited_text_reads_as_the_edits_mean(seed: int) -> None:
    check_law(random.Random(seed), rich=False)


@given(seeds)
def test_with_anchors_merge_keys_tags_and_odd_keys(seed: int) -> None:
    check_law(random.Random(seed), rich=True)


@given(seeds)
def test_laid_out_anew(seed: int) -> None:
    check_law(random.Random(seed), rich=True, reformat=True)


@given(seeds)
def test_no_edit_no_change(seed: int) -> None:
    made = a_record(random.Random(seed), rich=True)
    if made is not None:
        data, _, record = made
        assert edit(data, [(record.key, [])], dialect=DIALECT) == data


@given(seeds)
def test_nearly_everything_is_edited_in_place(seed: int) -> None:
    """A plain file, one edit, is never refused, but for the corners that have their own reason."""
    rnd = random.Random(seed)
    made = a_record(rnd, rich=False)
    if made is None:
        return
    data, _, record = made
    edits = edits_for(rnd, record.value, 1, apply_to_value)
    try:
        edit(data, [(record.key, edits)], dialect=DIALECT)
    except EditRefused as error:
        assert re.search("into braces|out of braces", error.reason) or any(
            mark in data for mark in (b"|", b">")
        )


def nodes_at(record: YamlRecord, path: tuple[Any, ...]) -> tuple[Any, Any]:
    """The key's and the value's node, found without the code under test."""
    key, node = None, record.node
    for step in path:
        if isinstance(node, pyyaml.SequenceNode):
            key, node = None, node.value[step]
        else:
            key, node = next((k, v) for k, v in reversed(node.value) if k.value == str(step))
    return key, node


def pieces(data: bytes, result: bytes) -> tuple[str, str]:
    """What was taken out and what was put in, between the longest common beginning and end."""
    old, new = data.decode(), result.decode()
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    return old[head : len(old) - tail], new[head : len(new) - tail]


def common(one: str, other: str) -> int:
    """How many characters two texts share at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def one_edit(rnd: random.Random) -> tuple[bytes, YamlRecord, Edit, bytes] | None:
    made = a_record(rnd, rich=False)
    if made is None:
        return None
    data, _, record = made
    for one in edits_for(rnd, record.value, 1, apply_to_value):
        try:
            return data, record, one, edit(data, [(record.key, [one])], dialect=DIALECT)
        except EditRefused:
            return None
    return None


@given(seeds)
def test_every_other_byte_is_kept(seed: int) -> None:
    made = one_edit(random.Random(seed))
    if made is None:
        return
    data, record, one, result = made
    text = data.decode().removeprefix("\ufeff")
    new = result.decode().removeprefix("\ufeff")
    out, put = pieces(data, result)
    match one:
        case Rename(path, _):
            key, _ = nodes_at(record, path)
            start, end = key.start_mark.index, key.end_mark.index
            assert (new[:start], new[len(new) - len(text) + end :]) == (text[:start], text[end:])
        case Replace(path, _):
            key, node = nodes_at(record, path)
            start, end = (key.end_mark if key else record.node.start_mark).index, node.end_mark.index
            assert new.startswith(text[:start])
            rest = text[end:]
            if "\n" in put:  # a block's lines stand below its key's comment
                rest = rest.partition("\n")[2]
            assert new.endswith(rest.lstrip(" \t"))
        case Insert() if not record.node.flow_style and b"{" not in data:
            assert not out
            assert put
        case Remove():  # what is left of a mapping that lost everything is all that is new
            assert put.strip(" {}[]") == "" or put.lstrip().startswith(("{}", "[]")), (out, put)
        case _:
            pass


@given(seeds)
def test_comments_are_kept(seed: int) -> None:
    """Whatever is renamed, added or moved, no comment is lost."""
    rnd = random.Random(seed)
    made = one_edit(rnd)
    if made is None or isinstance(made[2], Remove | Replace):
        return
    data, _, _, result = made
    comments = re.compile("# (?:own|any|eol|é 😀|in|header|top|start|next|end|c)(?=\\r?$)", re.MULTILINE)
    assert sorted(comments.findall(data.decode())) == sorted(comments.findall(result.decode()))


texts = st.text(
    st.sampled_from(" \t\n\r#:-|>'\"\\\\ab,[]{}&*!%@`é😀\xa0\x85\u2028\u200b\ufeff\x07~?"), max_size=12
)
STYLES = (
    "k: old\n",
    "k: 'old'\n",
    'k: "old"\n',
    "k: |\n  old\n",
    "k: >\n  old\n",
    "{k: old}\n",
    "- k: old\n",
    "k: old",
)


@given(texts, st.sampled_from(STYLES), st.sampled_from([1, 2, 4]))
def test_every_text_can_be_written_in_every_place(text: str, style: str, step: int) -> None:
    nested = style if style[0] in "{-" or style[-1] != "\n" else f"a:\n{' ' * step}b: 1\n{style}"
    data = nested.encode()
    (record,) = records(read(data))
    result = edit(data, [(record.key, [Replace(("k",), text), Insert(("l",), [text, {text or "x": text}])])])
    (after,) = records(read(result))
    assert after.value is not None
    assert (after.value["k"], after.value["l"]) == (text, [text, {text or "x": text}])
