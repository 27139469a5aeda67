"""Run the fixtures, promises and chain of a spec project as tests, and print a table.

What is tested: the migrations form one line and give the versions that they say; every fixture is what it says; every
promise is kept; every historical fixture goes the whole way to the newest version, and the same way twice. The same
checks are tests of `pytest --evalspec`. --mutate changes the versions and migrations in memory, one thing at a time,
and says which changes no fixture would notice.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.cli import _common
from evalspec.errors import EvalspecError, UsageError, counted, did_you_mean, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from evalspec.check.spec import SpecCheck
    from evalspec.errors import Finding
    from evalspec.project import Project

EXAMPLES = """
test
test 'acme@v2*' --format junit --output report.xml
test --mutate
test --mutate 'acme@v2: mutations'
test --update
test --update --yes
"""

_MUTATIONS = "mutations"


class _Tested(NamedTuple):
    """A check that was made."""

    name: str
    path: str
    findings: Sequence[Finding]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument(
        "tests", nargs="*", metavar="TEST", help="names of tests, parts of names, or patterns (default: all)"
    )
    parser.add_argument(
        "--mutate", action="store_true", help="also say which small changes no fixture would notice"
    )
    parser.add_argument(
        "--update", action="store_true", help="show how computed fixtures would be another, and write them"
    )
    parser.add_argument("--yes", action="store_true", help="with --update: do not ask")
    _common.add_format(parser, formats=("text", "json", "junit"))


def run(args: argparse.Namespace) -> int:
    """Test, print, and return the exit code."""
    from evalspec.check.spec import spec_checks

    if args.yes and not args.update:
        raise UsageError("--yes goes with --update", fix="leave it out")
    if args.update and args.format != "text":
        raise UsageError("--update prints a diff, as text", fix="leave --format out")
    project = _common.find_project(args)
    if args.update and not _update(args, project):
        return 1
    checks = _chosen(spec_checks(project), args.tests, mutate=args.mutate)
    tested = [_Tested(check.name, check.path, check.findings()) for check in checks]
    tried = 0
    if args.mutate and not any(each.findings for each in tested):
        found, tried = _mutated(project, args.tests)
        tested += found
    failed = sum(bool(each.findings) for each in tested)
    if args.format == "json":
        _common.write_output(args, _common.dumps(_data(tested, tried)))
    elif args.format == "junit":
        from evalspec.report import tests_junit_text

        _common.write_output(args, tests_junit_text([(each.name, each.findings) for each in tested]))
    else:
        _common.write_output(args, _text(args, tested, failed))
        if args.mutate and not args.quiet:
            sys.stderr.write(
                f"{counted(tried, 'change')} tried\n"
                if tried
                else "nothing was mutated: the tests must pass first\n"
            )
    return 1 if failed else 0


def _chosen(checks: list[SpecCheck], wanted: Sequence[str], *, mutate: bool) -> list[SpecCheck]:
    """The checks that are asked for.

    Raises:
        UsageError: no check has such a name, or there is none at all.
    """
    if not checks:
        raise UsageError(
            "there is no schema version to test", fix="evalspec init makes a project that has one"
        )
    names = [check.name for check in checks]
    if mutate:
        names += [f"{name.partition(':')[0]}: {_MUTATIONS}" for name in names if name.endswith(": tasks")]
    for name in wanted:
        if not any(_is_asked_for(each, [name]) for each in names):
            near = did_you_mean(name, names)
            raise UsageError(f"no test {visible(name)!r}", fix=near or "`evalspec test` lists them")
    return [check for check in checks if not wanted or _is_asked_for(check.name, wanted)]


def _is_asked_for(name: str, wanted: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    return any(each in name or fnmatchcase(name, each) for each in wanted)


def _mutated(project: Project, wanted: Sequence[str]) -> tuple[list[_Tested], int]:
    """What no fixture notices, a test for each version and the step to it, and how many changes were tried."""
    from evalspec.check.spec.weak import all_mutants, weakness

    found: dict[str, tuple[str, dict[Finding, None]]] = {}
    tried = 0
    for mutant in all_mutants(project):
        name = f"{mutant.id}: {_MUTATIONS}"
        if wanted and not _is_asked_for(name, wanted):
            continue
        tried += 1
        findings = found.setdefault(name, (mutant.path, {}))[1]
        finding = weakness(project, mutant)
        if finding is not None:
            findings[finding] = None
    tested = [
        _Tested(name, path, sorted(each, key=lambda one: (one.path, one.line, one.column, one.message)))
        for name, (path, each) in found.items()
    ]
    return tested, tried


def _text(args: argparse.Namespace, tested: Sequence[_Tested], failed: int) -> str:
    from evalspec.report import Console, plain

    paint = plain if args.output else Console(sys.stdout).paint
    width = max((len(visible(each.name)) for each in tested), default=0)
    out = []
    for each in tested:
        said, style = (f"{len(each.findings)} found", "error") if each.findings else ("ok", "good")
        out.append(f"{visible(each.name):<{width}}  {paint(said, style)}\n")  # type: ignore[arg-type] # one of the two
    findings = [finding for each in tested for finding in each.findings]
    told = _common.findings_text(args, findings)
    end = (
        f"{counted(len(tested), 'test')}, {failed} failed\n"
        if failed
        else f"{counted(len(tested), 'test')} passed\n"
    )
    return "".join(out) + ("\n" + told if told else "") + end


def _data(tested: Sequence[_Tested], tried: int) -> dict[str, Any]:
    return {
        "tests": [
            {"name": each.name, "path": os.path.relpath(each.path), "passed": not each.findings,
             "findings": [finding.to_dict() for finding in each.findings]}
            for each in tested
        ],
        "summary": {
            "tests": len(tested),
            "failed": sum(bool(each.findings) for each in tested),
            "mutations": tried,
        },
    }  # fmt: skip


def _update(args: argparse.Namespace, project: Project) -> bool:
    """Show what would be another, and write it where that is agreed to; False where it is not.

    Raises:
        UsageError: the migrations form no line.
    """
    from evalspec.check.spec.goldens import outdated
    from evalspec.report import Console, unified

    try:
        files = outdated(project)
    except EvalspecError as error:
        raise UsageError(str(error), fix=error.fix) from error
    if not files:
        sys.stderr.write("every computed fixture is up to date\n")
        return True
    console = Console(sys.stdout)
    for each in files:
        console.write(unified(each.old, each.new, os.path.relpath(each.path), paint=console.paint))
    sys.stdout.flush()
    if not args.yes and not _agreed(len(files)):
        return False
    for each in files:
        _common.write_to(each.path, each.new.decode())
    sys.stderr.write(f"{counted(len(files), 'file')} written\n")
    return True


def _agreed(count: int) -> bool:
    """Whether whoever sits at the terminal wants the files written; without a terminal nobody does."""
    if not sys.stdin.isatty():
        sys.stderr.write("nothing was written; --yes writes without a question\n")
        return False
    sys.stderr.write(f"write {counted(count, 'file')}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
