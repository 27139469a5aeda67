"""Drafts: a new spec project, and the next version of one.

* `new_project`: a family of one's own, branching off our head or fresh, released in its lock.
* `draft_revision`: the next schema version, its migration and the fixtures that the gate asks for.
* `complete_migration`: writes into a draft's migration what its schema says and it does not.
"""

from evalspec.draft.autogenerate import complete_migration
from evalspec.draft.new_project import new_project
from evalspec.draft.revision import draft_revision

__all__ = ["complete_migration", "draft_revision", "new_project"]
