"""Fail where a task file is not as the project requires: a record is invalid, or at another version.

The version is that of --require, else the `requires` of the project's configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import UsageError, counted
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    import argparse

    from evalspec.check import VersionCheck
    from evalspec.project import Project

EXAMPLES = """
check --require v3 tasks/
check
check --require head tasks/ --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument("--require", metavar="VERSION", help="the version that every record must be at")
    parser.add_argument(
        "--all-errors", action="store_true", help="every violation of a record, not only the first"
    )
    parser.add_argument(
        "--max-findings", type=_common.positive, default=1000, metavar="N", help="how many to print"
    )
    _common.add_format(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Check, print, and return the exit code."""
    project = _common.find_project(args)
    required = _common.schema_of(project, _required(args, project)).id
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project)
    from evalspec.check import check_versions
    from evalspec.migrate import load_history

    history = load_history(project.families)
    with _common.progress(args, "checking", paths) as advance:
        result = check_versions(paths, reading, history, required, advance=advance)
    if args.format == "json":
        _common.write_output(args, _common.dumps(_data(project, result)))
    else:
        text = _common.findings_text(args, result.findings, args.max_findings)
        _common.write_output(args, text + _summary(project, result))
    return 0 if result.passed else 1


def _required(args: argparse.Namespace, project: Project) -> str:
    if args.require:
        return str(args.require)
    configured = project.config.requires
    if isinstance(configured, Absent):
        raise UsageError(
            "nothing says which version is required",
            fix='say --require v3, or `requires = "v3"` in evalspec.toml',
        )
    return configured


def _data(project: Project, result: VersionCheck) -> dict[str, object]:
    return {
        "required": project.families.short(result.required),
        "findings": [finding.to_dict() for finding in result.findings],
        "files": [
            {
                "path": report.path,
                "format": report.format,
                "schemas": _common.short_counts(project, report.schemas),
                "valid": report.valid,
                "errors": len(report.errors),
            }
            for report in result.files
        ],
    }


def _summary(project: Project, result: VersionCheck) -> str:
    required = project.families.short(result.required)
    files = counted(len(result.files), "file")
    if result.passed:
        valid = sum(report.valid for report in result.files)
        return f"{files} with {counted(valid, 'record')}, all valid and at {required}\n"
    failed = {finding.path for finding in result.findings if finding.severity == "error"}
    count = sum(finding.severity == "error" for finding in result.findings)
    return f"{counted(count, 'finding')} in {len(failed)} of {files}; {required} is required\n"
