"""The gate: what a project requires of its task files, as findings.

* `check_versions`: every record valid, every file at the required version; `VersionCheck` is the result.
"""

from evalspec.check.versions import VersionCheck, check_versions

__all__ = ["VersionCheck", "check_versions"]
