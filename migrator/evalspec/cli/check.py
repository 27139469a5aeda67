"""Fail where a task file is not as the project requires: a record is invalid or at another version, a rule is broken.

The version is that of --require, else the `requires` of the project's configuration; with neither, none is required.
`evalspec rules` lists the other rules. They are looked at offline, under every configured view; a task with no rows at
hand is shown with made-up ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.cli import _common, _lint, _trees
from evalspec.errors import counted
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from evalspec.check import VersionCheck
    from evalspec.errors import Finding
    from evalspec.project import Project

EXAMPLES = """
check --require v3 tasks/
check
check --require head tasks/ --format json
check --fix lm_eval/tasks
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
    parser.add_argument(
        "--fix", action="store_true", help="mend what is safe to mend; never the text of a prompt"
    )
    _common.add_format(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Check, print, and return the exit code."""
    if not args.require:
        project = _trees.find_project(args)
        trees = _trees.paths_of(args, project)
        if trees is not None:
            return _check_trees(args, project, trees)
    project = _common.find_project(args)
    named = _required(args, project)
    required = _common.schema_of(project, named).id if named else None
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project)
    from evalspec.check import check_versions
    from evalspec.migrate import load_history

    history = load_history(project.families)
    linted = _lint.mended(args, lambda: _lint.lint_of_files(project, paths, reading))
    with _common.progress(args, "checking", paths) as advance:
        result = check_versions(paths, reading, history, required, advance=advance)
    result = _with_lint(result, linted)
    if args.format == "json":
        _common.write_output(args, _common.dumps(_data(project, result)))
    else:
        text = _common.findings_text(args, result.findings, args.max_findings)
        _common.write_output(args, text + _summary(project, result))
    return 0 if result.passed else 1


def _check_trees(args: argparse.Namespace, project: Project, paths: Sequence[str]) -> int:
    """Check trees of lm-eval YAML, whose records have no versions of ours."""
    found = _lint.mended(args, lambda: _lint.lint_of_tree(args, project, paths))
    if args.format == "json":
        said = {"required": None, "findings": [finding.to_dict() for finding in found], "files": []}
        _common.write_output(args, _common.dumps(said))
    else:
        _common.write_output(
            args, _common.findings_text(args, found, args.max_findings) + _lint.summary(found)
        )
    return int(any(finding.severity == "error" for finding in found))


def _with_lint(result: VersionCheck, linted: Sequence[Finding]) -> VersionCheck:
    """The result with what lint has found, file by file; what both say stands once."""
    said = {(each.path, each.line, each.column, each.rule) for each in result.findings}
    more = [each for each in linted if (each.path, each.line, each.column, each.rule) not in said]
    order = {report.path: number for number, report in enumerate(result.files)}
    findings = sorted((*result.findings, *more), key=lambda each: order[each.path])
    return result._replace(findings=findings)


def _required(args: argparse.Namespace, project: Project) -> str | None:
    if args.require:
        return str(args.require)
    configured = project.config.requires
    return None if isinstance(configured, Absent) else configured


def _data(project: Project, result: VersionCheck) -> dict[str, object]:
    return {
        "required": project.families.short(result.required) if result.required else None,
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
    required = project.families.short(result.required) if result.required else None
    files = counted(len(result.files), "file")
    if result.passed:
        valid = sum(report.valid for report in result.files)
        at = f" and at {required}" if required else ""
        remarks = f"; {_lint.counts(result.findings)}" if result.findings else ""
        return f"{files} with {counted(valid, 'record')}, all valid{at}{remarks}\n"
    failed = {finding.path for finding in result.findings if finding.severity == "error"}
    count = sum(finding.severity == "error" for finding in result.findings)
    needed = f"; {required} is required" if required else ""
    return f"{counted(count, 'finding')} in {len(failed)} of {files}{needed}\n"
