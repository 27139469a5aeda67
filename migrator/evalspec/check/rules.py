"""Every rule of the gate by its id: what `evalspec rules` lists and `evalspec explain` tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.check import chain, choose, exercised, released, silent, versions
from evalspec.check.lint import characters, joins, keys, patterns, rows, scalars, shots, templates, variables
from evalspec.check.spec import rules as spec_rules

if TYPE_CHECKING:
    from evalspec.check.rule import Rule

#: The modules that hold rules, each with those rules as `RULES`.
_GATE = (versions, chain, exercised, spec_rules, released, silent, choose)
_LINT = (scalars, characters, templates, variables, joins, shots, rows, keys, patterns)

#: The lint rules: what the text of task files shows.
LINT_RULES: dict[str, Rule] = {rule.id: rule for module in _LINT for rule in module.RULES}
#: Every rule, in the order in which they are listed.
RULES: dict[str, Rule] = {rule.id: rule for module in _GATE for rule in module.RULES} | LINT_RULES
