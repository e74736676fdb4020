"""Ends of processes, as the database sees them: it drops their locks and transactions a moment later."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

PATIENCE = 60.0
_OTHERS = """SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


def sessions() -> set[int]:
    """Return the process ids of the server's sessions of other connections to this database."""
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS)
        return {pid for (pid,) in cursor.fetchall()}


@contextmanager
def noticed() -> Iterator[None]:
    """Wait after the block until the database has noticed the end of every process that connected in it.

    Call it without an open transaction. Raises TimeoutError.
    """
    before = sessions()
    yield
    deadline = time.monotonic() + PATIENCE
    while left := sessions() - before:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the database still has sessions of processes that ended: {sorted(left)}")
        time.sleep(0.01)
