"""The list of what there is to check of a specification."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evalspec.check.chain import check_family, check_step
from evalspec.check.owned import owned_families
from evalspec.check.spec import modules, steps, upgrades, versions
from evalspec.check.spec.faults import of_error
from evalspec.check.spec.fixtures import Spec, finding, step_folder, version_folder
from evalspec.errors import EvalspecError, FindingsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalspec.errors import Finding
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project


class SpecCheck(NamedTuple):
    """One thing to check.

    Attributes:
        name: what it is about, in a few words (`acme@v2: tasks`).
        path: the file or folder that it is about.
        run: makes the check.
    """

    name: str
    path: str
    run: Callable[[], list[Finding]]

    def findings(self) -> list[Finding]:
        """What is wrong; what keeps the check from being made is a finding, too."""
        try:
            return self.run()
        except FindingsError as error:
            return list(error.findings)
        except EvalspecError as error:
            rule = "chain_broken" if isinstance(error, UsageError) else "fixture_stale"
            return [of_error(rule, self.path, error)]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            message = f"what it reads has another shape than it should: {type(error).__name__}: {error}"
            return [finding("fixture_stale", self.path, message, "write it as the other fixtures are")]


def spec_checks(project: Project, families: Sequence[str] | None = None) -> list[SpecCheck]:
    """Every check of the project's own families, or of those named.

    Where the migrations form no line, that is the only check: the others need one.
    """
    names = [family.name for family in owned_families(project)] if families is None else families
    first = [
        *(SpecCheck(f"{name}: chain", _schemas(project, name), _chain(project, name)) for name in names),
        *(
            SpecCheck(
                f"{os.path.relpath(path, _top(project, name))}: imports", path, partial(modules.check, path)
            )
            for name in names
            for path in modules.of_family(project.families.by_name[name])
        ),
    ]
    try:
        spec = Spec(project)
    except EvalspecError:
        return first
    return first + [check for name in names for check in _of_family(spec, name)]


def _of_family(spec: Spec, name: str) -> Iterator[SpecCheck]:
    for version in spec.project.families.by_name[name].versions:
        id_ = f"{name}@{version}"
        folder = version_folder(spec, id_)
        for about, check in versions.CHECKS.items():
            yield SpecCheck(f"{id_}: {about}", folder, partial(check, spec, id_, folder))
    for step in spec.history.steps.values():
        if step.family == name:
            yield from _of_step(spec, step)
    head = spec.history.head(name)
    for path, source in upgrades.historical(spec, head):
        about = f"{'/'.join(path.split('/')[-2:])} ({source}) to {head}"
        yield SpecCheck(f"{about}: upgrade", path, partial(upgrades.check, spec, path, head))


def _of_step(spec: Spec, step: Migration) -> Iterator[SpecCheck]:
    about = f"{step.parent} to {step.id}"
    yield SpecCheck(f"{about}: contract", step.path, partial(check_step, spec.project, step))
    folder = step_folder(spec, step)
    for what, check in steps.CHECKS.items():
        yield SpecCheck(f"{about}: {what}", folder, partial(check, spec, step, folder))


def _chain(project: Project, name: str) -> Callable[[], list[Finding]]:
    return partial(check_family, project, project.families.by_name[name])


def _schemas(project: Project, name: str) -> str:
    return f"{project.families.by_name[name].root.schemas}/{name}"


def _top(project: Project, name: str) -> str:
    return os.path.dirname(project.families.by_name[name].root.schemas)
