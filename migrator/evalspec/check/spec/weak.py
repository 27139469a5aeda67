"""Fixtures that do not notice a change of what they are about (`fixture_weak`)."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from evalspec.check.owned import owned_families, place_in
from evalspec.check.spec import fixtures, mutants, steps, upgrades, versions
from evalspec.check.spec.fixtures import Spec, objects
from evalspec.check.spec.rules import FIXTURE_WEAK
from evalspec.errors import EvalspecError, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalspec.check.spec.mutants import Mutant
    from evalspec.errors import Finding
    from evalspec.project import Project


def all_mutants(project: Project) -> Iterator[Mutant]:
    """Every small change of the project's own versions and migrations.

    Raises:
        HistoryError: the migrations form no line.
    """
    spec = Spec(project)
    for family in owned_families(project):
        texts = list(dict.fromkeys(_texts(spec, family.name)))
        for version in family.versions:
            yield from mutants.of_version(spec, family.schema(version), texts)
        for step in spec.history.steps.values():
            if step.family == family.name:
                yield from mutants.of_step(spec, step)


def _texts(spec: Spec, family: str) -> Iterator[str]:
    for version in spec.project.families.by_name[family].versions:
        folder = fixtures.version_folder(spec, f"{family}@{version}")
        for name, key in (("post_process.jsonl", "input"), ("generations.jsonl", "text")):
            yield from (row[key] for _, row in objects(f"{folder}/{name}", key))


def weakness(project: Project, mutant: Mutant) -> Finding | None:
    """The finding that no fixture notices a change; None where one does.

    The checks that are likely to notice are made first, the whole way of every historical fixture last.
    """
    if _is_noticed(mutant):
        return None
    family = project.families.by_name[mutant.id.rpartition("@")[0]]
    return FIXTURE_WEAK.at(
        _place(project, mutant),
        f"{mutant.about}, and no fixture of {mutant.id} would tell",
        fix=f"add {mutant.lacks} to the fixtures in {os.path.relpath(family.root.fixtures)}/{family.name}",
    )


def _is_noticed(mutant: Mutant) -> bool:
    try:
        spec = mutant.spec()
    except EvalspecError:
        return True  # the version would not load
    family = mutant.id.rpartition("@")[0]
    folder = fixtures.version_folder(spec, mutant.id)
    return any(_finds(check) for check in (*_likely(spec, mutant, folder), *_last(spec, family)))


def _finds(check: Callable[[], list[Finding]]) -> bool:
    try:
        return bool(check())
    except (EvalspecError, LookupError, TypeError, ValueError):
        return True  # the check itself stumbles over the change


def _likely(spec: Spec, mutant: Mutant, folder: str) -> Iterator[Callable[[], list[Finding]]]:
    for_versions, for_steps = mutant.noticed_by
    for name in for_versions:
        yield partial(versions.CHECKS[name], spec, mutant.id, folder)
    for step in spec.history.steps.values():
        if mutant.id in (step.id, step.parent):
            for name in for_steps:
                yield partial(steps.CHECKS[name], spec, step, fixtures.step_folder(spec, step))


def _last(spec: Spec, family: str) -> Iterator[Callable[[], list[Finding]]]:
    head = spec.history.head(family)
    for path, _ in upgrades.historical(spec, head):
        yield partial(upgrades.check, spec, path, head)


def _place(project: Project, mutant: Mutant) -> Place:
    """Where it stands: in the file itself, else in the nearest version before, from which it has it."""
    family = project.families.by_name[mutant.id.rpartition("@")[0]]
    paths = [mutant.path]
    if mutant.path.startswith(f"{family.root.schemas}/"):
        earlier = family.versions[: family.versions.index(mutant.id.rpartition("@")[2])]
        paths += [family.schema(version).path for version in reversed(earlier)]
    for near in dict.fromkeys([mutant.near, ""]):
        for word in mutant.words:
            for path in paths:
                place = place_in(path, word, near=near)
                if place.column > 1:
                    return place
    return place_in(mutant.path)
