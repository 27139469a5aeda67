"""One line of versions a family, and each migration's contract operations give the next version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.check.spec.fixtures import finding
from evalspec.errors import EvalspecError

if TYPE_CHECKING:
    from evalspec.check.spec.fixtures import Spec
    from evalspec.errors import Finding
    from evalspec.migrate.migration import Migration
    from evalspec.project import Project


def check_history(project: Project) -> list[Finding]:
    """One head, no missing parent, no circle, no id twice; and a version for each migration.

    Raises:
        HistoryError: the line is broken; `SpecCheck.findings` makes a finding of it.
    """
    from evalspec.migrate import load_history

    history = load_history(project.families)
    return [
        finding(
            "chain_broken",
            step.path,
            f"it makes {step.id}, and there is no such schema version",
            "add the version, or remove the migration",
        )
        for step in history.steps.values()
        if step.revision not in project.families.by_name[step.family].versions
    ]


def check_contract(spec: Spec, step: Migration) -> list[Finding]:
    """The contract operations, replayed over the version before, give the version after."""
    from evalspec.migrate.replay import differences, replay
    from evalspec.schema.contract import contract_of

    before, after = (spec.project.schema(id_) for id_ in (step.parent, step.id))
    fix = f"say it in upgrade(op) of {step.path}, or change the version back"
    try:
        replayed = replay(contract_of(before), step.contract)
    except EvalspecError as error:
        return [finding("chain_differs_from_schema", step.path, str(error), fix)]
    return [
        finding("chain_differs_from_schema", step.path, sentence, fix)
        for sentence in differences(replayed, contract_of(after))
    ]


def of_error(rule: str, path: str, error: EvalspecError) -> Finding:
    """A finding of what kept a check from being made."""
    files = getattr(error, "files", ())
    return finding(
        rule,
        files[0] if files else path,
        str(error),
        error.fix or "mend it, then check again",
        line=getattr(error, "line", 1),
        column=getattr(error, "column", 1),
    )
