"""What the commands that read trees of lm-eval YAML share."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from evalspec.errors import counted, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from evalspec.project import Project
    from evalspec.prompts.lm_eval.open_tree import Tree


#: So many of the paths are named.
_SHOWN = 3


def find_project(args: argparse.Namespace) -> Project:
    """The project a command works in; a spec of a family that is only shown is left to `paths_of`."""
    from evalspec.project import FOREIGN, Project

    project = Project.find(config=args.config)
    if args.spec and args.spec.partition("@")[0] != FOREIGN:
        project.use(args.spec)
    return project


def paths_of(args: argparse.Namespace, project: Project) -> list[str] | None:
    """The paths, where they mean trees of lm-eval YAML; None where they mean task files of our own contract."""
    from evalspec.prompts.lm_eval.open_tree import lm_eval_paths

    base = project.folder or os.curdir
    defaults = [os.path.relpath(os.path.join(base, path)) for path in project.tasks] or [os.curdir]
    return lm_eval_paths(args.paths, args.spec or project.foreign, defaults)


def open_trees(args: argparse.Namespace, paths: Sequence[str]) -> Tree:
    """Read the trees; what was chosen, and what no index has, is said on standard error."""
    from evalspec.prompts.lm_eval.open_tree import open_tree

    tree = open_tree(paths)
    tell(args, tree, paths)
    return tree


def tell(args: argparse.Namespace, tree: Tree, paths: Sequence[str]) -> None:
    """Say on standard error what was read, and what no index has."""
    from evalspec.prompts.lm_eval.open_tree import FAMILY, VERSION

    if not args.quiet:
        count, shown = len(tree.index.entries), ", ".join(map(visible, paths[:_SHOWN]))
        if len(paths) > _SHOWN:
            shown += f" and {counted(len(paths) - _SHOWN, 'more path')}"
        sys.stderr.write(f"{shown}: {counted(count, 'name')}, read as {FAMILY}@{VERSION}\n")
    skipped = tree.skipped()
    if args.verbose:
        for path, each in skipped:
            sys.stderr.write(f"skipped {visible(path)}:{each.line}: {visible(each.reason)} [{each.rule}]\n")
    elif skipped and not args.quiet:
        sys.stderr.write(f"{counted(len(skipped), 'file')} in no index (-v says which, and why)\n")
