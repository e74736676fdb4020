"""How maintenance reports its progress."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

# How many items were finished since the last call.
Advance = Callable[[int], None]
# Takes a title and the number of items, and shows how many are finished: `apps.core.terminal.progress_bar`.
Watch = Callable[[str, int], AbstractContextManager[Advance]]


@contextmanager
def no_progress(title: str, total: int) -> Iterator[Advance]:
    """Show no progress."""
    yield lambda _: None
