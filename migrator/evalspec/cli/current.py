"""Print the version that each task file is at; with counts where it holds records of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import visible

if TYPE_CHECKING:
    import argparse

    from evalspec.project import Project
    from evalspec.tasks import FileReport

EXAMPLES = """
current tasks/
current tasks.jsonl --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    _common.add_format(parser)
    _common.add_jobs(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Read and print. A record's version shows whether or not it is valid."""
    project = _common.find_project(args)
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project)
    from evalspec.tasks import validate_paths

    with _common.progress(args, "reading", paths) as advance:
        reports = validate_paths(paths, reading, jobs=args.jobs, advance=advance)
    if args.format == "json":
        files = [
            {
                "path": report.path,
                "schemas": _common.short_counts(project, report.schemas),
                "unknown": _unknown(report),
            }
            for report in reports
        ]
        _common.write_output(args, _common.dumps({"files": files}))
    else:
        lines = [f"{visible(report.path)}: {_said(project, report)}\n" for report in reports]
        _common.write_output(args, "".join(lines))
    return 0


def _said(project: Project, report: FileReport) -> str:
    unknown = _unknown(report)
    if len(report.schemas) == 1 and not unknown:
        return project.families.short(next(iter(report.schemas)))
    said = [_common.versions_text(project, report.schemas)] if report.schemas else []
    said += [f"{unknown:,} at no known version"] if unknown else []
    return ", ".join(said) or "no records"


def _unknown(report: FileReport) -> int:
    """How many records are at no known version, or cannot be read."""
    return len({(error.line, error.column) for error in report.errors if error.rule == "version_unknown"})
