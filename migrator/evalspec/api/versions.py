"""The API for schema versions: their fixtures, their JSON Schema, and the newest one's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.api._shared import id_of, project_or_found
from evalspec.project import Project

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evalspec.tasks.fixtures import Fixtures

    #: The pydantic model of an inline record of our own family's newest version.
    TaskSpec: type[BaseModel]


def load_fixtures(version: str = "head", *, project: Project | None = None) -> Fixtures:
    """The tasks, rows, generations and examples that exercise a schema version.

    Raises:
        UnknownVersion: there is no such version.

    >>> import evalspec
    >>> fixtures = evalspec.load_fixtures("v3")
    >>> len(fixtures.tasks), sorted(fixtures.rows["tides_letters"])
    (12, ['dev', 'test', 'validation'])
    """
    from evalspec.tasks.fixtures import load_fixtures as load_from

    project = project_or_found(project)
    return load_from(project.families, id_of(project, version))


def json_schema(version: str = "head", *, project: Project | None = None) -> dict[str, Any]:
    """A version as JSON Schema (draft 2020-12); what that cannot say is listed in its `$comment`.

    Raises:
        UnknownVersion: there is no such version.

    >>> import evalspec
    >>> evalspec.json_schema("v1")["properties"]["category"]["enum"]
    ['arithmetic', 'mcq', 'code_exec', 'classification', 'summary']
    """
    from evalspec.schema.json_schema import json_schema as build

    project = project_or_found(project)
    return build(project.schema(id_of(project, version)))


def __getattr__(name: str) -> object:
    if name != "TaskSpec":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    own = Project(None)
    globals()[name] = model = own.schema(id_of(own, "head")).model()
    return model
