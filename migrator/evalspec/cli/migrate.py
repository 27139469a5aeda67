"""Upgrade task files to another schema version, with proof that prompts stay what they were.

Every record is validated against the version it is at and the version it goes to. A broken promise writes nothing, a
file with an invalid record is left alone, and a run that is killed can be finished or undone (`evalspec recover`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from evalspec.cli import _common
from evalspec.errors import UsageError, counted, visible

if TYPE_CHECKING:
    import argparse

    from evalspec.migrate.outcome import Outcome
    from evalspec.project import Project
    from evalspec.writing import Holder

EXAMPLES = """
migrate --to v3 tasks/
migrate --to v3 tasks/ --dry-run
migrate --to v3 tasks.jsonl --diff
migrate --to head tasks/ --report upgrade.md
migrate --to v3 - < old.jsonl > new.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    _common.add_paths(parser)
    parser.add_argument(
        "--to", required=True, metavar="VERSION", help="v3, family@v3, head, or +1 for the next one"
    )
    parser.add_argument(
        "--from", dest="from_", metavar="VERSION", help="the version of records that carry no marker"
    )
    parser.add_argument("--dry-run", action="store_true", help="do everything but write")
    parser.add_argument(
        "--diff", action="store_true", help="print what would change as a unified diff; write nothing"
    )
    parser.add_argument("--report", metavar="FILE.md", help="write a report of records, prompts and outputs")
    parser.add_argument(
        "--allow-bad-tasks",
        action="store_true",
        help="carry invalid records over byte for byte, and list them",
    )
    parser.add_argument(
        "--prove",
        choices=("needed", "all"),
        default="needed",
        help="render records where the operations do not prove the promise (needed), or always (all)",
    )
    parser.add_argument(
        "--atomic",
        choices=("file", "run"),
        default="file",
        help="replace each file by itself, or all or none (file)",
    )
    parser.add_argument(
        "--reformat", action="store_true", help="lay YAML out anew where it cannot be edited in place"
    )
    parser.add_argument("--backup", metavar="FOLDER", help="keep copies of the old files there")
    parser.add_argument(
        "--all-errors", action="store_true", help="every violation of a record, not only the first"
    )
    parser.add_argument(
        "--max-findings", type=_common.positive, default=1000, metavar="N", help="how many to print"
    )
    _common.add_format(parser)
    _common.add_jobs(parser)
    _common.add_limits(parser)


def run(args: argparse.Namespace) -> int:
    """Migrate, print, and return the exit code."""
    from evalspec.migrate import load_history
    from evalspec.migrate.convert import Options
    from evalspec.migrate.run import Writing, migrate_paths
    from evalspec.migrate.target import resolve_target
    from evalspec.migrate.upgrade import Upgrades
    from evalspec.tree import start_of
    from evalspec.writing import run_folder

    project = _common.find_project(args)
    _common.refuse_unwritable(args.report, args.output)
    if args.paths == ["-"]:
        return _run_on_stdin(args)
    if "-" in args.paths:
        raise UsageError("`-` stands alone", fix="migrate standard input by itself")
    selection = _common.select_files(args, project)
    paths = [file.path for file in selection.files]
    reading = _common.reading_of(args, project, args.from_)
    history = load_history(project.families)
    upgrades = Upgrades(project.families, history, resolve_target(args.to, project, history, paths, reading))
    dry_run = args.dry_run or args.diff
    options = Options(
        prove_all=args.prove == "all",
        want_ids=args.format == "json" or bool(args.report),
        want_changes=args.diff or bool(args.report),
        want_prompts=20 if args.report else 0,
    )
    with _common.progress(args, "migrating", paths) as advance:
        writing = Writing(
            # By what was named, not by what was found: a later run over it then has the same guard and journal.
            run_folder(map(start_of, args.paths or [project.folder or "."]), project.folder),
            atomic=args.atomic,
            dry_run=dry_run,
            allow_bad=args.allow_bad_tasks,
            reformat=args.reformat,
            backup=args.backup,
            jobs=args.jobs or _common.cores(),
            on_wait=_say_waiting,
            advance=advance,
        )
        if dry_run:
            _common.warn_pending(args, project, paths)
        outcome = migrate_paths(paths, upgrades, reading, writing, options)
    if args.report:
        from evalspec.report import migration_markdown
        from evalspec.report.of_migration import migration_report
        from evalspec.writing import write_file

        report = migration_report(outcome, project.families, dry_run=dry_run)
        write_file(args.report, migration_markdown(report).encode())
    _print(args, project, outcome, dry_run=dry_run)
    return 1 if outcome.bad and not args.allow_bad_tasks else 0


