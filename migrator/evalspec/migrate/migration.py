"""One migration script, read: what it is called, what it follows, what it promises and what it does."""

from __future__ import annotations

import re
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evalspec.errors import HistoryError, UsageError
from evalspec.migrate.recorder import Recorder
from evalspec.schema.family import load_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalspec.migrate.contract_operations import ContractOperation
    from evalspec.migrate.operations import RecordOperation
    from evalspec.schema.family import Families


class Promise(NamedTuple):
    """What a migration says it does to prompts, or to post-processed outputs.

    Attributes:
        unchanged: True where it says that nothing changes.
        reason: why it changes, where it does.
    """

    unchanged: bool
    reason: str = ""

    def __str__(self) -> str:
        return "unchanged" if self.unchanged else f"changes: {self.reason}"


class Migration:
    """A script of a family.

    Attributes:
        family: the family whose version it makes.
        revision: the version it makes (`v2`).
        parent: the version it starts from, in full (`evalspec@v1`).
        title: the first line of its docstring.
        prompts: its promise on prompts.
        outputs: its promise on post-processed outputs.
        path: its file.
    """

    def __init__(
        self,
        family: str,
        revision: str,
        parent: str,
        *,
        title: str,
        prompts: Promise,
        outputs: Promise,
        path: str,
        upgrade: Callable[[Recorder], object],
    ) -> None:
        self.family = family
        self.revision = revision
        self.parent = parent
        self.title = title
        self.prompts = prompts
        self.outputs = outputs
        self.path = path
        self._upgrade = upgrade

    def __repr__(self) -> str:
        return f"<Migration {self.parent} -> {self.id}>"

    @property
    def id(self) -> str:
        """The version it makes, in full."""
        return f"{self.family}@{self.revision}"

    @cached_property
    def _recorded(self) -> Recorder:
        recorder = Recorder()
        try:
            self._upgrade(recorder)
        except Exception as error:
            raise UsageError(
                f"{self.path}: {type(error).__name__}: {error}", fix="mend its upgrade(op)"
            ) from error
        return recorder

    def with_records(self, operations: Iterable[RecordOperation]) -> Migration:
        """The same migration, doing something else to records."""
        other = copy(self)
        other.__dict__["_recorded"] = Recorder(list(self.contract), list(operations))
        return other

    @property
    def contract(self) -> tuple[ContractOperation, ...]:
        """What it says of the schema."""
        return tuple(self._recorded.contract)

    @property
    def records(self) -> tuple[RecordOperation, ...]:
        """What it does to records, in order."""
        return tuple(self._recorded.records)

    @cached_property
    def changed_rules(self) -> frozenset[str]:
        """The post-process rules that it says give other outputs, or that it takes away."""
        return frozenset(
            operation.name
            for operation in self.contract
            if operation.kind == "post_process" and operation.change != "added"
        )

    @cached_property
    def same_text(self) -> bool:
        """False where it changes the assembly and does not say that old records keep their text."""
        return all(getattr(operation, "same_text", True) for operation in self.contract)


def load_migrations(families: Families) -> list[Migration]:
    """Every migration of every family at hand, read but not run.

    Raises:
        HistoryError: a script lacks what a migration has to say, or says it wrongly.
        UsageError: a script does not load.
    """
    return [migration for name in families.by_name for migration in _of_family(families, name)]


def _of_family(families: Families, name: str) -> Iterator[Migration]:
    import os

    folder = f"{families.by_name[name].root.migrations}/{name}"
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.endswith(".py") and not entry.startswith((".", "_")):
            yield _load(folder, name, entry.removesuffix(".py"))


def _load(folder: str, family: str, stem: str) -> Migration:
    path = f"{folder}/{stem}.py"
    module = load_module(folder, f"{family}.migrations", stem)
    said = {key: getattr(module, key, None) for key in ("revision", "down_revision", "prompts", "outputs")}
    for key, value in said.items():
        if not isinstance(value, str):
            raise HistoryError(f'a migration needs `{key} = "…"`', [path])
    upgrade = getattr(module, "upgrade", None)
    if not callable(upgrade):
        raise HistoryError("a migration needs `def upgrade(op)`", [path])
    parent = str(said["down_revision"])
    return Migration(
        family,
        str(said["revision"]),
        parent if "@" in parent else f"{family}@{parent}",
        title=(module.__doc__ or "").strip().partition("\n")[0],
        prompts=_promise(str(said["prompts"]), "prompts", path),
        outputs=_promise(str(said["outputs"]), "outputs", path),
        path=path,
        upgrade=upgrade,
    )


def _promise(text: str, key: str, path: str) -> Promise:
    if text == "unchanged":
        return Promise(unchanged=True)
    if found := re.fullmatch(r"changes: *(\S.*)", text, re.DOTALL):
        return Promise(unchanged=False, reason=found[1])
    raise HistoryError(f'`{key}` is "unchanged" or "changes: …" with a reason', [path])
