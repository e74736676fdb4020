"""What a run says of itself while it works: on its row, which REST and the admin read."""

import time
from collections.abc import Callable

from apps.sync.models import SyncRun

# Between two writes of progress.
SAVE_SECONDS = 0.5
OnProgress = Callable[[SyncRun], None]


class RunProgress:
    """The progress of one run, written at most every half second, outside of the transaction that applies it."""

    def __init__(self, run: SyncRun, on_progress: OnProgress | None = None) -> None:
        self.run, self.on_progress = run, on_progress
        self._saved_at = float("-inf")

    def begin(self, step: str, total: int = 0) -> None:
        """Show the begin of a step."""
        self.run.step, self.run.done, self.run.total = step, 0, total
        self.save()

    def show(self, done: int, total: int) -> None:
        """Show how far a step is; its end always."""
        self.run.done, self.run.total = done, total
        if done >= total or time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write progress. A run whose source was removed has no row any more."""
        self._saved_at = time.monotonic()
        run = self.run
        SyncRun.objects.filter(pk=run.pk).update(step=run.step, done=run.done, total=run.total)
        if self.on_progress is not None:
            self.on_progress(run)
