"""What several commands share: the arguments that choose files and versions, and what they mean."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evalspec.errors import UsageError, WriteError, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalspec.errors import Finding
    from evalspec.project import Project
    from evalspec.schema.schema import Schema
    from evalspec.tasks import Reading
    from evalspec.tree import Selection


def add_paths(parser: argparse.ArgumentParser) -> None:
    """`PATH …` and `--spec`."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, folders or patterns; `-` is standard input (default: the project's tasks, else this folder)",
    )
    parser.add_argument(
        "--spec",
        metavar="FAMILY[@VERSION]",
        help="the family of the files, and the version of unmarked records",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The limits that protect from strangers' files, and the flags that raise them."""
    limits = parser.add_argument_group("limits")
    limits.add_argument("--max-line", type=size, metavar="BYTES", help="longest line of a JSONL file (16M)")
    limits.add_argument("--max-yaml", type=size, metavar="BYTES", help="largest YAML file (10M)")
    limits.add_argument("--max-depth", type=int, metavar="N", help="deepest nesting of a YAML file (100)")
    limits.add_argument(
        "--max-nodes", type=int, metavar="N", help="most values of a YAML document, aliases expanded"
    )


def add_format(parser: argparse.ArgumentParser, *, formats: Sequence[str] = ("text", "json")) -> None:
    """`--format` and `--output`."""
    parser.add_argument("--format", choices=formats, default="text", help="how the result is printed (text)")
    parser.add_argument("--output", metavar="FILE", help="print to a file instead of standard output")


def add_no_cache(parser: argparse.ArgumentParser) -> None:
    """`--no-cache`."""
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="neither use nor make .evalspec_cache/, which keeps what was found before",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """`--jobs`."""
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="processes for large files (default: the cores)"
    )


def with_changed(args: argparse.Namespace, **changes: object) -> argparse.Namespace:
    """The arguments with others in place of some."""
    from argparse import Namespace

    return Namespace(**{**vars(args), **changes})


def size(text: str) -> int:
    """A number of bytes: `500`, `64K`, `16M`, `1G`."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    number = int(text[:-1] if factor > 1 else text) * factor
    if number < 1:
        raise ValueError(text)
    return number


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def cores() -> int:
    """How many processors this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_project(args: argparse.Namespace) -> Project:
    """The project a command works in; `--spec` goes before the configuration.

    Raises:
        UsageError: the files are of a family that is only shown, and the command reads them.
    """
    from evalspec.project import Project, only_shown

    project = Project.find(config=args.config)
    spec = getattr(args, "spec", None)
    if spec:
        project.use(spec)
    elif project.foreign is not None and hasattr(args, "spec"):
        raise only_shown(project.foreign)
    return project


def reading_of(args: argparse.Namespace, project: Project, unmarked: str | None = None) -> Reading:
    """How records are read, by the arguments."""
    from evalspec.tasks import Reading

    limits = None
    given = {"size": args.max_yaml, "depth": args.max_depth, "nodes": args.max_nodes}
    if any(value is not None for value in given.values()):
        from evalspec.formats.yaml import YamlLimits

        limits = YamlLimits(**{key: value for key, value in given.items() if value is not None})
    return Reading(
        project.families,
        project.schema(unmarked) if unmarked else project.unmarked(),
        all_errors=getattr(args, "all_errors", False),
        yaml_limits=limits,
        max_line=args.max_line,
    )


def select_files(args: argparse.Namespace, project: Project) -> Selection:
    """The files that the paths mean; what was chosen is said on standard error.

    Raises:
        UsageError: there is none.
    """
    from evalspec.tree import select

    selection = select(args.paths, defaults=project.tasks, exclude=project.exclude, folder=project.folder)
    if not args.quiet:
        for note in selection.notes:
            sys.stderr.write(f"{note}\n")
        if selection.files and (not args.paths or selection.skipped or len(selection.files) > 1):
            sys.stderr.write(f"{selection.chosen}\n")
    if args.verbose:
        for path, reason in selection.skipped:
            sys.stderr.write(f"skipped {visible(path)}: {reason}\n")
    if not selection.files:
        raise UsageError(
            f"there is no task file: {selection.chosen}", fix="name a file, or a folder that has some"
        )
    return selection


def warn_pending(args: argparse.Namespace, project: Project, paths: Iterable[str]) -> None:
    """Say on standard error where a run that was killed left something to finish: in the files' folders or above."""
    if args.quiet:
        return
    from evalspec.writing import pending_above

    named = [path for path in paths if path != "-"]
    for run in pending_above([*named, project.folder] if project.folder else named):
        sys.stderr.write(f"{run.sentence}\n")


@contextmanager
def progress(
    args: argparse.Namespace, label: str, paths: Iterable[str]
) -> Iterator[Callable[[int], object] | None]:
    """A bar over the bytes of files while somebody watches; None, and no bar, anywhere else."""
    if args.quiet or not sys.stderr.isatty():
        yield None
        return
    import os

    from evalspec.cli._progress import Progress

    total = sum(os.path.getsize(path) for path in paths if path != "-")
    with Progress(label, total or None) as bar:
        yield bar.advance


def write_output(args: argparse.Namespace, text: str) -> None:
    """Print a whole result to standard output, or to `--output`."""
    path = getattr(args, "output", None)
    if path:
        from evalspec.writing import write_file

        write_file(path, text.encode())
    else:
        from evalspec.report import Console

        Console(sys.stdout).write(text)


def write_to(path: str, text: str) -> None:
    """Write a whole file; its old bytes stay until the new ones are on the disk."""
    from evalspec.writing import write_file

    write_file(path, text.encode())


def refuse_unwritable(*paths: str | None) -> None:
    """Stop before anything is done where a file that is asked for cannot be written.

    Raises:
        WriteError: its folder is not there or may not be written to, or it is a folder itself.
    """
    import os

    for path in filter(None, paths):
        folder = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path):
            raise WriteError(path, "is a folder", fix="name a file in it")
        if not os.path.isdir(folder):
            raise WriteError(path, "its folder is not there", fix=f"make {visible(folder)} first")
        if not os.access(folder, os.W_OK):
            raise WriteError(path, "its folder may not be written to", fix="name a file elsewhere")


def findings_text(args: argparse.Namespace, findings: Sequence[Finding], limit: int | None = None) -> str:
    """Findings for a person: coloured on a terminal, cut behind the first `limit`."""
    if not findings:
        return ""
    from evalspec.report import Console, finding_text, plain

    paint = plain if getattr(args, "output", None) else Console(sys.stdout).paint
    shown = findings if limit is None else findings[:limit]
    text = "".join(finding_text(finding, paint=paint) for finding in shown)
    if len(shown) < len(findings):
        text += f"… and {len(findings) - len(shown)} more (--max-findings)\n"
    return text


def dumps(value: Any) -> str:
    """JSON for programs: ASCII, two spaces, a line end."""
    import json

    return json.dumps(value, indent=2) + "\n"


def short_counts(project: Project, counts: dict[str, int]) -> dict[str, int]:
    """Counts by version, the ids as the project writes them."""
    return {project.families.short(id_): count for id_, count in sorted(counts.items())}


def versions_text(project: Project, counts: dict[str, int]) -> str:
    """`412 at v1, 3 at v2`."""
    return ", ".join(f"{count:,} at {id_}" for id_, count in short_counts(project, counts).items())


def schema_of(project: Project, reference: str) -> Schema:
    """The schema that `v3`, `family@v3` or `head` names."""
    if reference == "head":
        from evalspec.migrate import load_history

        return project.schema(load_history(project.families).head(project.families.default))
    return project.schema(reference)
