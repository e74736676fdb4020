"""Tests that failed and passed when they were run once more, which the gate allows to a few (docs/decisions/0049).

Such a test shows a race, in the product or in the test: it is printed with its first failure, and is to be mended.
"""

from typing import Any

import pytest

MAX_RETRIED = 3


def retried(config: pytest.Config) -> list[Any]:
    """Return the reports of first failures of tests that were run once more."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    return [] if reporter is None else reporter.stats.get("rerun", [])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run where more tests needed a second try than a race explains."""
    if len(retried(session.config)) > MAX_RETRIED:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what failed at first."""
    reports = retried(config)
    if not reports:
        return
    terminalreporter.section("failed at first, and run once more", red=True)
    for report in reports:
        terminalreporter.write_line(f"{report.nodeid}\n{report.longreprtext}\n")
    if len(reports) > MAX_RETRIED:
        terminalreporter.write_line(f"{len(reports)} tests were run once more, of which {MAX_RETRIED} are allowed.")
