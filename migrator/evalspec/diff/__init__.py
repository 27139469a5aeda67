"""What changes for a model: prompts, and what is made of its answers.

* `compare`: two sides of task files, from git or from two folders, as a `Comparison` that every printer shows.
* `git_sides`, `named_sides`, `same_sides`, `Repository`, `view_pairs`: what is compared, and under which views.
* `history_of`: the commits in which one task's prompts changed, as a `History`; `Wanted` says which.
* `diff_versions`: what migrating files would change; nothing is written.
* `changed_outputs`: the sample generations that a migration's changed post-process rules make something else of.

Each is imported when it is first asked for: a check in which no file differs from its base compares nothing.
"""

from evalspec._lazy import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalspec.diff.compare import compare
    from evalspec.diff.git_objects import Repository
    from evalspec.diff.history import History, Wanted
    from evalspec.diff.log import history_of
    from evalspec.diff.model import Cause, Comparison, Example, Group
    from evalspec.diff.outputs import OutputChange, changed_outputs
    from evalspec.diff.sides import Asked, Side, Sides, git_sides, named_sides, same_sides
    from evalspec.diff.versions import VersionDiff, diff_versions
    from evalspec.diff.views import view_pairs

_HOME = {
    "Asked": "sides",
    "Cause": "model",
    "Comparison": "model",
    "Example": "model",
    "Group": "model",
    "History": "history",
    "OutputChange": "outputs",
    "Repository": "git_objects",
    "Side": "sides",
    "Sides": "sides",
    "VersionDiff": "versions",
    "Wanted": "history",
    "changed_outputs": "outputs",
    "compare": "compare",
    "diff_versions": "versions",
    "git_sides": "sides",
    "history_of": "log",
    "named_sides": "sides",
    "same_sides": "sides",
    "view_pairs": "views",
}

__getattr__ = lazily(__name__, _HOME)


__all__ = [
    "Asked",
    "Cause",
    "Comparison",
    "Example",
    "Group",
    "History",
    "OutputChange",
    "Repository",
    "Side",
    "Sides",
    "VersionDiff",
    "Wanted",
    "changed_outputs",
    "compare",
    "diff_versions",
    "git_sides",
    "history_of",
    "named_sides",
    "same_sides",
    "view_pairs",
]
