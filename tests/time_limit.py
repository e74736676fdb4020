"""When the gate begins no further test, so that a slow machine ends with what it found (docs/decisions/0096).

`TESTS_END_AT` is that moment in seconds since 1970, which `.ci/run` sets. The order of the tiers decides what comes
first (tests/tiers.py); what did not begin is counted and said.
"""

import os
import time
from collections import Counter
from typing import Any

import pytest

from tests.tiers import ENDS_AT

NOT_BEGUN = "did not begin: the time of this run was over"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out a test whose turn comes too late, before anything is started for it."""
    if time.time() > float(os.environ.get(ENDS_AT) or "inf"):
        pytest.skip(NOT_BEGUN)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests of which files did not begin."""
    late = [one.nodeid for one in terminalreporter.stats.get("skipped", []) if NOT_BEGUN in str(one.longrepr)]
    if not late:
        return
    terminalreporter.section(f"{len(late):,} tests did not begin, because the time was over", red=True)
    for name, count in sorted(Counter(one.partition("::")[0] for one in late).items()):
        terminalreporter.write_line(f"{name} {count}")
