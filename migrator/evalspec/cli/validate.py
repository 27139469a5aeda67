"""Say which records of task files are valid, and what is wrong with the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common, _findings
from evalspec.errors import counted

if TYPE_CHECKING:
    import argparse

    from evalspec.tasks import FileReport

EXAMPLES = """
validate tasks.jsonl
validate tasks/ --all-errors
validate --format json tasks/ > findings.json
zcat tasks.jsonl.gz | evalspec validate -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument(
        "--all-errors", action="store_true", help="every violation of a record, not only the first"
    )
    parser.add_argument(
        "--allow-bad-tasks", action="store_true", help="exit 0 also where records are invalid"
    )
    parser.add_argument(
        "--max-findings", type=_common.positive, default=1000, metavar="N", help="how many to print"
    )
    _common.add_format(parser, formats=_findings.FORMATS)
    _common.add_jobs(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Validate, print, and return the exit code."""
    project = _common.find_project(args)
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project)
    from evalspec.tasks import validate_paths

    with _common.progress(args, "validating", paths) as advance:
        reports = validate_paths(paths, reading, jobs=args.jobs, advance=advance)
    errors = [finding for report in reports for finding in report.errors]
    warnings = [finding for report in reports for finding in report.warnings]
    valid = sum(report.valid for report in reports)
    if args.format == "json":
        files = [
            {
                "path": report.path,
                "format": report.format,
                "schemas": _common.short_counts(project, report.schemas),
                "valid": report.valid,
                "errors": len(report.errors),
            }
            for report in reports
        ]
        found = [finding.to_dict() for finding in [*errors, *warnings]]
        _common.write_output(args, _common.dumps({"valid": valid, "errors": found, "files": files}))
    elif args.format in _findings.SERVICES:
        _common.write_output(args, _findings.service_text(args.format, [*errors, *warnings], paths))
    else:
        text = _common.findings_text(args, [*errors, *warnings], args.max_findings)
        _common.write_output(args, text + _summary(reports, valid, len(errors), len(warnings)))
    return 1 if errors and not args.allow_bad_tasks else 0


def _summary(reports: list[FileReport], valid: int, errors: int, warnings: int) -> str:
    files = counted(len(reports), "file")
    text = f"{counted(valid, 'valid record')}, {counted(errors, 'error')}"
    if warnings:
        text += f", {counted(warnings, 'warning')}"
    return f"{text} in {files}\n"
