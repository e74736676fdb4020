"""How often something happens."""

import time
from collections import deque

MINUTES = 5
# Older ones than so many do not count: the rate is high enough to be noticed long before.
MAX_COUNTED = 10_000


class Rate:
    """Counts of something, in total and per minute over the last five. Any thread may count."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MAX_COUNTED)
        self.total = 0

    def count(self) -> None:
        """Count one more."""
        self._times.append(time.monotonic())
        self.total += 1

    @property
    def per_minute(self) -> float:
        """Return how many there were per minute, over the last five minutes."""
        began = time.monotonic() - MINUTES * 60
        while self._times and self._times[0] < began:
            self._times.popleft()
        return len(self._times) / MINUTES
