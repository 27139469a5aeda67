"""The law of edits on JSON lines, and that nothing but the edits' own text changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given
from hypothesis import strategies as st
from support.json_texts import KEYS, json_texts, new_values, records

from evalspec.formats.edits import (
    FIRST,
    IN_PLACE,
    LAST,
    Edit,
    EditError,
    Insert,
    Move,
    Remove,
    Rename,
    Replace,
    Where,
    apply_to_value,
)
from evalspec.formats.json_edit import same_value
from evalspec.formats.jsonl import edit_line, edit_pieces, parse_line, split_top
from evalspec.formats.line_editor import LineEditor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.formats.edits import Path

wheres = st.one_of(
    st.just(LAST), st.just(FIRST), st.builds(Where, after=st.sampled_from(["a", "b", "é", "?"]))
)


def paths_in(value: Any, prefix: Path = ()) -> Iterator[Path]:
    steps: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, item in steps:
        yield (*prefix, step)
        yield from paths_in(item, (*prefix, step))


@st.composite
def edits_for(draw: st.DrawFn, value: Any) -> Edit:
    """An edit that often fits `value`, and sometimes does not."""
    there = list(paths_in(value))
    steps: st.SearchStrategy[str | int] = st.sampled_from([*KEYS, -1, 0, 1, 2])
    any_path = st.lists(steps, min_size=1, max_size=3)
    fits = bool(there) and draw(st.integers(0, 9)) > 0
    path: Path = draw(st.sampled_from(there)) if fits else tuple(draw(any_path))
    parent = draw(st.sampled_from([path[:-1], path, (), ("new",), (*path[:-1], "new")]))
    target = (*parent, draw(st.sampled_from([*KEYS, "x", "y"])))
    match draw(
        st.sampled_from(["replace", "rename", "insert", "insert", "remove", "move", "move", "in place"])
    ):
        case "replace":
            return Replace(path, draw(new_values))
        case "rename":
            return Rename(path, draw(st.sampled_from([*KEYS, "x", "y"])))
        case "insert":
            return Insert(target, draw(new_values), draw(wheres))
        case "remove":
            return Remove(path)
        case "move":
            return Move(path, target, draw(wheres))
        case _:
            below = draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=3))
            return Move(path, (*path[:-1], *below), IN_PLACE)


def meant(value: Any, edits: Sequence[Edit]) -> Any:
    """What the edits mean, or `EditError` where they mean nothing that JSON can hold (a number as a key)."""
    try:
        result = apply_to_value(value, edits)
    except (EditError, AttributeError, TypeError):
        return EditError
    return result if same_value(json.loads(json.dumps(result)), result) else EditError


@st.composite
def records_and_edits(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    text = draw(records())
    value = json.loads(text)
    edits: list[Edit] = []
    for _ in range(draw(st.integers(1, 4))):
        edit = draw(edits_for(value))
        edits.append(edit)
        value = meant(value, [edit])
        if value is EditError:
            break
    return text.encode(), edits


def outcome(edit: Callable[..., bytes], *arguments: Any) -> bytes | EditError:
    try:
        return edit(*arguments)
    except EditError as error:
        return error


@given(records_and_edits())
def test_the_edited_text_reads_as_the_edits_mean(case: tuple[bytes, list[Edit]]) -> None:
    line, edits = case
    expected = meant(json.loads(line), edits)
    result = outcome(edit_line, line, edits)
    if isinstance(result, EditError):
        assert expected is EditError, result
        assert result.edit in edits
    else:
        assert expected is not EditError
        assert same_value(json.loads(result), expected)


@given(records_and_edits())
def test_pieces_join_to_the_line_before_and_after(case: tuple[bytes, list[Edit]]) -> None:
    line, edits = case
    result = outcome(edit_line, line, edits)
    assume(not isinstance(result, EditError))
    before, after = edit_pieces(line, edits)
    glue, values = split_top(line)
    for pieces, whole in ((before, line), (after, result)):
        assert b"".join(values[piece] if isinstance(piece, int) else piece for piece in pieces) == whole
        assert [isinstance(piece, int) for piece in pieces] == [bool(n % 2) for n in range(len(pieces))]
    assert tuple(before[::2]) == glue
    slots = [piece for piece in after if isinstance(piece, int)]
    assert len(slots) == len(set(slots))


def kept(line: bytes, edit: Edit) -> tuple[str, str]:
    assume(meant(json.loads(line), [edit]) is not EditError)
    return line.decode(), edit_line(line, [edit]).decode()


def is_one_cut(longer: str, shorter: str) -> bool:
    """Whether taking one piece out of `longer` gives `shorter`."""
    start = next((n for n, (a, b) in enumerate(zip(longer, shorter, strict=False)) if a != b), len(shorter))
    return longer.endswith(shorter[start:])


@given(st.data(), records(), new_values)
def test_replacing_touches_the_value_alone(data: st.DataObject, text: str, value: Any) -> None:
    parsed = parse_line(text.encode())
    paths = list(paths_in(parsed.value))
    assume(paths)
    path = data.draw(st.sampled_from(paths))
    before, after = kept(text.encode(), Replace(path, value))
    node = parsed.node.find(path)
    assert node is not None
    tail = before[node.end :]
    assert after.startswith(before[: node.start])
    assert after.endswith(tail)
    assert same_value(json.loads(after[node.start : len(after) - len(tail)]), value)


@given(st.data(), records(), st.sampled_from(["x", "ü", "🤗"]))
def test_renaming_touches_the_key_alone(data: st.DataObject, text: str, name: str) -> None:
    parsed = parse_line(text.encode())
    paths = [path for path in paths_in(parsed.value) if isinstance(path[-1], str)]
    assume(paths)
    path = data.draw(st.sampled_from(paths))
    before, after = kept(text.encode(), Rename(path, name))
    holder = parsed.node.find(path[:-1])
    assert holder is not None
    key = holder.keys[holder.names.index(path[-1])]
    tail = before[key.end :]
    assert after.startswith(before[: key.start])
    assert after.endswith(tail)
    assert json.loads(after[key.start : len(after) - len(tail)]) == name


@given(st.data(), records())
def test_removing_is_one_cut(data: st.DataObject, text: str) -> None:
    paths = list(paths_in(json.loads(text)))
    assume(paths)
    before, after = kept(text.encode(), Remove(data.draw(st.sampled_from(paths))))
    assert len(after) < len(before)
    assert is_one_cut(before, after)


@given(st.data(), records(), new_values, wheres)
def test_taking_out_what_was_inserted_gives_the_line_back(
    data: st.DataObject, text: str, value: Any, where: Where
) -> None:
    holders = [(), *(path for path in paths_in(json.loads(text)))]
    path = (
        *data.draw(st.sampled_from(holders)),
        *data.draw(st.sampled_from([("x",), ("x", "y"), ("x", "y", "z")])),
    )
    before, after = kept(text.encode(), Insert(path, value, where))
    assert is_one_cut(after, before)
    if len(json.loads(before)) and path == ("x",):
        assert edit_line(after.encode(), [Remove(path)]).decode() == before


@given(st.data(), records(), wheres)
def test_moving_is_taking_out_and_putting_in_the_same_text(
    data: st.DataObject, text: str, where: Where
) -> None:
    paths = list(paths_in(json.loads(text)))
    assume(paths)
    path = data.draw(st.sampled_from(paths))
    _, after = kept(text.encode(), Move(path, ("x",), where))
    moved = parse_line(text.encode()).node.find(path)
    there = parse_line(after.encode()).node.find(("x",))
    assert moved is not None
    assert there is not None
    assert there.raw == moved.raw
    assert edit_line(after.encode(), [Remove(("x",))]) == edit_line(text.encode(), [Remove(path)])


@given(st.data(), records(), st.sampled_from([("x",), ("x", "y"), ("x", "y", "z")]))
def test_moving_in_place_wraps_the_same_text(data: st.DataObject, text: str, below: tuple[str, ...]) -> None:
    paths = [path for path in paths_in(json.loads(text)) if isinstance(path[-1], str)]
    assume(paths)
    path = data.draw(st.sampled_from(paths))
    before, after = kept(text.encode(), Move(path, (*path[:-1], *below), IN_PLACE))
    root = parse_line(text.encode()).node
    holder, moved = root.find(path[:-1]), root.find(path)
    there = parse_line(after.encode()).node.find((*path[:-1], *below))
    assert holder is not None
    assert moved is not None
    assert there is not None
    assert there.raw == moved.raw
    key = holder.keys[holder.names.index(path[-1])]
    assert after.startswith(before[: key.start])
    assert after.endswith(before[moved.end :])


@given(records())
def test_no_edits_change_nothing(text: str) -> None:
    assert edit_line(text.encode(), []) == text.encode()


@st.composite
def likes_and_edits(draw: st.DrawFn) -> tuple[list[bytes], list[Edit]]:
    """Lines of which some are written alike, and edits for the first."""
    line, edits = draw(records_and_edits())
    glue, values = split_top(line)
    lines = [line]
    for _ in range(draw(st.integers(1, 5))):
        others = [
            draw(json_texts(2)).strip(" \t\r\n").encode() if draw(st.booleans()) else value
            for value in values
        ]
        lines.append(b"".join(piece for pair in zip(glue, [*others, b""], strict=True) for piece in pair))
        if draw(st.integers(0, 3)) == 0:
            lines.append(draw(records()).encode())
    return draw(st.permutations(lines)), edits


@given(likes_and_edits())
def test_many_lines_from_templates_are_what_each_line_by_itself_is(
    case: tuple[list[bytes], list[Edit]],
) -> None:
    lines, edits = case
    editor = LineEditor(edits)
    for line in lines * 2:
        expected, result = outcome(edit_line, line, edits), outcome(editor.edit, line)
        assert result == expected or (isinstance(result, EditError) and isinstance(expected, EditError))
