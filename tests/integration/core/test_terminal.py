"""Progress of long jobs: a bar on a terminal, lines in a log."""

import io

import pytest

from apps.core import terminal
from apps.core.terminal import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_a_line_at_the_end() -> None:
    log = io.StringIO()
    with progress_bar("Importing", 3, log) as advance:
        advance(1)
        advance(2)
    assert log.getvalue() == "Importing: 3/3\n"


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(now))
    log = io.StringIO()
    with progress_bar("Importing", 100, log) as advance:
        for _ in range(4):
            advance(10)
    assert log.getvalue().splitlines() == ["Importing: 20/100", "Importing: 40/100"]


def test_a_terminal_gets_a_bar_that_ends_full() -> None:
    screen = Terminal()
    with progress_bar("Importing", 3, screen) as advance:
        advance(2)
        advance(1)
    assert "Importing" in screen.getvalue()
    assert "3/3" in screen.getvalue()
