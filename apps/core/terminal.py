"""Progress on a terminal, and plain lines where there is none."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_LINE_EVERY_SECONDS = 5.0


@contextmanager
def progress_bar(title: str, total: int, stream: Any = None) -> Iterator[Callable[[int], None]]:
    """Show how far a long job is; yields a function that takes how many items were finished since its last call."""
    stream = stream or sys.stderr
    if not getattr(stream, "isatty", lambda: False)():
        yield _Lines(title, total, stream).advance
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=stream)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


class _Lines:
    """A line now and then, for logs."""

    def __init__(self, title: str, total: int, stream: Any) -> None:
        self._title, self._total, self._stream = title, total, stream
        self._done = 0
        self._last = time.monotonic()

    def advance(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if self._done >= self._total or now - self._last >= _LINE_EVERY_SECONDS:
            self._last = now
            self._stream.write(f"{self._title}: {self._done}/{self._total}\n")
