"""What can be mended without a change to any prompt: a byte order mark, a key that says the same twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.check.lint.characters import BYTE_ORDER_MARK
from evalspec.check.lint.scalars import DUPLICATE_KEY
from evalspec.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalspec.errors import Finding
    from evalspec.formats.yaml import YamlFile

_BOM = b"\xef\xbb\xbf"


class Mended(NamedTuple):
    """A file that was mended.

    Attributes:
        path: the file.
        rules: what was mended, by rule.
    """

    path: str
    rules: tuple[str, ...]


def mend_files(findings: Iterable[Finding]) -> list[Mended]:
    """Mend what is safe to mend in the files of these findings, each written whole or not at all.

    Raises:
        WriteError: a file could not be read or written.
        GuardHeld: another run is at work there.
    """
    from evalspec.tasks.validate import open_regular
    from evalspec.writing import write_file

    wanted: dict[str, set[str]] = {}
    for finding in findings:
        if finding.rule in (BYTE_ORDER_MARK.id, DUPLICATE_KEY.id) and finding.path != "-":
            wanted.setdefault(finding.path, set()).add(finding.rule)
    out = []
    for path, rules in wanted.items():
        if path.endswith(".gz"):
            continue
        with open_regular(path) as stream:
            data = stream.read()
        new, done = mended(data, rules)
        if done:
            write_file(path, new, new=False)
            out.append(Mended(path, done))
    return out


def mended(data: bytes, rules: Iterable[str]) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a file without what is safe to take out, and the rules that were followed."""
    done = []
    if BYTE_ORDER_MARK.id in rules and data.startswith(_BOM):
        data = data.removeprefix(_BOM)
        done.append(BYTE_ORDER_MARK.id)
    if DUPLICATE_KEY.id in rules:
        new = without_repeats(data)
        if new != data:
            data = new
            done.append(DUPLICATE_KEY.id)
    return data, tuple(done)


def without_repeats(data: bytes) -> bytes:
    """A YAML file without the keys that stand again, with the same value, further down in their mapping.

    What has another value the second time is left alone: somebody has to say which is meant.
    """
    from evalspec.formats.yaml import LM_EVAL, read

    try:
        file = read(data, dialect=LM_EVAL)
        text = file.source.text
        for start, end in sorted(_spans(file), reverse=True):
            text = text[:start] + text[end:]
        new = (_BOM if file.bom else b"") + text.encode()
        same = new != data and _values(read(new, dialect=LM_EVAL)) == _values(file)
    except FormatError:
        return data
    return new if same else data


def _values(file: YamlFile) -> list[Any]:
    from evalspec.formats.yaml import records

    return [record.value for record in records(file)]


def _spans(file: YamlFile) -> Iterator[tuple[int, int]]:
    """The lines of keys that stand again below with an equal value; comments above them go with them."""
    from evalspec.formats.yaml.opening import Opener
    from evalspec.formats.yaml.tree import Block, Stuck
    from evalspec.formats.yaml.values import Builder

    opener, builder = Opener(file.source, file.documents), Builder(file)

    def walk(node: Any, floor: int) -> Iterator[tuple[int, int]]:
        if node.id == "scalar" or node.flow_style:
            return
        try:
            block = opener.root(node, floor) if node in file.documents else opener.block(node, floor)
        except Stuck:
            return
        if not isinstance(block, Block):
            return
        last: dict[Any, Any] = {}
        for item in block.items:
            if item.key_node is not None:
                last[item.key_node.value] = item
        for number, item in enumerate(block.items):
            key = item.key_node
            again = last[key.value] if key is not None else item
            says_the_same = again is not item and builder.build(item.value_node) == builder.build(
                again.value_node
            )
            if says_the_same and not (number == 0 and block.inline):
                yield item.start, item.end
                continue
            yield from walk(item.value_node, item.start)

    for root in file.documents:
        yield from walk(root, 0)
