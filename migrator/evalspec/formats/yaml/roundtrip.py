"""What goes through ruamel.yaml: one file laid out anew (`--reformat`), and files that do not exist yet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalspec.errors import FormatError
from evalspec.formats.edits import IN_PLACE, EditError, Insert, Move, Remove, Rename, Replace, apply_to_value
from evalspec.formats.yaml import scalars
from evalspec.formats.yaml.compose import compose
from evalspec.formats.yaml.reading import read
from evalspec.formats.yaml.records import RecordKey, records
from evalspec.formats.yaml.refusals import EditRefused, Unwritable
from evalspec.formats.yaml.render import shift
from evalspec.formats.yaml.source import STRICT, Source
from evalspec.formats.yaml.values import Builder, Tagged
from evalspec.formats.yaml.verify import equal
from evalspec.formats.yaml.writing import Layout, layout_of, write_flow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.formats.edits import Edit, Path, Where
    from evalspec.formats.yaml.refusals import Changes
    from evalspec.formats.yaml.source import YamlFile

_LAST_WHITE = re.compile(f"[ \t]+(?=[#{scalars.BREAKS}]|$)")
_COMMENT = re.compile(f"(?:(?<=[ \t{scalars.BREAKS}])|(?<![^\0]))#[^{scalars.BREAKS}]*")


def reformatted(file: YamlFile, changes: Changes) -> str:
    """The text of a file with its records edited, through ruamel.yaml's round trip.

    Raises:
        EditError: an edit that does not fit its record.
        EditRefused: the round trip would lose a comment, or change a value that nobody asked to change.
    """
    text = file.source.text
    layout = layout_of(text, file.documents)
    lines = text if layout.nl == "\n" else re.sub(f"\r\n|[{scalars.BREAKS}]", "\n", text)
    lines = _without_tabs(Source(lines), file) if "\t" in lines else lines
    try:
        for key, edits in changes:
            apply_to_value(_value(file, key), edits)
        documents = list(_yaml(layout).load_all(lines))
        _check_comments(Source(lines), Source(_dump(documents, layout, lines)), file)
        for key, edits in changes:
            root = documents[key.document]
            record = root if key.item is None else root[key.item]
            for edit in edits:
                _apply(record, edit)
        after = _dump(documents, layout, lines).replace("\n", layout.nl)
    except (EditError, EditRefused):
        raise
    except Exception as error:  # noqa: BLE001 - it raises whatever went wrong inside
        reason = f"the file cannot be laid out anew: {(str(error) or type(error).__name__).splitlines()[0]}"
        raise EditRefused(reason, fix="edit the file by hand") from None
    _check(file, changes, after)
    return after


def fresh(values: Sequence[Any] | dict[str, Any]) -> bytes:
    """As `editing.dump_new`."""
    layout = Layout()
    text = _dump([_new(list(values) if not isinstance(values, dict) else values)], layout, "\n")
    try:
        data = text.encode()
        found = [record.value for record in records(read(data, dialect=STRICT._replace(tags=True)))]
    except (FormatError, UnicodeEncodeError):
        found = [None]
    if not equal(found, [values] if isinstance(values, dict) else list(values)):
        raise Unwritable("the records would not read back as they are")
    return data


def _yaml(layout: Layout) -> Any:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 1 << 24
    yaml.indent(mapping=layout.step, sequence=layout.dash + 2, offset=layout.dash)
    yaml.representer.add_representer(type(None), _null)
    yaml.representer.add_representer(float, _float)
    return yaml


def _null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _float(representer: Any, value: float) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:float", write_flow(value))


def _dump(documents: list[Any], layout: Layout, like: str) -> str:
    """The documents as text; the first begins with `---` and the last ends with a line end where `like` does."""
    from io import StringIO

    yaml = _yaml(layout)
    yaml.explicit_start = bool(re.match(r"(?:[ \t]*(?:#.*)?\n|%.*\n)*---(?:\s|$)", like)) or None
    out = StringIO()
    if len(documents) == 1:
        yaml.dump(documents[0], out)
    else:
        yaml.dump_all(documents, out)
    text = out.getvalue()
    fa = getattr(documents[0], "fa", None)
    if len(documents) == 1 and isinstance(documents[0], list) and fa is not None and not fa.flow_style():
        text = shift(text, -layout.dash)  # a list under a key is indented, one at the top is not
    return text if like.endswith("\n") else text.removesuffix("\n")


def _comments(source: Source, file: YamlFile) -> list[str]:
    """Every comment of a text: what begins with `#` outside its scalars."""
    return sorted(found.strip() for found in _COMMENT.findall(_covered(source, file)))


def _check_comments(old: Source, new: Source, file: YamlFile) -> None:
    if _comments(new, file) != _comments(old, file):
        raise EditRefused("laid out anew, the file would lose a comment", fix="edit the file by hand")


def _without_tabs(source: Source, file: YamlFile) -> str:
    """The text with spaces for the tabs that end its lines: ruamel.yaml does not take them."""
    text = list(source.text)
    for found in _LAST_WHITE.finditer(_covered(source, file)):
        text[found.start() : found.end()] = " " * len(found.group())
    return "".join(text)


def _covered(source: Source, file: YamlFile) -> str:
    """The text with a dot for each character of its scalars."""
    covered = list(source.text)
    stack = list(compose(source, file.limits))
    seen = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.id == "scalar":
            start, end = node.start_mark.index, node.end_mark.index
            covered[start:end] = "." * (end - start)
        elif node.id == "sequence":
            stack.extend(node.value)
        else:
            stack.extend(part for pair in node.value for part in pair)
    return "".join(covered)


def _value(file: YamlFile, key: RecordKey) -> Any:
    node = file.documents[key.document]
    return Builder(file).build(node if key.item is None else node.value[key.item])


def _check(file: YamlFile, changes: Changes, text: str) -> None:
    """Compare every record's value with what was meant."""
    source = Source(text)
    edits = {key: list(asked) for key, asked in changes}
    try:
        new = file._replace(source=source, documents=compose(source, file.limits))
        old_records, new_records = records(file), records(new)
        good = len(old_records) == len(new_records) and all(
            old.error is None
            and new.error is None
            and equal(apply_to_value(old.value, edits.get(old.key, [])), new.value)
            for old, new in zip(old_records, new_records, strict=True)
        )
    except FormatError:
        good = False
    if not good:
        raise EditRefused("laid out anew, a value of the file would change", fix="edit the file by hand")


