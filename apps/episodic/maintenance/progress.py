"""How long work is told to go on, and how far it says it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

# How many items were finished since the last call.
Advance = Callable[[int], None]
# Given a title and how many items there are, shows how far the work is: `apps.core.terminal.progress_bar`.
Watch = Callable[[str, int], AbstractContextManager[Advance]]


@contextmanager
def unwatched(title: str, total: int) -> Iterator[Advance]:
    """Nobody looks on."""

    def advance(count: int) -> None:
        """Nobody counts."""

    yield advance


class Patience:
    """How long a piece of work may go on. seconds: None for as long as it takes."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end
