"""Whatever the bytes, the YAML reader gives what PyYAML gives, or a fault with a rule and a place in the file."""

from __future__ import annotations

import random
from typing import Any

import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st
from support.yaml_texts import Writer

from evalspec.errors import FormatError
from evalspec.formats.yaml import Dialect, Tagged, dump_new, edit, place, read, records
from evalspec.formats.yaml.verify import equal

DIALECT = Dialect(tags=True, keys=True, duplicates="warning")
RULES = {
    "alias_bomb", "bad_encoding", "bad_number", "bad_type", "bad_yaml", "byte_order_mark", "duplicate_key",
    "lone_surrogate", "not_an_object", "nul_character", "too_deep", "too_large",
}  # fmt: skip
TOKENS = [
    *["a", "b: ", ": ", "- ", "? ", "[", "]", "{", "}", ",", "\n", "\n  ", "\n    ", "\r\n", "# c"],
    *["&x ", "*x", "<<: ", "!t ", "!!int ", "!!set ", "!!omap ", "!!binary ", "|", "|2+\n", ">", "'", '"'],
    *[
        "\\",
        "\\0",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "\t",
        "1",
        ".nan",
        "0x",
        "2024-99-99",
        "1:30",
        "yes",
        "~",
    ],
    *["é", "😀", "\ufeff", "\x00", "\x85", "\u2028", "\u00a0", "="],
]
tokens = st.sampled_from(TOKENS)
soup = st.lists(tokens, max_size=30).map("".join)


class Reader(getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader that keeps unknown tags."""


def _tagged(loader: Any, suffix: str, node: Any) -> Tagged:
    made = {"scalar": loader.construct_scalar, "sequence": loader.construct_sequence}
    return Tagged("!" + suffix, made.get(node.id, loader.construct_mapping)(node))


Reader.add_multi_constructor("!", _tagged)


def check_faults(data: bytes) -> None:
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    try:
        file = read(data)
    except FormatError as error:
        faults = [error]
    else:
        found = records(file)
        faults = [*file.warnings, *(record.error for record in found if record.error is not None)]
        assert edit(data, []) == data
        for record in found:
            assert place(record, ("a", 0)) >= (1, 1)
            assert 1 <= record.line <= len(lines)
    for fault in faults:
        assert fault.rule in RULES
        assert fault.fix
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    check_faults(data)


@given(st.text(max_size=100))
def test_any_text(text: str) -> None:
    check_faults(text.encode("utf-8", "surrogatepass"))


@given(soup)
def test_any_soup_of_tokens(text: str) -> None:
    check_faults(text.encode())


@given(
    st.integers(min_value=0, max_value=2**48),
    st.integers(min_value=0),
    st.sampled_from([b"", b"\x00", b"\xff", b"\t", b"'", b"*"]),
)
def test_files_with_a_byte_changed(seed: int, at: int, new: bytes) -> None:
    data = Writer(random.Random(seed)).file()
    at %= len(data) + 1
    check_faults(data[:at] + new + data[at + 1 :])


@given(st.integers(min_value=0, max_value=2**48))
def test_values_are_those_of_pyyaml(seed: int) -> None:
    data = Writer(random.Random(seed)).file()
    try:
        found = records(read(data, dialect=DIALECT))
    except FormatError as error:
        assert error.rule in {"alias_bomb", "bad_yaml"}
        return
    wanted: list[Any] = []
    try:
        for document in pyyaml.load_all(data, Reader):
            wanted.extend(document if isinstance(document, list) else [] if document is None else [document])
    except pyyaml.YAMLError:
        assert any(record.error is not None for record in found)
        return
    assert len(found) == len(wanted)
    for record, value in zip(found, wanted, strict=True):
        assert record.error is not None or equal(record.value, value)


plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(min_size=1, max_size=5), plain, max_size=4), max_size=3))
def test_a_new_file_reads_back(values: list[dict[str, Any]]) -> None:
    if "\\u0000" in ascii(values) or "\\x00" in ascii(values):
        return
    assert equal([record.value for record in records(read(dump_new(values)))], values)
