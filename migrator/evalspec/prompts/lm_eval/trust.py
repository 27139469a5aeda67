"""Running what a task's Python functions make of its rows, in a process of their own (`--trust-code`).

The parent starts a child, tells it which task to render, and reads its lines. A child that takes too long, says too
much or dies costs its task, never the run: the next task gets a new child. What the child may do is in
`child_limits`; the code it runs is trusted to be well-meant, not to be well-behaved.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from evalspec.prompts.rows import FirstOf, OwnFiles, RowsFile, RowsFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from subprocess import Popen

    from evalspec.prompts.lm_eval.groups import ResolvedTask
    from evalspec.prompts.render import RenderedRow
    from evalspec.prompts.rows import RowSource
    from evalspec.prompts.view import View


@dataclass(frozen=True, slots=True)
class TrustLimits:
    """What a child may cost.

    Attributes:
        seconds: for one task under one view.
        memory: bytes of address space.
        output: bytes of lines for one task.
    """

    seconds: float = 120.0
    memory: int = 8 << 30
    output: int = 256 << 20


class TrustedRenderer:
    """Renders tasks with their functions run in a child process.

    Args:
        root: the folder of the tree of tasks.
        source: where rows come from: files, folders, and what tasks name themselves, in their order; None for what
            tasks name themselves.
        are_docs: the rows are what `process_docs` gives.
        limits: what a child may cost.
    """

    def __init__(
        self,
        root: str,
        source: RowSource | None = None,
        *,
        are_docs: bool = False,
        limits: TrustLimits | None = None,
    ) -> None:
        self.root = root
        self.source = source
        self.are_docs = are_docs
        self.limits = limits or TrustLimits()
        self._child: Popen[bytes] | None = None
        self._scratch = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def render(self, tasks: Iterable[ResolvedTask], views: Iterable[View]) -> Iterator[dict[str, Any]]:
        """The JSON lines of every task under every view, as `RenderedRow.to_dict` gives them.

        Each has `told` too: what a finding about it needs (`field`, `line` of its template, `columns` of its rows),
        and the `notes` on its task.
        """
        views = list(views)
        for task in tasks:
            for view in views:
                yield from self._one(task, view)

    def close(self) -> None:
        """End the child, if one is running."""
        child, self._child = self._child, None
        if child is None:
            return
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        child.kill()
        child.wait()
        if self._scratch:
            import shutil

            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = ""

    def _one(self, task: ResolvedTask, view: View) -> Iterator[dict[str, Any]]:
        child = self._started()
        message = json.dumps({"task": _task_message(task), "view": _view_message(view)}).encode() + b"\n"
        lines: list[bytes] = []
        stopped = None
        try:
            assert child.stdin is not None
            child.stdin.write(message)
            child.stdin.flush()
            stopped = self._read(child, lines)
        except BrokenPipeError:
            stopped = "the process that ran its code ended early"
        for line in lines:
            yield json.loads(line)
        if stopped is not None:
            self.close()
            yield _stopped_line(task, view, stopped)

    def _started(self) -> Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            import os
            import subprocess
            import sys
            import tempfile

            self.close()
            self._scratch = tempfile.mkdtemp(prefix="evalspec-")
            offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TMPDIR": self._scratch}
            self._child = subprocess.Popen(  # noqa: S603 - this very program, with an argument of our making
                [
                    sys.executable,
                    "-X",
                    "utf8",
                    "-m",
                    "evalspec.prompts.lm_eval.child",
                    json.dumps(self._setup()),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **offline},
            )
        return self._child

    def _setup(self) -> dict[str, Any]:
        sources = self.source.sources if isinstance(self.source, FirstOf) else (self.source,)
        given = [("file", each.path) for each in sources if isinstance(each, RowsFile)]
        given += [("folder", each.path) for each in sources if isinstance(each, RowsFolder)]
        roots = [root for each in sources if isinstance(each, OwnFiles) for root in each.roots]
        return {
            "root": self.root,
            "rows": given,
            "roots": roots or [self.root, "."],
            "are_docs": self.are_docs,
            "memory": self.limits.memory,
            "scratch": self._scratch,
        }

    def _read(self, child: Popen[bytes], lines: list[bytes]) -> str | None:
        """Read a task's lines up to the empty one that ends them; why the child was stopped, if it was."""
        import selectors
        import time

        assert child.stdout is not None
        deadline = time.monotonic() + self.limits.seconds
        said, rest = 0, b""
        with selectors.DefaultSelector() as ready:
            ready.register(child.stdout, selectors.EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or not ready.select(left):
                    return f"its code did not end within {self.limits.seconds:g} seconds"
                data = child.stdout.read1(1 << 16)  # type: ignore[attr-defined]
                if not data:
                    return "the process that ran its code ended early"
                said += len(data)
                if said > self.limits.output:
                    return "its code makes too much output"
                *whole, rest = (rest + data).split(b"\n")
                for line in whole:
                    if not line:
                        return None
                    lines.append(line)


def _task_message(task: ResolvedTask) -> dict[str, Any]:
    from evalspec.prompts.lm_eval.codec import encoded

    return {
        "name": task.name,
        "path": task.path,
        "root": task.root,
        "settings": encoded(task.settings),
        "group": task.group,
    }


def _view_message(view: View) -> dict[str, Any]:
    message = asdict(replace(view, tokenizer=None))
    del message["tokenizer"]
    if view.chat is not None:
        message["chat"] = {
            "name": view.chat.name,
            "source": view.chat.source,
            "tokens": dict(view.chat.tokens),
        }
    return message


def _stopped_line(task: ResolvedTask, view: View, reason: str) -> dict[str, Any]:
    from evalspec.prompts.render import RenderedRow, TaskLabel
    from evalspec.prompts.tasks import lm_eval_spec

    spec = lm_eval_spec(task)
    label = TaskLabel(spec.name, spec.schema, spec.version)
    return said_of(RenderedRow(label, None, view.name, unknown=reason))


def said_of(row: RenderedRow, columns: Sequence[str] = ()) -> dict[str, Any]:
    """A row's line, and what a finding about it needs."""
    error = row.error
    told = {"field": row.field, "line": error.line if error else None}
    return row.to_dict() | {"told": {**told, "columns": list(columns), "notes": list(row.label.notes)}}
