"""Output on a terminal: steps with a spinner, progress bars, lines; plain lines where there is no terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

SECONDS_BETWEEN_LINES = 5.0

console = Console(highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(title: str, total: int, stream: Any = None) -> Iterator[Callable[[int], None]]:
    """Show the progress of a long job; yield a function that takes how many items were finished since its last call.

    Where the stream is no terminal, a line is written every few seconds and at the end.
    """
    stream = stream or sys.stderr
    if getattr(stream, "isatty", lambda: False)():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(file=stream)) as bar:
            task = bar.add_task(title, total=total)
            yield lambda count: bar.advance(task, count)
        return
    done, last = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, last
        done += count
        now = time.monotonic()
        if done >= total or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            stream.write(f"{title}: {done}/{total}\n")

    yield advance


@contextmanager
def step(label: str) -> Iterator[None]:
    """Show that `label` is being done, then how long it took."""
    began = time.monotonic()
    if console.is_terminal:
        with console.status(f"{label} …"):
            yield
    else:
        yield
    console.print(Text.assemble(("  ✓ ", "green"), f"{label} ", (f"({time.monotonic() - began:.1f} s)", "dim")))


def say(text: str, style: str = "") -> None:
    """Print one line of the hub's own."""
    with suppress(OSError):  # the terminal may be gone while the hub still runs, or ends because of it
        console.print(Text(text, style=style))


def say_for(name: str, line: str) -> None:
    """Print a line of one of the hub's processes."""
    with suppress(OSError):
        console.print(Text.assemble((f"{name:>9} │ ", "cyan"), Text.from_ansi(line)))
