"""The tasks of the bridge: how they are asked for, and the lock by which one of them at a time saves."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from apps.events.services import request_once

INGEST_TASK, RECONCILE_TASK = "apps.semantic.tasks.ingest_events", "apps.semantic.tasks.reconcile_events"
# Any number that no other advisory lock of this project uses.
_LOCK = 0x6D68_6272


def request_ingest() -> None:
    """Have waiting events saved, once this transaction is committed. However many ask, it is one task of it."""
    request_once(INGEST_TASK, "semantic.ingest_events")


def request_reconcile() -> None:
    """Have the memories of pruned events looked at, once this transaction is committed."""
    request_once(RECONCILE_TASK, "semantic.reconcile_events")


@contextmanager
def ingesting_alone() -> Iterator[bool]:
    """True inside when nobody else is saving events; it stays so until the end. Waits for nobody.

    So that events are saved in the order of their arrival, none is embedded twice, and one worker at most is busy with
    them. That none is saved twice does not depend on it. The lock is the session's, and ends with the process.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        alone = bool(cursor.fetchone()[0])
    try:
        yield alone
    finally:
        # A connection that broke meanwhile has given its locks back already.
        if alone and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