def _say_waiting(holder: Holder | None) -> None:
    who = f" (process {holder.pid} on {holder.host})" if holder else ""
    sys.stderr.write(f"another run is at work here{who}; waiting up to 10 seconds\n")


def _print(args: argparse.Namespace, project: Project, outcome: Outcome, *, dry_run: bool) -> None:
    short = project.families.short
    if args.format == "json":
        _common.write_output(
            args,
            _common.dumps(
                {
                    "from": _common.short_counts(project, outcome.schemas),
                    "to": short(outcome.target),
                    "files": [
                        {
                            "path": file.path,
                            "records": file.records,
                            "changed": file.changed,
                            "written": file.written,
                        }
                        for file in outcome.files
                    ],
                    "steps": [step.to_dict(short) for step in outcome.steps.values()],
                    "bad": [finding.to_dict() for finding in outcome.bad],
                    "warnings": [finding.to_dict() for file in outcome.files for finding in file.warnings],
                }
            ),
        )
        return
    text = ""
    if args.diff:
        from evalspec.report.of_migration import file_diff

        text += "".join(piece for file in outcome.files for piece in file_diff(file))
    warnings = [finding for file in outcome.files for finding in file.warnings]
    text += _common.findings_text(args, [*outcome.bad, *warnings], args.max_findings)
    text += "".join(f"{step.sentence(short)}\n" for step in outcome.steps.values())
    _common.write_output(args, text + _summary(args, project, outcome, dry_run=dry_run))


def _summary(args: argparse.Namespace, project: Project, outcome: Outcome, *, dry_run: bool) -> str:
    """What became of the files, in a line or a few."""
    lines = []
    if outcome.recovered:
        lines.append(outcome.recovered)
    left = 0 if args.allow_bad_tasks else sum(bool(file.bad) for file in outcome.files)
    to_write = [file for file in outcome.files if file.changed]
    held = to_write if left and args.atomic == "run" else []
    changed = 0 if held else sum(file.changed for file in to_write)
    written = 0 if held else len(to_write) if dry_run else sum(file.written for file in outcome.files)
    verb = "would be written" if dry_run else "written"
    origin = _common.versions_text(project, outcome.schemas) or "no records"
    target = project.families.short(outcome.target)
    line = f"{counted(changed, 'record')} to {target} ({origin}); {counted(written, 'file')} {verb}"
    same = len(outcome.files) - written - len(held) - left
    line += f", {counted(same, 'file')} already there" if same else ""
    line += f", {counted(left, 'file')} left alone" if left else ""
    line += f", {counted(len(held), 'file')} held back (--atomic run)" if held else ""
    lines.append(line)
    if left:
        lines.append("    fix: mend the records above, or carry them over as they are with --allow-bad-tasks")
    lines += [f"backup of {visible(path)}: {visible(copy)}" for path, copy in outcome.backups]
    return "".join(f"{line}\n" for line in lines)


def _run_on_stdin(args: argparse.Namespace) -> int:
    """Migrate standard input to standard output; everything that is not the records goes to standard error."""
    import os
    import shutil
    import tempfile

    from evalspec.tree import sniff_format

    if args.format == "json" or args.diff or args.dry_run or args.output:
        raise UsageError("standard input is migrated to standard output, and nothing else", fix="name a file")
    with tempfile.TemporaryDirectory(prefix="evalspec-") as folder:
        raw = os.path.join(folder, "stdin")
        with open(raw, "wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        with open(raw, "rb") as copy:
            suffix = sniff_format(copy.read(4096))
        path = f"{raw}.{suffix}"
        os.rename(raw, path)
        args.paths, args.quiet = [path], True
        args.output = os.path.join(folder, "said")
        code = run(args)
        with open(args.output, encoding="utf-8") as said:
            sys.stderr.write(said.read().replace(path, "-"))
        if not code:
            with open(path, "rb") as result:
                shutil.copyfileobj(result, sys.stdout.buffer)
    return code
