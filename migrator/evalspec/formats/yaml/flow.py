"""Mappings and lists in braces and brackets, opened for editing."""

from __future__ import annotations

import re
from typing import Any

from evalspec.formats.yaml.scalars import BREAKS
from evalspec.formats.yaml.tree import Flow, Item, Raw, Stuck

_SPACE = re.compile(f"(?:[ \t{BREAKS}]|(?<=[ \t{BREAKS}])#[^{BREAKS}]*)*")
_FOOT = re.compile(f"(?:[ \t{BREAKS}]|(?<=[ \t{BREAKS}])#[^{BREAKS}]*|(?<![^\0])#[^{BREAKS}]*)*[}}\\]]")
_COLON = re.compile(f"[ \t{BREAKS}]*:")
#: A comment behind a comma, with its line's end.
_EOL = re.compile(f"[ \t]*#[^{BREAKS}]*(\r\n|[{BREAKS}])")
_WHITE = f" \t{BREAKS}"
_HEAD = re.compile(f"(?:[&!][^ \t{BREAKS}]*[ \t{BREAKS}]+)*[{{\\[]")
_ALIAS = re.compile(r"\*[0-9A-Za-z_-]+")


def open_flow(text: str, node: Any) -> Flow:
    """The flow collection `node` of the text with each of its items cut into pieces.

    Raises:
        Stuck: a single pair without braces, a `? key`, or a comment in a place where it cannot be kept.
    """
    found = _HEAD.match(text, node.start_mark.index)
    if found is None:
        raise Stuck("a pair without braces in a list stays as it is", node.start_mark.index)
    end = node.end_mark.index
    flow = Flow(node.id, node, found.group(), "")
    pairs = node.value if node.id == "mapping" else [(None, item) for item in node.value]
    pos = found.end()
    for key, value in pairs:
        item = Item(0)
        item.is_open = True
        item.key_node, item.value_node = key, value
        item.token = token = _SPACE.match(text, pos).end()  # type: ignore[union-attr]
        item.lead = text[pos:token]
        stop = _cut(text, item)
        close = _SPACE.match(text, stop).end()  # type: ignore[union-attr]
        item.tail = text[stop:close]
        flow.items.append(item)
        pos = close + 1
        if text[close] != ",":
            flow.foot = text[close:end]
            break
    else:
        flow.comma = bool(pairs)
        flow.foot = text[pos:end]
    if not _FOOT.fullmatch(flow.foot):
        raise Stuck(
            "a comment, or a layout that is not understood, stands in these brackets", node.start_mark.index
        )
    return flow


def _cut(text: str, item: Item) -> int:
    """Cut an item into key, colon, separator and value; where it ends."""
    token, node = item.token, item.value_node
    after = token
    if item.key_node is not None:
        if item.key_node.start_mark.index != token or text[token] == "?":
            raise Stuck("a key written with `?` or as an alias stays as it is", token)
        after = item.key_node.end_mark.index
        item.key = text[token:after]
        colon = _COLON.match(text, after)
        if colon is None:
            item.value = Raw(node, after, after)
            return int(after)
        item.colon, after = colon.group(), colon.end()
    start = node.start_mark.index
    if start < after or (item.key_node is None and start < token):
        start = _SPACE.match(text, after).end()  # type: ignore[union-attr]
        found = _ALIAS.match(text, start)
        if found is None:
            raise Stuck("an alias was expected here", start)
        stop = found.end()
    else:
        stop = _end(node)
    item.sep = text[after:start]
    item.value = Raw(node, start, stop)
    return stop


def _end(node: Any) -> int:
    """Where a node of a flow collection ends; a pair without braces ends with its value."""
    while (
        node.id == "mapping"
        and len(node.value) == 1
        and node.value[0][1].end_mark.index <= node.end_mark.index
    ):
        value = node.value[0][1]
        if (
            node.start_mark.index != node.value[0][0].start_mark.index
            or value.start_mark.index < node.start_mark.index
        ):
            break
        node = value
    return int(node.end_mark.index)


def join_flow(flow: Flow, index: int) -> None:
    """Give the item that was put at `index` the white space of its neighbours; their comments stay theirs."""
    items = flow.items
    item = items[index]
    item.lead = item.tail = ""
    if len(items) == 1:
        flow.foot = flow.foot.strip(_WHITE) if "#" not in flow.foot else flow.foot
        return
    if index == 0:
        item.lead, first = items[1].lead, items[1]
        first.lead = _bare(items[2].lead if len(items) > 2 else first.lead) or " "
        return
    before = items[index - 1]
    item.lead = _bare(before.lead) if index > 1 else _bare(before.lead) or " "
    if index + 1 < len(items):
        after = items[index + 1]
        item.lead, after.lead = _behind_comment(after.lead, item.lead)
    elif flow.comma:
        item.lead, flow.foot = _behind_comment(flow.foot, item.lead)
    else:
        item.lead, item.tail = _behind_comment(before.tail, item.lead)
        before.tail = ""


def _behind_comment(space: str, lead: str) -> tuple[str, str]:
    """What leads a new item in, and what is left of the space before it; a comment stays with the item it is about."""
    found = _EOL.match(space)
    if found is None:
        return lead, space
    indent = lead.strip("\r\n") if lead[:1] in BREAKS else ""
    return found.group() + indent, found[1] + space[found.end() :]


def leave_flow(flow: Flow, index: int) -> None:
    """Close the place that the item at `index` is about to leave.

    A comment behind a comma is about the item before it, so it stays; the one behind the item's own comma goes.
    """
    items = flow.items
    item = items[index]
    last = index + 1 == len(items)
    if index == 0:
        if not last:
            items[1].lead = item.lead
        return
    found = _EOL.match(item.lead)
    comment = found.group() if found else ""
    if not last:
        after = items[index + 1]
        after.lead = comment + _EOL.sub("", after.lead, count=1) if comment else item.lead
    elif flow.comma:
        flow.foot = comment + _EOL.sub("", flow.foot, count=1)
    else:
        items[index - 1].tail = comment + _EOL.sub("", item.tail, count=1)


def _bare(space: str) -> str:
    """White space without the comments in it."""
    return re.sub(f"[ \t]*#[^{BREAKS}]*", "", space)
