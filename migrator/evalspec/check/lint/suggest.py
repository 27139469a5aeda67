"""What would mend a finding and changes a prompt: shown as an edit of the file and of the prompt, and never written."""

from __future__ import annotations

import html
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.check.lint.joins import SPACE_ON_BOTH_SIDES
from evalspec.check.lint.pieces import mapped_outside
from evalspec.check.lint.scalars import LITERAL_ESCAPE
from evalspec.check.lint.templates import ENTITY, HTML_ENTITIES, NAMED, SINGLE_BRACES
from evalspec.errors import FormatError
from evalspec.formats.edits import EditError, Replace
from evalspec.formats.yaml import LM_EVAL, EditRefused, RecordKey, edit_file, read, records
from evalspec.prompts.lm_eval.index import Index
from evalspec.prompts.lm_eval.open_tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalspec.errors import Finding
    from evalspec.prompts.lm_eval.files import Files
    from evalspec.prompts.lm_eval.groups import ResolvedTask
    from evalspec.prompts.tasks import RowOptions
    from evalspec.prompts.view import View

_ESCAPES = {"\\n": "\n", "\\t": "\t"}

#: By rule: what is made of the text of the field that a finding is about.
_MENDS: dict[str, Callable[[str], str]] = {
    LITERAL_ESCAPE.id: lambda text: mapped_outside(
        text, lambda piece: re.sub(r"\\[nt]", lambda found: _ESCAPES[found[0]], piece)
    ),
    HTML_ENTITIES.id: lambda text: mapped_outside(text, lambda piece: ENTITY.sub(_character, piece)),
    SINGLE_BRACES.id: lambda text: mapped_outside(text, lambda piece: NAMED.sub(r"{{\1}}", piece)),
    SPACE_ON_BOTH_SIDES.id: lambda text: text.rstrip(" "),
}


def _character(found: re.Match[str]) -> str:
    return html.unescape(found[0])


class Suggestion(NamedTuple):
    """An edit that would mend a finding.

    Attributes:
        finding: the finding.
        old: the file's bytes.
        new: what they would be.
        task: a task whose prompt changes with it; empty where none could be rendered.
        before: its prompt.
        after: what that would be.
    """

    finding: Finding
    old: bytes
    new: bytes
    task: str = ""
    before: str = ""
    after: str = ""


def suggestions(
    tree: Tree, findings: Iterable[Finding], view: View, rows: RowOptions | None = None
) -> Iterator[Suggestion]:
    """The edits that would mend findings of a tree, each by itself.

    Args:
        tree: the tree.
        findings: what was found in it.
        view: how prompts are shown.
        rows: where rows come from; None for made-up ones.
    """
    roots = {tree.path_of(number, None): number for number in range(len(tree.roots))}
    for finding in findings:
        mend = _MENDS.get(finding.rule)
        if mend is None or not finding.field:
            continue
        for shown, root in roots.items():
            name = os.path.relpath(finding.path, shown)
            files = tree.index.loaders[root].files
            if name.startswith("..") or (data := files.read(name)) is None:
                continue
            new = _mended(data, tuple(finding.field.split(".")), mend)
            if new is not None:
                yield _shown(tree, root, name, Suggestion(finding, data, new), view, rows)
            break


def _mended(data: bytes, path: tuple[str, ...], mend: Callable[[str], str]) -> bytes | None:
    """A file in which one text is mended; None where there is no such text, or it needs no mending."""
    try:
        file = read(data, dialect=LM_EVAL)
        value: Any = next((record.value for record in records(file)), None)
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, str) or (text := mend(value)) == value:
            return None
        return edit_file(file, [(RecordKey(), [Replace(path, text)])])
    except (FormatError, EditRefused, EditError):
        return None


class _Edited:
    """The files of a tree with one of them edited, of which one is indexed."""

    def __init__(self, files: Files, indexed: str, name: str, data: bytes) -> None:
        self._files, self._indexed, self._name, self._data = files, indexed, name, data
        self.root = getattr(files, "root", None)

    def names(self) -> list[str]:
        return [self._indexed]

    def read(self, name: str) -> bytes | None:
        return self._data if name == self._name else self._files.read(name)


def _shown(
    tree: Tree, root: int, name: str, suggested: Suggestion, view: View, rows: RowOptions | None
) -> Suggestion:
    """The suggestion with the prompt of a task that it changes: the finding's own, or one that includes the file."""
    loader = tree.index.loaders[root]
    entry = tree.index.entries.get(suggested.finding.task or "")
    if entry is None or entry.path is None:
        here = (
            each
            for each in tree.index.entries.values()
            if each.root == root and each.path in loader.reached()
        )
        entry = next((each for each in here if each.path and name in loader.load(each.path).files), None)
    if entry is None or entry.path is None:
        return suggested
    texts = []
    for data in (suggested.old, suggested.new):
        index = Index([_Edited(loader.files, entry.path, name, data)])
        one = Tree(index, (tree.roots[root],), (tree.shown[root],))
        texts.append(_prompt(one, str(entry.name), view, rows))
    return suggested._replace(task=str(entry.name), before=texts[0], after=texts[1])


def _prompt(tree: Tree, name: str, view: View, rows: RowOptions | None) -> str:
    """The first prompt of a task with an example, so that what joins them shows, too."""
    from evalspec.prompts.lines import Wanted
    from evalspec.prompts.lm_eval.groups import selected
    from evalspec.prompts.tree_lines import TreeJob, render_tree

    tasks: list[ResolvedTask] = [task for task in selected(tree.index) if str(task.name) == name]
    shown = replace(view, shots=1) if view.shots is None else view
    wanted = Wanted((shown,), (), rows) if rows is not None else Wanted((shown,))
    for line in render_tree(TreeJob(tree, tuple(tasks), wanted)):
        return str(line.data.get("text", ""))
    return ""
