"""An edit of a YAML text from end to end: open what changes, change it, write it, parse it again, compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.errors import FormatError
from evalspec.formats.edits import EditError, apply_to_value
from evalspec.formats.yaml.changing import Changer
from evalspec.formats.yaml.compose import compose, may_alias
from evalspec.formats.yaml.opening import Opener
from evalspec.formats.yaml.refusals import EditRefused, Unwritable
from evalspec.formats.yaml.render import render_root
from evalspec.formats.yaml.scalars import BREAKS
from evalspec.formats.yaml.source import Source
from evalspec.formats.yaml.tree import Block, Flow, Raw, Stuck
from evalspec.formats.yaml.values import Builder
from evalspec.formats.yaml.verify import Verifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.formats.edits import Edit
    from evalspec.formats.yaml.records import RecordKey
    from evalspec.formats.yaml.refusals import Changes
    from evalspec.formats.yaml.source import YamlFile

_SHARED = "an alias or a merge key makes the change reach further than it should"
_UNLIKE = "written in place, the change would not read as it is meant"


def spliced(file: YamlFile, changes: Changes) -> str:
    """The text of a file with its records edited.

    Raises:
        EditError: an edit that does not fit its record.
        EditRefused: what cannot be done in place.
    """
    source = file.source
    opener = Opener(source, file.documents)
    roots: dict[int, Block | Flow] = {}
    key = None
    try:
        for key, edits in changes:
            if not edits:
                continue
            changer = Changer(opener, _record_root(file, opener, roots, key))
            for one in edits:
                changer.apply(one)
        text = _assemble(file, opener, roots)
    except EditError as error:
        if key is not None and _fits(file, key, dict(changes)[key]):
            raise EditRefused(_SHARED, key=key) from None
        raise error from None
    except Stuck as stuck:
        line, column = source.place(stuck.index)
        raise EditRefused(stuck.reason, line=line, column=column, key=key) from None
    except Unwritable as unwritable:
        raise EditRefused(str(unwritable), key=key, fix="change the value") from None
    _verify(file, changes, opener, roots, text)
    return text


def _fits(file: YamlFile, key: RecordKey, edits: Sequence[Edit]) -> bool:
    """Whether edits fit a record's value although they do not fit what of it is written in its own place."""
    try:
        apply_to_value(Builder(file).build(_node(file, key)), edits)
    except (EditError, AttributeError, TypeError):
        return False
    return True


def _record_root(
    file: YamlFile, opener: Opener, roots: dict[int, Block | Flow], key: RecordKey
) -> Block | Flow:
    """The mapping of a record, opened."""
    root = roots.get(key.document)
    if root is None:
        before = file.documents[key.document - 1].end_mark.index if key.document else 0
        root = roots[key.document] = opener.root(file.documents[key.document], before)
    if key.item is None:
        return root
    item = root.items[key.item]
    if isinstance(root, Block):
        opener.open(item)
    inside = opener.enter(item, item.value) if isinstance(item.value, Raw) else item.value
    if not isinstance(inside, Block | Flow):
        raise Stuck("the record is not understood", item.token)
    return inside


def _assemble(file: YamlFile, opener: Opener, roots: dict[int, Block | Flow]) -> str:
    """The whole text: what lies between the edited documents is copied."""
    text = file.source.text
    parts = []
    done = 0
    for document in sorted(roots):
        root = roots[document]
        node = file.documents[document]
        start, end = (
            (root.start, root.end)
            if isinstance(root, Block)
            else (node.start_mark.index, node.end_mark.index)
        )
        parts += [text[done:start], render_root(opener, root)]
        done = end
    parts.append(text[done:])
    result = "".join(parts)
    if text and text[-1] not in BREAKS:
        nl = opener.nl
        result = result.removesuffix(nl)
    return result


def _verify(
    file: YamlFile, changes: Changes, opener: Opener, roots: dict[int, Block | Flow], text: str
) -> None:
    """Parse the new text and compare it with what was meant.

    Raises:
        EditRefused: it reads differently.
    """
    source = Source(text)
    shared = may_alias(file.source.text)
    reason = _SHARED if shared else _UNLIKE
    key = next((key for key, edits in changes if edits), None)
    try:
        nodes = compose(source, file.limits)

        def new() -> YamlFile:
            return file._replace(source=source, documents=nodes)

        verifier = Verifier(lambda node: Builder(new()).build(node), aliases=shared)
        good = len(nodes) == len(file.documents) and all(
            verifier.meant(roots[index], node)
            if index in roots
            else verifier.same(file.documents[index], node)
            for index, node in enumerate(nodes)
        )
        if good and (opener.unsure or shared):
            good = all(_reads_as_meant(file, new(), key, edits) for key, edits in changes)
    except FormatError as error:
        good, reason = False, f"{reason} ({error.message})"
    if not good:
        line, column = file.source.mark_place(_node(file, key).start_mark) if key else (1, 1)
        raise EditRefused(reason, line=line, column=column, key=key)


def _reads_as_meant(file: YamlFile, new: YamlFile, key: RecordKey, edits: Sequence[Edit]) -> bool:
    """Compare a record's values, where merge keys, aliases or keys given twice make its nodes say too little.

    The order is not compared: a key that is to follow a merged one follows the mapping's own.
    """
    wanted = apply_to_value(Builder(file).build(_node(file, key)), edits)
    return bool(wanted == Builder(new).build(_node(new, key)))


def _node(file: YamlFile, key: RecordKey) -> Any:
    node = file.documents[key.document]
    return node if key.item is None else node.value[key.item]
