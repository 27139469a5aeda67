"""The checks of a project's specification as tests: `pytest --evalspec`, or a test file of the project's own.

    import pytest
    from evalspec.testing import hold, spec_checks


    @pytest.mark.parametrize("check", spec_checks(), ids=lambda check: check.name)
    def test_the_specification(check):
        hold(check)

Every pytest that runs where the tool is installed imports this module, so it imports nothing but pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from evalspec.check.spec import SpecCheck

__all__ = ["SpecFailure", "hold", "spec_checks"]


class SpecFailure(AssertionError):
    """A check found something; its text is the findings, as `evalspec check` prints them."""


def spec_checks(folder: str | PathLike[str] | None = None) -> list[SpecCheck]:
    """Every check of the project that a folder is in (default: the working directory).

    Raises:
        UsageError: there is no project there, or its configuration cannot be read.
    """
    import os

    from evalspec.check.spec import spec_checks as checks_of
    from evalspec.errors import UsageError
    from evalspec.project import Project

    start = os.fspath(folder or os.curdir)
    project = Project.find(start)
    if project.folder is None:
        raise UsageError(
            f"no project: there is no evalspec.toml in {os.path.abspath(start)} or above",
            fix="run pytest in the project, or write one",
        )
    return checks_of(project)


def hold(check: SpecCheck) -> None:
    """Make a check.

    Raises:
        SpecFailure: it found something.
    """
    findings = check.findings()
    if findings:
        from evalspec.report import finding_text

        raise SpecFailure("\n" + "".join(map(finding_text, findings)).rstrip())


# ── pytest's own hooks ───────────────────────────────────────────────────────────────────────────────────────


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--evalspec`."""
    parser.getgroup("evalspec").addoption(
        "--evalspec",
        action="store_true",
        help="also check the versions, migrations and fixtures of the evalspec project that this folder is in",
    )


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """With `--evalspec`, a test for each check, behind the other tests."""
    if config.getoption("--evalspec"):
        items.extend(_Spec.from_parent(session, name="evalspec", nodeid="evalspec").collect())


class _Spec(pytest.Collector):
    """The specification of the project that pytest was started in."""

    def collect(self) -> Iterator[_Check]:
        from evalspec.errors import EvalspecError

        try:
            checks = spec_checks(self.config.invocation_params.dir)
        except EvalspecError as error:
            raise pytest.UsageError(f"{error}\n{error.fix}") from error
        for check in checks:
            yield _Check.from_parent(self, name=check.name, check=check)


class _Check(pytest.Item):
    """One check."""

    def __init__(self, *, check: SpecCheck, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.check = check

    def runtest(self) -> None:
        hold(self.check)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:  # type: ignore[override]
        return (
            str(excinfo.value).strip()
            if excinfo.errisinstance(SpecFailure)
            else super().repr_failure(excinfo)
        )

    def reportinfo(self) -> tuple[str, None, str]:
        return self.check.path, None, self.name
