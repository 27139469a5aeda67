"""Replay a migration's contract operations over one version's contract: they must give the next one's.

Where an operation says only that something became another (a function, an assembly), the replayed contract holds that
claim, and comparing holds the next version to it: it must really differ. What no operation speaks of must be the same.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.errors import EvalspecError
from evalspec.schema.contract import source_as_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.migrate.contract_operations import ContractOperation
    from evalspec.schema.contract import Contract


#: The words of a closed vocabulary in the text of a type: `one of mean corpus_bleu`.
_WORDS = re.compile(r"one of ([^,{}]+)")


class Claim(NamedTuple):
    """Stands for a value that an operation says is new, or another than `before`."""

    before: Any = None


class ReplayError(EvalspecError):
    """An operation that the contract before it leaves no room for; `operation` says which."""

    exit_code = 1

    def __init__(self, operation: ContractOperation, reason: str) -> None:
        self.operation = operation
        super().__init__(f"{operation.describe()}: {reason}")


def replay(contract: Contract, operations: Sequence[ContractOperation]) -> Contract:
    """The contract that `operations` make of `contract`.

    Raises:
        ReplayError: something is added twice, or changed or removed without being there.
    """
    result = copy.deepcopy(contract)
    for operation in operations:
        match operation.kind:
            case "pairs":
                _replay_pairs(result["pairs"], operation)
            case "shape":
                _replay_shape(result, operation)
            case "assembly":
                _replay_assembly(result, operation)
            case kind:
                _replay_entry(result[kind], operation)
    return result


class Difference(NamedTuple):
    """Something that the next version's contract says otherwise than the replayed one.

    Attributes:
        section: the part of the contract: `field`, `category`, `metric`, `post_process`, `pairs`, `rule`, …
        name: which one of the section.
        sentence: what differs.
        is_silent: no operation speaks of it; else one does, and says it wrongly.
        before: what the version before says of it; None where it has no such thing.
        after: what the next version says of it; None where it has no such thing.
    """

    section: str
    name: str
    sentence: str
    is_silent: bool
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        return self.sentence


def differences(replayed: Contract, actual: Contract, before: Contract | None = None) -> list[Difference]:
    """What the next version's contract says otherwise than the replayed one; empty where they agree.

    Args:
        replayed: what the operations make of the version before.
        actual: the next version's contract.
        before: that of the version before; with it, a change that no operation speaks of is told from a wrong one, and
            a field is allowed to take the words of a vocabulary that changed: what speaks of the words speaks of it.
    """
    found = [
        difference
        for section in actual
        for difference in _section_differences(
            section, replayed.get(section, {}), actual[section], (before or {}).get(section, {})
        )
    ]
    if before is None:
        return found
    return [each for each in found if not (each.is_silent and _follows(each, before, actual))]


def _follows(difference: Difference, before: Contract, actual: Contract) -> bool:
    """Whether a field differs only in that it takes a vocabulary's words as they are now."""
    old, new = difference.before, difference.after
    if difference.section != "field" or not old or not new or {**old, "type": ""} != {**new, "type": ""}:
        return False
    return _without_words(old["type"], before) == _without_words(new["type"], actual)


def _without_words(type_: str, contract: Contract) -> str:
    """The text of a type, in which the words of a whole vocabulary are one."""
    vocabularies = {
        frozenset(contract.get(name, {})): f"any {name}" for name in ("category", "metric", "post_process")
    }
    return _WORDS.sub(lambda found: vocabularies.get(frozenset(found[1].split()), found[0]), type_)


def _section_differences(
    section: str, expected: dict[str, Any], actual: dict[str, Any], before: dict[str, Any]
) -> Iterator[Difference]:
    what = section.replace("_", "-")
    if isinstance(whole := expected.get(""), Claim):
        expected, actual = {"": whole}, {"": actual}
    for name in sorted(expected.keys() | actual.keys()):
        it = f"{what} {name}".rstrip()
        if name not in actual:
            sentence = f"{it} is gone, and no operation removes it"
            yield Difference(section, name, sentence, is_silent=True, before=expected[name])
        elif name not in expected:
            sentence = f"{it} is new, and no operation adds it"
            yield Difference(section, name, sentence, is_silent=True, after=actual[name])
        elif isinstance(expected[name], Claim):
            if expected[name].before == actual[name]:
                yield Difference(section, name, f"{it} is said to change, and does not", is_silent=False)
        elif expected[name] != actual[name]:
            silent = expected[name] == before.get(name)
            sentence = f"{it} is {actual[name]!r}; the operations make it {expected[name]!r}"
            if silent:
                sentence = f"{it} is another one, and no operation says so"
            yield Difference(
                section, name, sentence, is_silent=silent, before=expected[name], after=actual[name]
            )


def _replay_entry(section: dict[str, Any], operation: ContractOperation) -> None:
    name = operation.name
    if (operation.change == "added") == (name in section):
        raise ReplayError(
            operation, "it is there already" if operation.change == "added" else "there is none"
        )
    before = section.pop(name, None)
    if operation.change != "removed":
        match operation.kind:
            case "field":
                section[name] = operation.data
            case "metric":
                section[name] = list(operation.data)
            case "category":
                section[name] = True
            case _:
                section[name] = Claim(before)


def _replay_pairs(pairs: dict[str, Any], operation: ContractOperation) -> None:
    output, category = operation.data["output_type"], operation.name
    if operation.change == "changed":
        rows = [key.split(" ") for key in pairs]
        pairs.clear()
        pairs.update({" ".join([row[0], output, *row[2:]]): True for row in rows})
        return
    for metric in operation.data["metrics"]:
        for rule in operation.data["post_process"]:
            key = f"{category} {output} {metric} {rule}"
            if (operation.change == "added") == (key in pairs):
                raise ReplayError(operation, f"({key}) is {'there already' if key in pairs else 'not there'}")
            if operation.change == "added":
                pairs[key] = True
            else:
                del pairs[key]


def _replay_shape(contract: Contract, operation: ContractOperation) -> None:
    shapes, fields, name = contract["shape"], contract["field"], operation.name
    if (operation.change == "added") == (name in shapes):
        raise ReplayError(operation, "it is there already" if name in shapes else "there is none")
    if operation.change == "removed":
        del shapes[name]
        for key in [key for key in fields if key.startswith(f"{name}.")]:
            del fields[key]
        return
    data = operation.data
    shapes[name] = {"keys": list(data["keys"]), "formats": list(data["formats"])}
    if operation.change == "added" and data["like"]:
        prefix = f"{data['like']}."
        inherited = {key.removeprefix(prefix): said for key, said in fields.items() if key.startswith(prefix)}
        fields |= {f"{name}.{key}": said for key, said in inherited.items() if key not in data["without"]}


def _replay_assembly(contract: Contract, operation: ContractOperation) -> None:
    assembly = contract["assembly"]
    if operation.data:
        assembly |= {name: source_as_data(source) for name, source in operation.data.items()}
        return
    # Said without sources: every part may be another one, and the whole must be.
    contract["assembly"] = {"": Claim(dict(assembly))}
