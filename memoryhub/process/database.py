"""The embedded database while the hub runs: restarted when it ends, for as long as that takes."""

import errno
import shutil
import time
from pathlib import Path

from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import SYSTEM_RNG
from apps.core.terminal import say
from memoryhub.postgres.server import EmbeddedDatabase, EmbeddedDatabaseError

# A signal is heeded between two attempts; a server that recovers for longer is waited for by the next one.
ATTEMPT_SECONDS = 4.0
REMIND_SECONDS = 60.0
PRUNE_SECONDS = 3600.0
PAUSE = Backoff(base_ms=500, multiplier=2, max_ms=10_000)
# A server needs some room for its own files and one file of the write-ahead log.
LEAST_FREE_BYTES = 32 * 1024 * 1024


class DatabaseKeeper:
    """Keeps the database of a hub running. Nothing that keeps it from starting ends the hub."""

    def __init__(self, database: EmbeddedDatabase) -> None:
        self.database = database
        self.is_down = False
        self._attempts = 0
        self._next_at = 0.0
        self._said: tuple[str, float] | None = None
        self._pruned_at = time.monotonic()

    def tick(self) -> None:
        """Restart the database if it has ended, and remove its old logs once an hour."""
        now = time.monotonic()
        if not self.is_down and not self.database.is_running():
            self.is_down, self._attempts, self._next_at = True, 0, now
            say("  The database ended; restarting it.", "yellow")
        if self.is_down:
            if now >= self._next_at:
                self._restart()
        elif now - self._pruned_at > PRUNE_SECONDS:
            self._pruned_at = now
            self.database.prune_logs()

    def _restart(self) -> None:
        try:
            self.database.start(ATTEMPT_SECONDS)
        except EmbeddedDatabaseError as error:
            self._next_at = time.monotonic() + PAUSE.delay_ms(self._attempts, SYSTEM_RNG) / 1000
            self._attempts += 1
            self._say_once(describe_obstacle(error, self.database.data_dir))
        else:
            self.is_down, self._said = False, None
            say("  The database is running again.", "yellow")

    def _say_once(self, text: str) -> None:
        """Say what is waited for, again only when it changes or after a minute."""
        now = time.monotonic()
        kind = text.partition(":")[0]
        if self._said is None or self._said[0] != kind or now - self._said[1] > REMIND_SECONDS:
            self._said = kind, now
            say(f"  {text}", "yellow")


def describe_obstacle(error: EmbeddedDatabaseError, data_dir: Path) -> str:
    """Return in plain words why the database cannot be started now, and what is done about it."""
    free = shutil.disk_usage(data_dir).free
    is_full = free < LEAST_FREE_BYTES
    cause: BaseException | None = error
    while cause is not None and not is_full:
        is_full = isinstance(cause, OSError) and cause.errno in {errno.ENOSPC, errno.EDQUOT}
        cause = cause.__cause__
    if is_full:
        return (
            f"The disk of the data directory is full: {free / (1024 * 1024):.0f} MB are free. Make room on the disk of "
            f"{data_dir}; the database then restarts by itself."
        )
    return f"The database cannot be restarted now; trying again: {error}"
