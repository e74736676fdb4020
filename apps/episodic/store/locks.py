"""The advisory locks of the timeline, and how they are taken.

Advisory, because what they order has no row that every process touches: writers must never wait for maintenance. They
are released when their transaction or session ends, whatever happened to the process.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# With a segment's id as second key: shared by the writers of the segment until they commit. Sealing takes it
# exclusively, once the segment is closed and they have gone; a writer that finds it taken reads which segment is open.
SEGMENT_LOCKS = 0x6D68_7467
# A key of its own (one 64-bit number): maintenance, one run at a time.
MAINTENANCE_LOCK = 0x6D68_746D


@contextmanager
def try_maintenance_lock() -> Iterator[bool]:
    """Take the lock of maintenance without waiting, until the end of the block. Yield whether it was free.

    Call it outside a transaction: the lock is the session's, so that it spans many of them.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [MAINTENANCE_LOCK])
        is_held = bool(cursor.fetchone()[0])
    try:
        yield is_held
    finally:
        # A connection that broke has released its locks already.
        if is_held and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [MAINTENANCE_LOCK])
