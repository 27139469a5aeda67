"""Findings in the forms that services of CI take: `--format github`, `gitlab`, `sarif` and `junit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalspec.errors import Finding

#: The forms that have every finding and nothing else.
SERVICES = ("github", "gitlab", "sarif", "junit")
#: What a command that prints findings has for `--format`.
FORMATS = ("text", "json", *SERVICES)


def service_text(
    service: str,
    findings: Sequence[Finding],
    files: Sequence[str] = (),
    rules: Mapping[str, tuple[str, str]] | None = None,
) -> str:
    """All findings, as one of `SERVICES` takes them.

    Args:
        service: which one.
        findings: in the order in which they are told.
        files: every file that was looked at.
        rules: the purpose and the fix of rules, by id, where they are known.
    """
    from evalspec import report

    match service:
        case "github":
            return report.github_text(findings)
        case "gitlab":
            return report.gitlab_text(findings)
        case "sarif":
            return report.sarif_text(findings, rules)
        case _:
            return report.junit_text(findings, files)
