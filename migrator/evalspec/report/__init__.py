"""Printers: what was found and what changes, as text for a person, JSON for a program, Markdown for a review.

* `Console`: a stream with or without colours; `plain` is the paint of one without.
* `finding_text`, `finding_json`: one finding, as lines for a person and as a JSON object.
* `github_text`, `gitlab_text`, `sarif_text`, `junit_text`: all findings, as a service of CI takes them.
* `unified`, `unified_by_line`: a file's old and new text as a unified diff.
* `prompt_diff`, `size_change`: two prompts, the size of the change first, white space visible.
* `migration_markdown`: the report of a migration; `MigrationReport` is what it takes.

Each is imported when it is first asked for: a command that prints findings pays for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec._lazy import lazily

if TYPE_CHECKING:
    from evalspec.report.console import Console, Paint, plain
    from evalspec.report.excerpt import prompt_diff, size_change
    from evalspec.report.findings import finding_json, finding_text
    from evalspec.report.findings_github import github_text
    from evalspec.report.findings_gitlab import gitlab_text
    from evalspec.report.findings_junit import junit_text, tests_junit_text
    from evalspec.report.findings_sarif import sarif_text
    from evalspec.report.markdown import (
        FileLine,
        MigrationReport,
        OutputChange,
        PromptChange,
        RecordChange,
        StepLine,
        migration_markdown,
    )
    from evalspec.report.unified_diff import unified, unified_by_line

_HOME = {
    "Console": "console",
    "FileLine": "markdown",
    "MigrationReport": "markdown",
    "OutputChange": "markdown",
    "Paint": "console",
    "PromptChange": "markdown",
    "RecordChange": "markdown",
    "StepLine": "markdown",
    "finding_json": "findings",
    "finding_text": "findings",
    "github_text": "findings_github",
    "gitlab_text": "findings_gitlab",
    "junit_text": "findings_junit",
    "migration_markdown": "markdown",
    "plain": "console",
    "prompt_diff": "excerpt",
    "sarif_text": "findings_sarif",
    "size_change": "excerpt",
    "tests_junit_text": "findings_junit",
    "unified": "unified_diff",
    "unified_by_line": "unified_diff",
}

__getattr__ = lazily(__name__, _HOME)


__all__ = [
    "Console",
    "FileLine",
    "MigrationReport",
    "OutputChange",
    "Paint",
    "PromptChange",
    "RecordChange",
    "StepLine",
    "finding_json",
    "finding_text",
    "github_text",
    "gitlab_text",
    "junit_text",
    "migration_markdown",
    "plain",
    "prompt_diff",
    "sarif_text",
    "size_change",
    "tests_junit_text",
    "unified",
    "unified_by_line",
]
