"""The gate: what a project requires of its task files, as findings.

* `twins_in_trees`: tasks of one name in trees of lm-eval YAML.
* `check_versions`: every record valid, every file at the required version; `VersionCheck` is the result.
* `Rule`: what a rule is; `evalspec.check.rules` has them all, by id.
* `evalspec.check.lint`: what is wrong in files that every loader reads without a word.
"""

from evalspec.check.rule import Rule
from evalspec.check.versions import VersionCheck, check_versions, twins_in_trees

__all__ = ["Rule", "VersionCheck", "check_versions", "twins_in_trees"]
