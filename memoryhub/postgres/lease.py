"""Leases of the embedded database: the first process starts it, the last one stops it."""

import fcntl
import os
import signal
from contextlib import suppress
from typing import IO, Self

from memoryhub.postgres.server import EmbeddedDatabase


class DatabaseLease:
    """The right to use the embedded database of one data directory, as a context manager.

    Every holder has a shared lock on a file. A holder that releases it first tries to make it exclusive: that works
    for the last one only, and no other process can acquire it while the server stops. The kernel drops the lock of
    a killed process, so there is no count that could go wrong.
    """

    def __init__(self, database: EmbeddedDatabase) -> None:
        self.database = database
        self._file: IO[str] | None = None
        self._owner = 0

    def acquire(self) -> None:
        """Take a share, and start the server unless it runs, however long that takes. Raises EmbeddedDatabaseError."""
        directory = self.database.data_dir
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.fdopen(os.open(directory / "database.lease", os.O_RDWR | os.O_CREAT, 0o600), "r+")
        fcntl.flock(file, fcntl.LOCK_SH)
        self._file, self._owner = file, os.getpid()
        try:
            self.database.start()
        except BaseException:
            self.release()
            raise

    @property
    def held(self) -> bool:
        """Return whether it is between `acquire` and `release`, in the process that acquired it."""
        return self._file is not None and self._owner == os.getpid()

    def release(self) -> bool:
        """Release the share; return whether this was the last one, so that the server was stopped.

        Does nothing in a process that was forked from the holder.
        """
        if self._file is None or not self.held:
            return False
        file, self._file = self._file, None
        with file:
            last = is_last(file)
            if last:
                self.database.stop()
            return last

    def abandon(self) -> None:
        """Leave at once, for a program that is forced to end; a server without other holders ends, too."""
        pid = self.database.pid
        if pid and (self._file is None or is_last(self._file)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


def is_last(file: IO[str]) -> bool:
    """Return whether no other process has the lock; if so, it is exclusive now, else it is released."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(file, fcntl.LOCK_UN)
        return False
    return True
