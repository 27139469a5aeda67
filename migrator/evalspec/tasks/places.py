"""Where the fields of a judged file's records stand."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from evalspec.errors import Place
from evalspec.tasks.validate import chunks_of, open_regular, read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from evalspec.formats.edits import Path
    from evalspec.tasks.records import TaskFile, TaskRecord

_STEP = re.compile(r"\[([0-9]+)\]|([^.\[\]]+)")


class FieldPlaces:
    """Finds the line and column of the values of a file's records, looking into the file when it is first asked.

    Used as a context. Records are best asked about in the order of the file, which is then read once. Of standard
    input only the places of records are known.
    """

    def __init__(self, file: TaskFile) -> None:
        self._file = file
        self._stack = ExitStack()
        self._lines: Iterator[tuple[int, bytes]] = iter(())
        self._number, self._line = 0, b""
        self._yaml: dict[tuple[int, int], Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def of(self, record: TaskRecord) -> Callable[[str], Place]:
        """A function from a field (`fewshot.samples[0].prompt`) of a valid record to the place of its value.

        Where the record has no such field, the place is the record's own.
        """
        known: dict[str, Place] = {}
        root: list[Any] = []

        def find(field: str) -> Place:
            if field not in known:
                known[field] = Place(self._file.path, *self._found(record, steps_of(field), root))
            return known[field]

        return find

    def _found(self, record: TaskRecord, path: Path, root: list[Any]) -> tuple[int, int]:
        """Line and column; `root` keeps what was made of the record."""
        if self._file.path == "-":
            return record.line, record.column
        if self._file.report.format == "yaml":
            from evalspec.formats.yaml import place

            found = self._nodes().get((record.line, record.column))
            return place(found, path) if found is not None else (record.line, record.column)
        if not root:
            from evalspec.formats.json_text import scan

            root.append(scan(self._text(record.line)))
        node = root[0].find(path)
        return record.line, record.column if node is None else node.start + 1

    def _nodes(self) -> dict[tuple[int, int], Any]:
        if self._yaml is None:
            from evalspec.formats.yaml import records

            _, read = read_yaml(self._file.path, self._file.reading)
            self._yaml = {(each.line, each.column): each for each in records(read)}
        return self._yaml

    def _text(self, number: int) -> str:
        """A line of the file; going back begins anew."""
        if number < self._number or not self._number:
            self._stack.close()
            self._lines = self._each_line()
            self._number = 0
        while self._number < number:
            self._number, self._line = next(self._lines)
        return self._line.decode()

    def _each_line(self) -> Iterator[tuple[int, bytes]]:
        from evalspec.formats.lines import Chunk

        stream = self._stack.enter_context(open_regular(self._file.path))
        number = 1
        for chunk in chunks_of(stream, self._file.reading):
            lines = chunk.data.removesuffix(b"\n").split(b"\n") if isinstance(chunk, Chunk) else [b""]
            yield from enumerate(lines, number)
            number += len(lines)


def steps_of(field: str) -> Path:
    """The path that a field's name means: `few_shot_examples[0].completion` is three steps."""
    return tuple([int(index) if index else name for index, name in _STEP.findall(field)])
