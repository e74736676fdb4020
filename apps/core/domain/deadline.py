"""A moment at which work stops."""

import time


class Deadline:
    """A moment so many seconds from now, on the monotonic clock. seconds: None for a deadline that never expires."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def expired(self) -> bool:
        """Return whether the moment has passed."""
        return self._end is not None and time.monotonic() >= self._end
