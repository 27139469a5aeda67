"""Which records a YAML file holds, and where their values stand."""

from __future__ import annotations

import pytest

from evalspec.formats.edits import Path
from evalspec.formats.yaml import RecordKey, place, read, records


def test_one_mapping_is_one_record() -> None:
    (record,) = records(read(b"# c\na: 1\n"))
    assert (record.key, record.value, record.line, record.column) == (RecordKey(0, None), {"a": 1}, 2, 1)


def test_a_top_level_list_is_many() -> None:
    found = records(read(b"- a: 1\n-   a: 2\n- {a: 3}\n"))
    assert [(item.key.item, item.value, item.line, item.column) for item in found] == [
        (0, {"a": 1}, 1, 3),
        (1, {"a": 2}, 2, 5),
        (2, {"a": 3}, 3, 3),
    ]


def test_each_document_is_read_likewise() -> None:
    found = records(read(b"a: 1\n---\n- b: 1\n- b: 2\n---\n# nothing\n--- {c: 1}\n...\n"))
    assert [(item.key, item.value) for item in found] == [
        (RecordKey(0, None), {"a": 1}),
        (RecordKey(1, 0), {"b": 1}),
        (RecordKey(1, 1), {"b": 2}),
        (RecordKey(3, None), {"c": 1}),
    ]


def test_a_bad_record_does_not_spoil_its_neighbours() -> None:
    found = records(read(b"- a: 1\n- text\n- [1]\n-\n- b: .inf\n- c: 1\n  c: 2\n- d: 1\n--- scalar\n"))
    assert [item.value for item in found] == [{"a": 1}, None, None, None, None, None, {"d": 1}, None]
    assert [item.error and (item.error.rule, item.error.line, item.error.column) for item in found] == [
        None,
        ("not_an_object", 2, 3),
        ("not_an_object", 3, 3),
        ("not_an_object", 4, 2),
        ("bad_number", 5, 6),
        ("duplicate_key", 7, 3),
        None,
        ("not_an_object", 9, 5),
    ]
    assert {item.error.field for item in found if item.error and item.error.rule == "not_an_object"} == {
        "_root"
    }


def test_a_set_is_no_record() -> None:
    (record,) = records(read(b"!!set {a, b}\n"))
    assert record.error is not None
    assert record.error.rule == "not_an_object"


TEXT = """\
task: é😀
"é😀": x
nested:
  list:
  - one
  - {k: v, deep: [1, "😀", 3]}
base: &b {x: 1}
merged:
  <<: *b
  y: 2
twice: 1
twice: 2
"""


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ((), (1, 1)),
        (("task",), (1, 7)),
        (("é😀",), (2, 7)),
        (("nested",), (4, 3)),
        (("nested", "list"), (5, 3)),
        (("nested", "list", 0), (5, 5)),
        (("nested", "list", 1, "deep", 2), (6, 27)),
        (("merged", "y"), (10, 6)),
        (("merged", "x"), (7, 14)),
        (("twice",), (12, 8)),
        (("missing",), (1, 1)),
        (("nested", "list", 7), (1, 1)),
        (("task", "below"), (1, 1)),
    ],
)
def test_place_is_that_of_the_value_in_code_points(path: Path, wanted: tuple[int, int]) -> None:
    from evalspec.formats.yaml import LM_EVAL

    for bom in (b"", b"\xef\xbb\xbf"):
        for nl in ("\n", "\r\n"):
            data = bom + TEXT.replace("\n", nl).encode()
            (record,) = records(read(data, dialect=LM_EVAL))
            assert place(record, path) == wanted


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029"])
def test_lines_are_those_that_editors_show(odd: str) -> None:
    """YAML breaks lines at these too; a place counts `\\n` and `\\r\\n` only."""
    (record,) = records(read(f'a: "x{odd}y"\nb: 1\n'.encode()))
    assert place(record, ("b",)) == (2, 4)
