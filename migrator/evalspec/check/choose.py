"""Which findings count: by the configuration, by comments in the files, and by a baseline of old ones."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from datetime import date
from fnmatch import fnmatch
from typing import TYPE_CHECKING, NamedTuple

from evalspec.check.rule import Rule
from evalspec.errors import Place, UsageError, did_you_mean, visible
from evalspec.schema.declare import Absent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalspec.configuration import Config, IgnoreConfig
    from evalspec.errors import Finding

UNUSED_IGNORE = Rule(
    "unused_ignore",
    "warning",
    "An ignore hides nothing: what it was for is mended, or it names the wrong rule.",
    "description: Answer.  # evalspec: ignore[space_on_both_sides] looks fine\n",
    "remove it",
    group="ignores",
)
EXPIRED_IGNORE = Rule(
    "expired_ignore",
    "warning",
    "The day until which a finding was to be ignored is over; it counts again.",
    '[[ignores]]\nrule = "html_entities"\nreason = "until the next release"\nuntil = "2020-01-01"\n',
    "mend what it hides, or set a later day",
    group="ignores",
)

RULES = (UNUSED_IGNORE, EXPIRED_IGNORE)

_COMMENT = re.compile(rb"#[ \t]*evalspec:[ \t]*ignore\[([\w, ]+)\][ \t]*([^\r\n]*)")


class _Comment(NamedTuple):
    """An ignore in a file: `# evalspec: ignore[rule] reason`, on the line of a finding or above it."""

    line: int
    column: int
    rules: frozenset[str]
    alone: bool
    reason: bool


#: What a file with such a comment holds.
IGNORES = "evalspec:"


def has_ignores(path: str) -> Finding:
    """Says that a file has comments that ignore findings, to whoever chooses which count; it is none itself."""
    return UNUSED_IGNORE.at(Place(path), "it may hide nothing")


def check_names(config: Config, rules: Mapping[str, Rule]) -> None:
    """Refuse a configuration that names rules or groups that there are not.

    Raises:
        UsageError: it does.
    """
    groups = {rule.group for rule in rules.values()}
    lists = [config.select, config.ignore, config.severity, *(each.ignore for each in config.overrides)]
    lists += [each.select for each in config.overrides] + [each.severity for each in config.overrides]
    lists.append([each.rule for each in config.ignores])
    for name in (name for names in lists for name in names):
        if name not in rules and name not in groups:
            near = did_you_mean(name, [*rules, *groups]) or "`evalspec rules` lists the rules"
            raise UsageError(
                f"the configuration names a rule {visible(name)!r}, which is not there", fix=near
            )


def chosen(
    findings: Sequence[Finding],
    config: Config,
    rules: Mapping[str, Rule],
    *,
    folder: str | None,
    files: Iterable[str] = (),
    config_place: Place | None = None,
    read: Callable[[str], bytes | None] | None = None,
    today: date | None = None,
) -> list[Finding]:
    """The findings that count, with the severities of the configuration, and those about ignores themselves.

    Args:
        findings: everything that was found, and which files have ignores (`has_ignores`).
        config: the configuration.
        rules: every rule by its id.
        folder: the project's folder, from which the configuration's globs are.
        files: the YAML files that were looked at, whose comments count.
        config_place: where the configuration is.
        read: gives the bytes of a file; that on disk unless it is said.
        today: the day by which ignores expire.
    """
    kept: list[Finding] = []
    files = {*files, *(each.path for each in findings if each.rule == UNUSED_IGNORE.id)}
    findings = [each for each in findings if each.rule != UNUSED_IGNORE.id]
    comments = {path: list(_comments((read or _on_disk)(path))) for path in sorted(files)}
    used: set[tuple[str, int]] = set()
    ignored: set[int] = set()
    day = (today or date.today()).isoformat()  # noqa: DTZ011 - the day of whoever runs it
    for finding in findings:
        found = _severity(finding, config, rules, folder)
        if found is None:
            continue
        comment = _comment_for(found, comments)
        if comment is not None:
            used.add((found.path, comment.line))
            continue
        number = next((n for n, each in enumerate(config.ignores) if _hides(each, found, folder)), None)
        if number is not None:
            ignored.add(number)
            until = config.ignores[number].until
            if isinstance(until, Absent) or until >= day:
                continue
        kept.append(found)
    for path, all_of in comments.items():
        for comment in all_of:
            if (path, comment.line) not in used:
                place = Place(path, comment.line, comment.column)
                hidden = " or ".join(sorted(comment.rules))
                if comment.reason:
                    kept.append(UNUSED_IGNORE.at(place, f"it hides no {hidden}"))
                else:
                    fix = f"say why: # evalspec: ignore[{', '.join(sorted(comment.rules))}] reason"
                    kept.append(
                        UNUSED_IGNORE.at(place, f"it hides no {hidden}, as it gives no reason", fix=fix)
                    )
    for number, each in enumerate(config.ignores):
        place = config_place or Place("evalspec.toml")
        if number not in ignored:
            kept.append(UNUSED_IGNORE.at(place, f"ignores[{number}] hides no {each.rule}"))
        elif not isinstance(each.until, Absent) and each.until < day:
            kept.append(EXPIRED_IGNORE.at(place, f"ignores[{number}], of {each.rule}, ended on {each.until}"))
    return sorted(kept, key=lambda each: (each.path, each.line, each.column, each.rule, each.message))


def _severity(
    finding: Finding, config: Config, rules: Mapping[str, Rule], folder: str | None
) -> Finding | None:
    """The finding as bad as the configuration has it; None where its rule is not looked at."""
    rule = finding.rule
    names = {rule, rules[rule].group} if rule in rules else {rule, "contract"}
    select, ignore = list(config.select), list(config.ignore)
    severity = config.severity.get(rule, finding.severity)
    for override in config.overrides:
        if _is_one(finding.path, override.paths, folder):
            select = list(override.select) or select
            ignore += override.ignore
            severity = override.severity.get(rule, severity)
    if names & set(ignore) or (select and not names & set(select)):
        return None
    return finding._replace(severity=severity)  # type: ignore[arg-type] # the configuration is checked


def _hides(ignore: IgnoreConfig, finding: Finding, folder: str | None) -> bool:
    return (
        ignore.rule == finding.rule
        and (not ignore.paths or _is_one(finding.path, ignore.paths, folder))
        and (not ignore.tasks or any(fnmatch(finding.task or "", glob) for glob in ignore.tasks))
    )


def _is_one(path: str, globs: Sequence[str], folder: str | None) -> bool:
    inside = os.path.relpath(path, folder or os.curdir)
    return any(fnmatch(inside, glob) or inside.startswith(f"{glob.rstrip('/')}/") for glob in globs)


def _on_disk(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _comments(data: bytes | None) -> Iterator[_Comment]:
    if data is None or b"evalspec:" not in data:
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        found = _COMMENT.search(line)
        if found is not None:
            names = frozenset(name.strip() for name in found[1].decode().split(","))
            alone = not line[: found.start()].strip()
            yield _Comment(
                number,
                len(line[: found.start()].decode("utf-8", "replace")) + 1,
                names,
                alone,
                bool(found[2].strip()),
            )


def _comment_for(finding: Finding, comments: Mapping[str, list[_Comment]]) -> _Comment | None:
    """The comment that hides a finding: on its line, or on a line of its own right above."""
    for comment in comments.get(finding.path, ()):
        here = comment.line == finding.line or (comment.alone and comment.line == finding.line - 1)
        if here and comment.reason and finding.rule in comment.rules:
            return comment
    return None


# ── Baselines ────────────────────────────────────────────────────────────────────────────────────────────────


def baseline_text(findings: Iterable[Finding]) -> str:
    """Findings as a baseline: what they are, without their lines, and how often; sorted, a line each."""
    counts = Counter(map(_identity, findings))
    lines = [json.dumps([*identity, count], ensure_ascii=False) for identity, count in sorted(counts.items())]
    return "".join(f"{line}\n" for line in lines)


def without_old(findings: Sequence[Finding], baseline: bytes, path: str) -> list[Finding]:
    """The findings that a baseline does not have.

    Raises:
        UsageError: it is no baseline.
    """
    left: Counter[tuple[str, ...]] = Counter()
    for number, line in enumerate(baseline.decode("utf-8", "replace").splitlines(), 1):
        if line.strip():
            try:
                *identity, count = json.loads(line)
                left[tuple(map(str, identity))] += int(count)
            except (ValueError, TypeError):
                raise UsageError(
                    f"{visible(path)}:{number}: no line of a baseline", fix="make it anew: evalspec baseline"
                ) from None
    new = []
    for finding in findings:
        identity = _identity(finding)
        if left[tuple(identity)] > 0:
            left[tuple(identity)] -= 1
        else:
            new.append(finding)
    return new


def _identity(finding: Finding) -> tuple[str, ...]:
    message = _SHARED.sub("", finding.message)
    return finding.rule, finding.path, finding.task or "", finding.field or "", message


#: The end of a sentence about a value that several tasks share: how many there are is not what it is about.
_SHARED = re.compile(r"; \d[\d,]* more tasks? shares? it$")
