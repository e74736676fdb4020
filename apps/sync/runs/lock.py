"""One sync of a source at a time, across processes.

The lock is that of a session of the database, so it ends with the process, or with its connection, which need not be
the one that writes. What was written under it is committed only while it is still held: see `require_lock`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from apps.core.db.session_locks import try_session_lock
from apps.core.db.sessions import session_connection
from apps.core.domain.errors import ConflictError, UnavailableError

# With the key of a source as second key. Any number that no other pair of advisory locks of this project has.
SOURCE_LOCKS = 0x6D68_7379
# The same of a transaction that writes: who gets a lock that its owner lost begins after what that one still commits.
WRITE_LOCKS = 0x6D68_7377
RUNNING_CODE = "sync_running"
_IS_HELD = """
SELECT 1 FROM pg_locks
WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND objsubid = 2 AND granted
  AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class LockLostError(UnavailableError):
    """The connection that held the lock of a source broke: another process may sync it now."""

    code = "lock_lost"


@contextmanager
def source_lock(source: int) -> Iterator[None]:
    """Hold the lock of a source until the end of the block. Raises ConflictError (`sync_running`); never waits."""
    with try_session_lock(SOURCE_LOCKS, source) as is_ours:
        if not (is_ours and is_quiet(source)):
            raise ConflictError("This source is being synced: try again when that has ended.", code=RUNNING_CODE)
        yield


def require_lock(source: int) -> None:
    """Keep others from the lock of a source until the caller's transaction ends, if this thread has it.

    Raises LockLostError where another one does.
    """
    # This one first: who takes the lock of a source between the two is turned away by the other.
    is_alone = hold_writes(source)
    with try_session_lock(SOURCE_LOCKS, source) as is_ours:
        if not (is_alone and is_ours):
            raise LockLostError("The connection to the database was lost during the sync.")


def hold_writes(source: int) -> bool:
    """Take the lock of what writes to a source until the caller's transaction ends. Return whether it was free."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [WRITE_LOCKS, source % 2**31])
        return bool(cursor.fetchone()[0])


def is_quiet(source: int) -> bool:
    """Return whether no transaction writes to a source whose lock this thread has just got."""
    with transaction.atomic():
        return hold_writes(source)


def is_locked(source: int) -> bool:
    """Return whether another process holds the lock of a source, so that its run is alive."""
    with session_connection().cursor() as cursor:
        cursor.execute(_IS_HELD, [SOURCE_LOCKS, source % 2**31])
        return cursor.fetchone() is not None
