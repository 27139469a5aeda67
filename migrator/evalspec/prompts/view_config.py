"""The views that a run shows: those that the project configures, and what flags say over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.errors import UsageError, did_you_mean, visible
from evalspec.prompts.view import PLAIN, View, view_of_settings
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalspec.configuration import ViewConfig
    from evalspec.project import Project


def views_of(
    project: Project, names: Sequence[str], flags: Mapping[str, Any], *, rows: int | None = None
) -> tuple[View, ...]:
    """The named views, each with the flags over its own settings; with no name, the one that the flags describe.

    Args:
        project: its configuration has the views, and a view's chat template lies in its folder.
        names: names of configured views; `plain` is there without being configured.
        flags: settings as `view_of_settings` takes them; only what was given.
        rows: the limit of a view that has none.

    Raises:
        UsageError: there is no such view, or a setting makes no sense.
    """
    least = {} if rows is None else {"limit": rows}
    if not names:
        return (view_of_settings(str(flags.get("chat", "plain")), {**least, **flags}),)
    configured = project.config.views
    made = []
    for name in dict.fromkeys(names):
        if name == PLAIN.name and name not in configured:
            made.append(view_of_settings(name, {**least, **flags}))
            continue
        if name not in configured:
            known = f"the configured views are: {', '.join(map(visible, configured))}"
            fix = did_you_mean(name, list(configured)) or (
                known if configured else f"add a table [views.{visible(name)}] to evalspec.toml"
            )
            raise UsageError(f"no view {visible(name)!r}", fix=fix)
        settings = settings_of(configured[name], project.folder)
        read = _reader_in(project.folder) if "chat" not in flags else None
        made.append(view_of_settings(name, {**least, **settings, **flags}, read))
    return tuple(made)


def settings_of(view: ViewConfig, folder: str | None = None) -> dict[str, Any]:
    """A configured view's settings as `view_of_settings` takes them; its tokenizer's path is from `folder`.

    Raises:
        UsageError: two of them contradict each other.
    """
    import os
    from dataclasses import asdict

    settings = {key: value for key, value in asdict(view).items() if not isinstance(value, Absent)}
    if "multiturn" in settings:
        single = not settings.pop("multiturn")
        if settings.setdefault("single_turn", single) != single:
            raise UsageError("a view cannot be multiturn and single_turn", fix="keep one of the two")
    if "tokenizer" in settings:
        settings["tokenizer"] = os.path.join(folder or os.curdir, settings["tokenizer"])
    return settings


def _reader_in(folder: str | None) -> Callable[[str], bytes | None]:
    """Reads files by their path from a folder."""
    import os

    def read(path: str) -> bytes | None:
        try:
            with open(os.path.join(folder or os.curdir, path), "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    return read
