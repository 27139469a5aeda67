"""Findings as a code quality report of GitLab, which a merge request shows.

Its fields: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.errors import cut, visible
from evalspec.report.fingerprints import fingerprints, repository_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalspec.errors import Finding

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}
#: What is shown of the name of a task or a field, in code points.
_SHOWN = 200


def gitlab_text(findings: Sequence[Finding]) -> str:
    """A JSON list with an object a finding; GitLab takes findings with one fingerprint for one."""
    import json

    issues = [
        {
            "description": _description(finding),
            "check_name": visible(finding.rule),
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": visible(repository_path(finding.path)),
                "lines": {"begin": finding.line},
            },
        }
        for finding, fingerprint in zip(findings, fingerprints(findings), strict=True)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _description(finding: Finding) -> str:
    what = " ".join(cut(each, _SHOWN) for each in (finding.task, finding.field) if each)
    said = f"{what}: {finding.message}" if what else finding.message
    return visible(f"{said} (fix: {finding.fix})" if finding.fix else said)
