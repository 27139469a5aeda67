"""What keeps a check of a specification from being made, as a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalspec.check.spec.fixtures import finding

if TYPE_CHECKING:
    from evalspec.errors import EvalspecError, Finding


def of_error(rule: str, path: str, error: EvalspecError) -> Finding:
    """A finding of what kept a check from being made."""
    files = getattr(error, "files", ())
    return finding(
        rule,
        files[0] if files else path,
        str(error),
        error.fix or "mend it, then check again",
        line=getattr(error, "line", 1),
        column=getattr(error, "column", 1),
    )
