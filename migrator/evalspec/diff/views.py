"""The views of a comparison: what each side is shown under, by the configuration of that side."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from evalspec.diff.causes import ViewPair
from evalspec.diff.model import Cause
from evalspec.errors import Place, UsageError
from evalspec.project import Project, configuration_in
from evalspec.prompts.view_config import views_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalspec.diff.sides import Side, Sides
    from evalspec.prompts.view import View


def view_pairs(
    sides: Sides,
    project: Project,
    names: Sequence[str],
    flags: Mapping[str, Any],
    against: Sequence[str] = (),
) -> list[ViewPair]:
    """The views under which two sides are compared.

    Without names or flags these are all that the project configures. A view is what the configuration of its side
    says, so a changed chat template shows in every task.

    Args:
        sides: the two sides.
        project: the project in the working tree.
        names: the names of configured views.
        flags: settings over those of the views, as `view_of_settings` takes them.
        against: the views of the new side, where other ones are compared with those of the old.

    Raises:
        UsageError: there is no such view, or there are not as many on each side.
    """
    if against:
        if len(against) != max(len(names), 1):
            raise UsageError(
                "--against compares one view with another", fix="name as many with --against as with --view"
            )
        pairs = zip(views_of(project, names, flags), views_of(project, against, flags), strict=True)
        return [
            ViewPair(one, other, Cause("view", detail=f"{one.name} → {other.name}")) for one, other in pairs
        ]
    if not names and not flags:
        names = list(project.config.views)
    found = views_of(project, names, flags)
    old, new = (_views_at(side, project, names, flags) or found for side in (sides.before, sides.after))
    return [ViewPair(one, other, _cause(one, other, project)) for one, other in zip(old, new, strict=True)]


def _views_at(
    side: Side, project: Project, names: Sequence[str], flags: Mapping[str, Any]
) -> tuple[View, ...] | None:
    """The views as the configuration of a side has them; None where that is the working tree's, or has them not."""
    if project.folder is None or not names or not side.stands_for:
        return None
    path = configuration_in(side.counterpart(project.folder))
    try:
        return views_of(Project.find(config=path), names, flags) if path is not None else None
    except UsageError:
        return None


def _cause(before: View, after: View, project: Project) -> Cause | None:
    """Where two views of one name differ; None where they show the same."""
    if before == after and _template(before) == _template(after):
        return None
    if _template(before) == _template(after) or before.chat is None or after.chat is None:
        return Cause("view", detail=after.name)
    file, _, _ = after.chat.name.partition("#")
    path = os.path.relpath(os.path.join(project.folder or os.curdir, file))
    return Cause("chat_template", Place(path), Place(path), after.name)


def _template(view: View) -> object:
    return view.chat and (view.chat.source, repr(view.chat.tokens))
