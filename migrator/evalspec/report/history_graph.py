"""The history of versions: as a graph for a person, newest first, and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.errors import visible
from evalspec.report.console import plain
from evalspec.schema.page import module_doc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalspec.migrate.history import History
    from evalspec.migrate.migration import Migration
    from evalspec.report.console import Paint
    from evalspec.schema.family import Families


def history_text(
    history: History[Migration],
    families: Families,
    way: frozenset[str] | None = None,
    *,
    verbose: bool = False,
    paint: Paint = plain,
) -> str:
    """Each version with what it comes from, its title and its promises; with its operations if `verbose`.

    A `*` stands for a version; the lines lead down to what it comes from. Of a `way`, its versions alone are told.
    """
    heads = _heads(history, families)
    out: list[str] = []
    lanes: list[str] = []  # the version that each line leads down to
    for id_ in reversed(history.versions):
        if way is not None and id_ not in way:
            continue
        if id_ not in lanes:
            lanes.append(id_)
        place = lanes.index(id_)
        while lanes.count(id_) > 1:
            last = len(lanes) - 1 - lanes[::-1].index(id_)
            out.append(_joined(len(lanes), place, last))
            del lanes[last]
        star = " ".join("*" if number == place else "|" for number in range(len(lanes)))
        out.append(f"{star} {_head_line(history, id_, head=id_ in heads, paint=paint)}")
        step = history.steps.get(id_)
        left = ["|"] * len(lanes)
        if step is None or (way is not None and step.parent not in way):
            del lanes[place]
            left[place] = " "
        else:
            lanes[place] = step.parent
        body = " ".join(left)
        said = [visible(text) for text in _body(history, families, id_, verbose=verbose)]
        out += [f"{body}   {text}" for text in said]
        if lanes:
            out.append(body)
    return "".join(f"{line.rstrip()}\n" for line in out)


def _heads(history: History[Migration], families: Families) -> set[str]:
    return {head for name in families.by_name for head in history.heads(name)}


def _head_line(history: History[Migration], id_: str, *, head: bool, paint: Paint) -> str:
    step = history.steps.get(id_)
    line = paint(id_, "strong")
    if head:
        line += " " + paint("(head)", "good")
    return f"{line}  revises {step.parent}" if step is not None else line


def _body(history: History[Migration], families: Families, id_: str, *, verbose: bool) -> Iterator[str]:
    """The lines below a version's own."""
    step = history.steps.get(id_)
    if step is None:
        yield module_doc(families.schema(id_)).partition("\n")[0]
        return
    yield step.title
    yield f"prompts: {step.prompts}"
    yield f"outputs: {step.outputs}"
    if verbose:
        yield "the contract:"
        for said in step.contract:
            yield f"  {said.sign} {said.describe()}"
        yield "the records:" if step.records else "the records: no change"
        for operation in step.records:
            yield f"  {operation.sign} {operation.describe()}"


def _joined(lanes: int, place: int, last: int) -> str:
    """The line on which the lane `last` runs into the lane `place`, to its left, and those behind it move up."""
    line = ["|" if number % 2 == 0 else " " for number in range(2 * last - 1)]
    for number in range(2 * place + 1, 2 * last - 1, 2):
        line[number] = "_"
    return "".join(line) + "/" + " /" * (lanes - last - 1)


def history_data(
    history: History[Migration], families: Families, way: frozenset[str] | None = None
) -> list[dict[str, Any]]:
    """Every version, or those of a way, newest first, as plain data."""
    heads = _heads(history, families)
    return [
        _version_data(history, families, id_, head=id_ in heads)
        for id_ in reversed(history.versions)
        if way is None or id_ in way
    ]


def _version_data(history: History[Migration], families: Families, id_: str, *, head: bool) -> dict[str, Any]:
    step = history.steps.get(id_)
    family, _, version = id_.rpartition("@")
    said: dict[str, Any] = {"id": id_, "family": family, "version": version, "head": head}
    if step is None:
        title = module_doc(families.schema(id_)).partition("\n")[0]
        return said | {"parent": None, "title": title, "prompts": None, "outputs": None, "operations": None}
    operations = {
        "contract": [{"sign": each.sign, "text": each.describe()} for each in step.contract],
        "records": [{"sign": each.sign, "text": each.describe()} for each in step.records],
    }
    return said | {
        "parent": step.parent,
        "title": step.title,
        "prompts": str(step.prompts),
        "outputs": str(step.outputs),
        "operations": operations,
    }
