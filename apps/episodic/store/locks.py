"""The advisory locks of the timeline, and how they are taken.

Advisory, because what they order has no row that every process touches: writers must never wait for maintenance. They
are released when their transaction or session ends, whatever happened to the process.
"""

from contextlib import AbstractContextManager

from apps.core.db.session_locks import try_session_lock

# With a segment's id as second key: shared by the writers of the segment until they commit. Sealing takes it
# exclusively, once the segment is closed and they have gone; a writer that finds it taken reads which segment is open.
SEGMENT_LOCKS = 0x6D68_7467
# A key of its own (one 64-bit number): maintenance, one run at a time.
MAINTENANCE_LOCK = 0x6D68_746D


def try_maintenance_lock() -> AbstractContextManager[bool]:
    """Take the lock of maintenance without waiting, until the end of the block. Yield whether it was free.

    Call it outside a transaction: the lock is the session's, so that it spans many of them.
    """
    return try_session_lock(MAINTENANCE_LOCK)
