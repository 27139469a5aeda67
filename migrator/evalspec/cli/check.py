"""Fail where a project is not as it must be: its task files, its schema versions and migrations, and their prompts.

Task files are valid, at the version of --require (else the `requires` of the configuration), and keep every rule that
`evalspec rules` lists. A project with a configuration is compared with its base, as `evalspec diff` finds it: no prompt
may change while its task's version stays, and nothing that is released may change at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalspec.cli import _common, _findings, _gate, _lint, _watch

if TYPE_CHECKING:
    import argparse

EXAMPLES = """
check
check --require v3 tasks/
check --base origin/main --format github
check --fix lm_eval/tasks
check --staged --changed
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
        "--fix", action="store_true", help="mend what is safe; what changes a prompt is shown as a suggestion"
    )
    against = parser.add_argument_group("what prompts and released versions are compared with")
    against.add_argument(
        "--base", metavar="REV", help="a revision (where the branch left the default branch)"
    )
    against.add_argument("--no-base", action="store_true", help="compare with nothing")
    against.add_argument("--staged", action="store_true", help="compare what is staged, not the working tree")
    against.add_argument(
        "--changed", action="store_true", help="only findings of what was changed, or is reached by a change"
    )
    parser.add_argument("--baseline", metavar="FILE", help="old findings, which do not count")
    _common.add_no_cache(parser)
    parser.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    _common.add_format(parser, formats=_findings.FORMATS)
    parser.add_argument(
        "--jobs", type=_common.positive, metavar="N", help="processes for many tasks (default: the cores)"
    )
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Check, print, and return the exit code."""
    if args.watch:
        return _watch.watch(args)
    result = _gate.checked(args)
    if args.format == "json":
        _common.write_output(args, _common.dumps(_data(result)))
    elif args.format in _findings.SERVICES:
        from evalspec.check.rules import RULES

        files = list(
            dict.fromkeys([*(each.path for each in result.files), *(each.path for each in result.findings)])
        )
        rules = {rule.id: (rule.purpose, rule.fix) for rule in RULES.values()}
        _common.write_output(args, _findings.service_text(args.format, result.findings, files, rules))
    else:
        text = _common.findings_text(args, result.findings, args.max_findings)
        text += "".join(_lint.suggestion_text(args, each) for each in result.suggested)
        _common.write_output(args, text + _gate.summary(result))
    return 0 if result.passed else 1


def _data(result: _gate.Checked) -> dict[str, Any]:
    short = result.project.families.short
    errors = sum(finding.severity == "error" for finding in result.findings)
    return {
        "required": short(result.required) if result.required else None,
        "findings": [finding.to_dict() for finding in result.findings],
        "files": [
            {
                "path": report.path,
                "format": report.format,
                "schemas": _common.short_counts(result.project, report.schemas),
                "valid": report.valid,
                "errors": len(report.errors),
            }
            for report in result.files
        ],
        "summary": {
            "files": result.looked_at,
            "tasks": result.tasks,
            "errors": errors,
            "warnings": sum(finding.severity == "warning" for finding in result.findings),
        },
        "compared": {"base": result.compared.base, "head": result.compared.head} if result.compared else None,
    }
