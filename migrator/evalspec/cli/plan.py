"""Print what a migration would do: to which files, by which steps, and with which promises. Nothing is written.

`evalspec migrate --dry-run` carries all of it out but for the writing, and so proves the promises as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalspec.cli import _common
from evalspec.errors import counted, visible

if TYPE_CHECKING:
    import argparse

    from evalspec.migrate.upgrade import Step, Upgrades
    from evalspec.project import Project
    from evalspec.tasks import FileReport

EXAMPLES = """
plan --to v3 tasks/
plan --to +1 --verbose
plan --to head tasks.jsonl --format json
"""


class _Planned(NamedTuple):
    """One migration on the way of some records.

    Attributes:
        step: the migration.
        records: how many records are at a version from which it is on the way.
    """

    step: Step
    records: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument(
        "--to", required=True, metavar="VERSION", help="v3, family@v3, head, or +1 for the next one"
    )
    parser.add_argument(
        "--from", dest="from_", metavar="VERSION", help="the version of records that carry no marker"
    )
    _common.add_format(parser)
    _common.add_jobs(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Read, plan, print. Invalid records are counted, and are no error of a plan."""
    from evalspec.migrate import load_history
    from evalspec.migrate.target import resolve_target
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.tasks import validate_paths

    project = _common.find_project(args)
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    _common.warn_pending(args, project, paths)
    reading = _common.reading_of(args, project, args.from_)
    history = load_history(project.families)
    upgrades = Upgrades(project.families, history, resolve_target(args.to, project, history, paths, reading))
    with _common.progress(args, "reading", paths) as advance:
        reports = validate_paths(paths, reading, jobs=args.jobs, advance=advance)
    planned = _planned(reports, upgrades)
    if args.format == "json":
        _common.write_output(args, _common.dumps(_data(project, reports, planned, upgrades)))
    else:
        _common.write_output(args, _text(args, project, reports, planned, upgrades))
    return 0


def _planned(reports: list[FileReport], upgrades: Upgrades) -> list[_Planned]:
    """The steps that some record takes, oldest first."""
    counts: dict[str, int] = {}
    for report in reports:
        for id_, count in report.schemas.items():
            counts[id_] = counts.get(id_, 0) + count
    found: dict[str, _Planned] = {}
    ways = [(upgrades.from_(upgrades.families.schema(id_)), count) for id_, count in counts.items()]
    for way, count in sorted(ways, key=lambda each: -len(each[0].steps)):
        for step in way.steps:
            before = found.get(step.migration.id)
            found[step.migration.id] = _Planned(step, count + (before.records if before else 0))
    return list(found.values())


def _moves(report: FileReport, target: str) -> bool:
    return any(id_ != target for id_ in report.schemas)


def _text(
    args: argparse.Namespace,
    project: Project,
    reports: list[FileReport],
    planned: list[_Planned],
    upgrades: Upgrades,
) -> str:
    target = upgrades.target.id
    short = project.families.short
    lines = []
    moving = [report for report in reports if _moves(report, target)]
    for report in moving:
        wrong = len({error.line for error in report.errors})
        bad = f"; {counted(wrong, 'invalid record')}" if wrong else ""
        lines.append(f"{visible(report.path)}: {_common.versions_text(project, report.schemas)}{bad}")
    for each in planned:
        migration = each.step.migration
        proved = "by the operations" if each.step.proved else "by rendering every record under both versions"
        prompts = (
            f"unchanged, to be proved {proved}" if migration.prompts.unchanged else str(migration.prompts)
        )
        lines += [
            f"{short(migration.id)}  {migration.title}  {counted(each.records, 'record')}",
            f"    prompts: {visible(prompts)}",
            f"    outputs: {visible(str(migration.outputs))}",
        ]
        if args.verbose:
            lines += [f"    {visible(operation.describe())}" for operation in migration.records]
    there = len(reports) - len(moving)
    records = sum(sum(report.schemas.values()) for report in moving)
    said = f"{counted(records, 'record')} in {counted(len(moving), 'file')} to {short(target)}"
    lines.append(f"{said}; {counted(there, 'file')} already there" if there else said)
    return "".join(f"{line}\n" for line in lines)


def _data(
    project: Project, reports: list[FileReport], planned: list[_Planned], upgrades: Upgrades
) -> dict[str, Any]:
    short = project.families.short
    return {
        "to": short(upgrades.target.id),
        "files": [
            {
                "path": report.path,
                "schemas": _common.short_counts(project, report.schemas),
                "valid": report.valid,
                "errors": len(report.errors),
            }
            for report in reports
        ],
        "steps": [
            {
                "revision": short(each.step.migration.id),
                "title": each.step.migration.title,
                "path": each.step.migration.path,
                "records": each.records,
                "prompts": str(each.step.migration.prompts),
                "proved_by": "operations" if each.step.proved else "rendering",
                "outputs": str(each.step.migration.outputs),
                "operations": [operation.describe() for operation in each.step.migration.records],
            }
            for each in planned
        ],
    }
