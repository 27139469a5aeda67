"""The graph of versions: which migration leads from which version to which, one line per family.

The graph knows nothing of files or records: it is given migrations (anything with an `id`, a `family`, a `parent` and a
`path`) and the versions that need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from evalspec.errors import HistoryError, UnknownVersion, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Node(Protocol):
    """What the graph needs of a migration."""

    @property
    def id(self) -> str:
        """The version it makes, `family@version`."""

    @property
    def family(self) -> str:
        """The family of that version."""

    @property
    def parent(self) -> str:
        """The version it starts from, `family@version`."""

    @property
    def path(self) -> str:
        """Its file, for errors."""


Step = TypeVar("Step", bound=Node)


class History(Generic[Step]):
    """The versions of every family and the migrations between them.

    Attributes:
        steps: the migration that makes each version, by the version's id.
        versions: every version's id, a version before those that come from it.
    """

    def __init__(self, migrations: Iterable[Step], roots: Iterable[str] = ()) -> None:
        """Build the graph.

        Args:
            migrations: every migration.
            roots: versions that no migration has to make (a family's first one).

        Raises:
            HistoryError: two migrations make one version, a parent is missing, migrations follow each other in a
                circle, or a family has two heads. The error names the files.
        """
        self.steps: dict[str, Step] = {}
        for step in migrations:
            if step.id in self.steps:
                files = [self.steps[step.id].path, step.path]
                raise HistoryError(
                    f"two migrations make {step.id}", files, fix="give one of them another revision"
                )
            self.steps[step.id] = step
        self.versions = self._in_order(list(roots))
        for family in dict.fromkeys(step.family for step in self.steps.values()):
            heads = self.heads(family)
            if len(heads) > 1:
                files = [self.steps[head].path for head in heads if head in self.steps]
                message = f"family {family} has {len(heads)} heads ({', '.join(heads)})"
                raise HistoryError(message, files, fix="let one of them revise the other")

    def _in_order(self, roots: list[str]) -> tuple[str, ...]:
        ordered = dict.fromkeys(root for root in roots if root not in self.steps)
        for step in self.steps.values():
            if step.parent not in self.steps and step.parent not in ordered:
                message = f"{step.id} revises {step.parent}, which is not there"
                raise HistoryError(message, [step.path], fix="add the version, or mend `down_revision`")
        waiting = dict(self.steps)
        while waiting:
            ready = [id_ for id_, step in waiting.items() if step.parent in ordered]
            if not ready:
                circle = self._circle(next(iter(waiting)))
                files = [self.steps[id_].path for id_ in circle]
                raise HistoryError(
                    "migrations follow each other in a circle", files, fix="mend a `down_revision`"
                )
            for id_ in ready:
                ordered[id_] = None
                del waiting[id_]
        return tuple(ordered)

    def _circle(self, start: str) -> list[str]:
        """The ids on the circle that walking up from `start` runs into."""
        walk = [start]
        while self.steps[walk[-1]].parent not in walk:
            walk.append(self.steps[walk[-1]].parent)
        return walk[walk.index(self.steps[walk[-1]].parent) :]

    def heads(self, family: str) -> list[str]:
        """The versions of a family that no version of the same family comes from."""
        left = {step.parent for step in self.steps.values() if step.family == family}
        return [id_ for id_ in self.versions if id_.rpartition("@")[0] == family and id_ not in left]

    def head(self, family: str) -> str:
        """The family's newest version.

        Raises:
            UnknownVersion: the family has none.
        """
        heads = self.heads(family)
        if not heads:
            raise UnknownVersion(f"{family}@head", self.versions)
        return heads[0]

    def line(self, id_: str) -> list[str]:
        """The version and all it comes from, first to last."""
        line = [id_]
        while line[0] in self.steps:
            line.insert(0, self.steps[line[0]].parent)
        return line

    def path(self, start: str, target: str) -> list[Step]:
        """The migrations from one version to another, in order; empty where they are the same.

        Raises:
            UnknownVersion: either one is not there.
            UsageError: no way leads there; going back, or sideways to another branch.
        """
        for id_ in (start, target):
            if id_ not in self.versions:
                raise UnknownVersion(id_, self.versions)
        line = self.line(target)
        if start in line:
            return [self.steps[id_] for id_ in line[line.index(start) + 1 :]]
        if target in self.line(start):
            raise UsageError(
                f"cannot go back from {start} to {target}: an upgrade keeps no record of what it replaced",
                fix="restore the files from version control",
            )
        raise UsageError(
            f"no migration leads from {start} to {target}", fix="`evalspec history` shows the graph"
        )

    def children(self, id_: str) -> Sequence[str]:
        """The versions that come straight from this one."""
        return [step.id for step in self.steps.values() if step.parent == id_]
