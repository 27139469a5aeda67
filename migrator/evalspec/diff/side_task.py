"""One task of a side of a comparison: what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalspec.diff.side_schemas import Modules
    from evalspec.errors import Place


class SideTask(NamedTuple):
    """A task of one side.

    Attributes:
        name: its id.
        settings: what it is made of, plain values that can be compared; a function is its name and fingerprint.
        scoring: how its answers are scored, by setting, in one form for all versions.
        version: its own version, as it stands there.
        schema: the schema version of its record.
        path: its file, as it is shown.
        place_of: where a setting stands, by its dotted name.
        line: the line that it begins on.
        rows: a fingerprint of the rows that are kept for it; empty where there are none.
        modules: the modules of its schema version; None for a task of lm-eval.
    """

    name: str
    settings: dict[str, Any]
    scoring: dict[str, Any]
    version: Any
    schema: str
    path: str
    place_of: Callable[[str], Place | None]
    line: int = 1
    rows: str = ""
    modules: Modules | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether its schema version is another one on its side than the one that renders it."""
        return self.modules is not None and self.modules.here != self.modules.used


class Function(NamedTuple):
    """A function that a setting names.

    Attributes:
        spec: its name, as the setting has it.
        fingerprint: what it is made of; None where its source is not at hand.
        version: the schema version that it belongs to; empty for a function of a tree.
        file: the file of a tree that it is in.
    """

    spec: str
    fingerprint: str | None
    version: str = ""
    file: str = ""

    def __repr__(self) -> str:
        # By this, settings are compared: a rule of another version, or a file that moved, may do the same.
        return f"{self.spec} {self.fingerprint}" if self.fingerprint else f"{self.spec} of {self.version}"

    @property
    def shown(self) -> str:
        """The function, for a person."""
        return f"{self.spec} of {self.version}" if self.version else f"!function {self.spec}"


class Lazily(Mapping[str, SideTask]):
    """Tasks by name, each made when it is first looked at."""

    def __init__(self, makers: Mapping[str, Callable[[], SideTask]]) -> None:
        self._makers = makers
        self._made: dict[str, SideTask] = {}

    def __getitem__(self, name: str) -> SideTask:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._makers[name]()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
