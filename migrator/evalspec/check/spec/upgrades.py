"""Every historical fixture goes the whole way to the newest version, with its promises kept, and the same way twice."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from evalspec.check.spec.fixtures import finding, shown, step_folder, version_folder
from evalspec.check.spec.versions import TASKS
from evalspec.errors import BrokenPromise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalspec.check.spec.fixtures import Spec
    from evalspec.errors import Finding


def historical(spec: Spec, head: str) -> Iterator[tuple[str, str]]:
    """Every file of valid records that can be upgraded to `head`, with the version that it is at."""
    for id_ in spec.history.line(head):
        folder = version_folder(spec, id_)
        paths = [f"{folder}/{name}" for name in TASKS]
        paths += [
            f"{step_folder(spec, step)}/{side}.jsonl"
            for step in spec.history.steps.values()
            for side, end in (("before", step.parent), ("after", step.id))
            if end == id_ and step.id in spec.history.line(head)
        ]
        for path in paths:
            if os.path.exists(path):
                yield path, id_


def check(spec: Spec, path: str, head: str) -> list[Finding]:
    """Upgrade a copy of a file at once, again, and step by step: the bytes are the same each time.

    Every record is rendered on both sides of every step, so a broken promise is found.
    """
    with tempfile.TemporaryDirectory(prefix="evalspec-") as folder:
        whole = shutil.copy(path, os.path.join(folder, os.path.basename(path)))
        found = _migrated(spec, whole, head, path)
        if found:
            return found
        report = spec.validated(whole)
        made = _bytes(whole)
        line = spec.history.line(head)
        if set(report.schemas) != {head} or report.errors:
            fix = "mend the migrations on the way"
            return [finding("fixture_stale", path, f"is not valid at {head} when upgraded", fix)]
        again = _migrated(spec, whole, head, path)
        if again or _bytes(whole) != made:
            message = f"upgraded to {head} once more, it is another file"
            return [
                finding("upgrade_not_repeatable", path, message, "mend the operation that changes it again")
            ]
        steps = shutil.copy(path, os.path.join(folder, f"steps-{os.path.basename(path)}"))
        start = next(iter(spec.validated(steps).schemas))
        for id_ in line[line.index(start) + 1 :]:
            found = _migrated(spec, steps, id_, path)
            if found:
                return found
        if _bytes(steps) != made:
            message = f"upgraded to {head} step by step, it is another file than at once"
            return [finding("upgrade_not_repeatable", path, message, "mend the migrations on the way")]
    return []


def _migrated(spec: Spec, copy: str, target: str, path: str) -> list[Finding]:
    """Migrate a copy of `path`; what stands in the way is told of the file itself."""
    from evalspec.migrate.convert import Options
    from evalspec.migrate.run import Writing, migrate_paths
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.tasks import Reading

    upgrades = Upgrades(spec.project.families, spec.history, target)
    reading = Reading(spec.project.families, spec.project.unmarked())
    writing = Writing(os.path.dirname(copy))
    found: Sequence[Finding]
    try:
        outcome = migrate_paths([copy], upgrades, reading, writing, Options(prove_all=True))
        found = [each for file in outcome.files for each in file.bad]
    except BrokenPromise as error:
        found = error.findings
    return [each._replace(path=shown(path)) for each in found]


def _bytes(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()
