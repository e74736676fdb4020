"""Memories that are past the time until which they were to be found."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from apps.core.db.user_locks import UserLockedError, of_unlocked
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.semantic.memories.bring_back import delete_with_history
from apps.semantic.models import Memory
from apps.semantic.store.unit_of_work import unit_of_work

EXPIRED = "expired"
ACTOR = "system:expiry"
# In one transaction, and in one sweep; the next one goes on.
CHUNK, MAX_SWEPT = 200, 10_000


def memories_expire(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Soft-delete the memories that have expired, each with its history. Return how many there were.

    Searches and lists leave them out before; this makes room for the same content, and says in the history what became
    of them. They can be restored, and are found without end then. Those of a user who is being forgotten go with it.
    """
    now, swept = utcnow(clock), 0
    due = of_unlocked(Memory.objects.active()).filter(expires_at__lte=now).order_by("user_id", "pk")
    found = list(due.values_list("user_id", "pk")[:MAX_SWEPT])
    for user, rows in groupby(found, key=lambda row: row[0]):
        keys = [key for _, key in rows]
        try:
            for start in range(0, len(keys), CHUNK):
                swept += expire(user, keys[start : start + CHUNK], now, clock)
        except UserLockedError:  # since they were read
            continue
    return swept


def expire(user: str, keys: Sequence[int], now: datetime, clock: Clock) -> int:
    """Soft-delete some memories of a user in one transaction. Return how many; Raises UserLockedError."""
    with unit_of_work(user, actor=ACTOR, clock=clock) as unit:
        # Read again: it may have been given more time since.
        memories = list(Memory.objects.active().filter(pk__in=keys, expires_at__lte=now))
        delete_with_history(unit, memories, EXPIRED)
    return len(memories)
