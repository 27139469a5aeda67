"""The same files before and after a migration: a dry run that renders every record under both versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalspec.diff.outputs import changed_outputs
from evalspec.migrate.convert import Options
from evalspec.migrate.run import Writing, migrate_paths
from evalspec.tasks import refuse_bad

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalspec.diff.outputs import OutputChange
    from evalspec.migrate.outcome import Outcome
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.tasks import Reading


class VersionDiff(NamedTuple):
    """What migrating files would change.

    Attributes:
        outcome: the dry run; its steps hold the first changed prompts.
        outputs: the sample generations whose output changes, by the id of the version whose migration changes them.
    """

    outcome: Outcome
    outputs: Mapping[str, Sequence[OutputChange]]

    @property
    def is_empty(self) -> bool:
        """True where no prompt and no task's outputs change. What is not known is no sign of that."""
        return not any(step.changed or step.unknown or step.touched for step in self.outcome.steps.values())


def diff_versions(
    paths: Sequence[str],
    upgrades: Upgrades,
    reading: Reading,
    *,
    allow_bad: bool = False,
    prompts: int = 20,
    jobs: int = 1,
    advance: Callable[[int], object] | None = None,
) -> VersionDiff:
    """What migrating `paths` to the target of `upgrades` would change. Nothing is written.

    Args:
        paths: task files.
        upgrades: the ways to the target.
        reading: how records are read.
        allow_bad: leave invalid records out instead of refusing.
        prompts: how many changed prompts of each file and step are kept.
        jobs: how many processes may share the work on large files.
        advance: told the number of bytes read since it was last told.

    Raises:
        BadTasks: records are invalid, and that is not allowed.
        BrokenPromise: a migration changes a prompt that it said it would not.
        UsageError: no way leads from a record's version to the target.
    """
    writing = Writing(".", dry_run=True, allow_bad=allow_bad, jobs=jobs, advance=advance)
    options = Options(prove_all=True, want_ids=True, want_prompts=prompts)
    outcome = migrate_paths(paths, upgrades, reading, writing, options)
    if not allow_bad:
        refuse_bad(outcome.bad)
    families = upgrades.families
    outputs = {id_: changed_outputs(step.migration, families) for id_, step in outcome.steps.items()}
    return VersionDiff(outcome, outputs)
