"""A project's own specification, checked whole: its versions, its migrations, and the fixtures that exercise them.

    spec_checks(project) → SpecCheck …      SpecCheck.findings() → Finding …

* `spec_checks`: every check there is to make of the families that a project holds, each with a name and a file.

`pytest --evalspec` makes a test of each check, `evalspec test` a line; the gate puts their findings together. Rules:

    chain_broken                 two heads, a circle, a missing parent, an id twice, a script that does not load
    schema_unreadable            a version does not load
    migration_missing            a version says what no contract operation does
    chain_differs_from_schema    a contract operation says what the version does not
    fixture_missing              a version without tasks, a migration without records before and after it
    fixture_stale                a fixture does not give what it says
    fixture_weak                 a version or a migration could change, and no fixture would tell (`test --mutate`)
    promise_broken               a prompt or an output changes, and the migration says that none does
    upgrade_not_repeatable       an upgrade done twice, or step by step, gives other bytes than once
    spec_reaches_outside         a schema version or a migration could see the network, the clock or a file
"""

from evalspec.check.spec.checks import SpecCheck, spec_checks

__all__ = ["SpecCheck", "spec_checks"]
