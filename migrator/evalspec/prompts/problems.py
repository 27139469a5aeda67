"""What can stand between a task and its prompt: it cannot be known here, or it fails as it would in a harness."""

from __future__ import annotations

from typing import Any, NamedTuple


class Unknown(Exception):
    """A value that cannot be known exactly here. `field` is the field that needs it, `reason` a sentence why."""

    def __init__(self, reason: str, field: str | None = None) -> None:
        self.reason = reason
        self.field = field
        super().__init__(f"{field}: {reason}" if field else reason)


class FunctionRef(NamedTuple):
    """A `!function` of a task file: named, never run.

    Attributes:
        spec: `module.name` as it stands in the file.
        folder: the folder of the file that holds the tag, where the module is looked for first.
    """

    spec: str
    folder: str = ""

    @property
    def module(self) -> str:
        """The dotted name of the module."""
        return self.spec.rpartition(".")[0]

    @property
    def name(self) -> str:
        """The name in the module."""
        return self.spec.rpartition(".")[2]

    @property
    def file(self) -> str:
        """Where the module is if it lies in the tree: beside the file, dots as folders."""
        path = f"{self.module.replace('.', '/')}.py"
        return f"{self.folder}/{path}" if self.folder else path

    def unknown(self, field: str) -> Unknown:
        """Why a field that is this function has no value."""
        return Unknown(f"the function {self.spec} is Python code and was not run (see --trust-code)", field)


class Failure(NamedTuple):
    """An error that the harness itself would raise: its type and its sentence, and where it happened.

    Attributes:
        type: the exception's class name.
        message: what it says.
        field: the field that was being worked out, where one was.
        line: the line of the field's template, from 1, where Jinja tells.
    """

    type: str
    message: str
    field: str | None = None
    line: int | None = None

    def to_dict(self) -> dict[str, str]:
        """The failure as JSON."""
        return {"type": self.type, "message": self.message}


class FieldError(Exception):
    """An error while a field was worked out; `problem` is the error itself."""

    def __init__(self, field: str, problem: BaseException) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field}: {problem}")

    def failure(self) -> Failure:
        """The error as a harness would show it."""
        return failure_of(self.problem, self.field)


def failure_of(problem: BaseException, field: str | None = None) -> Failure:
    """The error as a harness would show it."""
    if isinstance(problem, FieldError):
        return problem.failure()
    message = str(problem)
    line: Any = getattr(problem, "lineno", None)
    kind = getattr(problem, "harness_type", type(problem).__name__)
    return Failure(kind, message, field, line if isinstance(line, int) else None)
