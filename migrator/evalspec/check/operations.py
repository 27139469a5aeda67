"""The operations that a migration lacks, as a person would write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalspec.migrate.replay import Difference


class Missing(NamedTuple):
    """An operation that a migration lacks.

    Attributes:
        sentence: what no operation speaks of.
        operation: the operation, to be copied; `…` stands for a reason that only its author knows.
        words: words by which the difference is found in the schema, the best first.
    """

    sentence: str
    operation: str
    words: tuple[str, ...]


def operations_for(differences: Iterable[Difference]) -> Iterator[Missing]:
    """The operation for each difference that none speaks of; pairs of a category come and go together."""
    pairs: dict[tuple[str, str, bool], list[list[str]]] = {}
    for each in differences:
        if each.section == "pairs":
            category, output, metric, rule = each.name.split(" ")
            pairs.setdefault((category, output, each.after is None), []).append([metric, rule])
        else:
            name = each.name.rpartition(".")[2] if each.section == "field" else each.name
            yield Missing(each.sentence, operation_for(each), (name.partition(" ")[0],))
    for (category, output, gone), found in pairs.items():
        metrics, rules = ([*dict.fromkeys(row[at] for row in found)] for at in (0, 1))
        what = "are gone, and no operation removes them" if gone else "are new, and no operation adds them"
        yield Missing(
            f"{len(found)} pairs of {category} {what}",
            _call(
                "pairs",
                category,
                **({"output_type": output} if output else {}),
                metrics=tuple(metrics),
                post_process=tuple(rules),
                **({"removed": True} if gone else {}),
            ),
            (category, *metrics),
        )


def operation_for(each: Difference) -> str:
    """The operation that says a difference, other than one of pairs."""
    change = {"added": True} if each.before is None else {"changed": _reason(each)}
    if each.after is None:
        change = {"removed": True}
    match each.section:
        case "field":
            shape, _, name = each.name.partition(".")
            return _call(
                "field", name, **(each.after or {}), shape=shape, **({} if "added" in change else change)
            )
        case "metric":
            usual = each.after in (None, ["mean", True])
            more = {} if usual else {"aggregation": each.after[0], "higher_is_better": each.after[1]}
            return _call("metric", each.name, **change, **more)
        case "rule":
            id_, _, field = each.name.partition(" ")
            return _call("rule", id_, field=field, **change)
        case "assembly":
            return _call("assembly", "…", **{each.name: each.after})
        case section:
            return _call(section, each.name, **change)


def _reason(each: Difference) -> str:
    """What changed, where that shows; else `…`, for the author to say."""
    if each.section != "field":
        return "…"
    before, after = (
        (said or {}).get("type", "").replace(",", "").split() for said in (each.before, each.after)
    )
    new = [word for word in after if word not in before]
    gone = [word for word in before if word not in after]
    told = [
        f"{', '.join(words)} {'is' if len(words) == 1 else 'are'} {what}"
        for words, what in ((new, "new"), (gone, "gone"))
        if words
    ]
    return "; ".join(told) or "another default, or required or not"


def _call(kind: str, *words: str, **said: Any) -> str:
    arguments = [*map(_literal, words), *(f"{key}={_literal(value)}" for key, value in said.items())]
    return f"op.{kind}({', '.join(arguments)})"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
