"""The tasks of the bridge: requests for them, and the lock by which one at a time saves events."""

from contextlib import AbstractContextManager

from apps.core.db.session_locks import try_session_lock
from apps.events.services import request_once

INGEST_TASK, RECONCILE_TASK = "apps.semantic.tasks.ingest_events", "apps.semantic.tasks.reconcile_events"
# Any number that no other advisory lock of this project uses.
_LOCK = 0x6D68_6272


def request_ingest() -> None:
    """Have pending events saved once this transaction is committed; several requests make one task."""
    request_once(INGEST_TASK, "semantic.ingest_events")


def request_reconcile() -> None:
    """Have the memories of pruned events reconciled once this transaction is committed."""
    request_once(RECONCILE_TASK, "semantic.reconcile_events")


def ingest_lock() -> AbstractContextManager[bool]:
    """Yield whether this process may save events, as the only one while the block runs. Does not wait.

    So events are saved in the order of their arrival, none is embedded twice, and at most one worker is busy with
    them. That none is saved twice does not depend on it.
    """
    return try_session_lock(_LOCK)