def _apply(record: Any, edit: Edit) -> None:
    match edit:
        case Replace(path, value):
            holder = _own(record, path[:-1])
            holder[path[-1]] = _new(value)
        case Rename(path, key):
            holder = _own(record, path[:-1])
            position = list(holder).index(path[-1])
            comment = holder.ca.items.pop(path[-1], None)
            holder.insert(position, _new(key), holder.pop(path[-1]))
            if comment is not None:
                holder.ca.items[key] = comment
        case Insert(path, value, where):
            _put(_make(record, path[:-1]), path[-1], _new(value), where)
        case Remove(path):
            del _own(record, path[:-1])[path[-1]]
        case Move(path, to, where):
            holder = _own(record, path[:-1])
            if where == IN_PLACE:
                _move_in_place(holder, path, to)
                return
            comment = holder.ca.items.pop(path[-1], None)
            target_value = holder.pop(path[-1])
            target = _make(record, to[:-1])
            _put(target, to[-1], target_value, where)
            if comment is not None and hasattr(target, "ca"):
                target.ca.items[to[-1]] = comment


def _move_in_place(holder: Any, path: Path, to: Path) -> None:
    from ruamel.yaml.comments import CommentedMap

    key, *rest = to[len(path) - 1 :]
    position = list(holder).index(path[-1])
    comment = holder.ca.items.pop(path[-1], None)
    value = holder.pop(path[-1])
    for name in reversed(rest):
        value = CommentedMap({_new(name): value})
        if comment is not None:
            value.ca.items[name] = comment
            comment = None
    holder.insert(position, _new(key), value)
    if comment is not None:
        holder.ca.items[key] = comment


def _own(record: Any, path: Path) -> Any:
    """The holder at `path`; what an alias shares on the way is copied, so that only this record changes."""
    from copy import deepcopy

    holder = record
    for step in path:
        inner = holder[step]
        if getattr(inner, "anchor", None) is not None and inner.anchor.value is not None:
            inner = deepcopy(inner)
            inner.yaml_set_anchor(None)
            holder[step] = inner
        holder = inner
    return holder


def _make(record: Any, path: Path) -> Any:
    from ruamel.yaml.comments import CommentedMap

    holder = record
    for index, step in enumerate(path):
        if isinstance(holder, dict) and step not in holder:
            holder[_new(step)] = CommentedMap()
        holder = _own(record, path[: index + 1])
    return holder


def _put(holder: Any, key: Any, value: Any, where: Where) -> None:
    names = list(holder)
    position = 0 if where.first else names.index(where.after) + 1 if where.after in names else len(names)
    holder.insert(position, _new(key), value)


def _new(value: Any) -> Any:
    """Plain data as ruamel.yaml's own, every text in the style in which we would write it."""
    from ruamel.yaml import comments, scalarstring

    if isinstance(value, str):
        if "\n" in value and value[0] != "\t" and scalars.literal(value, 2, "\n", step=2) is not None:
            return scalarstring.LiteralScalarString(value)
        return value if scalars.is_plain(value) else scalarstring.DoubleQuotedScalarString(value)
    if isinstance(value, dict):
        made = comments.CommentedMap()
        for key, item in value.items():
            made[_new(key)] = _new(item)
        return made
    if isinstance(value, list):
        return comments.CommentedSeq(map(_new, value))
    if isinstance(value, Tagged):
        if not isinstance(value.value, str):
            from ruamel.yaml.tag import Tag

            made = _new(value.value)
            made.yaml_set_ctag(Tag(suffix=value.tag))
            return made
        text = value.value
        return comments.TaggedScalar(text, style=None if scalars.is_plain(text) else '"', tag=value.tag)
    write_flow(value)
    return value
