"""Every rule of the gate by its id: what `evalspec rules` lists and `evalspec explain` tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.check.lint import characters, scalars, templates

if TYPE_CHECKING:
    from evalspec.check.rule import Rule

#: The rules, in the order in which they are listed.
RULES: dict[str, Rule] = {rule.id: rule for rule in (*scalars.RULES, *characters.RULES, *templates.RULES)}
