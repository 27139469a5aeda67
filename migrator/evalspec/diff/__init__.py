"""What changes for a model: prompts, and what is made of its answers.

* `diff_versions`: what migrating files would change; nothing is written.
* `changed_outputs`: the sample generations that a migration's changed post-process rules make something else of.
"""

from evalspec.diff.outputs import OutputChange, changed_outputs
from evalspec.diff.versions import VersionDiff, diff_versions

__all__ = ["OutputChange", "VersionDiff", "changed_outputs", "diff_versions"]
